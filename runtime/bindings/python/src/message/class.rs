//! The class of a message: its layout, its fields with their places, and its Python type. Classes are made once and live for ever: a program
//! has few of them, and whatever points to one need not ask whether it is still there.

use std::cmp::Ordering;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use horus::message::layout::Layout;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::bytes::Bytes;
use super::kind::Kind;
use super::number::Number;
use super::object::Message;
use crate::picture::Shape;

/// A field of a message.
pub struct Field {
    pub name: String,
    /// As names in a program are, so that the same name is the same object.
    pub interned: Py<PyString>,
    pub offset: usize,
    pub bytes: usize,
    pub kind: Kind,
}

/// The class of a message.
pub struct Class {
    pub layout: Layout,
    pub fields: Vec<Field>,
    /// Whether it is an image or a cloud.
    pub shape: Option<Shape>,
    /// The number that each of its fields is, if they are all of one.
    number: Option<Number>,
    /// What a new message holds, if not zeros.
    pub template: PyOnceLock<Vec<u8>>,
    bytes: usize,
    /// Its Python type, which lives for ever. Set under the GIL, before anybody has the class: accesses are Relaxed.
    of: AtomicPtr<ffi::PyTypeObject>,
}

impl Class {
    /// A class with these fields, which lives for ever; its type is still to be made.
    pub fn leaked(layout: Layout, fields: Vec<Field>) -> &'static Self {
        let (shape, bytes) = (Shape::of(&fields), layout.payload().bytes);
        let number = fields.first().and_then(|first| first.kind.number());
        let number = number.filter(|_| fields.iter().all(|field| field.kind.number() == number));
        let (template, of) = (PyOnceLock::new(), AtomicPtr::new(ptr::null_mut()));
        Box::leak(Box::new(Self { layout, fields, shape, number, template, bytes, of }))
    }

    /// Says which type the class has. It is kept for ever.
    pub fn set_type(&self, of: &Bound<'_, PyType>) {
        self.of.store(of.clone().into_ptr().cast(), Relaxed);
    }

    /// Bytes of a message.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its numbers, and how many, if they are all of one kind: a vector is an array, too.
    pub fn numbers(&self) -> Option<(Number, isize)> {
        Some((self.number?, self.fields.len() as isize))
    }

    /// Its Python type.
    #[inline]
    pub fn type_pointer(&self) -> *mut ffi::PyTypeObject {
        self.of.load(Relaxed)
    }

    /// Whether a field is one of its own. An object whose `__class__` was set to another class has none of that class's fields.
    #[inline]
    pub fn has(&self, field: &Field) -> bool {
        self.fields.as_ptr_range().contains(&ptr::from_ref(field))
    }

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

    /// Whether two messages say the same: numbers by their values, as in Rust, so that NaN is equal to nothing.
    pub fn is_equal(&self, one: &[u8], other: &[u8]) -> bool {
        self.fields.iter().all(|field| {
            let range = field.offset..field.offset + field.bytes;
            is_equal(&field.kind, &one[range.clone()], &other[range])
        })
    }
}

fn is_equal(kind: &Kind, one: &[u8], other: &[u8]) -> bool {
    use super::number::Number;
    let float = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap_or_default())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap_or_default()),
    };
    match kind {
        Kind::Number(Number::F32 | Number::F64) => float(one).partial_cmp(&float(other)) == Some(Ordering::Equal),
        Kind::Number(_) => one == other,
        Kind::Nested(class) => class.is_equal(one, other),
        Kind::Array { element, .. } => match **element {
            Kind::Number(number) if !matches!(number, Number::F32 | Number::F64) => one == other,
            _ => one
                .chunks(element.bytes())
                .zip(other.chunks(element.bytes()))
                .all(|(one, other)| is_equal(element, one, other)),
        },
    }
}
