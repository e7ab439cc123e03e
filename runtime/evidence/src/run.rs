//! The order of a run: audit, self-test, the phases of its configuration; judge, store, tell.

mod phases;

use std::path::PathBuf;
use std::time::Duration;

use horus::time::utc_now;
use horus_audit::boot::Boot;

use crate::config::Config;
use crate::jitter;
use crate::measure::grants::prepare_process;
use crate::measure::machine::events::Events;
use crate::measure::machine::{self, Facts, identity, memory, units, watch};
use crate::record::destination::{Destination, NowhereError};
use crate::record::history::{History, Merged};
use crate::record::judge;
use crate::record::marker::{self, Started};
use crate::record::merge::total;
use crate::record::schema::{MemoryKills, Report, SCHEMA, Verdict};
use crate::view::journal::{self, Journal};
use phases::Run;

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
    let time = utc_now();
    let notes = prepare_process();
    let throttled_before = machine::Throttling::read(&settings.root);
    settings.problems.iter().for_each(|problem| journal.write(&journal::problem(problem)));
    if let Some(trouble) = settings.destination.trouble() {
        journal.write(&journal::stored_elsewhere(&trouble));
    }

    let mut run = Run::new(&settings, &mut journal, notes);
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
    let audit = horus_audit::run(&settings.root, &settings.rules);
    run.journal.write_audit(&audit);
    let self_test = run.self_test();
    let (phases, load_commands) = run.phases();
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
        load_command: load_commands.iter().map(|command| command.join(" ")).collect::<Vec<_>>().join("; "),
        tools: machine::tools(load_commands.iter().map(|command| command[0].as_str())),
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
