//! RIHS01: the hash by which two ROS 2 programs know that they mean the same message (REP 2016).
//!
//! It is SHA-256 over the message's description as JSON in one exact form: no name of a default value, a space after each
//! comma and colon, the messages inside of it sorted by name.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Base, Extent, Field, Interface, Number, Whole};

/// What the numbers of `type_description_interfaces/msg/FieldType` add for each way to have several.
const ARRAY: u32 = 48;
const BOUNDED: u32 = 96;
const SEQUENCE: u32 = 144;
const NESTED: u32 = 1;
const STRING: u32 = 17;
const BOUNDED_STRING: u32 = 21;

/// The hash of a message, as ROS 2 writes it: `RIHS01_` and 64 digits.
pub fn rihs01(whole: &Whole) -> String {
    let digest = Sha256::digest(description(whole).as_bytes());
    digest.iter().fold(String::from("RIHS01_"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What the hash is taken over.
pub fn description(whole: &Whole) -> String {
    let mut inner: Vec<_> = whole.inner.values().collect();
    inner.sort_by(|a, b| a.name.cmp(&b.name));
    let inner: Vec<_> = inner.into_iter().map(one).collect();
    format!("{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}", one(&whole.top), inner.join(", "))
}

fn one(interface: &Interface) -> String {
    // A message without fields has one, because C knows no empty struct.
    let nothing = Field {
        name: "structure_needs_at_least_one_member".to_owned(),
        base: Base::Number(Number::U8),
        extent: Extent::One,
    };
    let fields = if interface.fields.is_empty() { std::slice::from_ref(&nothing) } else { &interface.fields[..] };
    let fields: Vec<_> = fields.iter().map(field).collect();
    format!("{{\"type_name\": \"{}\", \"fields\": [{}]}}", interface.name, fields.join(", "))
}

fn field(field: &Field) -> String {
    let (id, string_capacity, nested) = match &field.base {
        Base::Number(number) => (number_id(*number), 0, ""),
        Base::Text(0) => (STRING, 0, ""),
        Base::Text(bound) => (BOUNDED_STRING, *bound, ""),
        Base::Message(name) => (NESTED, 0, name.as_str()),
    };
    let (more, capacity) = match field.extent {
        Extent::One => (0, 0),
        Extent::Array(count) => (ARRAY, count),
        Extent::Bounded(count) => (BOUNDED, count),
        Extent::Sequence => (SEQUENCE, 0),
    };
    format!(
        "{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {capacity}, \"string_capacity\": {string_capacity}, \
         \"nested_type_name\": \"{nested}\"}}}}",
        field.name,
        id + more
    )
}

fn number_id(number: Number) -> u32 {
    match number {
        Number::I8 => 2,
        Number::U8 => 3,
        Number::I16 => 4,
        Number::U16 => 5,
        Number::I32 => 6,
        Number::U32 => 7,
        Number::I64 => 8,
        Number::U64 => 9,
        Number::F32 => 10,
        Number::F64 => 11,
        Number::Bool => 15,
        Number::Byte => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, standard};
    use super::*;

    #[test]
    fn the_hash_of_a_string_is_the_one_that_ros_says() {
        // `ros2 topic info --verbose` of a Kilted; the check of docs/ros2.md compares all of them.
        let hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        assert_eq!(rihs01(&standard::whole("std_msgs/msg/String").unwrap()), hash);
    }

    #[test]
    fn a_different_bound_is_another_message() {
        let hash = |text| rihs01(&Whole::new(parse("a/msg/B", text).unwrap(), &|_| None).unwrap());
        let hashes =
            [hash("uint8[] x"), hash("uint8[4] x"), hash("uint8[<=4] x"), hash("uint8 x"), hash("string<=4 x")];
        for (index, one) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(one), "{hashes:?}");
        }
    }
}
