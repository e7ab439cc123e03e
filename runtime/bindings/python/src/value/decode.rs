//! From MessagePack to Python. Whatever a peer sends is read within its bounds or refused.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString};

use super::MAX_DEPTH;
use crate::error::refused;

/// Keys of dicts that came before, so that a stream of dicts makes each of its keys once.
const KEYS: usize = 256;
/// The longest key that is kept.
const LONGEST_KEY: usize = 32;

/// Reads values.
pub struct Decoder {
    keys: Vec<Option<Py<PyString>>>,
    /// Whether the bytes are those of an extension, in which there is no other one: a peer could send any number of them in each other.
    inside: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { keys: (0..KEYS).map(|_| None).collect(), inside: false }
    }
}

/// What is left of the bytes.
struct Rest<'a>(&'a [u8]);

impl Decoder {
    /// Reads the bytes of an extension.
    pub fn inside() -> Self {
        Self { inside: true, ..Self::default() }
    }

    /// The value that these bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let mut rest = Rest(bytes);
        let value = self.take(py, &mut rest, 0)?;
        if rest.0.is_empty() { Ok(value) } else { Err(no_value("bytes are left behind it")) }
    }

    fn take<'py>(&mut self, py: Python<'py>, rest: &mut Rest<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! integer {
            ($number:ty) => {
                <$number>::from_be_bytes(rest.array()?).into_pyobject(py)?.into_any()
            };
        }
        let code = rest.byte()?;
        Ok(match code {
            0xcb => PyFloat::new(py, f64::from_be_bytes(rest.array()?)).into_any(),
            0xca => PyFloat::new(py, f32::from_be_bytes(rest.array()?).into()).into_any(),
            0x00..=0x7f => code.into_pyobject(py)?.into_any(),
            0xe0..=0xff => (code as i8).into_pyobject(py)?.into_any(), // two's complement is the format
            0xa0..=0xbf => rest.text(py, usize::from(code & 31))?,
            0xd9 => rest.length::<1>().and_then(|length| rest.text(py, length))?,
            0xda => rest.length::<2>().and_then(|length| rest.text(py, length))?,
            0xdb => rest.length::<4>().and_then(|length| rest.text(py, length))?,
            0x80..=0x8f => self.dict(py, rest, usize::from(code & 15), depth)?,
            0xde => rest.length::<2>().and_then(|length| self.dict(py, rest, length, depth))?,
            0xdf => rest.length::<4>().and_then(|length| self.dict(py, rest, length, depth))?,
            0x90..=0x9f => self.list(py, rest, usize::from(code & 15), depth)?,
            0xdc => rest.length::<2>().and_then(|length| self.list(py, rest, length, depth))?,
            0xdd => rest.length::<4>().and_then(|length| self.list(py, rest, length, depth))?,
            0xc4 => rest.length::<1>().and_then(|length| rest.bytes(py, length))?,
            0xc5 => rest.length::<2>().and_then(|length| rest.bytes(py, length))?,
            0xc6 => rest.length::<4>().and_then(|length| rest.bytes(py, length))?,
            0xc0 => py.None().into_bound(py),
            0xc2 | 0xc3 => PyBool::new(py, code == 0xc3).to_owned().into_any(),
            0xcc => integer!(u8),
            0xcd => integer!(u16),
            0xce => integer!(u32),
            0xcf => integer!(u64),
            0xd0 => integer!(i8),
            0xd1 => integer!(i16),
            0xd2 => integer!(i32),
            0xd3 => integer!(i64),
            0xd4..=0xd8 => self.extension(py, rest, 1 << (code - 0xd4))?,
            0xc7 => rest.length::<1>().and_then(|length| self.extension(py, rest, length))?,
            0xc8 => rest.length::<2>().and_then(|length| self.extension(py, rest, length))?,
            0xc9 => rest.length::<4>().and_then(|length| self.extension(py, rest, length))?,
            0xc1 => return Err(no_value("it has the code 0xc1, which is never used")),
        })
    }

    /// What is written in Python, for it is seldom there.
    #[cold]
    fn extension<'py>(&self, py: Python<'py>, rest: &mut Rest<'_>, length: usize) -> PyResult<Bound<'py, PyAny>> {
        static FROM_EXTENSION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let [code] = rest.array()?;
        let bytes = rest.slice(length)?;
        if self.inside {
            return Err(no_value("an extension is inside of another"));
        }
        let from = FROM_EXTENSION.import(py, "horus._values", "from_extension")?;
        from.call1((code as i8, PyBytes::new(py, bytes))).map_err(|error| {
            if error.is_instance_of::<PyValueError>(py) { no_value(&error.value(py).to_string()) } else { error }
        })
    }

    fn dict<'py>(
        &mut self,
        py: Python<'py>,
        rest: &mut Rest<'_>,
        length: usize,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_depth(depth)?;
        let dict = PyDict::new(py);
        for _ in 0..length {
            let key = self.key(py, rest, depth)?;
            let item = self.take(py, rest, depth + 1)?;
            dict.set_item(key, item).map_err(|error| no_value(&format!("a key of a dict: {error}")))?;
        }
        Ok(dict.into_any())
    }

    fn list<'py>(
        &mut self,
        py: Python<'py>,
        rest: &mut Rest<'_>,
        length: usize,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_depth(depth)?;
        let list = PyList::empty(py);
        for _ in 0..length {
            list.append(self.take(py, rest, depth + 1)?)?;
        }
        Ok(list.into_any())
    }

    /// A key: most are short texts that came before.
    fn key<'py>(&mut self, py: Python<'py>, rest: &mut Rest<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let Some(&code @ 0xa0..=0xbf) = rest.0.first() else { return self.take(py, rest, depth + 1) };
        rest.byte()?;
        let bytes = rest.slice(usize::from(code & 31))?;
        debug_assert!(bytes.len() < LONGEST_KEY);
        // FNV-1a, as for layouts; here any hash would do.
        let hash = bytes.iter().fold(0xcbf2_9ce4_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
        let place = &mut self.keys[(hash ^ hash >> 16) as usize % KEYS];
        if let Some(known) = place
            && known.bind(py).to_str()?.as_bytes() == bytes
        {
            return Ok(known.bind(py).clone().into_any());
        }
        let key = PyString::new(py, utf8(bytes)?);
        *place = Some(key.clone().unbind());
        Ok(key.into_any())
    }
}

fn check_depth(depth: usize) -> PyResult<()> {
    if depth < MAX_DEPTH { Ok(()) } else { Err(no_value(&format!("it is more than {MAX_DEPTH} deep"))) }
}

impl Rest<'_> {
    fn slice(&mut self, length: usize) -> PyResult<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| no_value("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> PyResult<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn array<const BYTES: usize>(&mut self) -> PyResult<[u8; BYTES]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| no_value("it ends too early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn length<const BYTES: usize>(&mut self) -> PyResult<usize> {
        let bytes = self.array::<BYTES>()?;
        Ok(bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    fn text<'py>(&mut self, py: Python<'py>, length: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyString::new(py, utf8(self.slice(length)?)?).into_any())
    }

    fn bytes<'py>(&mut self, py: Python<'py>, length: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyBytes::new(py, self.slice(length)?).into_any())
    }
}

fn utf8(bytes: &[u8]) -> PyResult<&str> {
    std::str::from_utf8(bytes).map_err(|error| no_value(&error.to_string()))
}

#[cold]
fn no_value(why: &str) -> PyErr {
    refused(format!("the message is no value of MessagePack: {why}"))
}
