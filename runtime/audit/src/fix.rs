//! `horus doctor --fix`: writes what can be written into the running kernel for the rules that fail, and reads each rule again.
//!
//! Rules that pass, and rules that could not be checked, are not touched. What a write cannot reach is named: a kernel parameter, another kernel, or
//! the step that a person has to take.

use std::path::Path;
use std::time::Duration;

use horus::time::pause;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

use crate::auditor::Auditor;
use crate::live;
use crate::outcome::{Outcome, RuleResult, Severity, Status};
use crate::remedy::Remedy;
use crate::root::Root;
use crate::rule::Rule;
use crate::value::Write;

/// More than the idle states of any CPU: they are switched off from the deepest on, one each round.
const MAX_ROUNDS: usize = 16;
/// How often, and after which pauses, a rule is read again: some interrupts move when they fire next.
const READINGS: u32 = 5;
const BETWEEN_READINGS: Duration = Duration::from_millis(200);

/// What came of it.
#[derive(Serialize)]
pub struct Fixed {
    /// Whether nothing was to be changed.
    pub dry_run: bool,
    /// One a rule that failed.
    pub fixes: Vec<Fix>,
    /// The audit afterwards.
    pub audit: Outcome,
}

/// What was done about one rule that failed.
#[derive(Serialize)]
pub struct Fix {
    /// The rule.
    pub id: String,
    /// What holds when it passes.
    pub title: String,
    /// How much its failure matters.
    pub severity: Severity,
    /// What was done.
    pub done: Done,
    /// What was observed before.
    pub before: String,
    /// What was observed afterwards, where something was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Every file that was written or would be.
    pub writes: Vec<Written>,
    /// Kernel parameters that set it at the next start.
    pub kernel_parameters: Vec<String>,
    /// What the rule says a person can do.
    pub fix: String,
}

/// What was done about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    /// Written, and the rule passes now.
    Set,
    /// To be written; nothing was changed.
    WouldSet,
    /// Written without an error, and the rule still fails.
    NotYet,
    /// The kernel refused.
    Refused,
    /// A parameter on the kernel command line and a restart do it.
    Restart,
    /// A kernel built in another way does it.
    OtherKernel,
    /// A person has to do it.
    ByHand,
}

/// One write.
#[derive(Serialize)]
pub struct Written {
    /// The file.
    pub path: String,
    /// What it held.
    pub before: String,
    /// What was written.
    pub wanted: String,
    /// Why the kernel did not take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Fixes the machine in `root` by the rule files in `rules`, or says what would be done.
///
/// # Errors
/// When nothing may be changed there: a sentence with the remedy. Nothing was changed then.
pub fn fix(root: &Path, rules: &Path, dry_run: bool) -> Result<Fixed, String> {
    may_change(root, dry_run)?;
    let auditor = Auditor::open(root, rules).map_err(|problems| problems.join("\n"))?;
    let place = (!dry_run).then(|| Root::open(root)).transpose()?;
    let before = auditor.audit();
    let failed = before.rules.iter().zip(auditor.rules()).filter(|(result, _)| result.status == Status::Fail);
    let fixes = failed.map(|(result, rule)| one(&auditor, rule, result, place.as_ref())).collect();
    let audit = if dry_run { before } else { auditor.audit() };
    Ok(Fixed { dry_run, fixes, audit })
}

fn may_change(root: &Path, dry_run: bool) -> Result<(), String> {
    if dry_run {
        return Ok(());
    }
    if root.is_file() {
        return Err("a recorded machine cannot be changed: add --dry-run to see what would be done".to_owned());
    }
    let is_live = root.canonicalize().is_ok_and(|root| root == Path::new("/"));
    if is_live && !rustix::process::geteuid().is_root() {
        return Err("--fix writes settings of the whole machine: run it as root, with sudo, or add --dry-run to see what would be done".to_owned());
    }
    Ok(())
}

/// `root` is `None` where nothing may be written.
fn one(auditor: &Auditor, rule: &Rule, failed: &RuleResult, root: Option<&Root>) -> Fix {
    let remedy = auditor.remedy(rule);
    let mut fix = Fix {
        id: rule.id.clone(),
        title: rule.title.clone(),
        severity: rule.severity,
        done: match &remedy {
            Remedy::Writes(_) => Done::WouldSet,
            Remedy::Parameters(_) => Done::Restart,
            Remedy::Kernel => Done::OtherKernel,
            Remedy::Person => Done::ByHand,
        },
        before: failed.observed.clone(),
        after: None,
        writes: Vec::new(),
        kernel_parameters: rule.kernel_parameters(),
        fix: failed.fix.clone().unwrap_or_default(),
    };
    match (remedy, root) {
        (Remedy::Writes(writes), None) => {
            fix.writes = writes.into_iter().map(|write| planned(write, auditor)).collect()
        }
        (Remedy::Writes(_), Some(root)) => set(auditor, rule, root, &mut fix),
        _ => {}
    }
    fix
}

/// Writes until the rule passes, or nothing is left that could be written.
fn set(auditor: &Auditor, rule: &Rule, root: &Root, fix: &mut Fix) {
    let mut now = auditor.check(rule);
    for _ in 0..MAX_ROUNDS {
        let Remedy::Writes(writes) = auditor.remedy(rule) else { break };
        let is_new = |write: &Write| !fix.writes.iter().any(|done| done.path == write.path);
        let writes: Vec<Write> = writes.into_iter().filter(is_new).collect();
        if writes.is_empty() {
            break;
        }
        fix.writes.extend(writes.into_iter().map(|write| written(write, root)));
        now = auditor.check(rule);
        if now.status == Status::Pass {
            break;
        }
    }
    let was_refused = fix.writes.iter().any(|write| write.error.is_some());
    for _ in 0..READINGS {
        if was_refused || now.status == Status::Pass {
            break;
        }
        pause(BETWEEN_READINGS);
        now = auditor.check(rule);
    }
    fix.done = match now.status {
        Status::Pass => Done::Set,
        _ if was_refused => Done::Refused,
        _ => Done::NotYet,
    };
    fix.after = Some(now.reason.unwrap_or(now.observed));
}

fn planned(write: Write, auditor: &Auditor) -> Written {
    Written { before: auditor.text(&write.path), path: write.path, wanted: write.text, error: None }
}

fn written(write: Write, root: &Root) -> Written {
    let before = live::read(root, &write.path).unwrap_or_default().trim().to_owned();
    let line = format!("{}\n", write.text);
    let done = on_its_cpu(&write.path, || live::write(root, &write.path, &line));
    let error = done.err().map(|error| error.to_string());
    Written { path: write.path, before, wanted: write.text, error }
}

/// A deadline server is stopped from its own CPU, as an ordinary task: Linux 6.12 warns in its log when one is stopped that is not
/// active, and a task on the CPU makes it active.
fn on_its_cpu<T>(path: &str, act: impl FnOnce() -> T) -> T {
    let cpu = path.split_once("_server/cpu").and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
    let (Some(cpu), Ok(allowed)) = (cpu, sched_getaffinity(None)) else { return act() };
    let mut one = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        one.set(cpu);
    }
    let _ = sched_setaffinity(None, &one); // a CPU that may not be used: the write still counts, with its warning
    let done = act();
    let _ = sched_setaffinity(None, &allowed);
    done
}
