//! The gateway's figures beside TCP with a relay, Redis, RabbitMQ, ZeroMQ and Aeron: single steps, and from a sender to a receiver at
//! several rates. Says for each figure that was promised whether it holds.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use horus_benchmarks::gateway::figure;
use horus_benchmarks::host::Host;
use horus_benchmarks::options::Effort;
use horus_benchmarks::pinning::Cpus;
use horus_benchmarks::stage;
use horus_benchmarks::transport::Failure;
use horus_compare::gateway::load::Outcome;
use horus_compare::gateway::out::{Out, machine, usual};
use horus_compare::gateway::plan::Plan;
use horus_compare::gateway::row::Row;
use horus_compare::gateway::way::System;
use horus_compare::gateway::{bare, crowd, floor, inside, load, ours, ping_pong, polling, rabbitmq, redis};
use rustix::process::{Signal, set_parent_process_death_signal};

/// Command line.
#[derive(Parser)]
struct Options {
    /// A tenth of the messages, once: about 2 minutes, and whether it works
    #[arg(long)]
    quick: bool,
    /// How often everything is measured, in turn [default: 3, with --quick 1]
    #[arg(long)]
    runs: Option<u32>,
    /// Only figures and systems whose name has this in it, such as 10k or redis
    #[arg(long, default_value = "")]
    only: String,
    /// Writes rows, machine and table to DIR; without DIR to benchmarks/results/<host>/gateway
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    out: Option<Option<PathBuf>>,
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
    (figure::SLOW, 200.0, 1, 1_100),
    (figure::FASTER[0], 10_000.0, 1, 30_000),
    (figure::FASTER[1], 100_000.0, 1, 200_000),
    (figure::UNPACED, 0.0, 1, 500_000),
    (figure::TENS, 2_000_000.0, 10, 2_000_000),
    (figure::UNPACED_TENS, 0.0, 10, 2_000_000),
];
const BYTES: usize = 96;
const SAMPLES: u64 = 3_000;
const ROUND_TRIPS: u64 = 30_000;
/// How long is sent at most, where a system may be too slow for what it is asked: without a pace, and above this one.
const LONGEST_NS: u64 = 6_000_000_000;
const EASY_PER_S: f64 = 10_000.0;

/// Everything that is between a sender and a receiver, in the order in which it is measured.
const SYSTEMS: &[System] = &[
    bare::SYSTEM,
    ours::SYSTEM,
    ours::LOGGED,
    redis::SYSTEM,
    rabbitmq::SYSTEM,
    #[cfg(feature = "zeromq")]
    horus_compare::gateway::zeromq::SYSTEM,
    #[cfg(feature = "aeron")]
    horus_compare::gateway::aeron::UDP,
    #[cfg(feature = "aeron")]
    horus_compare::gateway::aeron::IPC,
];

fn role(role: &str, argument: &str) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    match role {
        "relay" => bare::relay(argument),
        "echo" => ping_pong::echo(),
        "gateway" => ours::gateway(argument),
        #[cfg(feature = "zeromq")]
        "forwarder" => horus_compare::gateway::zeromq::forwarder(),
        #[cfg(feature = "aeron")]
        "driver" => horus_compare::gateway::aeron::driver(argument),
        other => Err(format!("there is no role '{other}'").into()),
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

/// What is measured, and where its rows go.
struct Run<'a> {
    options: &'a Options,
    stage: stage::Stage,
    /// One cache line from CPU to CPU, before what is measured next.
    floor: f64,
    out: Option<Out>,
    /// Which repetition.
    number: u32,
    /// Whether the gateway lost nothing.
    is_complete: bool,
}

/// Measures everything; true if the gateway lost nothing.
fn measure(options: &Options) -> Result<bool, Failure> {
    let scratch = stage::scratch()?;
    let stage = stage::Stage { effort: Effort::QUICK, ..stage::Stage::in_directory(scratch.path()) };
    let host = Host::look(Cpus::default_pair(), options.quick);
    println!("gateway_benchmark on {}, {}", host.host, machine(&host));
    let out = options.out.clone().map(|place| Out::open(place.unwrap_or_else(|| usual(&host)), &host)).transpose()?;
    let mut run = Run { options, floor: floor::measure(&stage)?, stage, out, number: 0, is_complete: true };
    for number in 1..=options.runs.unwrap_or(if options.quick { 1 } else { 3 }) {
        run.number = number;
        run.steps()?;
        run.crowd()?;
        run.ping_pong()?;
        for (name, rate, batch, count) in FIGURES {
            run.ways(name, &run.plan(rate, batch, count))?;
        }
        run.polling()?;
    }
    if let Some(out) = run.out {
        println!("\n{}", out.end()?);
    }
    Ok(run.is_complete)
}

