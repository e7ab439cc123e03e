//! `horus watch`: the service that measures a node of lowest impact for as long as the machine is up, so that evidence grows.
//!
//! Ten releases a second, no work, and a priority below every node: what it costs and what it does not see stands in docs/measuring.md. It
//! stands aside while a determinism run measures. What it found is merged into the record of this boot every hour and at its end.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use horus::deadline::Timing;
use horus::journal::{Entry, Priority, id};
use horus::stop;
use horus::supervise::notify_ready;
use horus::time::{parse_duration, pause};
use horus_evidence::lock::{self, LockError};
use horus_evidence::measure::grants::prepare_process;
use horus_evidence::measure::machine::{Facts, identity, watch};
use horus_evidence::measure::metered::{self, Measured, Place};
use horus_evidence::measure::plan::Places;
use horus_evidence::record::store::StoreError;
use horus_evidence::view::text::microseconds;
use horus_evidence::watch::{DEADLINE, PRIORITY, Record, config};

/// How often the watch looks whether it has to end or to stand aside.
const LOOK: Duration = Duration::from_secs(1);

/// The record is written so long after the watch began, and then at twice the time, up to `--keep-every`: a machine that is switched off at
/// the plug after half an hour leaves evidence too.
const FIRST_KEEP: Duration = Duration::from_secs(240);

/// The step is empty.
const LONGEST_COMPUTATION: Duration = Duration::from_millis(100);

