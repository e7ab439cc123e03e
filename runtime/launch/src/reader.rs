//! Tables of TOML with the line of each word, and mistakes in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use horus::near::is_near;
use horus::outside::printable;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a robot's file, and what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}{}: {text}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct Mistake {
    /// The file.
    pub path: PathBuf,
    /// The line, where it is of one.
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub text: String,
}

/// A value and the line that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    pub value: T,
    pub line: usize,
}

/// A key and its text.
pub type Pair = (At<String>, At<String>);

/// The file, for who makes mistakes of places in it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// The whole file as a table.
    pub fn parse(&self) -> Result<Table<'a>, Mistake> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let line = error.span().map(|span| self.line(&span));
            let text = match error.message() {
                "duplicate key" => {
                    "this name stands here for the second time: give one of both another name, or remove it".to_owned()
                }
                other => format!("this is no TOML: {other}"),
            };
            Mistake { path: self.path.to_owned(), line, text: printable(&text) }
        })?;
        let line = self.line(&table.span());
        Ok(Table { source: *self, name: String::new(), line, words: self.words(table.into_inner()) })
    }

    fn words(&self, table: DeTable<'a>) -> BTreeMap<String, Word<'a>> {
        let word = |(key, value): (Spanned<_>, Spanned<DeValue<'a>>)| {
            let at = self.line(&key.span());
            let place = key.span().start;
            (String::from(key.into_inner()), Word { line: at, place, value: value.into_inner() })
        };
        table.into_iter().map(word).collect()
    }

    fn line(&self, span: &Range<usize>) -> usize {
        1 + self.text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count()
    }

    /// A mistake at a line.
    pub fn mistake(&self, line: usize, text: impl Into<String>) -> Mistake {
        Mistake { path: self.path.to_owned(), line: Some(line), text: printable(&text.into()) }
    }
}

/// A key's value and place.
struct Word<'a> {
    line: usize,
    /// The byte of the file where its key stands, for the order.
    place: usize,
    value: DeValue<'a>,
}

/// A table whose words are taken out one by one; what is left at the end is unknown.
pub struct Table<'a> {
    source: Source<'a>,
    /// As people write it, such as `programs.nav`; empty for the whole file.
    name: String,
    pub line: usize,
    words: BTreeMap<String, Word<'a>>,
}

impl<'a> Table<'a> {
    /// The text of `key`.
    pub fn text(&mut self, key: &str) -> Result<Option<At<String>>, Mistake> {
        self.words.remove(key).map(|word| self.as_text(key, word)).transpose()
    }

    /// The truth value of `key`.
    pub fn flag(&mut self, key: &str) -> Result<Option<bool>, Mistake> {
        match self.words.remove(key) {
            None => Ok(None),
            Some(Word { value: DeValue::Boolean(value), .. }) => Ok(Some(value)),
            Some(Word { line, .. }) => {
                Err(self.source.mistake(line, format!("`{key}` is true or false: write {key} = true")))
            }
        }
    }

    /// The texts of `key`: a list.
    pub fn texts(&mut self, key: &str) -> Result<Vec<At<String>>, Mistake> {
        let Some(Word { line, value, .. }) = self.words.remove(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value else {
            return Err(self.source.mistake(line, format!("`{key}` is a list: write {key} = [\"…\"]")));
        };
        let text = |item: Spanned<DeValue<'a>>| {
            let line = self.source.line(&item.span());
            self.as_text(key, Word { line, place: 0, value: item.into_inner() })
        };
        items.into_iter().map(text).collect()
    }

    /// The table of `key`.
    pub fn table(&mut self, key: &str) -> Result<Option<Table<'a>>, Mistake> {
        let Some(Word { line, value, .. }) = self.words.remove(key) else { return Ok(None) };
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        match value {
            DeValue::Table(table) => {
                Ok(Some(Table { source: self.source, name, line, words: self.source.words(table) }))
            }
            _ => Err(self.source.mistake(line, format!("`{key}` is a table: write [{name}], and what is in it below"))),
        }
    }

    /// The texts of a table of texts, in the order of the file.
    pub fn pairs(&mut self, key: &str) -> Result<Vec<Pair>, Mistake> {
        let Some(mut table) = self.table(key)? else { return Ok(Vec::new()) };
        let keys = table.keys();
        let pair = |name: At<String>| {
            if let Some(example) = table.words.get(&name.value).and_then(|word| in_marks(&name.value, &word.value)) {
                let text = format!("`{key}`: a key with a dot stands in quotation marks: write {example}");
                return Err(table.source.mistake(name.line, text));
            }
            let text = table.text(&name.value)?.expect("it is one of the table's keys");
            Ok((name, text))
        };
        keys.into_iter().map(pair).collect()
    }

    /// The keys that were not taken, in the order of the file.
    pub fn keys(&self) -> Vec<At<String>> {
        let mut keys: Vec<_> = self.words.iter().collect();
        keys.sort_by_key(|(_, word)| word.place);
        keys.into_iter().map(|(name, word)| At { value: name.clone(), line: word.line }).collect()
    }

    /// Refuses what was not taken; `known` are the keys that there are.
    pub fn end(self, known: &[&str]) -> Result<(), Mistake> {
        let Some(At { value: key, line }) = self.keys().into_iter().next() else { return Ok(()) };
        let place = if self.name.is_empty() { "the file".to_owned() } else { format!("[{}]", self.name) };
        let hint = did_you_mean(&key, known.iter().copied());
        let known = known.join(", ");
        Err(self.source.mistake(line, format!("{place} has no key `{key}`{hint}; there is {known}")))
    }

    fn as_text(&self, key: &str, word: Word<'a>) -> Result<At<String>, Mistake> {
        match word.value {
            DeValue::String(text) => Ok(At { value: text.into_owned(), line: word.line }),
            _ => Err(self.source.mistake(word.line, format!("`{key}` holds a text: write it in quotation marks"))),
        }
    }
}

/// A key and its value as they have to be written, where dots made a table of the key: TOML reads `base.cmd = "a"` as `base = { cmd = "a" }`.
fn in_marks(key: &str, value: &DeValue) -> Option<String> {
    let DeValue::Table(table) = value else { return None };
    let (part, value) = table.iter().next()?;
    let key = format!("{key}.{}", part.get_ref());
    match value.get_ref() {
        DeValue::String(text) => Some(format!("{key:?} = {text:?}")),
        inner => in_marks(&key, inner).or_else(|| Some(format!("{key:?} = \"…\""))),
    }
}

/// `: did you mean `nav`?` for the name that is nearly the one that was written; empty if there is none.
pub fn did_you_mean<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near: Vec<_> = known.filter(|name| is_near(written, name)).take(2).map(|name| format!("`{name}`")).collect();
    if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(" or ")) }
}
