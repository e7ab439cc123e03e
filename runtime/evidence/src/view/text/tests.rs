//! The screen, word for word, and what must never be missing from it.

use horus_audit::boot::{Boot, Data};

use crate::record::sample;
use crate::record::schema::{FailedUnit, Latency, MemoryKill, MemoryKills};

use super::*;

const SCREEN: &str = "\
HORUS PASS: no deadline was missed
 run        2026-11-20T12:00:00Z, 60 s, boot b0
 image      horus 0.1.0
 kernel     6.12.0-rt-amd64 #1 SMP PREEMPT_RT
 audit      90/100: 0 fatal, 1 high, 0 medium (C9)
 load       stress-ng --cpu 3
 busy       housekeeping CPUs 2 % in node-quiet
 node       period 1000 us, deadline 800 us, CPU 3, FIFO/80
 figures in us                   samples      p50      p99    p99.9   p99.99      max   misses
 node-quiet        response        18000     18.4     19.4     20.4      n/a     31.0        0
                   jitter          17990     2.10     3.10     4.10      n/a     11.3
 message-quiet     half trip     1000000    0.150     1.15     2.15      n/a     9.00   0 lost
                   floor p50 0.100 us, ratio 1.5
                   note: the echo runs on housekeeping CPU 0: only one CPU is isolated
 cyclictest-load   not measured: cyclictest is not installed
 deadline   misses 0/18000 in node-quiet, longest run 0 => P(miss) < 1.7e-4 (95 %)
 worst      31.0 us in second 8 of node-quiet, at 50 C and 2.80 GHz
 self-test  injected 3000 us in cycle 100, found 3012 us in cycle 100
";

#[test]
fn the_screen_of_a_passing_run() {
    assert_eq!(render(&sample::report("b0")), SCREEN.trim_end());
}

#[test]
fn a_failed_unit_shows_with_its_last_log_lines() {
    let mut report = sample::report("b0");
    report.failed_units = vec![FailedUnit { unit: "pong.service".to_owned(), log: vec!["no such topic".to_owned()] }];
    let text = render(&report);
    assert!(text.contains("FAILED     pong.service\n"), "{text}");
    assert!(text.contains("| no such topic"), "{text}");
}

#[test]
fn a_virtual_machine_is_told_that_its_latencies_are_no_verdict() {
    let mut report = sample::report("b0");
    report.hypervisor = Some("qemu".to_owned());
    assert!(render(&report).contains("running on 'qemu': these latencies are no verdict"));
}

#[test]
fn a_run_that_is_not_valid_says_so_first_and_why() {
    let mut report = sample::report("b0");
    report.valid = false;
    report.verdict = Verdict::None;
    report.invalid_reasons = vec!["the kernel is not PREEMPT_RT".to_owned()];
    let text = render(&report);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("HORUS NOT VALID"), "{text}");
    assert!(lines.next().unwrap().contains("not PREEMPT_RT"), "{text}");
}

