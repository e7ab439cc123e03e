//! A definition from its text, as it stands in a `.msg` file.

use thiserror::Error;

use super::{Base, Extent, Field, Interface, Number};

/// Numbers by their words.
pub(super) const NUMBERS: [(&str, Number); 13] = [
    ("int8", Number::I8),
    ("uint8", Number::U8),
    ("int16", Number::I16),
    ("uint16", Number::U16),
    ("int32", Number::I32),
    ("uint32", Number::U32),
    ("int64", Number::I64),
    ("uint64", Number::U64),
    ("float32", Number::F32),
    ("float64", Number::F64),
    ("bool", Number::Bool),
    ("byte", Number::Byte),
    ("char", Number::U8), // in ROS 2 a `char` is a uint8
];

/// Why a text defines no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A line that is no field.
    #[error("`{0}` is no field: write `float64 speed`, `uint8[] data` or `geometry_msgs/Vector3 axis`")]
    Line(String),
    /// A name without package.
    #[error("`{0}` is no message's name: write `package/msg/Name`")]
    Name(String),
    /// Something inside is defined nowhere.
    #[error("`{name}`, inside of `{user}`, is none of the messages that the bridge knows: docs/ros2.md has the list")]
    Unknown {
        /// What is not known.
        name: String,
        /// Who has it.
        user: String,
    },
    /// Messages inside of messages without end.
    #[error("`{0}` is inside of too many messages")]
    Deep(String),
}

/// Reads the definition of the message `name` (`package/msg/Name`, or the part of a service, `package/srv/Name_Request`): a field on each line; constants and comments are passed over.
///
/// # Errors
/// When a line is no field.
pub fn parse(name: &str, text: &str) -> Result<Interface, Wrong> {
    let package = package(name)?;
    let mut fields = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let wrong = || Wrong::Line(line.to_owned());
        let (kind, rest) = line.split_once(char::is_whitespace).ok_or_else(wrong)?;
        if rest.contains('=') {
            continue; // a constant: it is nowhere in the bytes
        }
        let field = rest.split_whitespace().next().ok_or_else(wrong)?;
        let (base, extent) = kind_of(kind, package).ok_or_else(wrong)?;
        fields.push(Field { name: field.to_owned(), base, extent });
    }
    Ok(Interface { name: name.to_owned(), fields })
}

fn package(name: &str) -> Result<&str, Wrong> {
    let mut parts = name.split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(package), Some("msg" | "srv" | "action"), Some(last), None)
            if !package.is_empty() && !last.is_empty() =>
        {
            Ok(package)
        }
        _ => Err(Wrong::Name(name.to_owned())),
    }
}

fn kind_of(word: &str, package: &str) -> Option<(Base, Extent)> {
    let (element, extent) = match word.split_once('[') {
        None => (word, Extent::One),
        Some((element, rest)) => (element, extent(rest.strip_suffix(']')?)?),
    };
    let base = if let Some((_, number)) = NUMBERS.iter().find(|(word, _)| *word == element) {
        Base::Number(*number)
    } else if let Some(bound) = element.strip_prefix("string") {
        Base::Text(if bound.is_empty() { 0 } else { bound.strip_prefix("<=")?.parse().ok()? })
    } else if element == "wstring" {
        return None; // no message of ours has a counterpart
    } else {
        Base::Message(match element.split('/').collect::<Vec<_>>()[..] {
            [name] => format!("{package}/msg/{name}"),
            [package, name] => format!("{package}/msg/{name}"),
            _ => element.to_owned(),
        })
    };
    Some((base, extent))
}

fn extent(inside: &str) -> Option<Extent> {
    Some(match inside.strip_prefix("<=") {
        Some(bound) => Extent::Bounded(bound.parse().ok()?),
        None if inside.is_empty() => Extent::Sequence,
        None => Extent::Array(inside.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_constants_are_not() {
        let text = "# a scan\nuint8 NONE=0\nstd_msgs/Header header\nfloat32[] ranges # metres\nPart[<=3] parts\nstring<=8 word\n";
        let read = parse("a/msg/Scan", text).unwrap();
        let kinds: Vec<_> = read.fields.iter().map(|field| (field.name.as_str(), field.extent)).collect();
        let expected = [
            ("header", Extent::One),
            ("ranges", Extent::Sequence),
            ("parts", Extent::Bounded(3)),
            ("word", Extent::One),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(read.fields[2].base, Base::Message("a/msg/Part".into()));
        assert_eq!(read.fields[3].base, Base::Text(8));
    }

    #[test]
    fn what_is_no_definition_is_refused_with_its_line() {
        assert_eq!(parse("a/msg/B", "float64"), Err(Wrong::Line("float64".into())));
        assert_eq!(parse("a/msg/B", "uint8[x] y"), Err(Wrong::Line("uint8[x] y".into())));
        assert_eq!(parse("a/B", ""), Err(Wrong::Name("a/B".into())));
    }
}
