//! Which classes there are, and how one is made; with what the package's files in Python ask of them.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use horus::message::layout::{Layout, generate};
use horus::messages::ALL;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use super::class::{Class, Field};
use super::kind::Kind;
use super::object::Message;
use super::{types, vectorcall};
use crate::error::{failed, refused};

/// A class, as Python holds it.
#[pyclass(frozen, module = "horus._horus")]
pub struct ClassHandle(&'static Class);

/// The classes of which messages inside of others are, by their layouts. Under the GIL.
static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

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

/// The class that messages of this layout have inside of others; it is made when there is none.
pub fn of_layout(py: Python<'_>, layout: &Layout) -> PyResult<&'static Class> {
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(of) = known.get_item(layout.hash())? {
        return of_type(of.cast::<PyType>()?);
    }
    let name = layout.type_name().rsplit('/').next().unwrap_or_default();
    of_type(&make(layout.clone(), name, &PyDict::new(py))?)
}

/// Makes a class: a Python type named `name`, with what `namespace` has.
fn make<'py>(layout: Layout, name: &str, namespace: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyType>> {
    let py = namespace.py();
    let mut fields = Vec::new();
    for field in layout.fields() {
        fields.push(Field {
            name: field.name().to_owned(),
            interned: PyString::intern(py, field.name()).unbind(),
            offset: field.offset(),
            bytes: field.made_of().bytes(),
            kind: Kind::of(py, field.made_of())?,
        });
    }
    let hash = layout.hash();
    let class = Class::leaked(layout, fields);
    let of = types::make(py, name)?;
    let names = PyTuple::new(py, class.fields.iter().map(|field| field.interned.bind(py)))?;
    namespace.set_item("__slots__", PyTuple::empty(py))?;
    namespace.set_item("__match_args__", names)?;
    namespace.set_item("_class", Bound::new(py, ClassHandle(class))?)?;
    for (name, value) in namespace {
        of.setattr(name.cast::<PyString>()?, &value)?;
        if let Some(told) = value.get_type().getattr_opt(pyo3::intern!(py, "__set_name__"))? {
            told.call1((&value, &of, &name))?;
        }
    }
    for field in &class.fields {
        types::add_field(&of, field)?;
    }
    class.set_type(&of);
    vectorcall::give_to(&of);
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if !known.contains(hash)? {
        known.set_item(hash, &of)?;
    }
    Ok(of)
}

/// Makes a class of messages of the text of a layout.
#[pyfunction]
fn make_class<'py>(text: &str, name: &str, namespace: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyType>> {
    make(text.parse::<Layout>().map_err(failed)?, name, namespace)
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

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ClassHandle>()?;
    module.add_function(wrap_pyfunction!(make_class, module)?)?;
    module.add_function(wrap_pyfunction!(layout_text, module)?)?;
    module.add_function(wrap_pyfunction!(layout_facts, module)?)?;
    module.add_function(wrap_pyfunction!(field_messages, module)?)?;
    module.add_function(wrap_pyfunction!(message_from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(message_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(set_template, module)?)?;
    module.add_function(wrap_pyfunction!(release, module)?)
}
