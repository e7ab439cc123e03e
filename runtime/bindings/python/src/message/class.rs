//! The class of a message: its layout, its fields with their places and kinds, and its Python type. Classes are made once and live for ever: a
//! program has few of them, and whatever points to one need not ask whether it is still there.
//!
//! A class is made of fields, and a field may be of another class, so both are described here. What is done with them stands in files above this
//! one: `values` reads and writes fields, `make` makes classes.

use std::cmp::Ordering;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use horus::message::layout::Layout;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use super::bytes::Bytes;
use super::grid::Grid;
use super::number::Number;
use super::shape::{CLOUD, IMAGE, Shape};

/// What a field is.
pub enum Kind {
    Number(Number),
    Array { element: Box<Kind>, length: usize },
    Nested(&'static Class),
}

impl Kind {
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
}

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
        let (shape, bytes) = (shape(&fields), layout.payload().bytes);
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

    /// The data of a message: an image's pixels, a cloud's points; nothing of other messages.
    pub fn data<'a, 'py>(&self, bytes: Bytes<'a, 'py>) -> PyResult<Option<Grid<'a, 'py>>> {
        match self.shape {
            Some(Shape::Image(image)) => image.grid(bytes).map(Some),
            Some(Shape::Cloud(cloud)) => Ok(Some(cloud.grid(bytes))),
            None => Ok(None),
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

/// Whether a message with these fields is an image or a cloud.
fn shape(fields: &[Field]) -> Option<Shape> {
    let are = |named: &[(&str, usize)]| {
        fields.iter().map(|field| (field.name.as_str(), field.offset)).eq(named.iter().copied())
    };
    let Kind::Array { element, length } = &fields.last()?.kind else { return None };
    match &**element {
        Kind::Number(Number::U8) if are(&IMAGE) => Some(Shape::image(*length)),
        Kind::Nested(point) if are(&CLOUD) && point.layout.type_name() == "horus/Point" => Some(Shape::cloud(*length)),
        _ => None,
    }
}

fn is_equal(kind: &Kind, one: &[u8], other: &[u8]) -> bool {
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
