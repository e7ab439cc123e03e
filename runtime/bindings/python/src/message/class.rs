//! The class of a message: its layout, its fields with their places, and its Python type. Classes are made once and live for ever: a program
//! has few of them, and whatever points to one need not ask whether it is still there.

use std::cmp::Ordering;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use horus::message::layout::{Layout, generate};
use horus::messages::ALL;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use super::kind::Kind;
use super::object::{self, Bytes, Message};
use crate::error::{failed, refused};
use crate::picture::Shape;

/// A field of a message.
pub struct Field {
    pub name: String,
    interned: Py<PyString>,
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
    /// What a new message holds, if not zeros.
    template: PyOnceLock<Vec<u8>>,
    of: PyOnceLock<Py<PyType>>,
}

/// A class, as Python holds it.
#[pyclass(frozen, module = "horus._horus")]
pub struct ClassHandle(&'static Class);

/// The classes of which messages inside of others are, by their layouts. Under the GIL.
static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

impl Class {
    /// Bytes of a message.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.layout.payload().bytes
    }

    /// Its Python type.
    pub fn python_type<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.of.get(py).expect("a class has its type as soon as it is made").bind(py)
    }

    /// The same, to compare with.
    #[inline]
    pub fn type_pointer(&self) -> *mut ffi::PyTypeObject {
        // The type is set before anybody has the class.
        self.of.get(unattached()).map_or(std::ptr::null_mut(), |of| of.as_ptr().cast())
    }

    /// Writes what a field is set to.
    #[inline]
    pub fn set(&self, field: &'static Field, bytes: Bytes<'_, '_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = bytes.part(field.offset, field.bytes);
        if let Kind::Number(number) = field.kind {
            let given = number.write(value).map_err(|error| self.explain(value.py(), field, error))?;
            return bytes.write(&given[..field.bytes]);
        }
        let mut given = Vec::with_capacity(field.bytes);
        field.kind.write(value, &mut given).map_err(|error| self.explain(value.py(), field, error))?;
        bytes.write(&given)
    }

    /// Sets fields as the arguments of a call name them.
    pub fn fill(
        &'static self,
        bytes: Bytes<'_, '_>,
        args: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        if let Some(template) = self.template.get(bytes.python()) {
            bytes.write(template)?;
        }
        for (index, value) in args.iter_borrowed().enumerate() {
            let field = self.fields.get(index).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "{} has {} fields, and not {}",
                    self.layout.type_name(),
                    self.fields.len(),
                    args.len()
                ))
            })?;
            self.set(field, bytes, &value)?;
        }
        let Some(named) = named else { return Ok(()) };
        object::each_item(named, |name, value| {
            let (index, field) = self.find(&name)?;
            if index < args.len() {
                return Err(PyTypeError::new_err(format!(
                    "{} is given twice: {}",
                    field.name,
                    self.layout.type_name()
                )));
            }
            self.set(field, bytes, &value)
        })
    }

    #[inline]
    fn find(&'static self, name: &Bound<'_, PyAny>) -> PyResult<(usize, &'static Field)> {
        let is_same = |(_, field): &(usize, &Field)| field.interned.as_ptr() == name.as_ptr();
        match self.fields.iter().enumerate().find(is_same) {
            Some(found) => Ok(found),
            None => self.find_by_text(name),
        }
    }

    #[cold]
    fn find_by_text(&'static self, name: &Bound<'_, PyAny>) -> PyResult<(usize, &'static Field)> {
        let name = name.cast::<PyString>()?.to_str()?;
        let found = self.fields.iter().enumerate().find(|(_, field)| field.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
            PyTypeError::new_err(format!(
                "{} has no field {name}: it has {}",
                self.layout.type_name(),
                names.join(", ")
            ))
        })
    }

    /// The bytes of a message of this class, or of a dict or a sequence of its fields, appended to `out`.
    pub fn write(&'static self, value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        if let Some(bytes) = Message::of_class(value, self)? {
            let start = out.len();
            out.resize(start + bytes.length(), 0);
            bytes.copy_to(&mut out[start..]);
            return Ok(());
        }
        let made = Message::zeroed(value.py(), self)?;
        let bytes = Message::of_class(&made, self)?.expect("it is of this class");
        if let Ok(named) = value.cast::<PyDict>() {
            self.fill(bytes, &PyTuple::empty(value.py()), Some(named))?;
        } else if value.hasattr("__len__")? && !value.is_instance_of::<PyString>() && Message::of(value)?.is_none() {
            let items: Vec<_> = value.try_iter()?.collect::<PyResult<_>>()?;
            if items.len() != self.fields.len() {
                return Err(PyValueError::new_err(format!(
                    "{} has {} fields, and {} are given",
                    self.layout.type_name(),
                    self.fields.len(),
                    items.len()
                )));
            }
            self.fill(bytes, &PyTuple::new(value.py(), items)?, None)?;
        } else {
            return Err(PyTypeError::new_err(format!(
                "{} is wanted, and not {}",
                self.layout.type_name(),
                value.get_type()
            )));
        }
        out.extend_from_slice(&bytes.to_vec());
        Ok(())
    }

    /// Says which field an error is about; the type of the error stays what it is.
    #[cold]
    fn explain(&self, py: Python<'_>, field: &Field, error: PyErr) -> PyErr {
        let text = format!("the field {} of {}: {}", field.name, self.layout.type_name(), error.value(py));
        if error.is_instance_of::<PyOverflowError>(py) {
            PyOverflowError::new_err(text)
        } else if error.is_instance_of::<PyValueError>(py) {
            PyValueError::new_err(text)
        } else if error.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(text)
        } else {
            error // what a value's own __float__ raises is the program's
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

fn is_equal(kind: &Kind, one: &[u8], other: &[u8]) -> bool {
    use super::number::Number;
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

/// A class is used with the GIL held; what asks for its type pointer has it.
fn unattached<'py>() -> Python<'py> {
    // SAFETY: see above. (Reading a once-lock needs no more of it.)
    unsafe { Python::assume_attached() }
}

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
    let base = py.import("horus._message")?.getattr("Message")?;
    of_type(&make(layout.clone(), name, &base, &PyDict::new(py))?)
}

/// Makes a class: a Python type named `name` below `base`, with what `namespace` has.
fn make<'py>(
    layout: Layout,
    name: &str,
    base: &Bound<'py, PyAny>,
    namespace: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyType>> {
    let py = base.py();
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
    let class: &'static Class = Box::leak(Box::new(Class {
        layout,
        shape: Shape::of(&fields),
        fields,
        template: PyOnceLock::new(),
        of: PyOnceLock::new(),
    }));
    let names = PyTuple::new(py, class.fields.iter().map(|field| field.interned.bind(py)))?;
    namespace.set_item("__slots__", PyTuple::empty(py))?;
    namespace.set_item("__match_args__", names)?;
    namespace.set_item("_class", Bound::new(py, ClassHandle(class))?)?;
    let of = py.get_type::<PyType>().call1((name, PyTuple::new(py, [base])?, namespace))?.cast_into::<PyType>()?;
    for field in &class.fields {
        object::add_field(&of, field)?;
    }
    let _ = class.of.set(py, of.clone().unbind());
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if !known.contains(hash)? {
        known.set_item(hash, &of)?;
    }
    Ok(of)
}

/// Makes a class of messages of the text of a layout.
#[pyfunction]
fn make_class<'py>(
    text: &str,
    name: &str,
    base: &Bound<'py, PyAny>,
    namespace: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyType>> {
    make(text.parse::<Layout>().map_err(failed)?, name, base, namespace)
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
