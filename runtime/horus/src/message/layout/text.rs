//! A layout from its text.

use std::str::FromStr;

use super::{Layout, LayoutError, MAX_DEPTH, MadeOf};

/// The longest name of a message: what a topic's header has room for.
const MAX_NAME: usize = 128;

/// A message of the text: its line, its name, and its fields with their lines.
struct Section<'a> {
    line: usize,
    name: &'a str,
    fields: Vec<(usize, &'a str, &'a str)>,
}

impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Self, LayoutError> {
        let sections = sections(text)?;
        let first = sections.first().ok_or(LayoutError::Empty)?;
        message(&sections, first, 0)
    }
}

fn at(line: usize) -> impl Fn(String) -> LayoutError {
    move |problem| LayoutError::Line { line, problem }
}

fn sections(text: &str) -> Result<Vec<Section<'_>>, LayoutError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.is_empty() {
            continue;
        }
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        if word == "message" && !rest.is_empty() && !rest.contains(char::is_whitespace) && !is_type(rest) {
            if sections.iter().any(|section| section.name == rest) {
                return Err(at(number)(format!("`{rest}` is described twice")));
            }
            if rest.len() > MAX_NAME {
                return Err(at(number)(format!("the name has {} bytes, and {MAX_NAME} at most", rest.len())));
            }
            sections.push(Section { line: number, name: rest, fields: Vec::new() });
            continue;
        }
        let section =
            sections.last_mut().ok_or_else(|| at(number)("the first line is `message package/Name`".to_owned()))?;
        if rest.is_empty() {
            return Err(at(number)(format!("`{word}` has no type: write `{word} f64`")));
        }
        if section.fields.iter().any(|(_, name, _)| *name == word) {
            return Err(at(number)(format!("the field `{word}` is described twice")));
        }
        section.fields.push((number, word, rest));
    }
    Ok(sections)
}

/// Whether a word is a type that every text knows: then `message` is the name of a field.
fn is_type(word: &str) -> bool {
    word.starts_with('[') || MadeOf::number(word).is_some()
}

fn message(sections: &[Section<'_>], section: &Section<'_>, depth: usize) -> Result<Layout, LayoutError> {
    if depth > MAX_DEPTH {
        return Err(at(section.line)(format!(
            "`{}` contains itself, or is more than {MAX_DEPTH} messages deep",
            section.name
        )));
    }
    let fields =
        section.fields.iter().map(|&(line, name, of)| Ok((name.to_owned(), made_of(sections, of, line, depth)?)));
    Layout::new(section.name, fields.collect::<Result<_, LayoutError>>()?).map_err(at(section.line))
}

fn made_of(sections: &[Section<'_>], text: &str, line: usize, depth: usize) -> Result<MadeOf, LayoutError> {
    if let Some(array) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (element, length) =
            array.rsplit_once(';').ok_or_else(|| at(line)(format!("`{text}` has no length: write `[{array}; 4]`")))?;
        let length = length.trim().parse().ok().filter(|length| *length > 0);
        let length = length.ok_or_else(|| at(line)(format!("the length of `{text}` is no number above 0")))?;
        if depth > MAX_DEPTH {
            return Err(at(line)(format!("`{text}` is more than {MAX_DEPTH} deep")));
        }
        return Ok(MadeOf::Array(Box::new(made_of(sections, element.trim(), line, depth + 1)?), length));
    }
    if let Some(number) = MadeOf::number(text) {
        return Ok(number);
    }
    let section = sections.iter().find(|section| section.name == text).ok_or_else(|| {
        at(line)(format!("`{text}` is no number of fixed size, no array, and no message that the text describes below"))
    })?;
    Ok(MadeOf::Nested(message(sections, section, depth + 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Layout>().unwrap_err().to_string()
    }

    #[test]
    fn a_field_may_be_called_message() {
        let layout: Layout = "message test/Note\nmessage [u8; 8]\nnumber u64".parse().unwrap();
        assert_eq!(layout.description(), "0 8 message [u8; 8]\n8 8 number u64");
    }

    #[test]
    fn what_describes_no_message_is_told_with_its_line_and_what_to_do() {
        for (text, words) in [
            ("", "is empty"),
            ("x f64", "line 1 of the layout: the first line is `message package/Name`"),
            ("message a/B", "has no fields"),
            (
                "message a/B\nflag u8\nvalue u64",
                "line 1 of the layout: 7 bytes before the field `value` belong to no field",
            ),
            ("message a/B\nvalue u64\nflag u8", "7 bytes at the end of the message `a/B`"),
            ("message a/B\nflag bool", "line 2 of the layout: `bool` is no number of fixed size"),
            ("message a/B\nx f64\nx f64", "line 3 of the layout: the field `x` is described twice"),
            ("message a/B\nx", "`x` has no type"),
            ("message a/B\nx [f64]", "`[f64]` has no length"),
            ("message a/B\nx [f64; 0]", "no number above 0"),
            ("message a/B\nb a/B", "contains itself"),
            ("message a/B\nx [u64; 9999999999999999999]", "has more than"),
        ] {
            assert!(error(text).contains(words), "{text}: {}", error(text));
        }
        assert!(error(&format!("message a/B\nx {}u8{}", "[".repeat(40), "; 1]".repeat(40))).contains("deep"));
    }
}
