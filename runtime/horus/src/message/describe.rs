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

use super::layout::Layout;
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
    Layout::of::<M>().description()
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
