//! The class of a type of messages; with what the package's files in Python ask of classes and of messages.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use horus::message::layout::generate;
use horus::messages::ALL;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::class::Class;
use super::object::Message;
use crate::error::{failed, refused};

/// A class, as Python holds it.
#[pyclass(frozen, module = "horus._horus")]
pub struct ClassHandle(pub(super) &'static Class);

/// The class of a type of messages.
///
/// # Errors
/// When the type has none: it is `Message` itself.
#[inline]
pub fn of_type(of: &Bound<'_, PyType>) -> PyResult<&'static Class> {
    let pointer = of.as_type_ptr();
    // SYNC POINT: class
    let seen = SEEN[place(pointer)].load(Acquire);
    // SAFETY: what stands in the table is null or a class, and classes live for ever.
    match unsafe { seen.as_ref() } {
        Some(class) if class.type_pointer() == pointer => Ok(class),
        _ => of_attribute(of),
    }
}

/// Classes by their types' addresses, the one that was asked for last at each place: an attribute of a type takes CPython 30 ns.
static SEEN: [AtomicPtr<Class>; 64] = [const { AtomicPtr::new(ptr::null_mut()) }; 64];

fn place(of: *mut ffi::PyTypeObject) -> usize {
    // Types are some hundred bytes large.
    (of.addr() >> 6 ^ of.addr() >> 12) % SEEN.len()
}

#[cold]
fn of_attribute(of: &Bound<'_, PyType>) -> PyResult<&'static Class> {
    let py = of.py();
    let handle = of.getattr_opt(pyo3::intern!(py, "_class"))?;
    match handle.as_ref().and_then(|handle| handle.cast::<ClassHandle>().ok()) {
        Some(handle) => {
            let class = handle.get().0;
            if class.type_pointer() == of.as_type_ptr() {
                SEEN[place(of.as_type_ptr())].store(ptr::from_ref(class).cast_mut(), Release); // SYNC POINT: class
            }
            Ok(class)
        }
        None => Err(no_class(of)),
    }
}

#[cold]
fn no_class(of: &Bound<'_, PyType>) -> PyErr {
    PyTypeError::new_err(format!(
        "{of} is no class of messages: take one of horus.messages, or write @horus.message(\"package/Name\") above a class with fields"
    ))
}

/// The text of a class's layout.
#[pyfunction]
fn layout_text(of: &Bound<'_, PyType>) -> PyResult<String> {
    generate::text(&of_type(of)?.layout).map_err(failed)
}

/// Hash, bytes and alignment of a class's layout.
#[pyfunction]
fn layout_facts(of: &Bound<'_, PyType>) -> PyResult<(u64, usize, usize)> {
    let layout = &of_type(of)?.layout;
    Ok((layout.hash(), layout.payload().bytes, layout.payload().align))
}

/// The layout texts of the messages of the field.
#[pyfunction]
fn field_messages() -> PyResult<Vec<String>> {
    ALL.iter().map(|definition| generate::text(&(definition.layout)()).map_err(failed)).collect()
}

/// A message of a class, of its bytes.
#[pyfunction]
fn message_from_bytes<'py>(of: &Bound<'py, PyType>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let class = of_type(of)?;
    if bytes.len() != class.bytes() {
        return Err(refused(format!(
            "{} bytes are no {}, which has {}",
            bytes.len(),
            class.layout.type_name(),
            class.bytes()
        )));
    }
    let message = Message::zeroed(of.py(), class)?;
    Message::of_class(&message, class)?.expect("it is of this class").write(bytes)?;
    Ok(message)
}

/// The bytes of a message.
#[pyfunction]
fn message_bytes<'py>(message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    match Message::of(message)? {
        Some((_, bytes)) => Ok(PyBytes::new(message.py(), &bytes.to_vec())),
        None => Err(PyTypeError::new_err("this is no message")),
    }
}

/// Has new messages of a class begin as this one.
#[pyfunction]
fn set_template(of: &Bound<'_, PyType>, message: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = of_type(of)?;
    if let Some(bytes) = Message::of_class(message, class)? {
        let _ = class.template.set(of.py(), bytes.to_vec());
    }
    Ok(())
}

/// Ends what a message keeps of its topic.
#[pyfunction]
fn release(message: &Bound<'_, PyAny>) {
    if let Ok(Some(_)) = Message::of(message) {
        Message::release(message);
    }
}

/// Adds all that.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ClassHandle>()?;
    module.add_function(wrap_pyfunction!(layout_text, module)?)?;
    module.add_function(wrap_pyfunction!(layout_facts, module)?)?;
    module.add_function(wrap_pyfunction!(field_messages, module)?)?;
    module.add_function(wrap_pyfunction!(message_from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(message_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(set_template, module)?)?;
    module.add_function(wrap_pyfunction!(release, module)?)
}