#[test]
fn memory_the_boot_and_a_report_in_ram_are_told_and_an_old_report_without_them_reads() {
    let mut report = sample::report("b0");
    let kill = |name: &str, count| MemoryKill { name: name.to_owned(), count };
    report.memory_kills = MemoryKills { processes: vec![kill("pong", 2)], units: vec![kill("horus-pong.service", 1)] };
    let data = Data { state: "ram".to_owned(), reason: "no such partition".to_owned(), ..Data::default() };
    report.boot = Boot { data: Some(data), other_disks: vec!["/dev/sdb2 horus_0.1.0".to_owned()], ..Boot::default() };
    report.stored_in_ram = Some("no space".to_owned());
    let text = render(&report);
    for line in [
        " memory     2 killed for want of memory: pong (2 times), horus-pong.service\n",
        " data       /var is in RAM",
        " disks      another disk carries HORUS partitions too: /dev/sdb2 horus_0.1.0;",
        " stored     this report is in RAM and gone after a restart: no space",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    let mut value = serde_json::to_value(sample::report("b0")).unwrap();
    for key in ["memory_kills", "boot", "stored_in_ram"] {
        assert!(value.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let old: Report = serde_json::from_value(value).unwrap();
    assert_eq!(render(&old), SCREEN.trim_end());
}

#[test]
fn long_lists_are_cut_and_counted() {
    let mut report = sample::report("b0");
    let unit = |number| FailedUnit { unit: format!("u{number}.service"), log: Vec::new() };
    report.failed_units = (0..12).map(unit).collect();
    let text = render(&report);
    assert!(text.contains("u7.service") && !text.contains("u8.service") && text.contains("and 4 more"), "{text}");
}

#[test]
fn the_claim_counts_the_phase_that_it_bounds_and_no_other() {
    let mut report = sample::report("b0");
    let quiet = &mut report.phases[0];
    (quiet.samples, quiet.misses, quiet.max_consecutive) = (16_200, Some(399), Some(9));
    let mut load = quiet.clone();
    (load.name, load.misses, load.max_consecutive) = ("node-load".to_owned(), Some(767), Some(16));
    report.phases.push(load);
    let text = render(&report);
    let claim = text.lines().find(|line| line.starts_with(" deadline ")).unwrap();
    assert_eq!(claim, " deadline   misses 767/16200 in node-load, longest run 16 => P(miss) < 5.1e-2 (95 %)");
}

#[test]
fn without_a_node_phase_nothing_is_claimed() {
    let mut report = sample::report("b0");
    report.phases.remove(0);
    let text = render(&report);
    assert!(text.contains("nothing can be said about deadlines") && !text.contains("P(miss)"), "{text}");
}

#[test]
fn the_bound_prints_as_a_sentence_and_is_rounded_up() {
    assert_eq!(bound_sentence(2.9957 / 60_000.0), "P(miss) < 5.0e-5 (95 %)");
    for (bound, text) in [(1.01e-4, "1.1e-4"), (0.5, "5.0e-1"), (9.96e-3, "1.0e-2"), (1.0, "1.0e0"), (1.2e-4, "1.2e-4")]
    {
        assert_eq!(bound_sentence(bound), format!("P(miss) < {text} (95 %)"));
    }
}

#[test]
fn what_cyclictests_tuning_is_worth_is_told_as_a_ratio() {
    let phase = |name: &str, p999_ns, max_ns| Phase {
        name: name.to_owned(),
        latency: Latency { p999_ns, max_ns, ..Latency::default() },
        ..Phase::default()
    };
    let (plain, tuned) = (phase("d", Some(45_000), Some(90_000)), phase("cyclictest-idle", Some(15_000), Some(30_000)));
    assert_eq!(
        difference_sentence(&plain, &tuned).unwrap(),
        "power management left alone: p99.9 45.0 us here and 15.0 us in cyclictest-idle (3.0 times), max 90.0 us here and 30.0 us in \
         cyclictest-idle (3.0 times)"
    );
    assert_eq!(difference_sentence(&phase("d", None, None), &tuned), None);
}

#[test]
fn time_left_is_told_in_the_units_of_a_person() {
    let told = [40, 200, 3_600 * 7 + 60 * 29].map(|seconds| time_left(Duration::from_secs(seconds)));
    assert_eq!(told, ["40 s", "3 min", "7 h 29 min"]);
}

#[test]
fn a_long_name_of_a_phase_widens_its_column_and_a_load_is_told_once() {
    let mut report = sample::report("b0");
    let name = "cyclictest-default-mixed";
    report.phases[0].load = Some("mixed".to_owned());
    let mut second = report.phases[0].clone();
    second.name = name.to_owned();
    report.phases.push(Phase { name: "node-10khz-mixed".to_owned(), ..report.phases[0].clone() });
    report.phases.push(second);
    let text = render(&report);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("latency ") || line.contains("response ")).collect();
    let at: Vec<_> = rows.iter().map(|row| row.find("latency").or(row.find("response")).unwrap()).collect();
    assert!(at.iter().all(|column| *column == name.len() + 2), "{text}");
    let busy = text.lines().find(|line| line.starts_with(" busy")).unwrap_or_default();
    assert!(!busy.contains("10khz"), "{busy}");
}

#[test]
fn a_message_with_a_deadline_is_judged_by_its_answer_and_one_without_by_half_the_way() {
    let figure = |name: &str, deadline_ns| Phase { name: name.to_owned(), deadline_ns, ..Phase::default() }.figure();
    assert_eq!(figure("message-1khz-cpu", Some(800_000)), "answer");
    assert_eq!(figure("message-cpu", None), "half trip");
}
