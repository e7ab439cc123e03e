//! From Python to MessagePack.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::MAX_DEPTH;

/// Appends a value to `out`.
///
/// # Errors
/// When it is none that the format knows; `out` has a part of it then.
pub fn encode(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    put(value, out, 0)
}

fn put(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        out.push(0xcb);
        out.extend_from_slice(&float.value().to_be_bytes());
    } else if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        head(out, text.len(), [Some((0xa0, 31)), Some((0xd9, 0xff))], 0xda)?;
        out.extend_from_slice(text.as_bytes());
    } else if value.is_none() {
        out.push(0xc0);
    } else if let Ok(truth) = value.cast::<PyBool>() {
        out.push(if truth.is_true() { 0xc3 } else { 0xc2 });
    } else if value.cast::<PyInt>().is_ok() {
        integer(value, out)?;
    } else {
        compound(value, out, depth)?;
    }
    Ok(())
}

fn compound(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if depth >= MAX_DEPTH {
        return Err(PyValueError::new_err(format!("the value is more than {MAX_DEPTH} deep, or contains itself")));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        head(out, dict.len(), [Some((0x80, 15)), None], 0xde)?;
        for (key, item) in dict.iter() {
            put(&key, out, depth + 1)?;
            put(&item, out, depth + 1)?;
        }
    } else if let Ok(list) = value.cast::<PyList>() {
        head(out, list.len(), [Some((0x90, 15)), None], 0xdc)?;
        let (start, mut count) = (list.len(), 0);
        for item in list.iter() {
            put(&item, out, depth + 1)?;
            count += 1;
        }
        if start != count {
            return Err(PyValueError::new_err("the list changed while it was sent"));
        }
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        head(out, tuple.len(), [Some((0x90, 15)), None], 0xdc)?;
        for item in tuple.iter_borrowed() {
            put(&item, out, depth + 1)?;
        }
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        head(out, bytes.len(), [None, Some((0xc4, 0xff))], 0xc5)?;
        out.extend_from_slice(bytes);
    } else if let Ok(float) = value.cast::<PyFloat>() {
        out.push(0xcb); // of a class below `float`, such as NumPy's
        out.extend_from_slice(&float.value().to_be_bytes());
    } else {
        stood_for(value, out, depth)?;
    }
    Ok(())
}

/// A value that another stands for: which one is written in Python, for it is seldom asked for.
fn stood_for(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    static TO_PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let other = TO_PLAIN.import(value.py(), "horus._values", "to_plain")?.call1((value,))?;
    if !other.is_none() {
        let (code, other): (Option<i8>, Bound<'_, PyAny>) = other.extract()?;
        return match code {
            None => put(&other, out, depth + 1),
            Some(code) => extension(code, other.cast::<PyBytes>()?.as_bytes(), out),
        };
    }
    if let Ok(number) = value.call_method0("__index__") {
        integer(&number, out)
    } else if let Ok(number) = value.call_method0("__float__") {
        put(&number, out, depth + 1) // of a Decimal or a Fraction
    } else {
        Err(PyTypeError::new_err(format!(
            "{} cannot be sent as a value: send None, bool, int, float, str, bytes, list, tuple, set, dict, datetime, a dataclass, a message or an array of \
             numbers",
            value.get_type()
        )))
    }
}

/// Bytes behind the type of the extension that they are of.
fn extension(code: i8, bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
    match bytes.len() {
        length @ (1 | 2 | 4 | 8 | 16) => out.push(0xd4 + length.trailing_zeros() as u8),
        length => head(out, length, [None, Some((0xc7, 0xff))], 0xc8)?,
    }
    out.push(code as u8); // two's complement is the format
    out.extend_from_slice(bytes);
    Ok(())
}

fn integer(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(number) = value.extract::<i64>() {
        match number {
            -32..=127 => out.push(number as u8), // two's complement is the format
            _ => {
                out.push(0xd3);
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        return Ok(());
    }
    let number: u64 =
        value.extract().map_err(|_| PyOverflowError::new_err(format!("{value} has more than 64 bits")))?;
    out.push(0xcf);
    out.extend_from_slice(&number.to_be_bytes());
    Ok(())
}

/// A length behind its code: in the code itself if it is small, in a byte where the format has one, in two bytes by `two` or in four by the code
/// after it.
fn head(out: &mut Vec<u8>, length: usize, short: [Option<(u8, usize)>; 2], two: u8) -> PyResult<()> {
    let [fixed, byte] = short;
    if let Some((code, _)) = fixed.filter(|(_, most)| length <= *most) {
        out.push(code | length as u8);
    } else if let Some((code, _)) = byte.filter(|(_, most)| length <= *most) {
        out.extend_from_slice(&[code, length as u8]);
    } else if let Ok(length) = u16::try_from(length) {
        out.push(two);
        out.extend_from_slice(&length.to_be_bytes());
    } else {
        let length =
            u32::try_from(length).map_err(|_| PyValueError::new_err(format!("{length} elements are too many")))?;
        out.push(two + 1);
        out.extend_from_slice(&length.to_be_bytes());
    }
    Ok(())
}
