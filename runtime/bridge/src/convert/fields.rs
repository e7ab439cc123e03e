//! Messages of ROS with texts, lists and times, field by field: for layouts that have its fields by the rule of `horus bridge import`.
//!
//! | ROS | Layout |
//! |---|---|
//! | a number, an array of them | the same, in any place; `bool`, `byte` and `char` are `u8` |
//! | `string name` | `name [u8; N]`: UTF-8, zero bytes behind it |
//! | `T[] name`, `T[<=N] name` | `name_count u32` and `name [T; N]` |
//! | `Time stamp` of a header | `stamp_ns u64`, on CLOCK_MONOTONIC |
//! | another `Time` or `Duration name` | `name_ns i64`, nanoseconds as ROS has them |
//! | a message | a message, by the same rule |
//! | a message without fields | one whose only field is `pad u8` |
//!
//! Fields are found by their names, so a layout may have them in the order in which no byte is left between them. Those that begin with
//! `pad` are nothing.

use std::collections::BTreeSet;

use horus::message::layout::{Layout, MadeOf};
use horus::messages::text;

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::Time;
use crate::interface::{Base, Extent, Field, Interface, Whole};

const NS: i64 = 1_000_000_000;

/// What is done with one field; places count from where its message begins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "places and sizes, in bytes")]
pub enum Step {
    /// So many numbers of `size` bytes.
    Numbers { at: usize, size: usize, count: usize },
    /// A stamp on CLOCK_MONOTONIC, or nanoseconds as they are.
    Time { at: usize, is_stamp: bool },
    /// The byte that a message without fields has in ROS.
    Nothing,
    /// A text in so many bytes.
    Text { at: usize, room: usize },
    /// So many of the same, all of them or as many as a number of ours says.
    Each { at: usize, stride: usize, room: usize, count_at: Option<usize>, steps: Vec<Step> },
}

/// How a layout becomes a message of ROS, and back.
///
/// # Errors
/// Which field does not fit, in words.
pub fn plan(layout: &Layout, ros: &Whole) -> Result<Vec<Step>, String> {
    message(layout, &ros.top, ros)
}

fn message(layout: &Layout, interface: &Interface, whole: &Whole) -> Result<Vec<Step>, String> {
    let mut used = BTreeSet::new();
    let mut steps = if interface.fields.is_empty() { vec![Step::Nothing] } else { Vec::new() };
    for field in &interface.fields {
        steps.push(step(layout, field, interface, whole, &mut used)?);
    }
    let names = layout.fields().iter().map(|field| field.name());
    match names.into_iter().find(|name| !used.contains(*name) && !name.starts_with("pad")) {
        Some(more) => Err(format!("{} has no field {more}", interface.name)),
        None => Ok(steps),
    }
}

fn step(
    layout: &Layout,
    field: &Field,
    interface: &Interface,
    whole: &Whole,
    used: &mut BTreeSet<String>,
) -> Result<Step, String> {
    let mut find = |name: String| {
        let found = layout.fields().iter().find(|ours| ours.name() == name);
        let found = found.ok_or_else(|| format!("{} lacks {name}, a field of {}", layout.type_name(), interface.name));
        used.insert(name);
        found.map(|ours| (ours.offset(), ours.made_of()))
    };
    let unlike = || format!("{}.{} is of another type in {}", layout.type_name(), field.name, interface.name);
    if let Base::Message(name) = &field.base
        && field.extent == Extent::One
        && matches!(name.as_str(), "builtin_interfaces/msg/Time" | "builtin_interfaces/msg/Duration")
    {
        let is_stamp = interface.name == "std_msgs/msg/Header";
        let (at, made_of) = find(format!("{}_ns", field.name))?;
        let wanted = if is_stamp { "u64" } else { "i64" };
        return match made_of {
            MadeOf::Number(number, _) if *number == wanted => Ok(Step::Time { at, is_stamp }),
            _ => Err(unlike()),
        };
    }
    let (at, made_of) = find(field.name.clone())?;
    let (element, room, count_at) = match (field.extent, made_of) {
        (Extent::One, one) => (one, 1, None),
        (Extent::Array(count), MadeOf::Array(element, length)) if count == *length as u64 => {
            (&**element, *length, None)
        }
        (Extent::Sequence | Extent::Bounded(_), MadeOf::Array(element, length)) => {
            let (count_at, made_of) = find(format!("{}_count", field.name))?;
            match made_of {
                MadeOf::Number("u32", _) => (&**element, *length, Some(count_at)),
                _ => return Err(unlike()),
            }
        }
        _ => return Err(unlike()),
    };
    let (stride, steps) = match (&field.base, element) {
        (Base::Number(number), MadeOf::Number(ours, size)) if number.in_layouts() == *ours => {
            if count_at.is_none() {
                return Ok(Step::Numbers { at, size: *size, count: room });
            }
            (*size, vec![Step::Numbers { at: 0, size: *size, count: 1 }])
        }
        (Base::Text(_), MadeOf::Array(byte, room)) if matches!(**byte, MadeOf::Number("u8", _)) => {
            (*room, vec![Step::Text { at: 0, room: *room }])
        }
        (Base::Message(name), MadeOf::Nested(inner)) => {
            let theirs = whole.get(name).ok_or_else(unlike)?;
            (inner.payload().bytes, message(inner, theirs, whole)?)
        }
        _ => return Err(unlike()),
    };
    Ok(Step::Each { at, stride, room, count_at, steps })
}

