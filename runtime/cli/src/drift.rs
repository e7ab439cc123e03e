//! `horus drift`: the service that looks at the audit's rules again and again, and tells the journal once when one changes.
//!
//! What a device or a program can change at any time (values below `/proc/sys`, affinities, governors) is read every few seconds; all
//! rules are read every hour. A change is looked at again soon, and told when it is still there. There is nothing to wait for instead of looking: the
//! kernel announces neither an interrupt that moved nor a value that was written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use horus::journal::{Entry, Priority, id};
use horus::supervise::notify_ready;
use horus::time::{parse_duration, pause, utc_now};
use horus_audit::drift::{Drift, Watch};
use horus_audit::journal::about;
use horus_audit::{Auditor, RuleResult, Severity, Status};

/// Until a change is looked at again.
const SOON: Duration = Duration::from_secs(5);
/// Between two looks at all rules.
const HOUR: Duration = Duration::from_secs(3600);

/// Command line of `horus drift`.
#[derive(clap::Args)]
pub struct Args {
    /// Watch a directory with proc and sys instead of this machine
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Directory of the rule files
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/horus/audit")]
    rules: PathBuf,
    /// Keep here what the journal knows, so that a restart neither forgets nor repeats
    #[arg(long, value_name = "FILE", default_value = "/run/horus-drift/state.json")]
    state: PathBuf,
    /// Between two looks at what can change at any time
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "15s")]
    period: Duration,
    /// End after one look
    #[arg(long)]
    once: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let mut watch = load(&args.state);
    let mut is_first = true;
    loop {
        // Opened anew, because CPUs may have come or gone, and rules been changed.
        let auditor = match Auditor::open(&args.root, &args.rules) {
            Ok(auditor) => auditor,
            Err(problems) => {
                eprintln!("horus drift: {}", problems.join("\n"));
                return ExitCode::FAILURE;
            }
        };
        watch.next_hour();
        look(&mut watch, auditor.audit().rules, &args.state);
        if args.once {
            return ExitCode::SUCCESS;
        }
        if std::mem::take(&mut is_first) {
            notify_ready(&format!("watching {} rules", auditor.rules().len()));
        }
        watch_for(HOUR, &mut watch, &auditor, args);
    }
}

/// Looks at what can change at any time, and at what has just changed, until `time` is over.
fn watch_for(time: Duration, watch: &mut Watch, auditor: &Auditor, args: &Args) {
    let mut passed = Duration::ZERO;
    while passed < time {
        let rules = || auditor.rules().iter();
        let wait = if rules().any(|rule| watch.is_unsure(&rule.id)) { SOON.min(args.period) } else { args.period };
        pause(wait);
        passed += wait;
        let wanted = rules().filter(|rule| rule.is_quick() || watch.is_unsure(&rule.id));
        let results = wanted.map(|rule| auditor.check(rule)).collect();
        look(watch, results, &args.state);
    }
}

fn look(watch: &mut Watch, results: Vec<RuleResult>, state: &Path) {
    let is_new = !state.exists();
    let mut told = 0;
    watch.look(&results, &utc_now(), &mut |drift| {
        told += 1;
        entry(drift).send().inspect_err(|error| eprintln!("horus drift: {error}")).is_ok()
    });
    if told > 0 || is_new {
        keep(watch, state).unwrap_or_else(|error| eprintln!("horus drift: {}: {error}", state.display()));
    }
}

/// What the journal is told.
fn entry(Drift { rule, before, since }: &Drift) -> Entry {
    let is_well = rule.status == Status::Pass;
    let (id, priority) = match (is_well, rule.severity) {
        (true, _) => (id::DRIFT_OVER, Priority::Info),
        (false, Severity::Fatal) => (id::DRIFT, Priority::Error),
        (false, Severity::Info) => (id::DRIFT, Priority::Info),
        (false, _) => (id::DRIFT, Priority::Warning),
    };
    let (now, rest) = match is_well {
        true => ("is well again", String::new()),
        false => ("does not hold any more", format!(", expected {}", rule.expected)),
    };
    let message = format!(
        "audit rule {} ({}) {now} since {since}: {}: {before} → {}{rest}",
        rule.id,
        rule.severity.word(),
        rule.title,
        rule.observed
    );
    about(rule, Entry::new(id, priority, message)).field("HORUS_BEFORE", before).field("HORUS_SINCE", since)
}

/// What the journal knew when an earlier process of this boot ended; what cannot be read is as nothing.
fn load(state: &Path) -> Watch {
    fs::read(state).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn keep(watch: &Watch, state: &Path) -> std::io::Result<()> {
    let unfinished = state.with_extension("new");
    fs::write(&unfinished, serde_json::to_vec(watch)?)?;
    fs::rename(unfinished, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_change_at_any_time_is_read_often_and_what_walks_all_processes_is_not() {
        let rules = horus_audit::load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf/rt/audit"))).rules;
        let is_quick = |id: &str| rules.iter().find(|rule| rule.id == id).unwrap_or_else(|| panic!("{id}")).is_quick();
        for id in ["C4", "C4-effective", "S1", "S2", "S3-swap", "S5", "P1", "P1-range", "C8", "K10-ksm", "S4"] {
            assert!(is_quick(id), "{id}");
        }
        for id in ["I1", "I3", "U2", "C5", "K1-config", "C13", "K7-hres", "K11"] {
            assert!(!is_quick(id), "{id}");
        }
    }

    #[test]
    fn an_entry_says_what_changed_from_what_to_what_and_what_to_do() {
        let text = str::to_owned;
        let rule = |status, observed: &str| RuleResult {
            id: text("C4-effective"),
            title: text("No device interrupt is served by an isolated CPU"),
            severity: Severity::High,
            status,
            observed: text(observed),
            expected: text("none"),
            reason: None,
            why: Some(text("Each stops the loop.")),
            fix: Some(text("Write the housekeeping CPUs.")),
        };
        let away = rule(Status::Fail, "interrupt 24 eth0: on CPU 1");
        let entry_of =
            |rule, before: &str| entry(&Drift { rule, before: text(before), since: text("2026-11-23T02:00:00Z") });
        let away = entry_of(&away, "none");
        assert_eq!(away.priority(), Priority::Warning);
        assert_eq!(
            away.message(),
            "audit rule C4-effective (high) does not hold any more since 2026-11-23T02:00:00Z: No device interrupt is served by an \
             isolated CPU: none → interrupt 24 eth0: on CPU 1, expected none"
        );
        assert_eq!((away.get("HORUS_BEFORE"), away.get("HORUS_STATUS")), (Some("none"), Some("FAIL")));
        let back = rule(Status::Pass, "none");
        let back = entry_of(&back, "interrupt 24 eth0: on CPU 1");
        assert_eq!((back.get("MESSAGE_ID"), back.priority()), (Some(id::DRIFT_OVER), Priority::Info));
    }
}
