//! `rcl_interfaces`: parameters, as ROS 2 asks for them, sets them and tells of them.

use horus::param::{Current, Kind, Value};

use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::Time;

/// What ROS calls the type of a parameter that is not there (`rcl_interfaces/msg/ParameterType`).
const NOT_SET: u8 = 0;
/// Names in a request, at most; a program has no more parameters.
const NAMES: usize = 4096;

/// A value that a client in ROS wants a parameter to have; `None` is one that no parameter here can have.
pub type Wanted = (String, Option<Value>);

/// What ROS calls a parameter: its node here, a point, and its name.
pub fn name(current: &Current) -> String {
    format!("{}.{}", current.declaration.node, current.declaration.name)
}

fn type_of(kind: Kind) -> u8 {
    match kind {
        Kind::Bool => 1,
        Kind::I64 => 2,
        Kind::F64 => 3,
        Kind::Text => 4,
    }
}

/// Reads names: what `get_parameters`, `get_parameter_types` and `describe_parameters` ask with.
///
/// # Errors
/// When the bytes are no such request.
pub fn read_names(bytes: &[u8]) -> Result<Vec<String>, Malformed> {
    names(&mut Reader::new(bytes))
}

fn names(reader: &mut Reader<'_>) -> Result<Vec<String>, Malformed> {
    let count = reader.count(4)?;
    if count > NAMES {
        return Err(Malformed::TooMany);
    }
    (0..count).map(|_| reader.text().map(str::to_owned)).collect()
}

/// Reads prefixes and depth: what `list_parameters` asks with.
///
/// # Errors
/// When the bytes are no such request.
pub fn read_list(bytes: &[u8]) -> Result<(Vec<String>, u64), Malformed> {
    let mut reader = Reader::new(bytes);
    Ok((names(&mut reader)?, reader.u64()?))
}

/// Reads parameters with their values: what `set_parameters` asks with.
///
/// # Errors
/// When the bytes are no such request.
pub fn read_wanted(bytes: &[u8]) -> Result<Vec<Wanted>, Malformed> {
    let mut reader = Reader::new(bytes);
    let count = reader.count(8)?;
    if count > NAMES {
        return Err(Malformed::TooMany);
    }
    let one = |_| Ok((reader.text()?.to_owned(), read_value(&mut reader)?));
    (0..count).map(one).collect()
}

fn read_value(reader: &mut Reader<'_>) -> Result<Option<Value>, Malformed> {
    let kind = reader.u8()?;
    let (truth, whole, number) = (reader.u8()? != 0, reader.i64()?, reader.f64()?);
    let text = reader.text()?.to_owned();
    // The lists: bytes, truth values, whole numbers, numbers, texts.
    for size in [1, 1, 8, 8] {
        let count = reader.count(size)?;
        reader.pass(count, size)?;
    }
    for _ in 0..reader.count(4)? {
        reader.text()?;
    }
    Ok(match kind {
        1 => Some(Value::Bool(truth)),
        2 => Some(Value::I64(whole)),
        3 => Some(Value::F64(number)),
        4 => Some(Value::Text(text)),
        _ => None,
    })
}

/// Writes a value; `None` is one that is not set.
pub fn write_value(value: Option<&Value>, writer: &mut Writer<'_>) {
    let (mut kind, mut truth, mut whole, mut number, mut text) = (NOT_SET, false, 0, 0.0, "");
    match value {
        None => {}
        Some(Value::Bool(value)) => (kind, truth) = (1, *value),
        Some(Value::I64(value)) => (kind, whole) = (2, *value),
        Some(Value::F64(value)) => (kind, number) = (3, *value),
        Some(Value::Text(value)) => (kind, text) = (4, value),
    }
    writer.u8(kind);
    writer.u8(truth.into());
    writer.i64(whole);
    writer.f64(number);
    writer.text(text);
    (0..5).for_each(|_| writer.count(0));
}

/// Writes names and the prefixes that they have: the answer of `list_parameters`.
pub fn write_list(all: &[Current], prefixes: &[String], depth: u64, writer: &mut Writer<'_>) {
    let is_within = |name: &str, prefix: &str| {
        let rest = name
            .strip_prefix(prefix)
            .and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') });
        rest.is_some_and(|rest| depth == 0 || (rest.matches('.').count() as u64) < depth)
    };
    let is_wanted = |name: &String| match prefixes {
        [] => depth == 0 || (name.matches('.').count() as u64) < depth,
        prefixes => prefixes.iter().any(|prefix| is_within(name, prefix)),
    };
    let names: Vec<_> = all.iter().map(name).filter(is_wanted).collect();
    let mut found: Vec<_> = names.iter().filter_map(|name| name.rsplit_once('.')).map(|(prefix, _)| prefix).collect();
    found.sort_unstable();
    found.dedup();
    writer.count(names.len());
    names.iter().for_each(|name| writer.text(name));
    writer.count(found.len());
    found.iter().for_each(|prefix| writer.text(prefix));
}

