//! The bounds of a definition by [`message!`](crate::message!), each with the words for the mistake that breaks it.
//!
//! They prove nothing that is relied on: that a message is plain data without padding is proved by zerocopy's own derives.

use super::FieldType;

/// A field by its name.
pub trait Field {
    /// What it was declared as.
    type Type: FieldType;
}

/// A field by its name, with the bytes of padding before it.
pub trait Place<const BYTES: usize> {
    /// What it was declared as.
    type Type: StartsWhereTheLastOneEnds<BYTES, Self>;
}

/// A message with the bytes of padding at its end.
pub trait Whole<const BYTES: usize> {
    /// The message.
    type Message: EndsWithItsLastField<BYTES>;
}

/// Of the type of a field: no padding is before it.
#[diagnostic::on_unimplemented(
    message = "{BYTES} bytes before the field `{Field}` belong to no field",
    label = "`{Field}` can only start after {BYTES} bytes of padding",
    note = "order the fields by the size of their numbers: those with f64, u64 and i64 first, then 4, 2 and 1 byte",
    note = "or fill the gap with a field before `{Field}`: `spare: [u8; {BYTES}]`, and leave it zero"
)]
pub trait StartsWhereTheLastOneEnds<const BYTES: usize, Field: ?Sized> {}
impl<T, Field: ?Sized> StartsWhereTheLastOneEnds<0, Field> for T {}

/// Of a message: no padding is at its end.
#[diagnostic::on_unimplemented(
    message = "{BYTES} bytes at the end of the message `{Self}` belong to no field",
    label = "`{Self}` ends with {BYTES} bytes of padding",
    note = "add a field at its end: `spare: [u8; {BYTES}]`, and leave it zero"
)]
pub trait EndsWithItsLastField<const BYTES: usize> {}
impl<T> EndsWithItsLastField<0> for T {}

/// Of a message without the name that both ends know it by.
#[diagnostic::on_unimplemented(
    message = "the message `{Self}` has no name that other programs know it by",
    label = "write `struct {Self} = \"package/{Self}\" {{`",
    note = "programs in other languages and listings use this name; `package` is yours"
)]
pub trait NoTypeName {}

/// Of a message with parameters.
#[diagnostic::on_unimplemented(
    message = "the message `{Self}` has parameters",
    label = "write one message for each type that `{Self}` would stand for",
    note = "both ends of a topic compare the places of all fields, which parameters would leave open"
)]
pub trait NotGeneric {}

/// Of a message whose fields are numbered.
#[diagnostic::on_unimplemented(
    message = "the fields of the message `{Self}` have no names",
    label = "write `{{ name: Type, other_name: Type }}` instead of `(Type, Type)`",
    note = "both ends of a topic compare the names of the fields"
)]
pub trait FieldsHaveNames {}

/// Of a message without fields.
#[diagnostic::on_unimplemented(
    message = "the message `{Self}` has no field",
    label = "write `struct {Self} = \"package/{Self}\" {{ field: Type }}`",
    note = "a message of no bytes cannot be told from none; a counter such as `number: u64` says that something happened"
)]
pub trait HasFields {}

/// Of an `enum`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is an enum, and a message is a struct",
    label = "write `struct {Self} = \"package/{Self}\" {{ code: u32 }}`, and let a method give the enum of a code",
    note = "a peer can write any byte, and not every byte is a variant"
)]
pub trait IsStruct {}

/// Of a field that was declared `pub`.
#[diagnostic::on_unimplemented(
    message = "the field `{Self}` has a visibility",
    label = "write `{Self}` without `pub`",
    note = "all fields of a message are public"
)]
pub trait NoVisibility {}

/// What the word for a container without parameters means where it is named as the type of a field.
pub mod container {
    pub use std::string::String;
}

/// Bytes of padding before `field`, or at the end if there is no such field; `places` are names, offsets and sizes.
pub const fn gap_before(places: &[(&str, usize, usize)], field: &str, bytes: usize) -> usize {
    let mut end = 0;
    let mut i = 0;
    while i < places.len() {
        let (name, offset, size) = places[i];
        if is_same(name, field) {
            return offset - end;
        }
        end = offset + size;
        i += 1;
    }
    bytes - end
}

const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() && left[i] == right[i] {
        i += 1;
    }
    i == left.len() && i == right.len()
}

/// What the derives of zerocopy name, with other words for padding: theirs advise `repr(packed)`, which no message can have.
pub mod zerocopy {
    pub use zerocopy::*;

    /// Of zerocopy.
    pub mod util {
        /// Of zerocopy.
        pub mod macro_util {
            pub use zerocopy::util::macro_util::*;

            /// The same as zerocopy's trait of this name: only a type with no byte of padding has it.
            #[diagnostic::on_unimplemented(
                message = "the message `{T}` has {PADDING_BYTES} bytes of padding",
                label = "these bytes belong to no field",
                note = "another error says before which field they are, and what to do"
            )]
            pub trait PaddingFree<T: ?Sized, const PADDING_BYTES: usize> {}
            impl<T: ?Sized> PaddingFree<T, 0> for () {}
        }
    }
}
