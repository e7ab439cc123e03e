//! What becomes of steps that go on although the program was asked to end: they are interrupted, and then the program is left with them inside.
//!
//! An interrupt reaches a step when it runs Python again. One that waits in C does not, such as `time.sleep(30)`, and what computes in C with
//! the GIL keeps all of Python from running. So a thread that needs no GIL ends the process; what a killed program leaves is taken care of
//! by the program that comes next, and its nodes are made safe by the monitor.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::{Duration, Instant};

use horus::prelude::sleep;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi;
use pyo3::prelude::*;

use super::attached::attach;

/// How long after SIGTERM or Ctrl-C a step may run on before it is interrupted.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long after it the program is left. Both count from when the flag was seen, a tenth of a second after the signal at most.
const LONGEST: Duration = Duration::from_millis(800);
/// A step that is seen so often, so far apart, is no safe state that is published at the end.
const LOOKS: u32 = 4;
const LOOK: Duration = Duration::from_millis(20);
/// What Python has printed is written, if it can be within this time.
const FLUSH: Duration = Duration::from_millis(100);

/// Whether a step runs, and in which thread of Python, for who may have to end it.
pub struct Running {
    name: String,
    // They guard nothing: accesses are Relaxed.
    pub(super) thread: AtomicU64,
    pub(super) is_inside: AtomicBool,
}

impl Running {
    /// That of a node that does not run yet.
    pub fn of(name: &str) -> Self {
        Self { name: name.to_owned(), thread: AtomicU64::new(0), is_inside: AtomicBool::new(false) }
    }

    fn is_inside(&self) -> bool {
        self.is_inside.load(Ordering::Relaxed)
    }
}

/// Ends steps that run on although the program was asked to end.
pub struct Interrupter {
    program: String,
    stop: Arc<AtomicBool>,
    /// Set when the program has ended by itself. Guards nothing: accesses are Relaxed.
    has_ended: Arc<AtomicBool>,
    nodes: Vec<Arc<Running>>,
    since: Option<Instant>,
}

impl Interrupter {
    pub fn new(program: &str, stop: Arc<AtomicBool>, has_ended: Arc<AtomicBool>, nodes: Vec<Arc<Running>>) -> Self {
        Self { program: program.to_owned(), stop, has_ended, nodes, since: None }
    }

    /// Called ten times a second.
    pub fn look(&mut self) {
        if !self.stop.load(Ordering::Relaxed) {
            return;
        }
        let since = *self.since.get_or_insert_with(|| {
            let (program, nodes, has_ended) = (self.program.clone(), self.nodes.clone(), Arc::clone(&self.has_ended));
            // Without the thread a step that hangs has to be killed, as in any other language.
            let _ = Builder::new().name("horus-leave".to_owned()).spawn(move || leave(&program, &nodes, &has_ended));
            Instant::now()
        });
        if since.elapsed() < PATIENCE {
            return;
        }
        for node in self.nodes.iter().filter(|node| node.is_inside()) {
            attach(|py| {
                let thread = node.thread.load(Ordering::Relaxed);
                let interrupt = py.get_type::<PyKeyboardInterrupt>();
                // SAFETY: the GIL is held, and the exception is a class; a number that is no thread's changes nothing.
                unsafe { ffi::PyThreadState_SetAsyncExc(thread as _, interrupt.as_ptr()) };
            });
        }
    }
}

/// Ends the process when a step hangs; returns when the program has ended by itself.
fn leave(program: &str, nodes: &[Arc<Running>], has_ended: &AtomicBool) {
    sleep(LONGEST);
    let mut seen = vec![0; nodes.len()];
    while !has_ended.load(Ordering::Relaxed) {
        for (node, seen) in nodes.iter().zip(&mut seen) {
            *seen = if node.is_inside() { *seen + 1 } else { 0 };
        }
        if let Some(hanging) = seen.iter().position(|&seen| seen >= LOOKS) {
            flush();
            let _ = writeln!(
                std::io::stderr(),
                "{program}: a step went on although the program was asked to end, and hangs: node {}. The program is left without its \
                 account and without the node's safe state; in a step, wait for less than half a second",
                nodes[hanging].name
            );
            signal_hook::low_level::exit(1);
        }
        sleep(LOOK);
    }
}

/// Has Python write what it has printed. A step that computes in C with the GIL keeps it from that.
fn flush() {
    let (done, is_done) = channel();
    let flushing = Builder::new().spawn(move || {
        // What cannot be written is lost with the process.
        let _ = attach(|py| py.import("sys")?.getattr("stdout")?.call_method0("flush").map(|_| ()));
        let _ = done.send(());
    });
    if flushing.is_ok() {
        let _ = is_done.recv_timeout(FLUSH);
    }
}
