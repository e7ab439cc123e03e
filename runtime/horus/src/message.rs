//! What a message is: plain data with a name, and a layout that both ends can compare.
//!
//! A message crosses processes as its bytes, without translation. That is safe only for types in which every bit pattern
//! is a value and every byte belongs to one (zerocopy proves it), and right only if both programs mean the same fields by
//! the same bytes: hence the layout hash, taken over name, type and place of every field, of nested messages too, which
//! stands in the topic's header and is compared when a peer joins.
//!
//! # What it does not do
//! No strings, no vectors, no pointers, no `bool` or `enum` (not every byte is one), no `usize` (its size is the machine's):
//! fixed-size numbers, other messages, and arrays of both ([`FieldType`]). No translation between versions of a message: programs that disagree are refused.
//!
//! ```
//! horus::message! {
//!     /// How fast the wheels turn.
//!     pub struct WheelSpeed = "example/WheelSpeed" {
//!         /// Left wheel, radians per second.
//!         left: f64,
//!         /// Right wheel, radians per second.
//!         right: f64,
//!     }
//! }
//! use horus::message::Message;
//! assert_eq!(size_of::<WheelSpeed>(), 16);
//! assert_eq!(WheelSpeed::FIELDS[1].name, "right");
//! assert_eq!(WheelSpeed::zeroed(), WheelSpeed { left: 0.0, right: 0.0 });
//! ```
//!
//! A type with padding, whose bytes would be no field's, does not compile; the compiler says before which field it is:
//!
//! ```compile_fail
//! horus::message! {
//!     /// Seven bytes between the fields belong to none.
//!     pub struct Padded = "example/Padded" { flag: u8, value: u64 }
//! }
//! ```
//!
//! Nor does a field whose own fields cannot be compared, plain data or not:
//!
//! ```compile_fail
//! use horus::zerocopy;
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
//! #[zerocopy(crate = "horus::zerocopy")]
//! #[repr(C)]
//! pub struct Point { x: f64, y: f64 }
//!
//! horus::message! {
//!     /// `Point` would have to be a message.
//!     pub struct Place = "example/Place" { point: Point }
//! }
//! ```

#[doc(hidden)]
pub mod checked;
#[macro_use]
mod define;
mod describe;
pub mod layout;

use horus_shm::ring::Plain;
use zerocopy::KnownLayout;

pub use describe::{MadeOf, description};

/// Where a field stands in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the field.
    pub name: &'static str,
    /// Its type as it was written, for people.
    pub type_name: &'static str,
    /// Stands for all that its bytes mean: [`FieldType::TYPE_HASH`].
    pub type_hash: u64,
    /// What its bytes are: [`FieldType::MADE_OF`].
    pub made_of: &'static MadeOf,
    /// Its first byte.
    pub offset: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// Plain data that a topic can carry; define one with [`message!`](crate::message!).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no message",
    note = "define a type of your own by `horus::message!`",
    note = "other kinds of payload are opened by `open_as`: `[u8]`, `Serde<T>` and `Raw`"
)]
pub trait Message: Plain + KnownLayout {
    /// The name that both ends know the type by, such as `horus/Stamp`: 1 to 128 bytes.
    const TYPE_NAME: &'static str;
    /// The fields in the order of their places.
    const FIELDS: &'static [Field];
    /// Stands for the name, the size and every field's name, type and place, inside nested messages too; equal for equal
    /// layouts.
    const LAYOUT_HASH: u64 = layout_hash(Self::TYPE_NAME, size_of::<Self>(), align_of::<Self>(), Self::FIELDS);
}

/// What a field can be: a number of fixed size, another message, or an array of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a message",
    label = "this is no number of fixed size, no message, and no array of either",
    note = "instead of `bool`, write `u8`: 0 and 1; of an `enum`, write `u8` or `u32` for its code, and a method that gives the variant",
    note = "instead of `usize`, write `u64`: its size is the same on every machine",
    note = "instead of `String`, write `[u8; 32]`, and use `horus::messages::{{text, set_text}}`",
    note = "instead of `Option<f32>`, write `f32`, and NaN for none",
    note = "instead of `Vec<T>`, write `[T; 64]` and a `count: u32` beside it; for bytes of any length there is `horus::topic::Bytes`",
    note = "a `struct` of your own has to be defined by `horus::message!` too"
)]
pub trait FieldType: Plain {
    /// Stands for all that the bytes of such a field mean. Of a number the hash of its name in Rust; of a message its layout
    /// hash; of an array the hash of `array`, the hash of its elements, and how many there are.
    const TYPE_HASH: u64;
    /// The same for who decodes such a field without knowing its type.
    const MADE_OF: &'static MadeOf;
}