impl Run<'_> {
    fn share(&self) -> u64 {
        if self.options.quick { 10 } else { 1 }
    }

    fn plan(&self, rate: f64, batch: usize, count: u64) -> Plan {
        let is_easy = rate > 0.0 && rate <= EASY_PER_S;
        let longest_ns = if is_easy { u64::MAX } else { LONGEST_NS / self.share() };
        Plan { rate, count: count / self.share(), bytes: BYTES, batch, longest_ns }
    }

    fn wants(&self, figure: &str, system: &str) -> bool {
        figure.contains(&self.options.only) || system.contains(&self.options.only)
    }

    fn put(&mut self, rows: Vec<Row>) -> Result<(), Failure> {
        let after = floor::measure(&self.stage)?;
        for row in rows {
            let row = row.between(self.floor, after);
            println!("{}", row.text());
            self.out.as_mut().map_or(Ok(()), |out| out.put(&row))?;
        }
        self.floor = after;
        Ok(())
    }

    fn steps(&mut self) -> Result<(), Failure> {
        if !figure::STEPS.iter().any(|step| self.wants(step, "")) {
            return Ok(());
        }
        let logs = tempfile::tempdir_in(self.options.directory.clone().unwrap_or_else(std::env::temp_dir))?;
        let steps = inside::steps(SAMPLES / self.share(), logs.path())?;
        self.put(steps.iter().map(|step| Row::of_step(self.number, step)).collect())
    }

    fn crowd(&mut self) -> Result<(), Failure> {
        for name in crowd::SYSTEMS {
            if self.wants(figure::CROWD, "") {
                // Fewer would not fill the slow client's queue.
                let plan = Plan { count: if self.options.quick { 60 } else { 150 }, ..self.plan(20.0, 1, 0) };
                let (outcome, memory) = crowd::run(name == crowd::SYSTEMS[1], &plan)?;
                let row = Row::of_way(figure::CROWD, name, self.number, &plan, &outcome).with_memory(&memory);
                self.is_complete &= row.is_complete();
                self.put(vec![row])?;
            }
        }
        Ok(())
    }

    fn ping_pong(&mut self) -> Result<(), Failure> {
        if !self.wants(figure::PING_PONG, "") {
            return Ok(());
        }
        let plan = self.plan(0.0, 1, ROUND_TRIPS);
        let outcome = ping_pong::run(&plan)?;
        self.put(vec![Row::of_way(figure::PING_PONG, ping_pong::SYSTEM, self.number, &plan, &outcome)])
    }

    fn polling(&mut self) -> Result<(), Failure> {
        let (_, rate, batch, count) = FIGURES[0];
        let plan = self.plan(rate, batch, count);
        let measured = |system: &System| polling::beside(|| load::run(system, &plan));
        for system in [bare::POLLING, ours::POLLING] {
            if self.wants(figure::POLLING, system.name) {
                self.way(figure::POLLING, &system, &plan, measured(&system))?;
            }
        }
        Ok(())
    }

    fn ways(&mut self, figure: &str, plan: &Plan) -> Result<(), Failure> {
        for system in SYSTEMS {
            if self.wants(figure, system.name) {
                self.way(figure, system, plan, load::run(system, plan))?;
            }
        }
        Ok(())
    }

    /// Notes what became of a way.
    fn way(
        &mut self,
        figure: &str,
        system: &System,
        plan: &Plan,
        outcome: Result<Outcome, Failure>,
    ) -> Result<(), Failure> {
        let is_ours = system.name.starts_with("horus");
        match outcome {
            Ok(outcome) => {
                let row = Row::of_way(figure, system.name, self.number, plan, &outcome);
                self.is_complete &= row.is_complete() || !is_ours;
                self.put(vec![row])
            }
            Err(reason) => {
                println!("{figure:28} {:18} NOT MEASURED: {reason}", system.name);
                self.is_complete &= !is_ours;
                Ok(())
            }
        }
    }
}
