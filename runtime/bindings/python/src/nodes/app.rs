//! A program of nodes: it is declared, and then it runs.

use std::cell::Cell;
use std::ffi::OsString;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::service::Answer;
use horus::time::{Clock, MonotonicTime, SystemClock};
use horus::topic::{Bytes, Raw};
use horus::world::{Unbuilt, VirtualWorld};
use horus::{app, stop};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::ending::{Interrupter, Running};
use super::options;
use super::port::{Input, Output, Reader, Writer};
use super::step::{Caller, Failures, PyNode};
use crate::action::{self, ActionClient, ActionServer};
use crate::error::{failed, refused};
use crate::exclusive::{Exclusive, Lent};
use crate::life::Life;
use crate::param::{self, Param};
use crate::service::{self, Classes, Client, NodeServer};
use crate::topic::options::{duration, read};
use crate::topic::{Carried, DEFAULT_MAXIMUM};
use crate::value::{self, Decoder};

/// The stack of a thread of nodes: what 1000 calls of Python through C take, which is where its recursion ends.
const STACK_BYTES: usize = 4 << 20;

/// Where a program is declared.
enum Place {
    Machine(Box<app::App>),
    World(Box<Unbuilt>),
    /// It runs, or has run.
    Gone,
}

/// What was declared.
struct Declared {
    place: Place,
    failures: Failures,
    running: Vec<Arc<Running>>,
}

/// A program of nodes.
#[pyclass(frozen, module = "horus")]
pub struct App {
    declared: Exclusive<Declared>,
    name: String,
    life: Life,
}

impl Declared {
    fn app(&mut self) -> PyResult<&mut app::App> {
        match &mut self.place {
            Place::Machine(app) => Ok(app),
            Place::World(unbuilt) => Ok(unbuilt.app()),
            Place::Gone => {
                Err(refused("the program runs, or has run: declare inputs, outputs and nodes before app.run()"))
            }
        }
    }
}

impl App {
    fn with(place: Place, name: &str) -> Self {
        let declared = Declared { place, failures: Failures::default(), running: Vec::new() };
        Self { declared: Exclusive::new("app", declared), name: name.to_owned(), life: Life::default() }
    }

    /// One whose nodes are for virtual time.
    pub fn in_virtual_time(unbuilt: Unbuilt) -> Self {
        Self::with(Place::World(Box::new(unbuilt)), "virtual")
    }

    /// The world of the nodes that were declared, where their exceptions are, and what their ports ask.
    pub fn build(&self, py: Python<'_>) -> PyResult<(VirtualWorld, Failures, Life)> {
        let mut declared = self.declared.lend(py)?;
        let failures = declared.failures.clone();
        let Place::World(unbuilt) = std::mem::replace(&mut declared.place, Place::Gone) else {
            return Err(refused("this app is of no world"));
        };
        drop(declared);
        let built = caught(py, &failures, || unbuilt.build())?;
        Ok((built, failures, self.life.clone()))
    }

    fn take(&self, mut declared: Lent<'_, Declared>) -> PyResult<Box<app::App>> {
        declared.app()?;
        match std::mem::replace(&mut declared.place, Place::Gone) {
            Place::Machine(app) => Ok(app),
            other => {
                declared.place = other;
                Err(refused("this app is lent to the function that declares its nodes: return from it"))
            }
        }
    }
}

/// Runs nodes; an exception of a step is raised as it was.
pub fn caught<T>(py: Python<'_>, failures: &Failures, run: impl FnOnce() -> horus::Result<T>) -> PyResult<T> {
    let ran = catch_unwind(AssertUnwindSafe(run));
    if let Some(error) = failures.take() {
        return Err(error);
    }
    match ran {
        Ok(ran) => ran.map_err(failed),
        Err(panic) => {
            let said = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|&said| said.to_owned()));
            let _ = py;
            Err(refused(said.unwrap_or_else(|| "a step failed".to_owned())))
        }
    }
}

