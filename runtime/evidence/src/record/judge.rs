//! Two separate questions: were meter and conditions sound (`valid`), and what do the figures say (`verdict`).
//!
//! A run can be valid in a virtual machine, where its figures still say nothing about any board; and a machine can keep
//! every deadline in a run whose meter proved blind. Only a valid run on real hardware passes.

use super::schema::{Kind, Phase, Report, Verdict};

/// What the report itself does not hold.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Whether the kernel is a real-time kernel.
    pub preempt_rt: bool,
    /// Whether the facts were read from another tree than the machine's own.
    pub foreign_root: bool,
    /// How the machine slowed itself down during the run, or why that cannot be excluded.
    pub throttled: Vec<String>,
    /// Why a load was missing, ended early or loaded too little, each with its name.
    pub load_failures: Vec<String>,
    /// What a node phase needs and was refused.
    pub refused: Vec<String>,
}

/// Fills in validity and verdict.
pub fn judge(report: &mut Report, conditions: &Conditions) {
    report.invalid_reasons = invalid_reasons(report, conditions);
    report.valid = report.invalid_reasons.is_empty();
    let (verdict, reason) = verdict(report);
    report.verdict = verdict;
    report.verdict_reason = reason;
}

fn invalid_reasons(report: &Report, conditions: &Conditions) -> Vec<String> {
    let mut reasons = Vec::new();
    if !report.self_test.passed {
        let why = report.self_test.reason.as_deref().unwrap_or("it did not run");
        reasons.push(format!("the meter failed its self-test: {why}"));
    }
    if !conditions.preempt_rt {
        reasons.push("the kernel is not PREEMPT_RT".to_owned());
    }
    if conditions.foreign_root {
        reasons.push("audit and facts were read from another tree than this machine's (--root)".to_owned());
    }
    reasons.extend(conditions.throttled.iter().cloned());
    reasons.extend(conditions.load_failures.iter().cloned());
    reasons.extend(conditions.refused.iter().cloned());
    // In a virtual machine a starved message phase says something about the host, on a board about the board.
    let needed = |phase: &Phase| phase.is_node() || phase.kind() == Kind::Message && report.hypervisor.is_none();
    let missing = report.phases.iter().filter(|phase| needed(phase) && !phase.measured);
    reasons.extend(missing.map(|phase| format!("{} was not measured", phase.name)));
    for phase in &report.phases {
        reasons.extend(phase.invalid_reasons.iter().map(|reason| format!("{}: {reason}", phase.name)));
    }
    let problems = report.problems.len() + report.audit.problems.len();
    if problems > 0 {
        reasons.push(format!("{problems} configuration problem(s), listed below"));
    }
    reasons
}

