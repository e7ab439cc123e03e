//! The Python types of messages: the one that all of them extend, and one for each class.

use std::ffi::{CString, c_int, c_void};
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::class::Field;
use super::object::{BASE, HEAD, base};
use super::slots::{compare, dealloc, get_buffer, get_field, new, release_buffer, set_field};

/// Makes the type of a class of messages. It is made as those of extension modules are, and not by calling `type`: the garbage collector would look
/// at each object of such a type, and what frees one asks first what else a type of Python may have.
pub fn make<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let name = CString::new(format!("horus.{name}"))?; // `__module__` is set to another one afterwards
    let slots = [ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: dealloc as *mut c_void }];
    from_spec(py, name, slots.into(), Some(&PyTuple::new(py, [base(py)])?))
}

/// The type whose objects begin with a head of messages.
fn from_spec<'py>(
    py: Python<'py>,
    name: CString,
    mut slots: Vec<ffi::PyType_Slot>,
    bases: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyType>> {
    slots.push(ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() });
    let mut spec = ffi::PyType_Spec {
        name: Box::leak(name.into_boxed_c_str()).as_ptr(), // CPython keeps the pointer
        basicsize: HEAD as c_int,
        itemsize: 1,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as u32,
        slots: slots.as_mut_ptr(),
    };
    let bases = bases.map_or(ptr::null_mut(), |bases| bases.as_ptr());
    // SAFETY: the slots are functions of the types that CPython has for them, and end with a zero.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&raw mut spec, bases)) }?;
    Ok(made.cast_into::<PyType>()?)
}

/// Gives a type of messages an attribute for a field.
pub fn add_field(of: &Bound<'_, PyType>, field: &'static Field) -> PyResult<()> {
    let name = CString::new(field.name.as_str())?;
    // Descriptors keep pointers to both, and classes live for ever.
    let definition = Box::leak(Box::new(ffi::PyGetSetDef {
        name: Box::leak(name.into_boxed_c_str()).as_ptr(),
        get: Some(get_field),
        set: Some(set_field),
        doc: ptr::null(),
        closure: ptr::from_ref(field).cast_mut().cast(),
    }));
    // SAFETY: the type and the definition are what they are said to be, and the latter lives for ever.
    let descriptor =
        unsafe { Bound::from_owned_ptr_or_err(of.py(), ffi::PyDescr_NewGetSet(of.as_type_ptr(), definition)) }?;
    of.setattr(field.name.as_str(), descriptor)
}

/// Makes the type that all messages extend.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if let Some(made) = BASE.get(py) {
        return module.add("Message", made); // the module was imported before, and forgotten
    }
    let slots = vec![
        ffi::PyType_Slot { slot: ffi::Py_tp_new, pfunc: new as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: dealloc as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_richcompare, pfunc: compare as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_hash, pfunc: ffi::PyObject_HashNotImplemented as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_bf_getbuffer, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_bf_releasebuffer, pfunc: release_buffer as *mut c_void },
    ];
    let made = from_spec(py, c"horus.Message".to_owned(), slots, None)?;
    module.add("Message", &made)?;
    let _ = BASE.set(py, made.unbind());
    Ok(())
}
