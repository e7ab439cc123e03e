//! What the bytes of a field are, and what Python sees in their place.

use horus::message::layout::MadeOf;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::array::Array;
use super::bytes::Bytes;
use super::class::Class;
use super::known;
use super::number::Number;
use super::object::Message;

/// What a field is.
pub enum Kind {
    Number(Number),
    Array { element: Box<Kind>, length: usize },
    Nested(&'static Class),
}

impl Kind {
    /// That of a layout. Messages inside are of the classes that are known already.
    pub fn of(py: Python<'_>, made_of: &MadeOf) -> PyResult<Self> {
        Ok(match made_of {
            MadeOf::Number(name, _) => Self::Number(Number::named(name).expect("every number of a layout is known")),
            MadeOf::Array(element, length) => {
                Self::Array { element: Box::new(Self::of(py, element)?), length: *length }
            }
            MadeOf::Nested(layout) => Self::Nested(known::of_layout(py, layout)?),
        })
    }

    /// The number that it is, if it is one that others than Rust know.
    pub fn number(&self) -> Option<Number> {
        if let Self::Number(number) = self { Some(*number).filter(|number| !number.letter().is_empty()) } else { None }
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Number(number) => number.bytes(),
            Self::Array { element, length } => element.bytes() * length,
            Self::Nested(class) => class.bytes(),
        }
    }

    /// For people, as a layout writes it.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.name().to_owned(),
            Self::Array { element, length } => format!("[{}; {length}]", element.text()),
            Self::Nested(class) => class.layout.type_name().to_owned(),
        }
    }

    /// What Python reads: a number, or a view of the same bytes.
    #[inline]
    pub fn read<'py>(&'static self, bytes: Bytes<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Number(number) => number.get(bytes),
            Self::Nested(class) => Ok(Message::view(class, bytes)?.into_any()),
            Self::Array { element, length } => Ok(Array::view(element, *length, bytes)?.into_any()),
        }
    }

    /// The bytes of what Python gives, appended to `out`.
    ///
    /// # Errors
    /// When it is no such thing.
    pub fn write(&self, value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        match self {
            Self::Number(number) => out.extend_from_slice(&number.write(value)?[..number.bytes()]),
            Self::Nested(class) => class.write(value, out)?,
            Self::Array { element, length } => write_array(element, *length, value, out)?,
        }
        Ok(())
    }
}

fn write_array(element: &Kind, length: usize, value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    let end = out.len() + element.bytes() * length;
    if let Kind::Number(Number::U8) = element
        && let Some(text) = text_of(value)?
    {
        if text.len() > length {
            return Err(PyValueError::new_err(format!("{} bytes do not fit into [u8; {length}]", text.len())));
        }
        out.extend_from_slice(&text);
        out.resize(end, 0); // what is shorter is padded with zero bytes
        return Ok(());
    }
    let given = value.len().map_err(|_| {
        PyTypeError::new_err(format!("[{}; {length}] takes a sequence, and not {}", element.text(), value.get_type()))
    })?;
    if given != length {
        return Err(PyValueError::new_err(format!(
            "{given} elements, and [{}; {length}] has {length}",
            element.text()
        )));
    }
    for item in value.try_iter()? {
        element.write(&item?, out)?;
    }
    if out.len() != end {
        return Err(PyValueError::new_err("the sequence changed while it was copied"));
    }
    Ok(())
}

/// What a field of bytes takes beside numbers.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str()?.as_bytes().to_vec()));
    }
    Ok(value.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec()))
}
