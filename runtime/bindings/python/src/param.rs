//! Parameters: those that a node declares, and those of other programs.

use std::time::Duration;

use horus::param::{
    AnyParam, Change, Current, Kind, Origin, Params as RustParams, SetError, Value, Watch as RustWatch, Wishes,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::error::{failed, refused};
use crate::exclusive::Exclusive;

/// The classes of this file.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Param>()?;
    module.add_class::<Parameter>()?;
    module.add_class::<ParamChange>()?;
    module.add_class::<Watch>()?;
    module.add_class::<Params>()
}

/// A value of Python as one that a parameter can have.
pub fn value_of(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(given.extract()?));
    }
    if given.is_instance_of::<PyInt>() {
        let whole = given.extract();
        return whole.map(Value::I64).map_err(|_| PyValueError::new_err("a whole number of a parameter has 64 bits"));
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Value::F64(given.extract()?));
    }
    match given.cast::<PyString>() {
        Ok(text) => Ok(Value::Text(text.to_str()?.to_owned())),
        Err(_) => Err(PyTypeError::new_err(format!(
            "a parameter is a bool, an int, a float or a str, and not {}",
            given.get_type()
        ))),
    }
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::I64(value) => value.into_pyobject(py)?.into_any(),
        Value::F64(value) => PyFloat::new(py, *value).into_any(),
        Value::Text(value) => PyString::new(py, value).into_any(),
    })
}

fn maybe(py: Python<'_>, value: Option<&Value>) -> PyResult<Py<PyAny>> {
    value.map_or_else(|| Ok(py.None()), |value| object(py, value).map(Bound::unbind))
}

/// What `App.param` is given beside name and default.
pub fn declare(
    app: &mut horus::app::App,
    name: &str,
    default: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Param> {
    let (mut unit, mut about, mut range, mut read_only) = (String::new(), String::new(), None, false);
    for (key, value) in given.into_iter().flat_map(|given| given.iter()) {
        match key.extract::<String>()?.as_str() {
            "unit" => unit = value.extract()?,
            "about" => about = value.extract()?,
            "range" if value.is_none() => {}
            "range" => {
                let (least, greatest): (Bound<'_, PyAny>, Bound<'_, PyAny>) = value.extract()?;
                range = Some([value_of(&least)?, value_of(&greatest)?]);
            }
            "read_only" => read_only = value.is_truthy()?,
            other => {
                let text = format!("a parameter has no option {other}: there are unit, range, about, read_only");
                return Err(PyTypeError::new_err(text));
            }
        }
    }
    let wishes = Wishes { unit: &unit, about: &about, range, read_only };
    Ok(Param(app.any_param(name, &value_of(default)?, &wishes).map_err(failed)?))
}

/// A parameter of a node. Its step reads it.
#[pyclass(frozen, module = "horus")]
pub struct Param(AnyParam);

#[pymethods]
impl Param {
    /// Its value in this cycle.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match &self.0 {
            AnyParam::Bool(param) => PyBool::new(py, param.get()).to_owned().into_any(),
            AnyParam::I64(param) => param.get().into_pyobject(py)?.into_any(),
            AnyParam::F64(param) => PyFloat::new(py, param.get()).into_any(),
            AnyParam::Text(param) => PyString::new(py, &param.get()).into_any(),
        })
    }
}

/// A parameter of a program that runs, at one moment.
#[pyclass(frozen, get_all, module = "horus")]
pub struct Parameter {
    /// The node that it belongs to.
    node: String,
    /// Its name.
    name: String,
    /// What it is: "bool", "int", "float" or "str".
    kind: &'static str,
    /// Its value; None where the program's memory holds none that it can be.
    value: Py<PyAny>,
    /// The program's own value.
    default: Py<PyAny>,
    /// Its unit; empty where it has none.
    unit: String,
    /// What it is for; empty where the program does not say.
    about: String,
    /// The least and the greatest value; None where all are possible.
    range: Option<(Py<PyAny>, Py<PyAny>)>,
    /// Whether it changes at the program's start alone.
    read_only: bool,
    /// Where the value came from: "program", "command", "saved", or the path of a node.toml.
    source: String,
    /// The number of the user that set it; None where that was none.
    user: Option<u32>,
    /// When it was set, in seconds since 1970; None where it came from the program or node.toml.
    set_at: Option<u64>,
    /// When the value was set that the program has saved, in seconds since 1970; None where it has saved none.
    saved_at: Option<u64>,
}

