//! Rust's side of the benchmarks in other languages: the rows of `languages/cpp_benchmark.cpp`, in the same loops.
//!
//! ```text
//! languages_benchmark [--csv]
//! languages_benchmark --machine
//! ```
//!
//! The second says what the figures are measured on, in one line.
//! Each figure is the median of rounds, and the fastest of them stands beside it. What other languages cost over Rust is the ratio of
//! such rows, of programs that ran in turns on a quiet machine: `languages/run` does that.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use horus::prelude::*;
use horus_benchmarks::host::Host;
use horus_benchmarks::nodes::{Group, Kind};
use horus_benchmarks::pinning::Cpus;
use horus_benchmarks::stage::{Stage, scratch};
use horus_benchmarks::transport::Failure;

/// Of messages. One is a millisecond, most of which pass without an interruption.
const ROUNDS: usize = 201;
/// Of a round of messages.
const MESSAGES: u32 = 100_000;
/// Of ticks, which are longer.
const TICK_ROUNDS: usize = 21;
/// Of a round of ticks, for all nodes together.
const TICKS: u64 = 200_000;

/// Nanoseconds each, of one row.
struct Row {
    what: String,
    median: f64,
    fastest: f64,
}

fn row(what: &str, round: impl FnMut() -> Result<f64, Failure>) -> Result<Row, Failure> {
    row_of(ROUNDS, what, round)
}

fn row_of(rounds: usize, what: &str, mut round: impl FnMut() -> Result<f64, Failure>) -> Result<Row, Failure> {
    let mut spans = (0..rounds).map(|_| round()).collect::<Result<Vec<_>, _>>()?;
    spans.sort_by(f64::total_cmp);
    Ok(Row { what: what.to_owned(), median: spans[rounds / 2], fastest: spans[0] })
}

fn each(times: u32, mut work: impl FnMut(u32) -> Result<(), Failure>) -> Result<f64, Failure> {
    let from = Instant::now();
    for number in 0..times {
        work(number)?;
    }
    Ok(from.elapsed().as_secs_f64() * 1e9 / f64::from(times))
}

fn messages(stage: &Stage) -> Result<[Row; 4], Failure> {
    let options = Options::default().directory(&stage.meeting.directory);
    let mut publisher = Publisher::<CmdVel>::open("benchmark", &options)?;
    let mut subscriber = Subscriber::<CmdVel>::open("benchmark", &options)?;
    let both = row("send and receive 16 B", || {
        each(MESSAGES, |number| {
            let forward = f64::from(number);
            publisher.try_send(CmdVel { forward, turn: 0.0 }).map_err(|_| "there is no room")?;
            match subscriber.try_recv() {
                Some(got) if got.message.forward == forward => Ok(()),
                _ => Err("another message came".into()),
            }
        })
    })?;
    let look = row("an empty look", || {
        each(MESSAGES, |_| subscriber.try_recv().map_or(Ok(()), |_| Err("there was a message".into())))
    })?;
    let memory = [AtomicU64::new(0), AtomicU64::new(0)];
    let floor = row("floor: 16 B written and read", || {
        each(MESSAGES, |number| {
            let sent = [u64::from(number), 0];
            // Relaxed: they are two moves, which the compiler does not leave out.
            black_box(&memory).iter().zip(sent).for_each(|(word, sent)| word.store(sent, Ordering::Relaxed));
            let got = black_box(&memory).each_ref().map(|word| word.load(Ordering::Relaxed));
            if got == sent { Ok(()) } else { Err("memory holds something else".into()) }
        })
    })?;
    let clock = row("floor: a reading of the clock", || {
        each(MESSAGES, |_| match MonotonicTime::now().as_nanos() {
            0 => Err("the clock stands".into()),
            _ => Ok(()),
        })
    })?;
    Ok([floor, clock, both, look])
}

/// A tick is what a longer run costs more: building the nodes is no part of it.
fn ticks(stage: &Stage, kind: Kind, nodes: usize) -> Result<Row, Failure> {
    let group = Group { kind, nodes };
    let releases = TICKS / nodes as u64;
    let run = |releases: u64| -> Result<f64, Failure> {
        let from = Instant::now();
        let accounts = group.run(stage, releases).map_err(|error| error.to_string())?;
        let span = from.elapsed().as_secs_f64() * 1e9;
        let steps: u64 = accounts.iter().map(|account| account.tally.cycles).sum();
        if steps == releases * nodes as u64 { Ok(span) } else { Err(format!("{steps} steps").into()) }
    };
    let ports = if kind == Kind::Ports { " with ports" } else { "" };
    let what = format!("tick of {nodes} {}{ports}", if nodes == 1 { "node" } else { "nodes" });
    row_of(TICK_ROUNDS, &what, || Ok((run(3 * releases)? - run(releases)?) / (2 * releases) as f64))
}

fn rows() -> Result<Vec<Row>, Failure> {
    let scratch = scratch()?;
    let stage = Stage::in_directory(scratch.path());
    let mut rows: Vec<_> = messages(&stage)?.into();
    for nodes in [1, 10, 50] {
        for kind in [Kind::Bare, Kind::Ports] {
            rows.push(ticks(&stage, kind, nodes)?);
        }
    }
    Ok(rows)
}

fn machine() -> String {
    let Host { kernel, cpu_model, cpus_online, commit, date, load, .. } = Host::look(Cpus::default_pair(), false);
    format!("{date}: {cpu_model}, {cpus_online} CPUs, load before {load}; kernel {kernel}; commit {commit}")
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("--machine") {
        println!("{}", machine());
        return ExitCode::SUCCESS;
    }
    let is_csv = argument.as_deref() == Some("--csv");
    match rows() {
        Ok(rows) => {
            if is_csv {
                println!("what,median_ns,fastest_ns");
            }
            for Row { what, median, fastest } in rows {
                match is_csv {
                    true => println!("{what},{median:.2},{fastest:.2}"),
                    false => println!("{what:<32} {median:9.2} ns  fastest {fastest:9.2} ns"),
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("languages_benchmark: {error}");
            ExitCode::FAILURE
        }
    }
}