/// Command line of `horus watch`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory of the records, one a boot
    #[arg(long, value_name = "DIR", default_value = "/var/lib/horus/watch")]
    directory: PathBuf,
    /// Directory of the audit's rule files, which are a part of the machine's identity
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/horus/audit")]
    rules: PathBuf,
    /// Lock file of determinism runs
    #[arg(long, value_name = "FILE", default_value = lock::DEFAULT_FILE)]
    lock: PathBuf,
    /// Between two releases
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "100ms", hide = true)]
    period: Duration,
    /// Between two writes of the record
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60min", hide = true)]
    keep_every: Duration,
    /// Measure where no CPU is isolated too; such a record is never valid
    #[arg(long, hide = true)]
    anywhere: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let places = Places::of_machine(Path::new("/"));
    if !places.node_is_isolated && !args.anywhere {
        notify_ready("no CPU is isolated, so there is nothing to watch");
        println!("horus watch: no CPU is isolated, so there is nothing to watch");
        return ExitCode::SUCCESS;
    }
    match start(args, places) {
        Ok(mut watch) => {
            watch.go_on();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("horus watch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &Args, places: Places) -> Result<Watch<'_>, String> {
    let timing = Timing::new(args.period, DEADLINE.min(args.period)).map_err(|error| error.to_string())?;
    // Held by another watch or by a run, it is there; a lock that cannot be had at all would keep the watch waiting for ever.
    if let Err(error @ LockError::Unusable { .. }) = lock::take(&lock::of_watch(&args.lock)) {
        return Err(error.to_string());
    }
    let stop = stop::on_termination().map_err(|error| format!("SIGTERM cannot be caught: {error}"))?;
    let notes = prepare_process();
    let root = Path::new("/");
    let facts = Facts::read(root);
    let identity = identity::read(root, &args.rules, &config(timing));
    let mut record = Record::of_boot(&args.directory, &facts, identity, watch::is_traced(root));
    record.phase.cpu = places.node;
    record.phase.notes = notes;
    if !facts.is_preempt_rt() {
        record.refuse("the kernel is not PREEMPT_RT");
    }
    if !places.node_is_isolated {
        record.refuse("the CPU is not isolated");
    }
    let place = Place { cpu: places.node, priority: Some(PRIORITY), longest_computation: LONGEST_COMPUTATION };
    let cpu = places.node.map_or_else(|| "any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    notify_ready(&format!("watching {cpu}"));
    let keep_after = FIRST_KEEP.min(args.keep_every);
    Ok(Watch { args, timing, place, record, stop, keep_after, is_kept: true })
}

/// The watch of one boot.
struct Watch<'a> {
    args: &'a Args,
    timing: Timing,
    place: Place,
    record: Record,
    stop: std::sync::Arc<AtomicBool>,
    /// How long is measured before the record is written.
    keep_after: Duration,
    /// Whether the last write of the record succeeded: the journal is told of a change only.
    is_kept: bool,
}

impl Watch<'_> {
    fn ends(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Measures until it is told to end, and stands aside while a determinism run measures.
    fn go_on(&mut self) {
        while !self.ends() {
            // A run that begins waits for the lock of the watch, so no release of the watch falls into it. Whether one has begun is asked
            // again with the lock held.
            let measuring = lock::take(&lock::of_watch(&self.args.lock));
            if measuring.is_err() || lock::is_held(&self.args.lock) {
                drop(measuring); // before the pause: the run waits for it
                pause(self.look());
                continue;
            }
            let measured = self.measure();
            drop(measuring);
            self.merge(&measured);
            self.keep_after = self.keep_after.saturating_mul(2).min(self.args.keep_every);
        }
    }

    fn look(&self) -> Duration {
        LOOK.min(self.args.keep_every)
    }

    /// Measures until the record is due, a determinism run begins, or the watch has to end.
    fn measure(&self) -> Measured {
        let releases = (self.keep_after.as_nanos() / self.timing.period().as_nanos()).max(1) as u64;
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let node = scope.spawn(|| {
                metered::run(self.timing, releases, self.place, |_| !is_over.load(Ordering::Relaxed)) // a flag, and no data behind it
            });
            while !node.is_finished() {
                if self.ends() || lock::is_held(&self.args.lock) {
                    is_over.store(true, Ordering::Relaxed);
                    break;
                }
                pause(self.look());
            }
            node.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Merges what was measured into the record, writes it, and tells the journal of misses.
    fn merge(&mut self, measured: &Measured) {
        self.record.add(measured, self.timing, PRIORITY);
        if !self.record.was_traced_as(watch::is_traced(Path::new("/"))) {
            self.record.refuse("tracing was switched on or off meanwhile");
        }
        if measured.tally.misses > 0 {
            send(&missed(measured, &self.record));
        }
        match self.record.keep(&self.args.directory) {
            Ok(()) => self.is_kept = true,
            Err(error) if self.is_kept => {
                self.is_kept = false;
                eprintln!("horus watch: {error}");
                send(&not_kept(&error));
            }
            Err(_) => {} // told once; the record is whole in memory and tried again
        }
    }
}

fn send(entry: &Entry) {
    // A machine without journald has the sentence on stderr, and the record.
    let _ = entry.send().inspect_err(|error| eprintln!("horus watch: {}: {error}", entry.message()));
}

/// One entry at each write of the record, however many misses there are.
fn missed(measured: &Measured, record: &Record) -> Entry {
    let (misses, releases) = (measured.tally.misses, measured.tally.releases());
    let max_ns = measured.response.max_ns().unwrap_or(0);
    let max = microseconds(Some(max_ns));
    let message =
        format!("the watch missed {misses} of its last {releases} deadlines, the longest response took {max} us");
    let entry = Entry::new(id::WATCH_MISSED, Priority::Warning, message)
        .field("HORUS_MISSES", misses)
        .field("HORUS_SAMPLES", releases)
        .field("HORUS_MAX_NS", max_ns)
        .field("HORUS_MAX_CONSECUTIVE", measured.tally.max_consecutive)
        .field("HORUS_DEADLINE_NS", record.phase.deadline_ns.unwrap_or(0));
    record.phase.cpu.into_iter().fold(entry, |entry, cpu| entry.field("HORUS_CPU", cpu))
}

fn not_kept(error: &StoreError) -> Entry {
    let message =
        format!("the watch cannot keep its record: {error}; it goes on in memory and is tried again every hour");
    Entry::new(id::WATCH_NOT_KEPT, Priority::Warning, message).field("HORUS_REASON", error)
}
