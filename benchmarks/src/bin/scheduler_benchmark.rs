//! What a node's tick costs through the executor: 1 to 100 nodes on one thread, with ports, events, a budget; with the slope.
//!
//! Time that the loop would sleep is skipped, so all of it is the loop's own. Beside it stands what no executor can do without:
//! a clock read, two looks at the CPU's number and a call through a pointer.
//!
//! With `--count-instructions` it lets ten nodes tick, for an instruction counter: `benchmarks/research/instructions.sh`.

use std::hint::black_box;
use std::process::ExitCode;

use horus::time::{Clock, SystemClock};
use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::nodes::{Group, Kind};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::slope::line_through;
use horus_benchmarks::stage::{Stage, scratch};
use horus_benchmarks::starting;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::transport::Failure;
use horus_sys::clock::monotonic_ns;

/// What the times are of.
const TICK: &str = "a node's tick";

/// The system that is no executor.
const NO_EXECUTOR: &str = "no executor";

const COUNTS: [usize; 5] = [1, 2, 10, 50, 100];

/// As many as a thread may have, and fewer.
const EVENT_COUNTS: [usize; 3] = [1, 10, 32];

fn heading(system: &str, kind: &str, nodes: usize) -> Heading {
    let plural = if nodes == 1 { "" } else { "s" };
    Heading::new(Path::SameThread, system, 0).message(&format!("{nodes} node{plural}, {kind}")).ends(0, 0).unit(TICK)
}

fn task(kind: Kind, nodes: usize) -> Task {
    let group = Group { kind, nodes };
    Task::new(heading("horus", kind.name(), nodes), move |stage| {
        pin_to(stage.cpus.first)?;
        let samples = group.measure(stage).map_err(|error| error.to_string())?;
        let per_second = samples.mean().map(|ns| 1e9 / ns);
        Ok(Measured { samples: Some(samples), per_second, ..Measured::default() })
    })
}

/// What is left of a tick when there is no executor.
fn without_executor(stage: &Stage) -> Result<Measured, Failure> {
    const TICKS: u32 = 200;
    pin_to(stage.cpus.first)?;
    let (mut samples, mut ticks) = (Samples::new(TICKS), 0_u64);
    let mut step: Box<dyn FnMut(u64)> = black_box(Box::new(|now| ticks = black_box(ticks.wrapping_add(now))));
    let limit = monotonic_ns() + stage.effort.limit.as_nanos() as u64;
    while samples.meter.samples() < stage.effort.samples / 10 && monotonic_ns() < limit {
        let start = monotonic_ns();
        for _ in 0..TICKS {
            black_box(SystemClock.cpu());
            step(SystemClock.now().as_nanos());
            black_box(SystemClock.cpu());
        }
        samples.record(monotonic_ns() - start);
    }
    Ok(Measured { samples: Some(samples), ..Measured::default() })
}

fn tasks() -> Vec<Task> {
    let floor = heading(NO_EXECUTOR, "a clock read, two CPU numbers, a call", 1);
    let bare = COUNTS.map(|nodes| task(Kind::Bare, nodes));
    let ports = COUNTS.map(|nodes| task(Kind::Ports, nodes));
    let others = [Kind::Logical, Kind::Budget].map(|kind| task(kind, 10));
    let events = EVENT_COUNTS.map(|nodes| task(Kind::Events, nodes));
    let start = |system: &str, what: &str| {
        Heading::new(Path::Process1To1, system, 0).message(what).ends(0, 0).unit(starting::START).wait("asleep")
    };
    let starts = [
        Task::new(start("no node", "the smallest program, to its end"), starting::smallest_program),
        Task::new(start("horus", "a node with three topics, to its first step"), starting::node),
    ];
    let floor = std::iter::once(Task::new(floor, without_executor));
    floor.chain(bare).chain(ports).chain(others).chain(events).chain(starts).collect()
}

/// The number of nodes and the time of a round, of all cells of a kind.
fn rounds(cells: &[Cell], kind: Kind) -> Vec<(f64, f64)> {
    let point = |cell: &Cell| {
        let (nodes, what) = cell.heading.message.as_deref()?.split_once(' ')?;
        let nodes: f64 = nodes.parse().ok()?;
        what.ends_with(&format!(", {}", kind.name())).then_some((nodes, nodes * cell.p50_ns?))
    };
    cells.iter().filter(|cell| cell.heading.system == "horus").filter_map(point).collect()
}

fn summary(cells: &[Cell]) -> Vec<String> {
    let fit = |kind: Kind| {
        let points = rounds(cells, kind);
        let (base, slope) = line_through(&points)?;
        let off = points.iter().map(|(nodes, ns)| (ns / (base + slope * nodes) - 1.0).abs()).fold(0.0, f64::max);
        Some(format!(
            "A round of nodes with {}: {base:.0} ns + {slope:.1} ns for each node (least squares over medians; no point is more \
             than {:.0} % off).",
            kind.name(),
            100.0 * off
        ))
    };
    let floor = cells.iter().find(|cell| cell.heading.system == NO_EXECUTOR).and_then(|cell| cell.p50_ns);
    let against = |nodes: f64, theirs: f64| {
        let (_, ns) = rounds(cells, Kind::Bare).into_iter().find(|(count, _)| *count == nodes)?;
        let floor = floor.map_or_else(String::new, |floor| format!(", {floor:.1} ns of them without any executor"));
        Some(format!(
            "{nodes} nodes: {:.1} ns a tick{floor}; the original HORUS publishes {theirs} ns (its C++ scheduler, on an unnamed machine).",
            ns / nodes
        ))
    };
    // https://docs.horus-registry.dev/cpp/performance, "Measured Performance": 248 ns, 2.2 us and 10.9 us, medians.
    let originals = [(1.0, 248.0), (10.0, 220.0), (50.0, 218.0)].map(|(nodes, ns)| against(nodes, ns));
    let fits = [Kind::Bare, Kind::Ports, Kind::Events].map(fit);
    fits.into_iter().chain(originals).chain([starting::summary(cells)]).flatten().collect()
}

/// Nodes for the instruction counter: enough for the price of a wake-up, which they share, to be small beside theirs.
const COUNTED_NODES: usize = 10;

/// A function of its own, for the counter to find. Returns how many ticks there were.
#[inline(never)]
fn ticks(group: Group, stage: &Stage, releases: u64) -> horus::Result<u64> {
    Ok(group.run(stage, releases)?.iter().map(|account| account.tally.cycles).sum())
}

/// Prints how many ticks nodes of this kind had. The difference of two runs holds nothing of their beginnings and ends.
fn count_instructions(kind: &str, releases: &str) -> Result<(), Failure> {
    let kinds = [("bare", Kind::Bare), ("ports", Kind::Ports)];
    let (_, kind) = kinds
        .into_iter()
        .find(|(name, _)| *name == kind)
        .ok_or("write --count-instructions bare|ports and how many releases")?;
    let (scratch, group) = (scratch()?, Group { kind, nodes: COUNTED_NODES });
    let ticks = ticks(group, &Stage::in_directory(scratch.path()), releases.parse()?);
    println!("{}", ticks.map_err(|error| error.to_string())?);
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments == [starting::BE_NODE] {
        return starting::be_node();
    }
    if let [first, kind, releases] = &arguments[..]
        && first == "--count-instructions"
    {
        return count_instructions(kind, releases).map_or_else(
            |error| {
                eprintln!("scheduler_benchmark: {error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    Suite { name: "scheduler_benchmark", tasks, summary }.main()
}
