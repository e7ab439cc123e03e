//! The macro that defines messages, and what it says of a definition that is none.
//!
//! The compiler marks the text that a failed bound belongs to. So every mistake becomes a bound on something of the user's
//! own text: the type of the field, or the name that stands in the wrong place. The trait of that bound carries the words.
//! `tests/mistakes/messages` holds each mistake with what the compiler prints.

/// Defines a message: `pub struct Name = "package/Name" { field: Type, … }`, with documentation on every part.
///
/// The struct is `repr(C)` with public fields. `Name::zeroed()` is a message of which all bytes are zero; every message
/// has it, those with large arrays too, for which `Default` cannot be derived. The definition does not compile if it has
/// padding or a field that is no [`FieldType`](crate::message::FieldType).
#[macro_export]
macro_rules! message {
    // Types of one word, in which the usual mistakes are known by their names.
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:tt = $type_name:literal {
            $( $(#[$about_field:meta])* $field:ident : $type:tt $(< $($parameter:tt),* >)? ),+ $(,)?
        }
    ) => {
        $crate::message_definition! {
            $(#[$about])*
            $visibility struct $name = $type_name {
                $( $(#[$about_field])* $field : {
                    $crate::message_field! { @checked $type $(< $($parameter),* >)? },
                    $crate::message_field! { $type $(< $($parameter),* >)? }, stringify!($type $(< $($parameter),* >)?)
                } )+
            }
        }
        $( $crate::message_field! { @container $type $type $(< $($parameter),* >)? } )+
    };
    // All others, such as paths.
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:tt = $type_name:literal {
            $( $(#[$about_field:meta])* $field:ident : $type:ty ),+ $(,)?
        }
    ) => {
        $crate::message_definition! {
            $(#[$about])*
            $visibility struct $name = $type_name { $( $(#[$about_field])* $field : { $type, $type, stringify!($type) } )+ }
        }
    };
    ( $($other:tt)* ) => { $crate::message_mistake! { $($other)* } };
}

/// The type that a field is given. For those that are no field by mistake it is one that can be: the mistake is named where
/// the field is checked, and what follows from it, a dozen errors of each derive, is not said at all.
///
/// With `@checked` the type as it was written, or nothing to complain of for a container, which `@container` marks: the
/// compiler marks one word of the user's, not a type with its parameters. A message of one's own called `String` is refused
/// by its word, too, and never becomes another type; `self::String` names it.
#[doc(hidden)]
#[macro_export]
macro_rules! message_field {
    ( @checked String ) => { u8 };
    ( @checked Vec < $($parameters:tt)* ) => { u8 };
    ( @checked Option < $($parameters:tt)* ) => { u8 };
    ( @checked $type:tt ) => { $type };
    ( @checked $($type:tt)+ ) => { $($type)+ };

    ( @container String $place:tt ) => { $crate::message_field! { @mark $place } };
    ( @container Vec $place:tt < $($parameters:tt)* ) => { $crate::message_field! { @mark $place < $($parameters)* } };
    ( @container Option $place:tt < $($parameters:tt)* ) => { $crate::message_field! { @mark $place < $($parameters)* } };
    ( @container $($other:tt)* ) => {};
    ( @mark $place:tt ) => {
        const _: () = {
            use $crate::message::checked::container::*;
            struct Marked;
            impl $crate::message::checked::Field for Marked { type Type = $place; }
        };
    };
    ( @mark $place:tt < $($parameters:tt)* ) => {
        const _: () = {
            type Written = $place < $($parameters)*;
            // Where one word is the whole type.
            const _: () = {
                type $place = Written;
                struct Marked;
                impl $crate::message::checked::Field for Marked { type Type = $place; }
            };
        };
    };

    ( bool ) => { u8 };
    ( char ) => { u32 };
    ( usize ) => { u64 };
    ( isize ) => { i64 };
    ( String ) => { [u8; 8] };
    ( Vec < $($parameters:tt)* ) => { [u8; 8] };
    ( Option < $($parameters:tt)* ) => { [u8; 8] };
    ( $type:ty ) => { $type };
}

/// Defines a message of fields with two types, one that is checked and one that they are given, and what was written.
#[doc(hidden)]
#[macro_export]
macro_rules! message_definition {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:tt = $type_name:literal {
            $( $(#[$about_field:meta])* $field:ident : { $type:ty, $stored:ty, $written:expr } )+
        }
    ) => {
        const _: () = {
            const PLACES: &[(&str, usize, usize)] =
                &[ $( (stringify!($field), core::mem::offset_of!($name, $field), size_of::<$stored>()), )+ ];
            const fn gap_before(field: &str) -> usize {
                $crate::message::checked::gap_before(PLACES, field, size_of::<$name>())
            }
            // In a module of its own, so that a field may have the name of a type.
            #[allow(dead_code, non_camel_case_types)]
            mod called { $( pub(super) struct $field; )+ }
            $(
                impl $crate::message::checked::Field for called::$field { type Type = $type; }
                impl $crate::message::checked::Place<{ gap_before(stringify!($field)) }> for called::$field {
                    type Type = $type;
                }
            )+
            impl $crate::message::checked::Whole<{ gap_before("") }> for $name { type Message = $name; }
        };

        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq,
            $crate::message::checked::zerocopy::FromBytes, $crate::message::checked::zerocopy::IntoBytes,
            $crate::message::checked::zerocopy::Immutable, $crate::message::checked::zerocopy::KnownLayout,
        )]
        #[zerocopy(crate = "horus::message::checked::zerocopy")]
        #[repr(C)]
        $visibility struct $name {
            $( $(#[$about_field])* pub $field: $stored, )+
        }

        #[allow(dead_code)] // a message that is only received is never made
        impl $name {
            /// A message of which all bytes are zero, to be filled in.
            ///
            /// It lives where the caller puts it, the stack mostly. A large one is better written where a publisher lends room.
            $visibility fn zeroed() -> Self {
                $crate::zerocopy::FromZeros::new_zeroed()
            }
        }

        impl $crate::message::Message for $name {
            const TYPE_NAME: &'static str = $type_name;
            const FIELDS: &'static [$crate::message::Field] = &[ $( $crate::message::Field {
                name: stringify!($field),
                type_name: $written,
                type_hash: <$stored as $crate::message::FieldType>::TYPE_HASH,
                made_of: <$stored as $crate::message::FieldType>::MADE_OF,
                offset: core::mem::offset_of!($name, $field),
                bytes: size_of::<$stored>(),
            }, )+ ];
        }
    };
}

/// Says what is wrong with the syntax of a definition, at the name where it is wrong.
#[doc(hidden)]
#[macro_export]
macro_rules! message_mistake {
    ( $(#[$about:meta])* $visibility:vis struct $name:tt { $($fields:tt)* } ) => {
        $crate::message_mistake! { @ NoTypeName $name }
    };
    ( $(#[$about:meta])* $visibility:vis struct $name:tt < $($rest:tt)* ) => {
        $crate::message_mistake! { @ NotGeneric $name }
    };
    ( $(#[$about:meta])* $visibility:vis struct $name:tt $(= $type_name:literal)? ( $($types:tt)* ) $(;)? ) => {
        $crate::message_mistake! { @ FieldsHaveNames $name }
    };
    ( $(#[$about:meta])* $visibility:vis struct $name:tt $(= $type_name:literal)? $({})? $(;)? ) => {
        $crate::message_mistake! { @ HasFields $name }
    };
    ( $(#[$about:meta])* $visibility:vis enum $name:tt $($rest:tt)* ) => {
        $crate::message_mistake! { @ IsStruct $name }
    };
    ( $(#[$about:meta])* $visibility:vis struct $name:tt = $type_name:literal { $($fields:tt)* } ) => {
        $crate::message_mistake! { @fields $($fields)* }
    };
    ( @fields $(#[$about:meta])* pub $( ($($where:tt)*) )? $field:tt : $($rest:tt)* ) => {
        $crate::message_mistake! { @ NoVisibility $field }
    };
    ( @fields $(#[$about:meta])* $field:ident : $type:ty , $($rest:tt)* ) => {
        $crate::message_mistake! { @fields $($rest)* }
    };
    ( @ $mistake:ident $place:tt ) => {
        const _: () = {
            #[allow(non_camel_case_types)]
            struct $place;
            fn check<Definition: $crate::message::checked::$mistake>() {}
            let _ = check::<$place>;
        };
    };
    ( $($other:tt)* ) => {
        compile_error!("a message is written: pub struct Name = \"package/Name\" { field: Type, other_field: Type }");
    };
}