fn verdict(report: &Report) -> (Verdict, String) {
    // A crashed unit is no latency: it counts in a virtual machine and in an invalid run as well.
    if let [first, ..] = report.failed_units.as_slice() {
        return (Verdict::Fail, format!("{} unit(s) failed, first {}", report.failed_units.len(), first.unit));
    }
    // Restarting hides a crash from the list of failed units, but not what depends on the unit from its absence.
    if let (Some(first), None) = (report.restarted_units.first(), &report.hypervisor) {
        let (count, unit) = (report.restarted_units.len(), &first.unit);
        return (
            Verdict::Fail,
            format!("{count} unit(s) failed and were restarted, first {unit} ({} times)", first.failures),
        );
    }
    if !report.valid {
        return (Verdict::None, "the run is not valid, so its figures prove nothing".to_owned());
    }
    if let Some(hypervisor) = &report.hypervisor {
        return (Verdict::None, format!("in a virtual machine ({hypervisor}) latencies say nothing about a board"));
    }
    let lost: u64 = report.phases.iter().filter_map(|phase| phase.lost).sum();
    let misses = report.total.misses.unwrap_or(0);
    let own_stall = report.self_test.retried().iter().map(|attempt| attempt.found_ns).max();
    if misses > 0 {
        (Verdict::Fail, format!("{misses} of {} deadlines were missed", report.total.samples))
    } else if let Some(found_ns) = own_stall {
        let found_us = found_ns / 1_000;
        (Verdict::Fail, format!("the machine stalled by itself during the self-test: a response took {found_us} us"))
    } else if lost > 0 {
        (Verdict::Fail, format!("{lost} message(s) were lost"))
    } else if report.audit.fatal > 0 {
        (Verdict::Fail, format!("the audit has {} fatal finding(s)", report.audit.fatal))
    } else {
        (Verdict::Pass, format!("no deadline was missed in {} releases", report.total.samples))
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::total;
    use super::super::sample;
    use super::*;
    use crate::record::schema::{FailedUnit, RestartedUnit};

    const SOUND: Conditions = Conditions {
        preempt_rt: true,
        foreign_root: false,
        throttled: Vec::new(),
        load_failures: Vec::new(),
        refused: Vec::new(),
    };

    fn judged(change: impl Fn(&mut Report), conditions: &Conditions) -> Report {
        let mut report = sample::report("b0");
        change(&mut report);
        report.total = total(&report.phases);
        judge(&mut report, conditions);
        report
    }

    #[test]
    fn a_sound_run_without_a_miss_passes() {
        let report = judged(|_| {}, &SOUND);
        assert!(report.valid && report.verdict == Verdict::Pass, "{:?}", report.invalid_reasons);
        assert_eq!(report.total.samples, 18_000);
    }

    #[test]
    fn a_blind_meter_makes_the_run_invalid_and_gives_no_verdict() {
        let report = judged(
            |report| {
                report.self_test.passed = false;
                report.self_test.reason = Some("the meter did not see the whole stall".to_owned());
            },
            &SOUND,
        );
        assert!(!report.valid && report.verdict == Verdict::None);
        assert!(report.invalid_reasons[0].contains("self-test"), "{:?}", report.invalid_reasons);
    }

    #[test]
    fn each_unsound_condition_is_a_reason_of_its_own() {
        let unsound = Conditions {
            preempt_rt: false,
            foreign_root: true,
            throttled: vec!["the machine throttled 3 times".to_owned()],
            load_failures: vec!["load: load program stress-ng is not installed".to_owned()],
            refused: vec!["REFUSED scheduling-policy".to_owned()],
        };
        let report = judged(|report| report.problems.push("x.toml:1: wrong".to_owned()), &unsound);
        assert!(!report.valid && report.verdict == Verdict::None);
        for named in
            ["PREEMPT_RT", "--root", "throttled 3", "stress-ng", "REFUSED scheduling-policy", "1 configuration problem"]
        {
            assert!(report.invalid_reasons.iter().any(|reason| reason.contains(named)), "{named} is missing");
        }
    }

    #[test]
    fn a_node_phase_that_is_missing_makes_the_run_invalid_and_on_real_hardware_a_message_phase_too() {
        assert!(!judged(|report| report.phases[0].measured = false, &SOUND).valid);
        assert!(!judged(|report| report.phases[1].measured = false, &SOUND).valid);
        let virtual_run = |report: &mut Report| {
            report.hypervisor = Some("qemu".to_owned());
            report.phases[1].measured = false;
        };
        assert!(judged(virtual_run, &SOUND).valid);
        assert!(judged(|report| report.phases[2].measured = false, &SOUND).valid, "the witness is no condition");
    }

    #[test]
    fn a_restarted_unit_fails_on_real_hardware_and_never_passes() {
        let restarted = RestartedUnit {
            unit: "pong.service".to_owned(),
            failures: 2,
            state: "active (running)".to_owned(),
            log: Vec::new(),
        };
        for (hypervisor, verdict) in [(None, Verdict::Fail), (Some("qemu".to_owned()), Verdict::None)] {
            let change = |report: &mut Report| {
                report.hypervisor = hypervisor.clone();
                report.restarted_units = vec![restarted.clone()];
            };
            assert_eq!(judged(change, &SOUND).verdict, verdict);
        }
    }

    #[test]
    fn a_self_test_that_had_to_be_repeated_is_a_stall_of_the_machine_and_no_pass() {
        let report = judged(
            |report| {
                let mut first = report.self_test.attempts[0].clone();
                (first.found_ns, first.reason) = (5_000_000, Some("stalls by itself".to_owned()));
                report.self_test.attempts.insert(0, first);
            },
            &SOUND,
        );
        assert!(report.valid && report.verdict == Verdict::Fail);
        assert!(report.verdict_reason.contains("5000 us"), "{}", report.verdict_reason);
    }

    #[test]
    fn an_echo_that_ended_badly_makes_the_run_invalid() {
        let report = judged(|report| report.phases[1].invalid_reasons = vec!["ended badly".to_owned()], &SOUND);
        assert!(!report.valid && report.verdict == Verdict::None);
        assert!(report.invalid_reasons[0].contains("message-quiet: ended badly"), "{:?}", report.invalid_reasons);
    }

    #[test]
    fn a_virtual_machine_gets_no_verdict_however_good_or_bad_its_figures_are() {
        for misses in [0, 5] {
            let report = judged(
                |report| {
                    report.hypervisor = Some("qemu".to_owned());
                    report.phases[0].misses = Some(misses);
                },
                &SOUND,
            );
            assert!(report.valid && report.verdict == Verdict::None);
            assert!(report.verdict_reason.contains("qemu"));
        }
    }

    #[test]
    fn a_failed_unit_never_passes_not_even_where_latencies_have_no_verdict() {
        let failed = FailedUnit { unit: "pong.service".to_owned(), log: Vec::new() };
        for hypervisor in [None, Some("qemu".to_owned())] {
            let report = judged(
                |report| {
                    report.hypervisor = hypervisor.clone();
                    report.failed_units = vec![failed.clone()];
                },
                &SOUND,
            );
            assert!(report.verdict == Verdict::Fail && report.verdict_reason.contains("pong.service"));
        }
    }

    #[test]
    fn misses_losses_and_fatal_findings_fail_a_valid_run() {
        assert_eq!(judged(|report| report.phases[0].misses = Some(1), &SOUND).verdict, Verdict::Fail);
        assert_eq!(judged(|report| report.phases[1].lost = Some(1), &SOUND).verdict, Verdict::Fail);
        assert_eq!(judged(|report| report.audit.fatal = 1, &SOUND).verdict, Verdict::Fail);
    }
}
