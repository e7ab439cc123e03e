//! Arrays inside of messages: views of the message's bytes, which are read, written, and handed to NumPy without a copy.

use pyo3::prelude::*;

use super::bytes::{Bytes, Kept};
use super::class::Kind;
use super::grid::Extents;
use super::number::Number;

/// An array of a message: a view, so that a write to an element changes the message. `Array[int]` is for annotations.
#[pyclass(frozen, sequence, module = "horus")]
pub struct Array {
    pub(super) kept: Kept,
    pub(super) element: &'static Kind,
    pub(super) length: usize,
}

/// What of it is known beside its bytes.
pub struct Shape {
    /// Of the innermost elements, if they are numbers.
    pub number: Option<Number>,
    /// How many of them, from the outside to the inside.
    pub dimensions: Extents,
}

impl Shape {
    /// That of an array of so many elements.
    pub fn of(element: &Kind, length: usize) -> Self {
        let (mut dimensions, mut inner) = (Extents::new(), element);
        dimensions.push(length as isize);
        while let Kind::Array { element, length } = inner {
            if dimensions.try_push(*length as isize).is_err() {
                return Self { number: None, dimensions };
            }
            inner = element;
        }
        Self { number: inner.number(), dimensions }
    }
}

impl Array {
    /// A view of these bytes.
    #[inline]
    pub fn view<'py>(element: &'static Kind, length: usize, bytes: Bytes<'_, 'py>) -> PyResult<Bound<'py, Self>> {
        let kept = bytes.keep();
        Bound::new(bytes.python(), Self { kept, element, length })
    }

    /// The bytes, and what keeps them.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// What its elements are, and how many.
    pub fn shape(&self) -> Shape {
        Shape::of(self.element, self.length)
    }

    /// What its elements are, or theirs if they are arrays.
    pub fn innermost(&self) -> &'static Kind {
        let mut inner = self.element;
        while let Kind::Array { element, .. } = inner {
            inner = element;
        }
        inner
    }
}
