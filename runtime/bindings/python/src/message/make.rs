//! How a class of messages is made, of a layout.

use horus::message::layout::{Layout, MadeOf};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::class::{Class, Field, Kind};
use super::known::{ClassHandle, of_type};
use super::number::Number;
use super::{types, vectorcall};
use crate::error::failed;

/// The classes of which messages inside of others are, by their layouts. Under the GIL.
static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// The class that messages of this layout have inside of others; it is made when there is none.
fn of_layout(py: Python<'_>, layout: &Layout) -> PyResult<&'static Class> {
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(of) = known.get_item(layout.hash())? {
        return of_type(of.cast::<PyType>()?);
    }
    let name = layout.type_name().rsplit('/').next().unwrap_or_default();
    of_type(&make(layout.clone(), name, &PyDict::new(py))?)
}

/// The kind of a field. Messages inside are of the classes that are known already.
fn kind(py: Python<'_>, made_of: &MadeOf) -> PyResult<Kind> {
    Ok(match made_of {
        MadeOf::Number(name, _) => Kind::Number(Number::named(name).expect("every number of a layout is known")),
        MadeOf::Array(element, length) => Kind::Array { element: Box::new(kind(py, element)?), length: *length },
        MadeOf::Nested(layout) => Kind::Nested(of_layout(py, layout)?),
    })
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
            kind: kind(py, field.made_of())?,
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

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(make_class, module)?)
}
