//! The order of a run: audit, self-test, then node, messages and witness, first quiet, then under load; judge, store,
//! tell.

use std::path::PathBuf;
use std::time::Duration;

use horus::cpus::CpuList;

use crate::audit;
use crate::boot::Boot;

use super::config::Config;
use super::evidence::destination::{Destination, NowhereError};
use super::evidence::history::{History, Merged};
use super::evidence::interval::Intervals;
use super::evidence::judge::{self, Conditions};
use super::evidence::marker::{self, Started};
use super::evidence::merge::total;
use super::evidence::schema::{Kind, Latency, MemoryKills, Phase, Report, SCHEMA, SelfTest, Verdict};
use super::jitter;
use super::measure::events::Events;
use super::measure::grants::{not_granted, policy, prepare_process};
use super::measure::load::{self, CpuTime, Running};
use super::measure::machine::{self, Facts, identity, watch};
use super::measure::node::{self, Place};
use super::measure::plan::{LOADS, Load, Places, Shares};
use super::measure::{cyclictest, memory, message, self_test, units};
use super::view::journal::{self, Journal};

/// What the node's thread may compute without sleeping: the self-test's longest stall, several times over.
const LONGEST_COMPUTATION: Duration = Duration::from_secs(2);

/// What the load may outlast its phases by, before it ends by itself.
const LOAD_MARGIN: Duration = Duration::from_secs(30);

/// The guarantees without which a node phase measures something else than a real-time node.
const NEEDED: [&str; 3] = ["cpu", "policy", "memory"];

/// Everything that a run is told.
pub struct Settings {
    /// The configuration.
    pub config: Config,
    /// What of the configuration could not be used.
    pub problems: Vec<String>,
    /// The run's identifier.
    pub run_id: String,
    /// Where the report goes.
    pub destination: Destination,
    /// Where the release jitter goes.
    pub release_jitter: PathBuf,
    /// Where the audit's rules are.
    pub rules: PathBuf,
    /// Where facts and audit are read from; `/`, except for a recorded tree.
    pub root: PathBuf,
    /// The stall that really happens in the self-test; `None` is the one that it looks for.
    pub injected_stall: Option<Duration>,
    /// Whether to say on stderr which phase runs.
    pub progress: bool,
}

/// A finished run.
pub struct Finished {
    /// The report.
    pub report: Report,
    /// What all kept runs of this system say together, this one included.
    pub together: Option<Merged>,
    /// The report's file, or why there is none.
    pub stored: Result<PathBuf, NowhereError>,
}

/// Runs everything. What cannot be measured is said in the report; nothing stops the run.
pub fn run(settings: Settings) -> Finished {
    let mut journal = Journal::default();
    let time = machine::utc_now();
    let places = Places::of_machine(std::path::Path::new("/"));
    let notes = prepare_process();
    let throttled_before = machine::Throttling::read(&settings.root);
    settings.problems.iter().for_each(|problem| journal.write(&journal::problem(problem)));
    if let Some(trouble) = settings.destination.trouble() {
        journal.write(&journal::stored_elsewhere(&trouble));
    }

    let mut run = Run { settings: &settings, places, journal: &mut journal, conditions: Conditions::default(), notes };
    let facts = Facts::read(&settings.root);
    let identity = identity::read(&settings.root, &settings.rules, &settings.config);
    let traced_before = watch::is_traced(&settings.root);
    let started = Started {
        schema: marker::SCHEMA.to_owned(),
        run_id: settings.run_id.clone(),
        boot_id: facts.boot_id.clone(),
        pid: std::process::id(),
        identity: identity.clone(),
        is_traced: traced_before,
    };
    let unmarked = settings.destination.mark(&started).err();
    run.say("audit");
    let audit = audit::run(&settings.root, &settings.rules);
    run.journal.write_audit(&audit);
    let self_test = run.self_test();
    let (phases, load_command) = run.phases();
    let mut conditions = run.conditions;

    let mut problems = settings.problems.clone();
    problems.extend(unmarked.map(|error| format!("no start marker: {error}")));
    let failed_units = units::failed().unwrap_or_else(|error| {
        problems.push(error);
        Vec::new()
    });
    let events = Events::of_this_boot().unwrap_or_else(|error| {
        problems.push(error);
        Events::default()
    });
    let restarted_units = units::restarted(&events, &failed_units);
    let memory_kills = memory::kills(&events).unwrap_or_else(|error| {
        problems.push(error);
        MemoryKills::default()
    });
    conditions.preempt_rt = facts.is_preempt_rt();
    conditions.foreign_root = settings.root != std::path::Path::new("/");
    conditions.throttled = machine::Throttling::read(&settings.root).since(&throttled_before);
    let total = total(&phases);
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        run_id: settings.run_id.clone(),
        boot_id: facts.boot_id,
        time,
        duration_s: settings.config.duration.as_secs_f64(),
        image: facts.image,
        kernel: facts.kernel,
        cmdline: facts.cmdline,
        hypervisor: facts.hypervisor,
        identity: Some(identity),
        is_traced: either(traced_before, watch::is_traced(&settings.root)),
        valid: false,
        invalid_reasons: Vec::new(),
        verdict: Verdict::None,
        verdict_reason: String::new(),
        audit,
        self_test,
        phases,
        total,
        failed_units,
        restarted_units,
        memory_kills,
        boot: Boot::read(&settings.root),
        stored_in_ram: None,
        problems,
        load_command: load_command.join(" "),
        tools: machine::tools(&load_command[0]),
    };
    judge::judge(&mut report, &conditions);
    if !conditions.foreign_root
        && let Err(error) = jitter::leave(&report, &settings.release_jitter)
    {
        let path = settings.release_jitter.display();
        report.problems.push(format!("cannot write {path}: {error}; `horus node check` takes the release jitter as 0"));
    }
    let directories = settings.destination.directories();
    let stored = settings.destination.store(&mut report);
    let together = History::read(&directories.each_ref().map(PathBuf::as_path), &report.boot_id).of_report(&report);
    journal.write(&journal::summary(&report, together.as_ref(), stored.as_deref().ok()));
    journal.sync();
    Finished { report, together, stored }
}

