//! DLPack (<https://dmlc.github.io/dlpack/latest/>): numbers in memory, handed to NumPy, PyTorch, JAX and others without a copy.
//!
//! ```text
//! capsule "dltensor"            -> Managed           what consumers before DLPack 1.0 take; it has no word for "do not write"
//! capsule "dltensor_versioned"  -> ManagedVersioned  with flags
//! ```
//!
//! A consumer that takes a capsule renames it and calls the deleter when it is done. A capsule that was not taken calls it
//! itself.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::arguments::{Given, unless_none};
use crate::message::array::{Array, Shape};
use crate::message::bytes::Kept;
use crate::message::grid::{Grid, MOST};
use crate::message::number::Number;
use crate::message::object::{Message, base};
use crate::methods::{self, Method};

/// The kind and the number of the device.
const DEVICE: (i32, i32) = (1, 0); // kDLCPU
const READ_ONLY: u64 = 1;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    dimensions: i32,
    /// Code (0 signed, 1 unsigned, 2 float), bits, lanes.
    kind: (u8, u8, u16),
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    behind: Behind,
}

#[repr(C)]
struct ManagedVersioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
    behind: Behind,
}

/// Behind what consumers know of: what a tensor points to, and what keeps its bytes.
struct Behind {
    _kept: Kept,
    shape: [i64; MOST],
    strides: [i64; MOST],
}

/// The two forms, which differ in where the tensor stands.
trait Form {
    const NAME: &'static CStr;
    fn parts(&mut self) -> (&mut Tensor, &mut Behind);
}

impl Form for Managed {
    const NAME: &'static CStr = c"dltensor";
    fn parts(&mut self) -> (&mut Tensor, &mut Behind) {
        (&mut self.tensor, &mut self.behind)
    }
}

impl Form for ManagedVersioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    fn parts(&mut self) -> (&mut Tensor, &mut Behind) {
        (&mut self.tensor, &mut self.behind)
    }
}

/// Ends a tensor. Consumers call it on any thread, with or without the GIL.
unsafe extern "C" fn delete<F: Form>(managed: *mut F) {
    Python::attach(|_py| {
        // SAFETY: it is of a box that `capsule` made, and a consumer calls the deleter once.
        drop(unsafe { Box::from_raw(managed) });
    });
}

/// Of a capsule that was not taken: one that was taken has another name.
unsafe extern "C" fn drop_capsule<F: Form>(capsule: *mut ffi::PyObject) {
    // SAFETY: CPython calls it with the capsule that it ends.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, F::NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, F::NAME.as_ptr()).cast::<F>();
            delete::<F>(managed);
        }
    }
}

fn capsule<'py, F: Form>(py: Python<'py>, managed: F) -> PyResult<Bound<'py, PyAny>> {
    let mut managed = Box::new(managed);
    let (tensor, behind) = managed.parts();
    (tensor.shape, tensor.strides) = (behind.shape.as_mut_ptr(), behind.strides.as_mut_ptr());
    let managed = Box::into_raw(managed);
    // SAFETY: the name lives for ever, and the box until the deleter is called.
    unsafe {
        let made = ffi::PyCapsule_New(managed.cast(), F::NAME.as_ptr(), Some(drop_capsule::<F>));
        Bound::from_owned_ptr_or_err(py, made).inspect_err(|_| delete::<F>(managed))
    }
}

fn kind(number: Number) -> PyResult<(u8, u8, u16)> {
    let code = match number.name().as_bytes()[0] {
        b'i' => 0,
        b'u' => 1,
        _ => 2,
    };
    let bits = 8 * number.bytes();
    u8::try_from(bits)
        .ok()
        .filter(|bits| *bits <= 64)
        .map(|bits| (code, bits, 1))
        .ok_or_else(|| PyTypeError::new_err(format!("DLPack has no numbers of {bits} bits: copy them by NumPy")))
}

/// What `__dlpack__` is asked for.
struct Asked {
    has_stream: bool,
    has_version_1: bool,
    device: Option<(i32, i32)>,
    wants_copy: bool,
}

/// `__dlpack__` of messages with data, and of arrays of messages.
struct Export;

impl Method for Export {
    type On = PyAny;
    const NAME: &'static CStr = c"__dlpack__";
    const DOC: &'static CStr =
        c"__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA capsule over the numbers.";

