//! What Python reads of a field, and how what it gives becomes a field's bytes.
//!
//! A message may be inside of another, so the bytes of a class are made of those of its fields, and a field's of those of its class: both are here.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::array::Array;
use super::bytes::Bytes;
use super::class::{Class, Field, Kind};
use super::number::Number;
use super::object::Message;

impl Kind {
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

impl Class {
    /// Writes what a field is set to.
    #[inline]
    pub fn set(&self, field: &'static Field, bytes: Bytes<'_, '_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = bytes.part(field.offset, field.bytes);
        let done = if let Kind::Number(number) = field.kind {
            number.put(value, bytes)
        } else {
            let mut given = Vec::with_capacity(field.bytes);
            field.kind.write(value, &mut given).and_then(|()| bytes.write(&given))
        };
        done.map_err(|error| self.explain(value.py(), field, error))
    }

    /// Sets the field that comes at this place.
    #[inline]
    pub fn set_at(&'static self, place: usize, bytes: Bytes<'_, '_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.fields.get(place) {
            Some(field) => self.set(field, bytes, value),
            None => Err(self.too_many(place + 1)),
        }
    }

    #[cold]
    fn too_many(&self, given: usize) -> PyErr {
        PyTypeError::new_err(format!("{} has {} fields, and not {given}", self.layout.type_name(), self.fields.len()))
    }

    /// Sets the field of this name, which none of the first `placed` ones may be: they are set already.
    #[inline]
    pub fn set_named(
        &'static self,
        name: &Bound<'_, PyAny>,
        placed: usize,
        bytes: Bytes<'_, '_>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (place, field) = self.find(name)?;
        if place < placed { Err(self.twice(field)) } else { self.set(field, bytes, value) }
    }

    #[cold]
    fn twice(&self, field: &Field) -> PyErr {
        PyTypeError::new_err(format!("{} is given twice: {}", field.name, self.layout.type_name()))
    }

    /// Has a new message begin as its class says.
    #[inline]
    pub fn begin(&self, bytes: Bytes<'_, '_>) -> PyResult<()> {
        match self.template.get(bytes.python()) {
            Some(template) => bytes.write(template),
            None => Ok(()),
        }
    }

    /// Sets fields as the arguments of a call name them.
    pub fn fill(
        &'static self,
        bytes: Bytes<'_, '_>,
        args: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.begin(bytes)?;
        for (place, value) in args.iter_borrowed().enumerate() {
            self.set_at(place, bytes, &value)?;
        }
        // The program may change the dict while a value is asked for its number: its items are taken before.
        for (name, value) in named.into_iter().flatten().collect::<Vec<_>>() {
            self.set_named(&name, args.len(), bytes, &value)?;
        }
        Ok(())
    }

    #[inline]
    fn find(&'static self, name: &Bound<'_, PyAny>) -> PyResult<(usize, &'static Field)> {
        let is_same = |(_, field): &(usize, &Field)| field.interned.as_ptr() == name.as_ptr();
        match self.fields.iter().enumerate().find(is_same) {
            Some(found) => Ok(found),
            None => self.find_by_text(name),
        }
    }

    #[cold]
    fn find_by_text(&'static self, name: &Bound<'_, PyAny>) -> PyResult<(usize, &'static Field)> {
        let name = name.cast::<PyString>()?.to_str()?;
        let found = self.fields.iter().enumerate().find(|(_, field)| field.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
            PyTypeError::new_err(format!(
                "{} has no field {name}: it has {}",
                self.layout.type_name(),
                names.join(", ")
            ))
        })
    }

    /// The bytes of a message of this class, or of a dict or a sequence of its fields, appended to `out`.
    pub fn write(&'static self, value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        if let Some(bytes) = Message::of_class(value, self)? {
            let start = out.len();
            out.resize(start + bytes.length(), 0);
            bytes.copy_to(&mut out[start..]);
            return Ok(());
        }
        let made = Message::zeroed(value.py(), self)?;
        let bytes = Message::of_class(&made, self)?.expect("it is of this class");
        if let Ok(named) = value.cast::<PyDict>() {
            self.fill(bytes, &PyTuple::empty(value.py()), Some(named))?;
        } else if value.hasattr("__len__")? && !value.is_instance_of::<PyString>() && Message::of(value)?.is_none() {
            let items: Vec<_> = value.try_iter()?.collect::<PyResult<_>>()?;
            if items.len() != self.fields.len() {
                return Err(PyValueError::new_err(format!(
                    "{} has {} fields, and {} are given",
                    self.layout.type_name(),
                    self.fields.len(),
                    items.len()
                )));
            }
            self.fill(bytes, &PyTuple::new(value.py(), items)?, None)?;
        } else {
            return Err(PyTypeError::new_err(format!(
                "{} is wanted, and not {}",
                self.layout.type_name(),
                value.get_type()
            )));
        }
        out.extend_from_slice(&bytes.to_vec());
        Ok(())
    }

    /// Says which field an error is about; the type of the error stays what it is.
    #[cold]
    fn explain(&self, py: Python<'_>, field: &Field, error: PyErr) -> PyErr {
        let text = format!("the field {} of {}: {}", field.name, self.layout.type_name(), error.value(py));
        if error.is_instance_of::<PyOverflowError>(py) {
            PyOverflowError::new_err(text)
        } else if error.is_instance_of::<PyValueError>(py) {
            PyValueError::new_err(text)
        } else if error.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(text)
        } else {
            error // what a value's own __float__ raises is the program's
        }
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
