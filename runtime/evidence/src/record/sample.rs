//! A made-up report for tests: every kind of phase once, round figures.

use horus_audit::boot::Boot;
use horus_audit::{Machine, Outcome, RuleResult, Severity, Status};

use super::identity::Identity;
use super::interval::{Interval, Intervals};
use super::schema::{Attempt, Latency, MemoryKills, Phase, Report, SCHEMA, SelfTest, Tool, Total, Verdict};

/// A valid report of a passing run on real hardware.
pub fn report(boot_id: &str) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        run_id: format!("run-of-{boot_id}"),
        boot_id: boot_id.to_owned(),
        time: "2026-11-20T12:00:00Z".to_owned(),
        duration_s: 60.0,
        image: "horus 0.1.0".to_owned(),
        kernel: "6.12.0-rt-amd64 #1 SMP PREEMPT_RT".to_owned(),
        cmdline: "isolcpus=managed_irq,domain,3".to_owned(),
        hypervisor: None,
        identity: Some(Identity { build_id: "cafe".to_owned(), board: "A board".to_owned(), ..Identity::default() }),
        is_traced: Some(false),
        valid: true,
        invalid_reasons: Vec::new(),
        verdict: Verdict::Pass,
        verdict_reason: "no deadline was missed".to_owned(),
        audit: audit(),
        self_test: SelfTest {
            injected_ns: 3_000_000,
            found_ns: 3_012_300,
            injected_cycle: 100,
            found_cycle: 100,
            passed: true,
            reason: None,
            attempts: vec![Attempt { injected_ns: 3_000_000, found_ns: 3_012_300, reason: None }],
        },
        phases: vec![node(), message(), Phase::not_measured("cyclictest-load", "cyclictest is not installed")],
        total: Total {
            samples: 18_000,
            misses: Some(0),
            max_consecutive: Some(0),
            max_ns: Some(31_000),
            miss_bound_95: Some(2.9957 / 18_000.0),
            miss_bound_phase: Some("node-quiet".to_owned()),
        },
        failed_units: Vec::new(),
        restarted_units: Vec::new(),
        memory_kills: MemoryKills::default(),
        boot: Boot::default(),
        stored_in_ram: None,
        problems: Vec::new(),
        load_command: "stress-ng --cpu 3".to_owned(),
        tools: vec![Tool { name: "horus".to_owned(), version: "0.1.0".to_owned() }],
    }
}

fn node() -> Phase {
    Phase {
        name: "node-quiet".to_owned(),
        measured: true,
        cpu: Some(3),
        busy_percent: Some(2.5),
        policy: Some("FIFO/80".to_owned()),
        period_ns: Some(1_000_000),
        deadline_ns: Some(800_000),
        samples: 18_000,
        misses: Some(0),
        max_consecutive: Some(0),
        skipped: Some(0),
        overruns: Some(0),
        latency: latency(18_400, 31_000),
        release_jitter: Some(latency(2_100, 11_300)),
        release_jitter_samples: Some(17_990),
        miss_bound_95: Some(2.9957 / 18_000.0),
        histogram: vec![(18_400, 17_999), (31_000, 1)],
        jitter_histogram: vec![(2_100, 17_989), (11_300, 1)],
        max_misses_in_100: Some(0),
        intervals: Some(Intervals { width_ns: 1_000_000_000, rows: (0..18).map(interval).collect() }),
        ..Phase::default()
    }
}

fn interval(number: u64) -> Interval {
    Interval {
        response_ns: Some(if number == 7 { 31_000 } else { 18_400 + 100 * number }),
        jitter_ns: Some(if number == 7 { 11_300 } else { 2_100 }),
        temperature_mc: Some(50_000),
        frequency_khz: Some(2_800_000),
        is_throttled: Some(false),
        ..Interval::default()
    }
}

fn message() -> Phase {
    Phase {
        name: "message-quiet".to_owned(),
        measured: true,
        notes: vec!["the echo runs on housekeeping CPU 0: only one CPU is isolated".to_owned()],
        cpu: Some(3),
        peer_cpu: Some(0),
        policy: Some("FIFO/80".to_owned()),
        samples: 1_000_000,
        latency: latency(150, 9_000),
        lost: Some(0),
        floor_p50_ns: Some(100),
        floor_ratio: Some(1.5),
        ..Phase::default()
    }
}

fn latency(p50: u64, max: u64) -> Latency {
    Latency {
        p50_ns: Some(p50),
        p90_ns: Some(p50 + 500),
        p99_ns: Some(p50 + 1_000),
        p999_ns: Some(p50 + 2_000),
        p9999_ns: None,
        max_ns: Some(max),
    }
}

fn audit() -> Outcome {
    let rule = |id: &str, status| RuleResult {
        id: id.to_owned(),
        title: "NMI watchdog off".to_owned(),
        severity: Severity::High,
        status,
        observed: "1".to_owned(),
        expected: "0".to_owned(),
        reason: None,
        why: None,
        fix: None,
    };
    let rules = vec![rule("C8", Status::Pass), rule("C9", Status::Fail)];
    Outcome::new(Machine::default(), rules, Vec::new())
}