    #[inline]
    fn call<'py>(on: &Bound<'py, PyAny>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let parameters = ["stream", "max_version", "dl_device", "copy"];
        let [stream, max_version, device, copy] = given.sorted("__dlpack__", parameters, 0)?.map(unless_none);
        let version = max_version.map(|version| version.extract::<(u32, u32)>()).transpose()?;
        let asked = Asked {
            has_stream: stream.is_some(),
            has_version_1: version.is_some_and(|(major, _)| major >= 1),
            device: device.map(|device| device.extract()).transpose()?,
            wants_copy: copy.map(|copy| copy.extract()).transpose()?.unwrap_or(false),
        };
        capsule_of(on, &asked)
    }
}

/// `__dlpack_device__`: all messages are in the memory of the CPU.
struct Device;

impl Method for Device {
    type On = PyAny;
    const NAME: &'static CStr = c"__dlpack_device__";
    const DOC: &'static CStr = c"__dlpack_device__($self, /)\n--\n\nWhere the numbers are: in the memory of the CPU.";

    fn call<'py>(on: &Bound<'py, PyAny>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("__dlpack_device__", [], 0)?;
        Ok(DEVICE.into_pyobject(on.py())?.into_any())
    }
}

/// Gives both to messages and to their arrays.
pub fn add_to(py: Python<'_>) -> PyResult<()> {
    for of in [base(py), &py.get_type::<Array>()] {
        methods::add_to_any::<Export>(of)?;
        methods::add_to_any::<Device>(of)?;
    }
    Ok(())
}

/// A capsule over the data of an image or a cloud, or over an array of a message.
fn capsule_of<'py>(of: &Bound<'py, PyAny>, asked: &Asked) -> PyResult<Bound<'py, PyAny>> {
    let py = of.py();
    if asked.has_stream || asked.device.is_some_and(|device| device != DEVICE) {
        return Err(PyBufferError::new_err("messages are in the memory of the CPU, which has no streams"));
    }
    if asked.wants_copy {
        return Err(PyBufferError::new_err("only the message's own bytes are handed out: copy the array that you get"));
    }
    let grid = match Message::of(of)? {
        Some((class, bytes)) => match (class.data(bytes)?, class.numbers()) {
            (Some(grid), _) => grid,
            (None, Some((number, count))) => Grid::packed(bytes, number, &[count]),
            (None, None) => {
                return Err(PyTypeError::new_err(format!(
                    "{} is no image, no cloud and no vector: hand over one of its fields",
                    class.layout.type_name()
                )));
            }
        },
        None => {
            let view = of.cast::<Array>().map_err(|_| PyTypeError::new_err("this is no message"))?.get();
            let Shape { number: Some(number), dimensions } = view.shape() else {
                return Err(PyTypeError::new_err("DLPack has no word for messages: take an array of numbers"));
            };
            Grid::packed(view.kept().bytes(py), number, &dimensions)
        }
    };
    let (kept, element) = (grid.bytes.keep(), grid.number.bytes() as i64);
    let is_read_only = kept.is_read_only();
    let data = kept.at().cast();
    if grid.strides.iter().any(|stride| *stride as i64 % element != 0) {
        return Err(PyBufferError::new_err(
            "the rows of this image do not begin at whole numbers: copy it by image.to_numpy()",
        ));
    }
    let mut behind = Behind { _kept: kept, shape: [0; MOST], strides: [0; MOST] };
    for (index, (length, stride)) in grid.dimensions.iter().zip(&grid.strides).enumerate() {
        (behind.shape[index], behind.strides[index]) = (*length as i64, *stride as i64 / element);
    }
    let tensor = Tensor {
        data,
        device: [DEVICE.0, DEVICE.1],
        dimensions: grid.dimensions.len() as i32,
        kind: kind(grid.number)?,
        shape: ptr::null_mut(), // set when it stands where it stays
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    if asked.has_version_1 {
        let flags = if is_read_only { READ_ONLY } else { 0 };
        return capsule(
            py,
            ManagedVersioned {
                version: [1, 0],
                context: ptr::null_mut(),
                deleter: Some(delete),
                flags,
                tensor,
                behind,
            },
        );
    }
    capsule(py, Managed { tensor, context: ptr::null_mut(), deleter: Some(delete), behind })
}
