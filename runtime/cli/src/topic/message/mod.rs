//! Messages of any type, read and written by the description that stands in their topic (`horus::message::description`).
//!
//! The program that made the topic wrote the description, so nothing in it is believed: only fields that follow each other
//! without a gap, as those of every message do, within the bytes that there are. What is described otherwise is bytes.

mod number;
pub mod packed;
mod path;
mod show;
mod value;
mod write;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use number::Number;
pub use path::Path;
pub use show::{Shown, hex, text};
pub use write::write;

use super::fields;

/// What bytes are.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number.
    Number(Number),
    /// So many of the same, each of so many bytes.
    Array { element: Rc<Kind>, bytes: usize, length: usize },
    /// Text in bytes, padded with zeros: what fields are whose name says so.
    Text(usize),
    /// A message.
    Message(Rc<[Field]>),
    /// Bytes of which it is not said what they are.
    Unknown,
}

/// A field of a message.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub offset: usize,
    pub bytes: usize,
    pub kind: Kind,
}

/// How deep messages may lie in messages and arrays: deeper than any that a person would read.
const DEPTH: usize = 16;

/// What a message of `bytes` bytes is by its description: a message, or unknown.
pub fn kind(description: &str, bytes: usize) -> Kind {
    let (own, types) = description.split_once("\ntype ").unwrap_or((description, ""));
    let types = types.split("\ntype ").filter_map(|block| block.split_once('\n'));
    let types: BTreeMap<&str, &str> = types.collect();
    let fields = message(own, bytes, &types, DEPTH);
    if fields.is_empty() { Kind::Unknown } else { Kind::Message(fields.into()) }
}

/// The fields described by `lines`; what they leave over of `bytes` is a last field of unknown bytes.
fn message(lines: &str, bytes: usize, types: &BTreeMap<&str, &str>, depth: usize) -> Vec<Field> {
    let lines = lines.replace("\n ", "\n");
    let mut end = 0;
    let mut found = Vec::new();
    for field in fields::parse(lines.trim_start()) {
        let (Ok(offset), Ok(size)) = (usize::try_from(field.offset), usize::try_from(field.bytes)) else { break };
        if offset != end || size == 0 || size > bytes - end {
            break;
        }
        let is_text = field.name.ends_with("_text") || field.name.ends_with("_texts");
        let kind = kind_of(&field.type_name, size, is_text, types, depth);
        found.push(Field { name: field.name, offset, bytes: size, kind });
        end += size;
    }
    if end < bytes && !found.is_empty() {
        found.push(Field { name: "not_described".to_owned(), offset: end, bytes: bytes - end, kind: Kind::Unknown });
    }
    found
}

/// What `bytes` bytes are that are said to be of a type.
fn kind_of(type_name: &str, bytes: usize, is_text: bool, types: &BTreeMap<&str, &str>, depth: usize) -> Kind {
    if let Some(number) = Number::named(type_name) {
        return if number.bytes() == bytes { Kind::Number(number) } else { Kind::Unknown };
    }
    let Some(depth) = depth.checked_sub(1) else { return Kind::Unknown };
    let array = type_name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    if let Some((element, length)) = array.and_then(|inner| inner.rsplit_once("; ")) {
        let length = length.parse().unwrap_or(0);
        if length == 0 || !bytes.is_multiple_of(length) {
            return Kind::Unknown;
        }
        if is_text && element == "u8" {
            return Kind::Text(bytes);
        }
        let element = Rc::new(kind_of(element, bytes / length, is_text, types, depth));
        return Kind::Array { element, bytes: bytes / length, length };
    }
    let fields = types.get(type_name).map_or_else(Vec::new, |lines| message(lines, bytes, types, depth));
    if fields.is_empty() { Kind::Unknown } else { Kind::Message(fields.into()) }
}

impl Kind {
    /// The fields, if it is a message.
    pub fn fields(&self) -> &[Field] {
        if let Self::Message(fields) = self { fields } else { &[] }
    }

    /// What it is in the words of a message's definition.
    pub fn name(&self) -> String {
        match self {
            Self::Number(Number::Unsigned(bytes)) => format!("u{}", 8 * bytes),
            Self::Number(Number::Signed(bytes)) => format!("i{}", 8 * bytes),
            Self::Number(Number::Float(bytes)) => format!("f{}", 8 * bytes),
            Self::Array { element, length, .. } => format!("[{}; {length}]", element.name()),
            Self::Text(bytes) => format!("text of up to {bytes} bytes"),
            Self::Message(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|field| format!("{}: {}", field.name, field.kind.name())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            Self::Unknown => "bytes that are not described".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use horus::message::description;
    use horus::messages::{ALL, JointState, Odometry};

    #[test]
    fn every_message_of_horus_is_known_to_its_last_byte() {
        for message in ALL {
            let name = kind(&(message.description)(), message.bytes).name();
            assert!(name.starts_with('{') && !name.contains("not described"), "{}: {name}", message.type_name);
        }
    }

    #[test]
    fn messages_inside_of_messages_and_texts_are_known() {
        let odometry = kind(&description::<Odometry>(), size_of::<Odometry>());
        assert_eq!(odometry.fields()[1].kind.name(), "{x: f64, y: f64, z: f64}");
        assert_eq!(odometry.fields()[7].kind.name(), "text of up to 24 bytes");
        let joints = kind(&description::<JointState>(), size_of::<JointState>());
        assert_eq!(joints.fields().last().unwrap().kind.name(), "[text of up to 32 bytes; 16]");
    }

    #[test]
    fn what_contradicts_itself_is_bytes() {
        let named = |description: &str| kind(description, 16).name();
        let unknown = "bytes that are not described";
        assert_eq!(named(""), unknown);
        assert_eq!(named("8 8 late f64"), unknown, "a gap");
        assert_eq!(named("0 17 long u8"), unknown, "beyond the end");
        assert_eq!(named("0 18446744073709551615 long u8"), unknown);
        assert_eq!(named("0 8 x f64"), format!("{{x: f64, not_described: {unknown}}}"), "cut off");
        assert_eq!(named("0 16 x f64"), format!("{{x: {unknown}}}"));
        assert_eq!(named("0 16 x [f64; 3]"), format!("{{x: {unknown}}}"));
        assert_eq!(named("0 16 x [f64; 0]"), format!("{{x: {unknown}}}"));
        assert_eq!(named("0 16 x a/B\ntype a/C\n 0 16 y u128"), format!("{{x: {unknown}}}"));
        let endless = named("0 16 x a/B\ntype a/B\n 0 16 x a/B");
        assert!(endless.contains(unknown) && endless.len() < 1000, "{endless}");
    }
}
