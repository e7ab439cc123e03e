//! The gateway's figures beside TCP with a relay, Redis and ZeroMQ: single steps, and from a sender to a receiver at several rates.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use horus_benchmarks::host::Host;
use horus_benchmarks::options::Effort;
use horus_benchmarks::pinning::Cpus;
use horus_benchmarks::transport::Failure;
use horus_benchmarks::{floor, stage};
use horus_compare::gateway::plan::Plan;
use horus_compare::gateway::row::Row;
use horus_compare::gateway::way::System;
use horus_compare::gateway::{bare, crowd, inside, load, ours, redis};

/// Command line.
#[derive(Parser)]
struct Options {
    /// A tenth of the messages
    #[arg(long)]
    quick: bool,
    /// How often everything is measured, in turn
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// Only figures and systems whose name has this in it, such as 10k or redis
    #[arg(long, default_value = "")]
    only: String,
    /// Where the raw data go
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Where logs are written [default: a directory of its own in the usual place for these]
    #[arg(long)]
    directory: Option<PathBuf>,
    /// What this process is for its owner
    #[arg(long, hide = true)]
    role: Option<String>,
    #[arg(long, hide = true, default_value = "", allow_hyphen_values = true)]
    argument: String,
}

/// A figure from end to end: its name, messages a second, messages at once, messages in all.
const FIGURES: [(&str, f64, usize, u64); 6] = [
    ("96 B at 200/s", 200.0, 1, 4_000),
    ("96 B at 10k/s", 10_000.0, 1, 100_000),
    ("96 B at 100k/s", 100_000.0, 1, 500_000),
    ("96 B unpaced", 0.0, 1, 1_000_000),
    ("96 B by tens at 2M/s", 2_000_000.0, 10, 6_000_000),
    ("96 B by tens, unpaced", 0.0, 10, 6_000_000),
];
const BYTES: usize = 96;
const SAMPLES: u64 = 5_000;

fn systems() -> Vec<System> {
    let mut systems = vec![bare::SYSTEM, ours::SYSTEM, ours::LOGGED, redis::SYSTEM];
    #[cfg(feature = "zeromq")]
    systems.push(horus_compare::gateway::zeromq::SYSTEM);
    systems
}

fn role(role: &str, argument: &str) -> Result<(), Failure> {
    match role {
        "relay" => bare::relay(),
        "gateway" => ours::gateway(argument),
        #[cfg(feature = "zeromq")]
        "forwarder" => horus_compare::gateway::zeromq::forwarder(),
        other => Err(format!("nobody is '{other}'").into()),
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.role {
        Some(name) => role(name, &options.argument).map(|()| true),
        None => measure(&options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("gateway_benchmark: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Measures everything; true if the gateway lost nothing.
fn measure(options: &Options) -> Result<bool, Failure> {
    let share = if options.quick { 10 } else { 1 };
    let scratch = stage::scratch()?;
    let stage = stage::Stage { effort: Effort::QUICK, ..stage::Stage::in_directory(scratch.path()) };
    let mut csv = options.csv.as_ref().map(|path| File::create(path).map(csv::Writer::from_writer)).transpose()?;
    let Host { host, kernel, cpu_model, load, date, commit, .. } = Host::look(Cpus::default_pair(), options.quick);
    println!("gateway_benchmark on {host}, {cpu_model}, kernel {kernel}, commit {commit}, load {load}, {date}");
    let mut before = floor::measure(&stage)?;
    let mut is_complete = true;
    let mut put = |rows: Vec<Row>| -> Result<(), Failure> {
        let after = floor::measure(&stage)?;
        for row in rows {
            let row = row.between(before, after);
            println!("{}", row.text());
            csv.as_mut().map_or(Ok(()), |csv| csv.serialize(&row))?;
        }
        before = after;
        Ok(())
    };
    for run in 1..=options.runs {
        if "log write read encode decode batch steps horus-gateway".contains(&options.only) {
            let logs = tempfile::tempdir_in(options.directory.clone().unwrap_or_else(std::env::temp_dir))?;
            let steps = inside::steps(SAMPLES / share, logs.path())?;
            put(steps.iter().map(|step| Row::of_step(run, step)).collect())?;
        }
        if crowd::FIGURE.contains(&options.only) {
            for name in crowd::SYSTEMS {
                let plan = Plan { rate: 20.0, count: 400 / share, bytes: BYTES, batch: 1 };
                let (outcome, memory) = crowd::run(name == crowd::SYSTEMS[1], &plan)?;
                let row = Row::of_way(crowd::FIGURE, name, run, &plan, &outcome);
                is_complete &= row.is_complete();
                put(vec![row])?;
                println!("{:28} {name:18} the gateway's memory was {} MB at most", "", memory / 1_000_000);
            }
        }
        for (figure, rate, batch, count) in FIGURES {
            let plan = Plan { rate, count: count / share, bytes: BYTES, batch };
            let mut bare = None;
            for system in systems() {
                if !figure.contains(&options.only) && !system.name.contains(&options.only) {
                    continue;
                }
                let outcome = match load::run(&system, &plan) {
                    Ok(outcome) => outcome,
                    Err(reason) => {
                        println!("{figure:28} {:18} NOT MEASURED: {reason}", system.name);
                        is_complete &= !system.name.starts_with("horus");
                        continue;
                    }
                };
                let row = Row::of_way(figure, system.name, run, &plan, &outcome);
                is_complete &= row.is_complete() || !system.name.starts_with("horus");
                let (p50, is_bare) = (row.p50_ns(), system.name == bare::SYSTEM.name);
                put(vec![row])?;
                match (p50, bare) {
                    (Some(p50), _) if is_bare => bare = Some(p50),
                    (Some(p50), Some(bare)) => {
                        println!("{:28} {:18} p50 is {:.2} x that of the relay", "", "", p50 / bare)
                    }
                    _ => {}
                }
            }
        }
    }
    if let Some(csv) = &mut csv {
        csv.flush()?;
    }
    Ok(is_complete)
}
