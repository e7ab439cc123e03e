//! How long a process with a node takes until the node's first step, and how much memory it locks by then.
//!
//! The node is this program, started with a hidden argument. It has two inputs and an output of 16 bytes, a real-time policy, and
//! so locked memory, where the machine grants them. Its topics are there before.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};

use horus::app::App;
use horus::message::Stamp;
use horus::node::Cycle;
use horus::startup::SchedulingPolicy;
use horus::time::ms;
use horus::topic::{Options, Publisher};
use horus_sys::clock::monotonic_ns;

use crate::cell::{Cell, Measured};
use crate::pinning::pin_to;
use crate::samples::Samples;
use crate::stage::Stage;
use crate::transport::Failure;

/// What the times are of.
pub const START: &str = "start of a process";

/// Names the hidden program.
pub const BE_NODE: &str = "--be-a-node";

/// A node process with three small topics is to lock no more than this, in KiB.
const MOST_LOCKED_KIB: u64 = 8192;

/// And it is to run its first step within this time.
const LONGEST_START_MS: f64 = 50.0;

/// Two inputs and an output.
const TOPICS: [&str; 3] = ["left", "right", "wheels"];

/// Processes to start: enough for a median.
const fn starts(stage: &Stage) -> u64 {
    if stage.effort.samples >= 1_000_000 { 200 } else { 40 }
}

/// Starts the smallest program that there is and waits for its end.
pub fn smallest_program(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut samples = Samples::new(1);
    for _ in 0..starts(stage) {
        let start = monotonic_ns();
        Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        samples.record(monotonic_ns() - start);
    }
    Ok(Measured { samples: Some(samples), ..Measured::default() })
}

/// A process that goes with its owner.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a node and waits for its first step.
pub fn node(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let options = options().directory(&stage.meeting.directory);
    let _topics = TOPICS.map(|topic| Publisher::<Stamp>::open(topic, &options));
    let (mut samples, mut locked_kib, mut resident_kib) = (Samples::new(1), 0, 0);
    for _ in 0..starts(stage) {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(BE_NODE).env("HORUS_SHM_DIR", &stage.meeting.directory).env_remove("NOTIFY_SOCKET");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = monotonic_ns();
        let mut started = Started(command.spawn()?);
        let mut pipe = started.0.stdout.take().ok_or("the node has no pipe")?;
        pipe.read_exact(&mut [0])
            .map_err(|error| format!("the node ended early: {error}; run this program with {BE_NODE}"))?;
        samples.record(monotonic_ns() - start);
        locked_kib = locked_kib.max(status_kib(started.0.id(), "VmLck:")?);
        resident_kib = resident_kib.max(status_kib(started.0.id(), "VmRSS:")?);
    }
    let met = if locked_kib <= MOST_LOCKED_KIB { "met" } else { "missed" };
    let note =
        format!("locks {locked_kib} KiB, of {resident_kib} KiB in RAM; target: at most {MOST_LOCKED_KIB} KiB, {met}");
    Ok(Measured { samples: Some(samples), note: Some(note), ..Measured::default() })
}

fn status_kib(process: u32, field: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("the kernel says nothing of memory")?;
    Ok(value.trim().trim_end_matches(" kB").parse()?)
}

/// As `App::output` makes topics, with a lane for who made them first.
fn options() -> Options {
    Options::latest(8).publishers(3)
}

/// Is the node: writes a byte in its first step.
pub fn be_node() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{BE_NODE}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> horus::Result {
    let mut app = App::new("benchmark-start")?;
    let mut left = app.input_with::<Stamp>(TOPICS[0], options())?;
    let mut right = app.input_with::<Stamp>(TOPICS[1], options())?;
    let mut wheels = app.output_with::<Stamp>(TOPICS[2], options())?;
    let mut is_first = true;
    let step = move |_: &Cycle| {
        if std::mem::take(&mut is_first) {
            let _ = std::io::stdout().write_all(b"\n");
        }
        let sequence = left.latest().zip(right.latest()).map_or(0, |(left, right)| left.sequence + right.sequence);
        wheels.set(Stamp { sequence, sent_ns: 0 });
    };
    app.node("wheels", step).period(ms(1)).scheduling_policy(SchedulingPolicy::Fifo("10".parse()?));
    app.run().map(drop)
}

/// What both say together.
pub fn summary(cells: &[Cell]) -> Option<String> {
    let p50_ms = |system: &str| {
        let cell = cells.iter().find(|cell| cell.heading.unit == START && cell.heading.system == system)?;
        Some(cell.p50_ns? / 1e6)
    };
    let (node, smallest) = (p50_ms("horus")?, p50_ms("no node")?);
    let met = if node <= LONGEST_START_MS { "met" } else { "missed" };
    Some(format!(
        "A node process with three small topics runs its first step {node:.1} ms after its start began, {:.1} times what the smallest \
         program takes to its end; target: {LONGEST_START_MS} ms, {met}.",
        node / smallest
    ))
}
