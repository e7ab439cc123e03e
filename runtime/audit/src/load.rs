//! Loading rule files: every record that can be used is, every one that cannot is named with file, line and remedy.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::kernel;
use crate::read::Reader;
use crate::rule::Rule;

/// The rules of a directory, in the order of file names, and what could not be used.
#[derive(Default)]
pub struct Rules {
    /// Usable rules.
    pub rules: Vec<Rule>,
    /// A sentence each for what is not usable.
    pub problems: Vec<String>,
}

/// Loads every `*.toml` file in `directory`.
///
/// Never fails as a whole; a directory without any rule file is a problem like any other.
pub fn load(directory: &Path) -> Rules {
    let mut loaded = Rules::default();
    let files = match fs::read_dir(directory) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())),
        Err(error) => {
            let remedy = "name the directory of the rule files with --rules";
            loaded.problems.push(format!("{}: {error}; {remedy}", directory.display()));
            return loaded;
        }
    };
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    if files.is_empty() {
        let remedy = "the rules are conf/rt/audit in the source and /usr/lib/horus/audit on the appliance";
        loaded.problems.push(format!("{} holds no rule file (*.toml); {remedy}", directory.display()));
    }
    let mut lines = HashMap::new();
    for file in files {
        match fs::read_to_string(&file) {
            Ok(text) => loaded.add(&file, &text, &mut lines),
            Err(error) => loaded.problems.push(format!("{}: {error}; make it a readable text file", file.display())),
        }
    }
    loaded
}

impl Rules {
    /// Adds the records of one file; `seen` maps each identifier to where it stands.
    fn add(&mut self, file: &Path, text: &str, seen: &mut HashMap<String, String>) {
        let place = |offset: usize| {
            let line = 1 + text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count();
            format!("{}:{line}", file.display())
        };
        let at = |error: &toml::de::Error, fallback: usize| place(error.span().map_or(fallback, |span| span.start));
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let problem =
                    format!("{}: {}; correct the TOML, no rule of this file ran", at(&error, 0), one_line(&error));
                self.problems.push(problem);
                return;
            }
        };
        if table.is_empty() {
            self.problems.push(format!("{}: no [[rule]] in this file; add one or remove the file", place(0)));
        }
        for (key, value) in table {
            if key.get_ref() != "rule" {
                let remedy = "a rule file holds only [[rule]] records";
                self.problems.push(format!("{}: unknown key '{}'; {remedy}", place(key.span().start), key.get_ref()));
                continue;
            }
            let DeValue::Array(records) = value.into_inner() else {
                self.problems.push(format!("{}: 'rule' is not a list; write [[rule]]", place(key.span().start)));
                continue;
            };
            for record in records {
                let start = record.span().start;
                match usable(record) {
                    Ok(rule) => match seen.insert(rule.id.clone(), place(start)) {
                        None => self.rules.push(rule),
                        Some(first) => {
                            let problem = format!(
                                "{}: rule '{}' is already at {first}; give it an id of its own",
                                place(start),
                                rule.id
                            );
                            self.problems.push(problem);
                            seen.insert(rule.id, first);
                        }
                    },
                    Err((what, offset)) => {
                        let problem =
                            format!("{}: {what}; correct this rule, it did not run", place(offset.unwrap_or(start)));
                        self.problems.push(problem);
                    }
                }
            }
        }
    }
}

/// The rule of a record, or what is wrong with it and at which byte.
fn usable(record: Spanned<DeValue<'_>>) -> Result<Rule, (String, Option<usize>)> {
    let rule = Rule::deserialize(ValueDeserializer::from(record))
        .map_err(|error| (one_line(&error), error.span().map(|span| span.start)))?;
    let other_fix = rule.fix_with_one_cpu.as_ref().unwrap_or(&rule.fix);
    let texts = [
        ("id", &rule.id),
        ("title", &rule.title),
        ("why", &rule.why),
        ("fix", &rule.fix),
        ("fix-with-one-cpu", other_fix),
    ];
    for (name, text) in texts {
        if text.trim().is_empty() {
            return Err((format!("'{name}' is empty"), None));
        }
    }
    if rule.set.is_some() && !matches!(rule.read, Reader::Files(..)) {
        let remedy = "it is for rules that read files";
        return Err((format!("rule '{}': leave out 'set', {remedy}", rule.id), None));
    }
    match &rule.applies.kernel_since {
        Some(since) if kernel::at_least(since, since).is_none() => {
            Err((format!("rule '{}': kernel-since '{since}' is not a version such as 6.12", rule.id), None))
        }
        _ => Ok(rule),
    }
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}
