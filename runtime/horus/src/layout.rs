//! The layout of a message that is known only at run time: what other languages describe their structs by.
//!
//! ```
//! use horus::layout::Layout;
//! use horus::message::{Message, Stamp};
//!
//! let layout: Layout = "message horus/Stamp
//!     sequence u64
//!     sent_ns u64".parse().unwrap();
//! assert_eq!(layout.hash(), Stamp::LAYOUT_HASH);
//! ```
//!
//! The text names the message, then each field with its type. Messages inside of it follow in the same form. Places are not
//! written: fields stand as C puts them, one after the other, each at a multiple of its alignment, and no byte may be
//! left between them. `docs/layout-hash.md` specifies text and hash for those who compute them elsewhere.

mod text;

use std::fmt;

use horus_shm::ends::Payload;

use crate::message::{array_hash, field_hash, number_hash, start_hash};

/// What can be a field: a number by its name in Rust, and its bytes.
const NUMBERS: [(&str, usize); 10] = [
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("u64", 8),
    ("i64", 8),
    ("f64", 8),
];
/// Messages inside of messages, at most so deep; nobody's are deeper than a few.
const MAX_DEPTH: usize = 16;
/// The longest message: what a topic can hold of one.
const MAX_BYTES: usize = 1 << 31;

/// The layout of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    type_name: String,
    payload: Payload,
    hash: u64,
    fields: Vec<Field>,
}

/// A field of a [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    made_of: MadeOf,
    offset: usize,
}

/// What the bytes of a field are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MadeOf {
    Number(&'static str, usize),
    Array(Box<MadeOf>, usize),
    Nested(Layout),
}

/// Why a text describes no message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A line that is none.
    #[error("line {line} of the layout: {problem}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The text says nothing.
    #[error("the layout is empty: its first line is `message package/Name`, then each field as `name type`")]
    Empty,
}

impl Layout {
    /// A message of these fields, in their order.
    fn new(type_name: &str, members: Vec<(String, MadeOf)>) -> Result<Self, String> {
        let (mut end, mut align, mut fields) = (0_usize, 1_usize, Vec::new());
        for (name, made_of) in members {
            let gap = end.next_multiple_of(made_of.align()) - end;
            if gap > 0 {
                return Err(format!(
                    "{gap} bytes before the field `{name}` belong to no field: order the fields by the size of their numbers, \
                     or put `spare [u8; {gap}]` before it"
                ));
            }
            align = align.max(made_of.align());
            let offset = end;
            end += made_of.bytes();
            if end > MAX_BYTES {
                return Err(format!("the message `{type_name}` has more than {MAX_BYTES} bytes"));
            }
            fields.push(Field { name, made_of, offset });
        }
        if fields.is_empty() {
            return Err(format!(
                "the message `{type_name}` has no fields; a counter such as `number u64` says that something happened"
            ));
        }
        let gap = end.next_multiple_of(align) - end;
        if gap > 0 {
            return Err(format!(
                "{gap} bytes at the end of the message `{type_name}` belong to no field: add `spare [u8; {gap}]` at its end"
            ));
        }
        let hash = fields.iter().fold(start_hash(type_name, end, align), |hash, field| {
            field_hash(hash, &field.name, field.made_of.type_hash(), field.offset, field.made_of.bytes())
        });
        Ok(Self { type_name: type_name.to_owned(), payload: Payload { bytes: end, align }, hash, fields })
    }

    /// The name that both ends know the message by.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Stands for all of it; equal to [`Message::LAYOUT_HASH`](crate::message::Message::LAYOUT_HASH) of the same message.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Size and alignment of the message, in bytes.
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// The text of the topic's header, as [`description`](crate::message::description) has it.
    pub fn description(&self) -> String {
        let mut inner: Vec<&Layout> = Vec::new();
        let mut lines: Vec<String> = self.fields.iter().map(|field| field.line(&mut inner)).collect();
        let mut told = 0;
        while let Some(&message) = inner.get(told) {
            lines.push(format!("type {}", message.type_name));
            lines.extend(message.fields.iter().map(|field| format!(" {}", field.line(&mut inner))));
            told += 1;
        }
        lines.join("\n")
    }
}

impl Field {
    fn line<'a>(&'a self, inner: &mut Vec<&'a Layout>) -> String {
        self.made_of.note(inner);
        format!("{} {} {} {}", self.offset, self.made_of.bytes(), self.name, self.made_of)
    }
}

impl MadeOf {
    fn bytes(&self) -> usize {
        match self {
            Self::Number(_, bytes) => *bytes,
            Self::Array(element, length) => element.bytes().saturating_mul(*length),
            Self::Nested(layout) => layout.payload.bytes,
        }
    }

    fn align(&self) -> usize {
        match self {
            Self::Number(_, bytes) => *bytes,
            Self::Array(element, _) => element.align(),
            Self::Nested(layout) => layout.payload.align,
        }
    }

    fn type_hash(&self) -> u64 {
        match self {
            Self::Number(name, _) => number_hash(name),
            Self::Array(element, length) => array_hash(element.type_hash(), *length),
            Self::Nested(layout) => layout.hash,
        }
    }

    /// Adds the message inside of it to those that have to be told.
    fn note<'a>(&'a self, inner: &mut Vec<&'a Layout>) {
        match self {
            Self::Number(..) => {}
            Self::Array(element, _) => element.note(inner),
            Self::Nested(layout) if inner.iter().any(|known| known.hash == layout.hash) => {}
            Self::Nested(layout) => inner.push(layout),
        }
    }
}

impl fmt::Display for MadeOf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(name, _) => out.write_str(name),
            Self::Array(element, length) => write!(out, "[{element}; {length}]"),
            Self::Nested(layout) => out.write_str(&layout.type_name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{ALL, Definition};

    /// The text of a message, from the description that its Rust definition makes.
    fn text_of(definition: &Definition) -> String {
        let described = (definition.description)();
        let lines = described.lines().map(|line| match line.strip_prefix("type ") {
            Some(name) => format!("message {name}"),
            None => line.split_whitespace().skip(2).collect::<Vec<_>>().join(" "),
        });
        format!("message {}\n{}", definition.type_name, lines.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn every_message_of_the_field_has_the_hash_size_and_description_of_its_rust_definition() {
        for definition in &ALL {
            let layout: Layout = text_of(definition).parse().unwrap();
            assert_eq!(layout.hash(), definition.layout_hash, "{}", definition.type_name);
            assert_eq!(layout.payload(), Payload { bytes: definition.bytes, align: definition.align });
            assert_eq!(layout.description(), (definition.description)());
        }
    }
}
