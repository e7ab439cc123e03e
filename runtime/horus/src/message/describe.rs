//! What a message says of its fields in its topic's header: text that any program can read the message's bytes by.
//!
//! ```text
//! 0 8 stamp_ns u64                    first byte, bytes, name and type of each field of the message
//! 8 24 position horus/Vector3         a message inside of it goes by its name
//! 32 48 corners [horus/Vector3; 2]
//! type horus/Vector3                  what such a message has, said once, places from its own first byte
//!  0 8 x f64
//!  8 8 y f64
//!  16 8 z f64
//! ```
//!
//! A type is written by what it is, whatever it was called in its program: a number by its name in Rust, an array as
//! `[type; length]`. The description is no proof of anything: what two programs agree on is the layout hash.

use super::{Field, Message};

/// What the bytes of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeOf {
    /// A number, by its name in Rust.
    Number(&'static str),
    /// So many of the same.
    Array(&'static MadeOf, usize),
    /// Another message.
    Nested {
        /// Its name.
        type_name: &'static str,
        /// Tells it from another of the same name.
        layout_hash: u64,
        /// Its fields.
        fields: &'static [Field],
    },
}

/// The fields of `M` for the topic's header, and those of the messages inside of it; the module's text has the form.
pub fn description<M: Message>() -> String {
    let mut inner = Inner::default();
    let mut lines: Vec<_> = M::FIELDS.iter().map(|field| inner.line(field)).collect();
    let mut told = 0;
    while let Some(message) = inner.0.get(told) {
        let fields = message.fields;
        lines.push(format!("type {}", message.name));
        lines.extend(fields.iter().map(|field| format!(" {}", inner.line(field))));
        told += 1;
    }
    lines.join("\n")
}

/// The messages inside of a message, in the order of their first mention.
#[derive(Default)]
struct Inner(Vec<Mentioned>);

struct Mentioned {
    name: String,
    layout_hash: u64,
    fields: &'static [Field],
}

impl Inner {
    fn line(&mut self, field: &Field) -> String {
        format!("{} {} {} {}", field.offset, field.bytes, field.name, self.type_of(field.made_of))
    }

    fn type_of(&mut self, made_of: &MadeOf) -> String {
        match *made_of {
            MadeOf::Number(name) => name.to_owned(),
            MadeOf::Array(element, length) => format!("[{}; {length}]", self.type_of(element)),
            MadeOf::Nested { type_name, layout_hash, fields } => self.name_of(type_name, layout_hash, fields),
        }
    }

    /// The message's name; with its hash, if another one has that name already.
    fn name_of(&mut self, type_name: &str, layout_hash: u64, fields: &'static [Field]) -> String {
        if let Some(known) = self.0.iter().find(|known| known.layout_hash == layout_hash) {
            return known.name.clone();
        }
        let is_taken = self.0.iter().any(|known| known.name == type_name);
        let name = if is_taken { format!("{type_name}~{layout_hash:016x}") } else { type_name.to_owned() };
        self.0.push(Mentioned { name: name.clone(), layout_hash, fields });
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = [[f32; 3]; 2];
    crate::message! {
        /// A place.
        pub struct Place = "test/Place" { x: f64, y: f64 }
    }
    mod other {
        crate::message! {
            /// Another one of the same name.
            pub struct Place = "test/Place" { east: f64, north: f64 }
        }
    }
    crate::message! {
        /// Two places.
        pub struct Step = "test/Step" { from: Place, to: Place }
    }
    crate::message! {
        /// Everything that a field can be.
        struct Path = "test/Path" { count: u64, matrix: Matrix, steps: [Step; 2], end: other::Place }
    }

    #[test]
    fn a_message_inside_a_message_is_described_once_and_types_by_what_they_are() {
        let lines = [
            "0 8 count u64",
            "8 24 matrix [[f32; 3]; 2]",
            "32 64 steps [test/Step; 2]",
            "96 16 end test/Place",
            "type test/Step",
            " 0 16 from test/Place~",
            " 16 16 to test/Place~",
            "type test/Place",
            " 0 8 east f64",
            " 8 8 north f64",
            "type test/Place~",
            " 0 8 x f64",
            " 8 8 y f64",
        ];
        let hash = format!("~{:016x}", Place::LAYOUT_HASH);
        assert_eq!(description::<Path>().replace(&hash, "~"), lines.join("\n"));
    }
}
