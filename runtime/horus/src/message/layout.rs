//! The layout of a message that is known only at run time: what other languages describe their structs by.
//!
//! ```
//! use horus::message::layout::Layout;
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

pub mod generate;
mod text;

use horus_shm::ends::{Kind, Payload};

use super::{Message, array_hash, field_hash, number_hash, start_hash};

/// What can be a field: a number by its name in Rust, and its bytes.
const NUMBERS: [(&str, usize); 12] = [
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
    ("u128", 16),
    ("i128", 16),
];
/// Messages inside of messages, at most so deep; real ones are hardly deeper than a few.
const MAX_DEPTH: usize = 16;
/// The longest message: what Rust allows any type.
const MAX_BYTES: usize = isize::MAX as usize;

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
pub enum MadeOf {
    /// A number, by its name in Rust, and its bytes.
    Number(&'static str, usize),
    /// So many of the same.
    Array(Box<MadeOf>, usize),
    /// Another message.
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
    /// That of a message of Rust.
    pub fn of<M: Message>() -> Self {
        Self::of_fields(M::TYPE_NAME, M::FIELDS)
    }

    fn of_fields(type_name: &str, fields: &[super::Field]) -> Self {
        let members = fields.iter().map(|field| (field.name.to_owned(), MadeOf::of(field.made_of)));
        Self::new(type_name, members.collect()).expect("a definition that compiles gives each byte to a field")
    }

    /// A message of the fields of `head`, and behind them one field that is `body`.
    pub(crate) fn behind(head: &[super::Field], type_name: &str, name: &str, body: &Self) -> Self {
        let head = head.iter().map(|field| (field.name.to_owned(), MadeOf::of(field.made_of)));
        let members = head.chain([(name.to_owned(), MadeOf::Nested(body.clone()))]);
        Self::new(type_name, members.collect()).expect("a head ends where every message may begin")
    }

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
            end = end.saturating_add(made_of.bytes());
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

    /// The fields in the order of their places.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The name that both ends know the message by.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Stands for all of it; equal to [`Message::LAYOUT_HASH`] of the same message.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Size and alignment of the message, in bytes.
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// Calls `open` with what the topic's header says about such messages.
    pub(crate) fn with_kind<R>(&self, open: impl FnOnce(Kind<'_>, Payload) -> R) -> R {
        let description = self.description();
        open(Kind { type_name: &self.type_name, layout_hash: self.hash, description: &description }, self.payload)
    }

    /// The text of the topic's header; [`description`](super::description) has its form.
    pub fn description(&self) -> String {
        let mut inner = Inner::default();
        let mut lines: Vec<String> = self.fields.iter().map(|field| inner.line(field)).collect();
        let mut told = 0;
        while let Some(&(ref name, message)) = inner.0.get(told) {
            lines.push(format!("type {name}"));
            lines.extend(message.fields.iter().map(|field| format!(" {}", inner.line(field))));
            told += 1;
        }
        lines.join("\n")
    }
}

/// The messages inside of a message with the names that a description has for them, in the order of their first mention.
#[derive(Default)]
struct Inner<'a>(Vec<(String, &'a Layout)>);

impl<'a> Inner<'a> {
    fn line(&mut self, field: &'a Field) -> String {
        format!("{} {} {} {}", field.offset, field.made_of.bytes(), field.name, self.type_of(&field.made_of))
    }

    fn type_of(&mut self, made_of: &'a MadeOf) -> String {
        match made_of {
            MadeOf::Number(name, _) => (*name).to_owned(),
            MadeOf::Array(element, length) => format!("[{}; {length}]", self.type_of(element)),
            MadeOf::Nested(layout) => self.name_of(layout),
        }
    }

    /// The message's name; with its hash, if another one has that name already.
    fn name_of(&mut self, layout: &'a Layout) -> String {
        if let Some((name, _)) = self.0.iter().find(|(_, known)| known.hash == layout.hash) {
            return name.clone();
        }
        let is_taken = self.0.iter().any(|(name, _)| *name == layout.type_name);
        let name =
            if is_taken { format!("{}~{:016x}", layout.type_name, layout.hash) } else { layout.type_name.clone() };
        self.0.push((name.clone(), layout));
        name
    }
}

impl Field {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its bytes are.
    pub fn made_of(&self) -> &MadeOf {
        &self.made_of
    }

    /// Its first byte.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl MadeOf {
    fn of(made_of: &super::MadeOf) -> Self {
        match *made_of {
            super::MadeOf::Number(name) => Self::number(name).expect("every number that is a field is known"),
            super::MadeOf::Array(element, length) => Self::Array(Box::new(Self::of(element)), length),
            super::MadeOf::Nested { type_name, fields, .. } => Self::Nested(Layout::of_fields(type_name, fields)),
        }
    }

    fn number(name: &str) -> Option<Self> {
        NUMBERS.iter().find(|(known, _)| *known == name).map(|&(name, bytes)| Self::Number(name, bytes))
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
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
}