macro_rules! numbers {
    ($($number:ty)+) => { $(
        impl FieldType for $number {
            const TYPE_HASH: u64 = number_hash(stringify!($number));
            const MADE_OF: &'static MadeOf = &MadeOf::Number(stringify!($number));
        }
    )+ };
}
numbers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

impl<T: FieldType, const LENGTH: usize> FieldType for [T; LENGTH] {
    const TYPE_HASH: u64 = array_hash(T::TYPE_HASH, LENGTH);
    const MADE_OF: &'static MadeOf = &MadeOf::Array(T::MADE_OF, LENGTH);
}

impl<M: Message> FieldType for M {
    const TYPE_HASH: u64 = M::LAYOUT_HASH;
    const MADE_OF: &'static MadeOf =
        &MadeOf::Nested { type_name: M::TYPE_NAME, layout_hash: M::LAYOUT_HASH, fields: M::FIELDS };
}

/// Where FNV-1a starts.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits (Fowler, Noll, Vo): simple enough to be computed again in any other language, which bindings do. It is
/// no protection against an author who *wants* two layouts to look equal.
const fn fnv1a(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The hash of a layout: over name, size and alignment, then name, type's hash, offset and size of every field; texts end
/// with a zero byte, numbers are 8 bytes little-endian.
const fn layout_hash(type_name: &str, bytes: usize, align: usize, fields: &[Field]) -> u64 {
    let mut hash = start_hash(type_name, bytes, align);
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        hash = field_hash(hash, field.name, field.type_hash, field.offset, field.bytes);
        i += 1;
    }
    hash
}

/// What the hash of a layout begins with.
pub(crate) const fn start_hash(type_name: &str, bytes: usize, align: usize) -> u64 {
    number(number(text(BASIS, type_name), bytes as u64), align as u64)
}

/// The hash of a layout with one more field.
pub(crate) const fn field_hash(hash: u64, name: &str, type_hash: u64, offset: usize, bytes: usize) -> u64 {
    number(number(number(text(hash, name), type_hash), offset as u64), bytes as u64)
}

/// [`FieldType::TYPE_HASH`] of a number.
pub(crate) const fn number_hash(name: &str) -> u64 {
    text(BASIS, name)
}

/// [`FieldType::TYPE_HASH`] of an array.
pub(crate) const fn array_hash(element: u64, length: usize) -> u64 {
    number(number(text(BASIS, "array"), element), length as u64)
}

const fn text(hash: u64, text: &str) -> u64 {
    fnv1a(fnv1a(hash, text.as_bytes()), &[0])
}

const fn number(hash: u64, number: u64) -> u64 {
    fnv1a(hash, &number.to_le_bytes())
}