/// Writes a message of ours, `ours`, as that of ROS.
pub fn write(steps: &[Step], ours: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    for step in steps {
        match step {
            Step::Numbers { at, size, count } => writer.numbers(*size, slice(ours, *at, size * count)?),
            Step::Time { at, is_stamp } => {
                let bytes = *slice(ours, *at, 8)?.first_chunk().ok_or(Malformed::Short)?;
                let time = match is_stamp {
                    true => context.offset.to_ros(u64::from_le_bytes(bytes)),
                    false => {
                        let ns = i64::from_le_bytes(bytes);
                        let sec = i32::try_from(ns.div_euclid(NS));
                        let sec = sec.map_err(|_| Malformed::Unlike("a time of ROS ends in the year 2038"))?;
                        Time { sec, nanosec: ns.rem_euclid(NS) as u32 }
                    }
                };
                writer.i32(time.sec);
                writer.u32(time.nanosec);
            }
            Step::Nothing => writer.u8(0),
            Step::Text { at, room } => writer.text(text(slice(ours, *at, *room)?)),
            Step::Each { at, stride, room, count_at, steps } => {
                let mut count = *room;
                if let Some(count_at) = count_at {
                    let said = *slice(ours, *count_at, 4)?.first_chunk().ok_or(Malformed::Short)?;
                    count = count.min(u32::from_le_bytes(said) as usize); // a count is not believed
                    writer.count(count);
                }
                if let [Step::Numbers { at: 0, size, count: 1 }] = steps[..] {
                    writer.numbers(size, slice(ours, *at, size * count)?);
                    continue;
                }
                for index in 0..count {
                    write(steps, slice(ours, at + index * stride, *stride)?, writer, context)?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a message of ROS into ours, all of whose bytes are zero.
pub fn read(steps: &[Step], reader: &mut Reader<'_>, ours: &mut [u8], context: &Context) -> Result<(), Malformed> {
    for step in steps {
        match step {
            Step::Numbers { at, size, count } => {
                slice_mut(ours, *at, size * count)?.copy_from_slice(reader.numbers(*size, *count)?);
            }
            Step::Time { at, is_stamp } => {
                let time = Time { sec: reader.i32()?, nanosec: reader.u32()? };
                let ns = match is_stamp {
                    true => context.offset.from_ros(time).to_le_bytes(),
                    false => (i64::from(time.sec) * NS + i64::from(time.nanosec)).to_le_bytes(),
                };
                slice_mut(ours, *at, 8)?.copy_from_slice(&ns);
            }
            // Some leave it out where nothing follows.
            Step::Nothing => drop(reader.u8()),
            Step::Text { at, room } => header::keep(slice_mut(ours, *at, *room)?, reader.text()?)?,
            Step::Each { at, stride, room, count_at, steps } => {
                let mut count = *room;
                if let Some(count_at) = count_at {
                    count = reader.count(1)?;
                    if count > *room {
                        return Err(Malformed::TooMany);
                    }
                    slice_mut(ours, *count_at, 4)?.copy_from_slice(&(count as u32).to_le_bytes());
                }
                if let [Step::Numbers { at: 0, size, count: 1 }] = steps[..] {
                    slice_mut(ours, *at, size * count)?.copy_from_slice(reader.numbers(size, count)?);
                    continue;
                }
                for index in 0..count {
                    read(steps, reader, slice_mut(ours, at + index * stride, *stride)?, context)?;
                }
            }
        }
    }
    Ok(())
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], Malformed> {
    bytes.get(at..).and_then(|rest| rest.get(..length)).ok_or(Malformed::Short)
}

fn slice_mut(bytes: &mut [u8], at: usize, length: usize) -> Result<&mut [u8], Malformed> {
    bytes.get_mut(at..).and_then(|rest| rest.get_mut(..length)).ok_or(Malformed::Short)
}