#[pymethods]
impl App {
    #[new]
    #[pyo3(signature = (name, arguments=None))]
    fn new(py: Python<'_>, name: &str, arguments: Option<Vec<OsString>>) -> PyResult<Self> {
        let arguments = match arguments {
            Some(arguments) => arguments,
            None => py.import("sys")?.getattr("argv")?.extract::<Vec<OsString>>()?.into_iter().skip(1).collect(),
        };
        let mut app = app::start_with(name, arguments).map_err(failed)?;
        app.stack(STACK_BYTES);
        Ok(Self::with(Place::Machine(Box::new(app)), name))
    }

    /// The program's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// An input of the next node.
    #[pyo3(signature = (of, topic, **given))]
    fn input<'py>(
        &self,
        of: &Bound<'py, PyAny>,
        topic: &str,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Input>> {
        let (carried, (options, maximum)) = (Carried::named(of)?, read(given)?);
        let maximum = maximum.unwrap_or(DEFAULT_MAXIMUM);
        let mut declared = self.declared.lend(of.py())?;
        let app = declared.app()?;
        let reader = match carried {
            Carried::Messages(class) => {
                Reader::Messages(app.input_as::<Raw>(topic, &class.layout, options).map_err(failed)?, class)
            }
            Carried::Bytes => {
                Reader::Bytes(app.input_as::<[u8]>(topic, Bytes::up_to(maximum), options).map_err(failed)?)
            }
            Carried::Values => {
                let shape = Bytes::of_type(value::TYPE_NAME, maximum);
                Reader::Values(app.input_as::<[u8]>(topic, shape, options).map_err(failed)?, Decoder::default())
            }
        };
        Bound::new(of.py(), Input::new(reader, self.life.clone()))
    }

    /// An output of the next node: of a `latest` topic that holds 16 messages, unless its options say otherwise.
    #[pyo3(signature = (of, topic, **given))]
    fn output<'py>(
        &self,
        of: &Bound<'py, PyAny>,
        topic: &str,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Output>> {
        let (carried, (options, maximum)) = (Carried::named(of)?, read(given)?);
        let maximum = maximum.unwrap_or(DEFAULT_MAXIMUM);
        let mut declared = self.declared.lend(of.py())?;
        let app = declared.app()?;
        let writer = match carried {
            Carried::Messages(class) => {
                Writer::Messages(app.output_as::<Raw>(topic, &class.layout, options).map_err(failed)?, class)
            }
            Carried::Bytes => {
                Writer::Bytes(app.output_as::<[u8]>(topic, Bytes::up_to(maximum), options).map_err(failed)?)
            }
            Carried::Values => {
                let shape = Bytes::of_type(value::TYPE_NAME, maximum);
                let output = app.output_as::<[u8]>(topic, shape, options).map_err(failed)?;
                Writer::Values(output, Vec::with_capacity(maximum))
            }
        };
        Bound::new(of.py(), Output::new(writer, self.life.clone()))
    }

    /// A parameter of the next node.
    #[pyo3(signature = (name, default, **given))]
    fn param(&self, name: &str, default: &Bound<'_, PyAny>, given: Option<&Bound<'_, PyDict>>) -> PyResult<Param> {
        let mut declared = self.declared.lend(default.py())?;
        param::declare(declared.app()?, name, default, given)
    }

    /// Has the members of a group alone set the parameters.
    fn param_group(&self, py: Python<'_>, group: &str) -> PyResult<()> {
        self.declared.lend(py)?.app()?.param_group(group);
        Ok(())
    }

