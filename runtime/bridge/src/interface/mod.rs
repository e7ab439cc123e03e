//! What a ROS 2 message consists of: its definition, and the hash that ROS 2 compares it by.
//!
//! A definition is written as in a `.msg` file. The standard messages that have a counterpart here are in [`standard`].

pub mod file;
pub mod hash;
pub mod import;
mod parse;
pub mod services;
pub mod standard;

use std::collections::BTreeMap;

pub use parse::{Wrong, parse};

/// Messages inside of messages, at most so deep.
pub const MAX_DEPTH: usize = 16;

/// The definition of a message, without those inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Package, kind and name: `sensor_msgs/msg/Imu`.
    pub name: String,
    /// Its fields in the order of their places.
    pub fields: Vec<Field>,
}

/// A field of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it consists of.
    pub base: Base,
    /// How many of it.
    pub extent: Extent,
}

/// What a field, or an element of it, is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A number.
    Number(Number),
    /// Text; bounded to so many bytes, if that is not 0.
    Text(u64),
    /// Another message, by its whole name.
    Message(String),
}

/// How many of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Just one.
    One,
    /// Always so many.
    Array(u64),
    /// So many at most.
    Bounded(u64),
    /// Any number.
    Sequence,
}

/// Numbers of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `int8`
    I8,
    /// `uint8`
    U8,
    /// `int16`
    I16,
    /// `uint16`
    U16,
    /// `int32`
    I32,
    /// `uint32`
    U32,
    /// `int64`
    I64,
    /// `uint64`
    U64,
    /// `float32`
    F32,
    /// `float64`
    F64,
    /// `bool`, a byte that is 0 or 1
    Bool,
    /// `byte`, eight bits without a meaning
    Byte,
}

impl Number {
    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool | Self::Byte => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// What a layout here calls it; a byte is a byte.
    pub fn in_layouts(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 | Self::Bool | Self::Byte => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// As it is written in a definition.
    pub fn word(self) -> &'static str {
        parse::NUMBERS.iter().find(|(_, number)| *number == self).map_or("", |(word, _)| word)
    }
}

/// A definition with all that are inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The message.
    pub top: Interface,
    /// All messages inside of it, by name.
    pub inner: BTreeMap<String, Interface>,
}

impl Whole {
    /// A definition and what it refers to, found in `known`.
    ///
    /// # Errors
    /// When something inside of it is defined nowhere, or it is inside of itself.
    pub fn new(top: Interface, known: &dyn Fn(&str) -> Option<Interface>) -> Result<Self, Wrong> {
        let mut inner = BTreeMap::new();
        gather(&top, known, &mut inner, 0)?;
        Ok(Self { top, inner })
    }

    /// The name of a message inside of it, or its own.
    pub fn get(&self, name: &str) -> Option<&Interface> {
        if self.top.name == name { Some(&self.top) } else { self.inner.get(name) }
    }

    /// All numbers of the message in the order of their bytes, with how many of each follow; `None` when it has texts or sequences.
    pub fn numbers(&self) -> Option<Vec<(Number, u64)>> {
        let mut all = Vec::new();
        self.numbers_of(&self.top, &mut all)?;
        Some(all)
    }

    fn numbers_of(&self, interface: &Interface, all: &mut Vec<(Number, u64)>) -> Option<()> {
        for field in &interface.fields {
            let count = match field.extent {
                Extent::One => 1,
                Extent::Array(count) => count,
                Extent::Bounded(_) | Extent::Sequence => return None,
            };
            match &field.base {
                Base::Number(number) => push(all, *number, count),
                Base::Text(_) => return None,
                Base::Message(name) => {
                    let mut one = Vec::new();
                    self.numbers_of(self.get(name)?, &mut one)?;
                    match one[..] {
                        [(number, each)] => push(all, number, each.checked_mul(count)?),
                        _ if count > MAX_ELEMENTS => return None,
                        _ => (0..count).for_each(|_| one.iter().for_each(|&(number, each)| push(all, number, each))),
                    }
                }
            }
        }
        Some(())
    }
}

/// Messages of different numbers in one array, of which each is written out for the comparison.
const MAX_ELEMENTS: u64 = 4096;

/// Adds so many numbers; equal ones are counted together, so that `x, y, z` and an array of three are the same.
pub(crate) fn push(all: &mut Vec<(Number, u64)>, number: Number, count: u64) {
    match all.last_mut() {
        Some((last, so_far)) if *last == number => *so_far = so_far.saturating_add(count),
        _ if count > 0 => all.push((number, count)),
        _ => {}
    }
}

fn gather(
    interface: &Interface,
    known: &dyn Fn(&str) -> Option<Interface>,
    inner: &mut BTreeMap<String, Interface>,
    depth: usize,
) -> Result<(), Wrong> {
    if depth > MAX_DEPTH {
        return Err(Wrong::Deep(interface.name.clone()));
    }
    for field in &interface.fields {
        let Base::Message(name) = &field.base else { continue };
        let found = known(name).ok_or_else(|| Wrong::Unknown { name: name.clone(), user: interface.name.clone() })?;
        gather(&found, known, inner, depth + 1)?;
        inner.insert(name.clone(), found);
    }
    Ok(())
}
