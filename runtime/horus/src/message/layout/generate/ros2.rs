//! Definitions of ROS 2 for messages: the `.msg` files that its build tools, recordings and viewers read.
//!
//! The bytes of a message here are those of ROS 2 (CDR, little-endian) behind its four bytes of encapsulation, because no message
//! has padding. So a definition is all that a ROS 2 program needs.

use std::fmt::Write;

use super::GenerateError;
use crate::message::layout::{Layout, MadeOf};

/// A `.msg` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What ROS 2 calls the message: `horus/msg/Imu` for `horus/Imu`.
    pub name: String,
    /// What the file `msg/Imu.msg` of the package `horus` says.
    pub text: String,
}

/// The definition of a message, then those of the messages inside of it.
///
/// Arrays of arrays become one: ROS 2 knows no others, and the bytes are the same.
///
/// ```
/// use horus::message::layout::{Layout, generate};
/// let layout: Layout = "message example/WheelSpeed\n left f64\n codes [[u8; 4]; 2]".parse().unwrap();
/// let files = generate::ros2(&layout).unwrap();
/// assert_eq!(files[0].name, "example/msg/WheelSpeed");
/// assert!(files[0].text.ends_with("float64 left\nuint8[8] codes\n"));
/// ```
///
/// # Errors
/// When ROS 2 has no such name, or no such number.
pub fn ros2(layout: &Layout) -> Result<Vec<Definition>, GenerateError> {
    let mut definitions = Vec::new();
    let mut waiting = vec![layout];
    while let Some(layout) = waiting.pop() {
        let definition = definition(layout, &mut waiting)?;
        match definitions.iter().find(|known: &&Definition| known.name == definition.name) {
            None => definitions.push(definition),
            Some(known) if *known == definition => {}
            Some(_) => return Err(GenerateError::Twice(layout.type_name().to_owned())),
        }
    }
    Ok(definitions)
}

fn definition<'a>(layout: &'a Layout, inner: &mut Vec<&'a Layout>) -> Result<Definition, GenerateError> {
    let mut text =
        format!("# {}; made by `horus message generate --lang ros2`: change its layout.\n", layout.type_name());
    for field in layout.fields() {
        if !is_field(field.name()) {
            return Err(GenerateError::Ros(field.name().to_owned()));
        }
        let (element, count) = element(field.made_of(), field.name(), inner)?;
        let array = count.map_or(String::new(), |count| format!("[{count}]"));
        let _ = writeln!(text, "{element}{array} {}", field.name());
    }
    let name = whole_name(layout.type_name(), "/msg/")?;
    Ok(Definition { name, text })
}

/// What an element of a field is called, and how many there are of an array.
fn element<'a>(
    made_of: &'a MadeOf,
    field: &str,
    inner: &mut Vec<&'a Layout>,
) -> Result<(String, Option<usize>), GenerateError> {
    match made_of {
        MadeOf::Number(name, _) => Ok((number(name, field)?.to_owned(), None)),
        MadeOf::Nested(layout) => {
            inner.push(layout);
            Ok((whole_name(layout.type_name(), "/")?, None))
        }
        MadeOf::Array(each, count) => {
            let (name, within) = element(each, field, inner)?;
            Ok((name, Some(within.unwrap_or(1).saturating_mul(*count))))
        }
    }
}

fn number(name: &str, field: &str) -> Result<&'static str, GenerateError> {
    Ok(match name {
        "u8" => "uint8",
        "i8" => "int8",
        "u16" => "uint16",
        "i16" => "int16",
        "u32" => "uint32",
        "i32" => "int32",
        "u64" => "uint64",
        "i64" => "int64",
        "f32" => "float32",
        "f64" => "float64",
        _ => return Err(GenerateError::Wide(field.to_owned())),
    })
}

/// `horus/Imu` with something else between package and name.
fn whole_name(name: &str, between: &str) -> Result<String, GenerateError> {
    let parts = name.split_once('/').filter(|(package, last)| is_field(package) && is_message(last));
    let (package, last) = parts.ok_or_else(|| GenerateError::Ros(name.to_owned()))?;
    Ok(format!("{package}{between}{last}"))
}

/// Small letters, digits and single underscores, a letter first and no underscore last.
fn is_field(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// Letters and digits, a capital letter first.
fn is_message(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Definition>, GenerateError> {
        ros2(&text.parse().unwrap())
    }

    #[test]
    fn messages_inside_of_a_message_have_files_of_their_own() {
        let text = "message a/Path\n poses [a/Pose; 4]\n count u64\nmessage a/Pose\n x f64\n where b/Frame\nmessage b/Frame\n number u64";
        let files = of(text).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a/msg/Path", "a/msg/Pose", "b/msg/Frame"]);
        assert!(files[0].text.ends_with("\na/Pose[4] poses\nuint64 count\n"), "{}", files[0].text);
        assert!(files[1].text.ends_with("\nfloat64 x\nb/Frame where\n"), "{}", files[1].text);
    }

    #[test]
    fn names_and_numbers_that_ros_lacks_are_refused() {
        let refused = |text: &str| of(text).unwrap_err().to_string();
        assert!(refused("message a/lower\n x u8").contains("a/lower"));
        assert!(refused("message Big/Name\n x u8").contains("Big/Name"));
        assert!(refused("message a/B\n leftWheel u8").contains("leftWheel"));
        assert!(refused("message a/B\n x u128").contains("128 bits"));
    }
}
