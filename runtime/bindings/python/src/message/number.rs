//! Numbers of fixed size, from Python and to Python.

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use super::bytes::{Bytes, MOST};

/// A number that a field can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    U128,
    I128,
    F32,
    F64,
}

/// The numbers with what else is said of them: Rust's name, the letter of Python's `struct` (none for 128 bits), NumPy's name.
const ALL: [(Number, &str, &str, &str, usize); 12] = [
    (Number::U8, "u8", "B", "u1", 1),
    (Number::I8, "i8", "b", "i1", 1),
    (Number::U16, "u16", "H", "<u2", 2),
    (Number::I16, "i16", "h", "<i2", 2),
    (Number::U32, "u32", "I", "<u4", 4),
    (Number::I32, "i32", "i", "<i4", 4),
    (Number::U64, "u64", "Q", "<u8", 8),
    (Number::I64, "i64", "q", "<i8", 8),
    (Number::U128, "u128", "", "V16", 16),
    (Number::I128, "i128", "", "V16", 16),
    (Number::F32, "f32", "f", "<f4", 4),
    (Number::F64, "f64", "d", "<f8", 8),
];

impl Number {
    /// All of them, in the order of their codes.
    pub fn every() -> impl Iterator<Item = Self> {
        ALL.iter().map(|row| row.0)
    }

    /// That of a layout.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, &'static str, usize) {
        &ALL[self as usize]
    }

    /// Its name in a layout.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The letter of Python's `struct`, which the buffer protocol has, too.
    pub fn letter(self) -> &'static str {
        self.row().2
    }

    /// What NumPy calls it.
    pub fn numpy(self) -> &'static str {
        self.row().3
    }

    /// How many bytes it has.
    pub fn bytes(self) -> usize {
        self.row().4
    }

    /// As Python has it. Of `bytes`, the first are read.
    #[inline]
    pub fn read<'py>(self, py: Python<'py>, bytes: &[u8; MOST]) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! integer {
            ($number:ty) => {
                first::<{ size_of::<$number>() }>(bytes)
                    .map(<$number>::from_le_bytes)
                    .unwrap_or_default()
                    .into_pyobject(py)?
                    .into_any()
            };
        }
        Ok(match self {
            Self::F64 => PyFloat::new(py, f64::from_le_bytes(first(bytes).unwrap_or_default())).into_any(),
            Self::F32 => PyFloat::new(py, f32::from_le_bytes(first(bytes).unwrap_or_default()).into()).into_any(),
            Self::U8 => integer!(u8),
            Self::I8 => integer!(i8),
            Self::U16 => integer!(u16),
            Self::I16 => integer!(i16),
            Self::U32 => integer!(u32),
            Self::I32 => integer!(i32),
            Self::U64 => integer!(u64),
            Self::I64 => integer!(i64),
            Self::U128 => integer!(u128),
            Self::I128 => integer!(i128),
        })
    }

    /// As Python has it, of the first of these bytes. Floats, which most fields are, are read where they stand.
    #[inline]
    pub fn get<'py>(self, bytes: Bytes<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = bytes.python();
        match self {
            Self::F64 => Ok(PyFloat::new(py, f64::from_le_bytes(bytes.first())).into_any()),
            Self::F32 => Ok(PyFloat::new(py, f32::from_le_bytes(bytes.first()).into()).into_any()),
            other => other.read(py, &bytes.number(other.bytes())),
        }
    }

    /// Writes a number of Python over the first of these bytes.
    ///
    /// # Errors
    /// When it is no such number, or they may not be written.
    #[inline]
    pub fn put(self, value: &Bound<'_, PyAny>, bytes: Bytes<'_, '_>) -> PyResult<()> {
        match self {
            Self::F64 => bytes.write(&float(value)?.to_le_bytes()),
            Self::F32 => bytes.write(&(float(value)? as f32).to_le_bytes()),
            other => bytes.write(&other.write(value)?[..other.bytes()]),
        }
    }

    /// The bytes of a number of Python; the rest is zero.
    ///
    /// # Errors
    /// When it is no such number.
    #[inline]
    pub fn write(self, value: &Bound<'_, PyAny>) -> PyResult<[u8; MOST]> {
        let mut bytes = [0; MOST];
        macro_rules! put {
            ($number:ty) => {
                bytes[..size_of::<$number>()].copy_from_slice(
                    &value.extract::<$number>().map_err(|error| self.explain(value, error))?.to_le_bytes(),
                )
            };
        }
        match self {
            Self::F64 => put!(f64),
            Self::F32 => put!(f32),
            Self::U8 => put!(u8),
            Self::I8 => put!(i8),
            Self::U16 => put!(u16),
            Self::I16 => put!(i16),
            Self::U32 => put!(u32),
            Self::I32 => put!(i32),
            Self::U64 => put!(u64),
            Self::I64 => put!(i64),
            Self::U128 => put!(u128),
            Self::I128 => put!(i128),
        }
        Ok(bytes)
    }

    #[cold]
    fn explain(self, value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
        if value.is_instance_of::<PyInt>() && error.is_instance_of::<PyOverflowError>(value.py()) {
            return PyOverflowError::new_err(format!("{value} does not fit into {}", self.name()));
        }
        error
    }
}

/// What a float of Python is, or what has a `__float__`.
#[inline]
fn float(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    // SAFETY: it is an object, and the GIL is held.
    let number = unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) };
    if number == -1.0
        && let Some(error) = PyErr::take(value.py())
    {
        return Err(error);
    }
    Ok(number)
}

fn first<const BYTES: usize>(bytes: &[u8; MOST]) -> Option<[u8; BYTES]> {
    bytes.first_chunk().copied()
}