message! {
    /// A numbered moment: what the nodes `ping` and `pong` exchange, and the smallest message worth timing.
    #[derive(Default, Eq)]
    pub struct Stamp = "horus/Stamp" {
        /// Number given by the first sender; an answer repeats it.
        sequence: u64,
        /// When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it.
        sent_ns: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    message! {
        /// As `Stamp`, but the fields are swapped.
        struct Swapped = "horus/Stamp" { sent_ns: u64, sequence: u64 }
    }
    message! {
        /// As `Stamp`, but one field is signed.
        struct Signed = "horus/Stamp" { sequence: u64, sent_ns: i64 }
    }
    message! {
        /// As `Stamp` under another name.
        struct Renamed = "other/Stamp" { sequence: u64, sent_ns: u64 }
    }

    #[test]
    fn any_difference_in_layout_changes_the_hash() {
        let hashes = [Stamp::LAYOUT_HASH, Swapped::LAYOUT_HASH, Signed::LAYOUT_HASH, Renamed::LAYOUT_HASH];
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash), "{hashes:x?}");
        }
    }

    message! {
        /// A nested message.
        pub struct Pose = "test/Pose" { x: f64, y: f64 }
    }
    message! {
        /// Messages inside a message.
        struct Path = "test/Path" { count: u64, poses: [Pose; 2] }
    }
    mod swapped {
        message! {
            /// As the other `Pose`, but the fields are swapped.
            pub struct Pose = "test/Pose" { y: f64, x: f64 }
        }
        message! {
            /// As the other `Path`, written the same, with the other `Pose`.
            pub struct Path = "test/Path" { count: u64, poses: [Pose; 2] }
        }
    }
    mod elsewhere {
        use super::Pose as Posture;
        message! {
            /// The same as `Path`, with another way to write `Pose`.
            pub struct Path = "test/Path" { count: u64, poses: [Posture; 2] }
        }
    }
    message! {
        /// Another number of the same.
        struct Longer = "test/Path" { count: u64, poses: [Pose; 3] }
    }

    #[test]
    fn a_difference_inside_a_nested_message_changes_the_hash() {
        assert_eq!(Path::FIELDS[1].type_name, swapped::Path::FIELDS[1].type_name, "they look the same");
        assert_ne!(Path::LAYOUT_HASH, swapped::Path::LAYOUT_HASH);
        assert_ne!(Path::FIELDS[1].type_hash, Longer::FIELDS[1].type_hash);
        assert_eq!(Path::LAYOUT_HASH, elsewhere::Path::LAYOUT_HASH, "the same layout under another spelling");
        // Computed from the descriptions at `layout_hash` and `FieldType` by another program.
        assert_eq!(Path::LAYOUT_HASH, 0x31bb_0715_7b6f_2b64);
    }

    type Matrix<const N: usize> = [[f64; N]; N];
    message! {
        /// A type with a parameter and a path, which are written in more than a word.
        struct Estimate = "test/Estimate" { covariance: Matrix<3>, stamp: super::Stamp }
    }
    message! {
        /// A message of a name that Rust has for something else.
        struct Vec = "test/Vec" { x: f64 }
    }
    message! {
        /// With the message of that name.
        struct Line = "test/Line" { start: Vec, end: Vec }
    }

    #[test]
    fn types_of_several_words_and_messages_called_like_containers_are_fields() {
        assert_eq!((size_of::<Estimate>(), Estimate::FIELDS[1].offset), (88, 72));
        assert_eq!(
            Estimate::FIELDS.iter().map(|field| field.type_name).collect::<std::vec::Vec<_>>(),
            ["Matrix<3>", "super::Stamp"]
        );
        assert_eq!((size_of::<Line>(), Line::FIELDS[0].type_name), (16, "Vec"));
        assert_eq!(Line::FIELDS[1].type_hash, Vec::LAYOUT_HASH);
    }

    message! {
        /// Larger than any array that has a `Default`.
        struct Large = "test/Large" { values: [f64; 64] }
    }

    #[test]
    fn a_message_with_a_large_array_can_be_made_of_zeros() {
        assert_eq!(Large::zeroed(), Large { values: [0.0; 64] });
    }

    #[test]
    fn padding_is_found_before_the_field_that_it_moves() {
        let places = [("a", 0, 1), ("b", 8, 8), ("c", 16, 1)];
        let gap = |field| checked::gap_before(&places, field, 24);
        assert_eq!([gap("a"), gap("b"), gap("c"), gap("")], [0, 7, 0, 7]);
        assert_eq!(
            checked::gap_before(&[("ab", 4, 1), ("a", 6, 1)], "a", 7),
            1,
            "a name that is the beginning of another"
        );
    }

    #[test]
    fn the_layout_of_a_stamp_stays_what_was_released() {
        assert_eq!((size_of::<Stamp>(), align_of::<Stamp>()), (16, 8));
        assert_eq!(
            Stamp::FIELDS[1],
            Field {
                name: "sent_ns",
                type_name: "u64",
                type_hash: u64::TYPE_HASH,
                made_of: u64::MADE_OF,
                offset: 8,
                bytes: 8
            }
        );
        // Computed from the description at `layout_hash` by another program.
        assert_eq!(Stamp::LAYOUT_HASH, 0xe6ec_3c5d_4706_aa2d);
    }
}