impl Parameter {
    fn of(py: Python<'_>, current: &Current) -> PyResult<Self> {
        let known = &current.declaration;
        let range = known.range();
        let (source, user, set_at) = match &current.origin {
            Origin::Program => ("program".to_owned(), None, None),
            Origin::Settings(file) => (file.clone(), None, None),
            Origin::Command { user, when } => ("command".to_owned(), Some(*user), Some(*when)),
            Origin::Saved { user, when } => ("saved".to_owned(), *user, Some(*when)),
        };
        Ok(Self {
            node: known.node.clone(),
            name: known.name.clone(),
            kind: match known.kind {
                Kind::Bool => "bool",
                Kind::I64 => "int",
                Kind::F64 => "float",
                Kind::Text => "str",
            },
            value: maybe(py, current.value.as_ref())?,
            default: maybe(py, known.default().as_ref())?,
            unit: known.unit.clone(),
            about: known.about.clone(),
            range: match &range {
                None => None,
                Some([least, greatest]) => Some((maybe(py, Some(least))?, maybe(py, Some(greatest))?)),
            },
            read_only: known.read_only,
            source,
            user,
            set_at,
            saved_at: current.saved,
        })
    }
}

#[pymethods]
impl Parameter {
    fn __repr__(&self) -> String {
        format!("<horus.Parameter {}.{} = {}>", self.node, self.name, self.value)
    }
}

/// A parameter that has another value than before.
#[pyclass(frozen, get_all, module = "horus")]
pub struct ParamChange {
    /// What the value was.
    before: Py<PyAny>,
    /// What it is now, and where that came from.
    now: Py<Parameter>,
}

/// The changes of a program's parameters, as they come: an iterator that ends when the program ends.
#[pyclass(frozen, module = "horus")]
pub struct Watch(Exclusive<(RustWatch, Vec<Change>)>);

/// Between two slices Ctrl-C is heard.
const SLICE: Duration = Duration::from_millis(50);

#[pymethods]
impl Watch {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ParamChange>> {
        let mut watch = self.0.lend(py)?;
        loop {
            if !watch.1.is_empty() {
                let change = watch.1.remove(0);
                let before = maybe(py, change.before.as_ref())?;
                return Ok(Some(ParamChange { before, now: Py::new(py, Parameter::of(py, &change.now)?)? }));
            }
            let (changes, pending) = &mut *watch;
            match py.detach(|| changes.next_within(SLICE)) {
                Ok(found) => *pending = found,
                Err(SetError::Ended(_)) => return Ok(None),
                Err(error) => return Err(told(error)),
            }
            py.check_signals()?;
        }
    }
}

fn told(error: SetError) -> PyErr {
    match error {
        SetError::Refused(sentence) => refused(sentence),
        error => failed(error),
    }
}

/// The parameters of a program that runs, "nav", or of one of its nodes, "nav/drive". `horus.params` is the way to them.
#[pyclass(frozen, module = "horus._horus")]
pub struct Params(RustParams);

#[pymethods]
impl Params {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        Ok(Self(RustParams::open(name).map_err(failed)?))
    }

    /// All of them at one moment.
    fn list(&self, py: Python<'_>) -> PyResult<Vec<Parameter>> {
        self.0.list().map_err(told)?.iter().map(|current| Parameter::of(py, current)).collect()
    }

    /// One of them.
    fn get(&self, py: Python<'_>, name: &str) -> PyResult<Parameter> {
        Parameter::of(py, &self.0.get(name).map_err(told)?)
    }

    /// Sets several, all of them or none.
    fn set(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        let named =
            |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract::<String>()?, value_of(&value)?));
        let values: Vec<(String, Value)> = values.iter().map(named).collect::<PyResult<_>>()?;
        let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        self.alone(py, |params| params.set(&values).map(drop))
    }

    /// Changes from now on.
    fn watch(&self) -> PyResult<Watch> {
        Ok(Watch(Exclusive::new("watch", (self.0.watch().map_err(told)?, Vec::new()))))
    }

    /// Saves values; gives the sentence about it.
    fn save(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        self.alone(py, |params| params.save(&as_text(&names)))
    }

    /// Sets what was saved; gives the sentence about it.
    fn load(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        self.alone(py, |params| params.load(&as_text(&names)))
    }

    /// Drops what was saved; gives the sentence about it.
    fn forget(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        self.alone(py, |params| params.forget(&as_text(&names)))
    }
}

impl Params {
    /// Without the GIL: another process may have to answer.
    fn alone<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&RustParams) -> Result<T, SetError> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&self.0)).map_err(told)
    }
}

fn as_text(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}