    /// Adds a node: `step` is called with a `Cycle` each cycle. `horus.App.node` is the decorator over it.
    #[pyo3(signature = (name, step, safe_state, options))]
    fn add(
        &self,
        name: &str,
        step: &Bound<'_, PyAny>,
        safe_state: Option<Bound<'_, PyAny>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        for (what, work) in [("step", Some(step)), ("safe state", safe_state.as_ref())] {
            if work.is_some_and(|work| !work.is_callable()) {
                return Err(PyTypeError::new_err(format!("the {what} of node {name} cannot be called")));
            }
        }
        let mut declared = self.declared.lend(step.py())?;
        let (failures, running) = (declared.failures.clone(), Arc::new(Running::of(name)));
        declared.app()?;
        declared.running.push(Arc::clone(&running));
        let caller = Caller { failures, running };
        let node = PyNode { step: step.clone().unbind(), safe_state: safe_state.map(Bound::unbind), caller };
        options::apply(declared.app()?.node(name, node), options)
    }

    /// Adds a node that serves a service: `handler` is called with each request. `horus.App.service` is the decorator over it.
    #[pyo3(signature = (requests, answers, service, handler, given, options))]
    fn add_service(
        &self,
        requests: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        service: &str,
        handler: &Bound<'_, PyAny>,
        given: &Bound<'_, PyDict>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let classes = Classes::named(requests, answers)?;
        if !handler.is_callable() {
            return Err(PyTypeError::new_err(format!("the handler of service {service} cannot be called")));
        }
        let mut declared = self.declared.lend(handler.py())?;
        let caller = Caller { failures: declared.failures.clone(), running: Arc::new(Running::of(service)) };
        let running = Arc::clone(&caller.running);
        let handler = handler.clone().unbind();
        let answers_it = move |request: &[u8], answer: Answer<'_, Raw>| {
            caller.call(|py| classes.answer(handler.bind(py), request, answer, Duration::ZERO));
        };
        let spec = declared.app()?.service_as::<Raw, Raw>(
            service,
            &classes.requests.layout,
            &classes.answers.layout,
            service::read(Some(given))?,
            answers_it,
        );
        options::apply(spec.map_err(failed)?, options)?;
        declared.running.push(running);
        Ok(())
    }

    /// The answering end of a service, for the next node.
    #[pyo3(signature = (requests, answers, service, **given))]
    fn server(
        &self,
        requests: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        service: &str,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<NodeServer> {
        let (classes, options) = (Classes::named(requests, answers)?, service::read(given)?);
        let mut declared = self.declared.lend(requests.py())?;
        let (asked, answered) = (&classes.requests.layout, &classes.answers.layout);
        let server = declared.app()?.server_as::<Raw, Raw>(service, asked, answered, options).map_err(failed)?;
        Ok(NodeServer::new(server, classes, service, self.life.clone()))
    }

    /// The end of an action that works on goals, for the next node.
    #[pyo3(signature = (goals, feedbacks, results, action, preemption, at_once, client_gone, accept, cancel, given))]
    #[allow(clippy::too_many_arguments)] // Python's side gives them by their names
    fn action(
        &self,
        goals: &Bound<'_, PyAny>,
        feedbacks: &Bound<'_, PyAny>,
        results: &Bound<'_, PyAny>,
        action: &str,
        preemption: &str,
        at_once: usize,
        client_gone: &str,
        accept: Option<Bound<'_, PyAny>>,
        cancel: Option<Bound<'_, PyAny>>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<ActionServer> {
        let classes = action::Classes::named(goals, feedbacks, results)?;
        let options = action::of_server(action::read(Some(given))?, preemption, at_once, client_gone)?;
        let mut declared = self.declared.lend(goals.py())?;
        let [goal, feedback, result] = classes.layouts();
        let server = declared.app()?.action_as(action, goal, feedback, result, options).map_err(failed)?;
        Ok(ActionServer::of(goals.py(), server, classes, accept, cancel, Some(self.life.clone())))
    }

    /// The end of an action that sends goals, for the steps of a node.
    fn action_client(
        &self,
        goals: &Bound<'_, PyAny>,
        feedbacks: &Bound<'_, PyAny>,
        results: &Bound<'_, PyAny>,
        action: &str,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<ActionClient> {
        let (classes, options) = (action::Classes::named(goals, feedbacks, results)?, action::read(Some(given))?);
        let mut declared = self.declared.lend(goals.py())?;
        let [goal, feedback, result] = classes.layouts();
        let client = declared.app()?.action_client_as(action, goal, feedback, result, options).map_err(failed)?;
        Ok(ActionClient::of(client, classes, Some(self.life.clone())))
    }

    /// The asking end of a service, for the steps of a node.
    #[pyo3(signature = (requests, answers, service, **given))]
    fn client(
        &self,
        requests: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        service: &str,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Client> {
        let (classes, options) = (Classes::named(requests, answers)?, service::read(given)?);
        let mut declared = self.declared.lend(requests.py())?;
        let (asked, answered) = (&classes.requests.layout, &classes.answers.layout);
        let client = declared.app()?.client_as::<Raw, Raw>(service, asked, answered, options).map_err(failed)?;
        Ok(Client::of_node(client, classes, service, self.life.clone()))
    }

    /// Names nodes that hand data on to each other, and the longest time from the first one's release to the last one's completion.
    fn chain(&self, py: Python<'_>, nodes: Vec<String>, end_to_end: &Bound<'_, PyAny>) -> PyResult<()> {
        let nodes: Vec<_> = nodes.iter().map(String::as_str).collect();
        self.declared.lend(py)?.app()?.chain_of(&nodes).end_to_end(duration(end_to_end)?);
        Ok(())
    }

    /// Ends the program after so many releases of each node.
    fn releases(&self, py: Python<'_>, releases: u64) -> PyResult<()> {
        self.declared.lend(py)?.app()?.releases(releases);
        Ok(())
    }

    /// Has a second SIGTERM or SIGINT within this time of the first one change nothing.
    fn grace(&self, grace: &Bound<'_, PyAny>) -> PyResult<()> {
        let span = duration(grace)?;
        self.declared.lend(grace.py())?.app()?.grace(span);
        Ok(())
    }

    /// Does not start unless the system grants everything that a node asks for.
    fn strict(&self, py: Python<'_>) -> PyResult<()> {
        self.declared.lend(py)?.app()?.strict();
        Ok(())
    }

    /// Runs the nodes until SIGTERM or Ctrl-C, until they have used up their releases, or until one of them ends the program, and prints their
    /// accounts. Raises what a step raised, and HorusError when the nodes are refused.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let declared = self.declared.lend(py)?;
        let (failures, running) = (declared.failures.clone(), declared.running.clone());
        let mut app = self.take(declared)?;
        py.import("sys")?.getattr("stdout")?.call_method0("flush")?; // accounts are printed behind what the program has said
        let stop = stop::on_termination()?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let mut interrupter = Interrupter::new(&self.name, Arc::clone(&stop), Arc::clone(&has_ended), running);
        app.background(move |_now| interrupter.look());
        let ran = py.detach(|| catch_unwind(AssertUnwindSafe(|| app::finish(*app))));
        has_ended.store(true, Ordering::Relaxed);
        self.life.end();
        let ran = caught(py, &failures, || ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let was_asked = stop.load(Ordering::Relaxed);
        // Ctrl-C is what ended the program: nothing is left to be interrupted.
        let signal =
            py.check_signals().or_else(|error| if was_asked && is_interrupt(py, &error) { Ok(()) } else { Err(error) });
        match ran {
            Err(error) if was_asked && is_interrupt(py, &error) => Err(refused(format!(
                "{}: a step went on although the program was asked to end, and was interrupted",
                self.name
            ))),
            ran => ran.and(signal),
        }
    }

    /// Runs the nodes in the calling thread, each release as soon as the one before it is done, for meters of the loop's own cost.
    fn run_in_place(&self, py: Python<'_>, releases: u64) -> PyResult<()> {
        let declared = self.declared.lend(py)?;
        let failures = declared.failures.clone();
        let mut app = self.take(declared)?;
        app.releases(releases);
        let ran = py.detach(|| {
            catch_unwind(AssertUnwindSafe(|| app.run_in_place(Hurried::default(), &AtomicBool::new(false))))
        });
        self.life.end();
        caught(py, &failures, || ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).map(|_| ())
    }
}

fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyKeyboardInterrupt>(py)
}

/// A clock that goes on with each sleep only, and is read at the price of the machine's.
#[derive(Default)]
struct Hurried(Cell<MonotonicTime>);

impl Clock for Hurried {
    fn now(&self) -> MonotonicTime {
        black_box(SystemClock.now());
        self.0.get()
    }

    fn sleep_until(&self, until: MonotonicTime) {
        self.0.set(until.max(self.0.get()));
    }

    fn cpu(&self) -> u32 {
        SystemClock.cpu()
    }

    fn cpu_time(&self) -> u64 {
        SystemClock.cpu_time()
    }
}