fn find<'a>(all: &'a [Current], wanted: &str) -> Option<&'a Current> {
    all.iter().find(|current| name(current) == wanted)
}

/// Writes the values of these names: the answer of `get_parameters`. One that is not there is not set.
pub fn write_values(all: &[Current], names: &[String], writer: &mut Writer<'_>) {
    writer.count(names.len());
    for name in names {
        write_value(find(all, name).and_then(|current| current.value.as_ref()), writer);
    }
}

/// Writes the types of these names: the answer of `get_parameter_types`.
pub fn write_types(all: &[Current], names: &[String], writer: &mut Writer<'_>) {
    writer.count(names.len());
    for name in names {
        writer.u8(find(all, name).map_or(NOT_SET, |current| type_of(current.declaration.kind)));
    }
}

/// Writes what these names are: the answer of `describe_parameters`. Where they cannot be set by ROS, all of them are read only.
pub fn write_descriptions(all: &[Current], names: &[String], is_read_only: bool, writer: &mut Writer<'_>) {
    writer.count(names.len());
    for wanted in names {
        let known = find(all, wanted).map(|current| &current.declaration);
        writer.text(wanted);
        writer.u8(known.map_or(NOT_SET, |known| type_of(known.kind)));
        writer.text(known.map_or("", |known| &known.about));
        let unit = known.filter(|known| !known.unit.is_empty()).map(|known| format!("unit: {}", known.unit));
        writer.text(&unit.unwrap_or_default());
        writer.u8(u8::from(is_read_only || known.is_some_and(|known| known.read_only)));
        writer.u8(0); // a type stays as it is
        let range = known.and_then(|known| known.range());
        match range {
            Some([Value::F64(least), Value::F64(greatest)]) => {
                writer.count(1);
                writer.f64s(&[least, greatest, 0.0]);
                writer.count(0);
            }
            Some([Value::I64(least), Value::I64(greatest)]) => {
                writer.count(0);
                writer.count(1);
                writer.i64s(&[least, greatest]);
                writer.u64(0);
            }
            _ => (0..2).for_each(|_| writer.count(0)),
        }
    }
}

/// Writes what became of a set: that it was done, or why not.
pub fn write_result(refused: Option<&str>, writer: &mut Writer<'_>) {
    writer.u8(refused.is_none().into());
    writer.text(refused.unwrap_or_default());
}

/// Writes what changed: a message of `/parameter_events`.
pub fn write_event(stamp: Time, node: &str, is_new: bool, changed: &[&Current], writer: &mut Writer<'_>) {
    writer.i32(stamp.sec);
    writer.u32(stamp.nanosec);
    writer.text(node);
    let lists: [&[&Current]; 3] = if is_new { [changed, &[], &[]] } else { [&[], changed, &[]] };
    for list in lists {
        writer.count(list.len());
        for current in list {
            writer.text(&name(current));
            write_value(current.value.as_ref(), writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::ENCAPSULATION;

    #[test]
    fn values_are_read_as_they_were_written_and_what_is_cut_is_refused() {
        let mut cdr = Vec::new();
        let values = [
            Some(Value::Bool(true)),
            Some(Value::I64(-5)),
            Some(Value::F64(0.25)),
            Some(Value::Text("slow".into())),
            None,
        ];
        let mut writer = Writer::new(&mut cdr);
        writer.count(values.len());
        for (number, value) in values.iter().enumerate() {
            writer.text(&format!("drive.p{number}"));
            write_value(value.as_ref(), &mut writer);
        }
        let cdr = &cdr[ENCAPSULATION.len()..];
        let read = read_wanted(cdr).unwrap();
        assert_eq!(read.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>(), values);
        assert_eq!(read[2].0, "drive.p2");
        for length in 0..cdr.len() {
            assert!(read_wanted(&cdr[..length]).is_err(), "{length}");
        }
        assert!(read_names(b"\xff\xff\xff\xff").is_err() && read_list(b"\0\0\0\0").is_err());
    }

    #[test]
    fn lists_are_no_value_of_a_parameter_here() {
        let mut cdr = Vec::new();
        let mut writer = Writer::new(&mut cdr);
        writer.count(1);
        writer.text("drive.gains");
        writer.u8(8); // numbers
        writer.u8(0);
        writer.i64(0);
        writer.f64(0.0);
        writer.text("");
        (0..3).for_each(|_| writer.count(0));
        writer.count(2);
        writer.f64s(&[1.0, 2.0]);
        writer.count(1);
        writer.text("a");
        let read = read_wanted(&cdr[ENCAPSULATION.len()..]).unwrap();
        assert_eq!(read, [("drive.gains".to_owned(), None)]);
    }
}