/// Whether either is true; unknown where one is, and the other is not true.
fn either(first: Option<bool>, second: Option<bool>) -> Option<bool> {
    if first == Some(true) || second == Some(true) { Some(true) } else { first.and(second) }
}

struct Run<'a> {
    settings: &'a Settings,
    places: Places,
    journal: &'a mut Journal,
    conditions: Conditions,
    /// What the process as a whole was refused.
    notes: Vec<String>,
}

impl Run<'_> {
    fn say(&self, phase: &str) {
        if self.settings.progress {
            eprintln!("horus determinism: {phase} …");
        }
    }

    fn place(&self) -> Place {
        Place {
            cpu: self.places.node,
            priority: Some(self.settings.config.priority),
            longest_computation: LONGEST_COMPUTATION,
        }
    }

    fn self_test(&mut self) -> SelfTest {
        self.say("self-test");
        let timing = self.settings.config.timing;
        let time = Shares::of(self.settings.config.duration).self_test;
        let result = self_test::run(timing, time, self.place(), self.settings.injected_stall);
        self.journal.write(&journal::self_test(&result));
        result
    }

    /// All phases in their order, and the command of the load.
    fn phases(&mut self) -> (Vec<Phase>, Vec<String>) {
        let shares = Shares::of(self.settings.config.duration);
        let housekeeping = self.places.housekeeping.clone();
        let seconds = (self.settings.config.duration + LOAD_MARGIN).as_secs();
        let command = load::command_line(&self.settings.config.load, &housekeeping, seconds);
        let mut phases = Vec::new();
        for load in LOADS {
            match self.start(load, &command, &housekeeping, shares.load_start) {
                Ok(running) => {
                    for kind in Kind::ALL {
                        let before = CpuTime::now(&housekeeping);
                        let mut phase = self.measure(kind, load, &shares);
                        phase.busy_percent = CpuTime::busy_percent_since(before, &housekeeping);
                        self.journal.write(&journal::phase(&phase));
                        phases.push(phase);
                    }
                    self.conditions.load_failure = running.and_then(|running| running.end(&command[0]).err());
                }
                Err(reason) => {
                    for kind in Kind::ALL {
                        let phase = Phase::not_measured(format!("{}-{load}", kind.name()), format!("load: {reason}"));
                        self.journal.write(&journal::phase(&phase));
                        phases.push(phase);
                    }
                    self.conditions.load_failure = Some(reason);
                }
            }
        }
        (phases, command)
    }

    fn start(
        &self,
        load: Load,
        command: &[String],
        housekeeping: &CpuList,
        settle: Duration,
    ) -> Result<Option<Running>, String> {
        match load {
            Load::Quiet => Ok(None),
            Load::Load => Running::start(command, housekeeping, settle).map(Some),
        }
    }

    fn measure(&mut self, kind: Kind, load: Load, shares: &Shares) -> Phase {
        self.say(&format!("{}-{load}", kind.name()));
        match kind {
            Kind::Node => self.node(load, shares.node),
            Kind::Message => message::measure(load, &self.places, shares),
            Kind::Witness => cyclictest::measure(load, &self.settings.config, &self.places, shares.witness),
        }
    }

    fn node(&mut self, load: Load, time: Duration) -> Phase {
        let timing = self.settings.config.timing;
        let releases = (time.as_nanos() / timing.period().as_nanos()).max(1) as u64;
        let mut intervals = Intervals::over(releases.saturating_mul(timing.period_nanos()));
        let (measured, states) = watch::during(&self.settings.root, self.places.node, intervals.width_ns, || {
            node::measure(timing, releases, self.place(), None)
        });
        intervals.rows.clone_from(&measured.intervals.rows);
        watch::fill(&mut intervals, &states);
        for refused in measured.granted.refused().filter(|refused| NEEDED.contains(&refused.name)) {
            let reason = format!("the node was {}", not_granted(refused));
            if !self.conditions.refused.contains(&reason) {
                self.conditions.refused.push(reason);
            }
        }
        Phase {
            name: format!("node-{load}"),
            measured: true,
            notes: self.notes.iter().cloned().chain(measured.granted.refused().map(not_granted)).collect(),
            cpu: self.places.node,
            policy: Some(policy(&measured.granted, self.settings.config.priority)),
            period_ns: Some(timing.period_nanos()),
            deadline_ns: Some(timing.deadline_nanos()),
            samples: measured.tally.releases(),
            misses: Some(measured.tally.misses),
            max_consecutive: Some(measured.tally.max_consecutive),
            skipped: Some(measured.tally.skipped),
            overruns: Some(measured.overruns),
            latency: Latency::of(&measured.response),
            release_jitter: Some(Latency::of(&measured.jitter)),
            release_jitter_samples: Some(measured.jitter.samples()),
            miss_bound_95: Some(measured.tally.miss_bound_95()),
            histogram: measured.response.classes(),
            jitter_histogram: measured.jitter.classes(),
            max_misses_in_100: Some(measured.most_in_100),
            intervals: Some(intervals),
            ..Phase::default()
        }
    }
}
