//! Programs on machines that are not there: a folder says what CPUs they have, and what was measured on them.

use super::*;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// A machine with four CPUs, of which 2 and 3 are isolated.
fn machine(jitters: &str) -> (tempfile::TempDir, Machine) {
    let root = tempfile::tempdir().unwrap();
    let cpu = root.path().join("sys/devices/system/cpu");
    std::fs::create_dir_all(&cpu).unwrap();
    std::fs::write(cpu.join("online"), "0-3\n").unwrap();
    std::fs::write(cpu.join("isolated"), "2-3\n").unwrap();
    std::fs::create_dir_all(root.path().join("run/horus")).unwrap();
    if !jitters.is_empty() {
        std::fs::write(root.path().join("run/horus/release-jitter"), jitters).unwrap();
    }
    let machine = Machine::at(root.path());
    (root, machine)
}

fn node(name: &str, cpu: &str, policy: &str, thread: usize, [period, budget, deadline]: [u64; 3]) -> NodeInfo {
    NodeInfo {
        name: name.to_owned(),
        cpu: cpu.to_owned(),
        scheduling_policy: policy.to_owned(),
        thread,
        period_ns: period,
        budget_ns: budget,
        deadline_ns: deadline,
        ..NodeInfo::default()
    }
}

fn control() -> NodeInfo {
    node("control", "isolated:1", "fifo:80", 0, [MS, 150 * US, 800 * US])
}

fn vision() -> NodeInfo {
    node("vision", "3", "fifo:85", 1, [10 * MS, 643 * US, 10 * MS])
}

fn program(name: &str, nodes: &[NodeInfo]) -> ProcessInfo {
    ProcessInfo { name: name.to_owned(), nodes: nodes.to_vec(), chains: Vec::new() }
}

fn screen(processes: &[ProcessInfo], jitters: &str) -> String {
    let (_root, machine) = machine(jitters);
    admit(processes, &machine).unwrap().to_string()
}

#[test]
fn a_graph_that_does_not_fit_reads_as_documented() {
    assert_eq!(
        screen(&[program("balance", &[control(), vision()])], "3 120000 2026-11-22\n"),
        "refused: control may take 913 us after its release, its deadline is 800 us
  150 us its own budget
  120 us release jitter of CPU 3 (report of 2026-11-22)
  643 us vision (fifo:85, budget 643 us every 10 ms) runs before it on CPU 3
  try: move vision to CPU 2, or give control a priority above 85"
    );
}

#[test]
fn a_graph_that_fits_reads_as_documented_and_has_its_predictions_by_number() {
    let (_root, machine) = machine("3 62000 2026-11-22\n");
    let admitted = admit(&[program("balance", &[control()])], &machine).unwrap();
    assert_eq!(
        admitted.to_string(),
        "admitted: control R = 212 us <= D = 800 us on CPU 3 (budget declared, jitter of the report of 2026-11-22)"
    );
    assert!(admitted.is_admitted());
    assert_eq!(admitted.predicted(0, 0), Some(Duration::from_micros(212)));
    assert_eq!((admitted.predicted(0, 1), admitted.predicted(1, 0)), (None, None));
}

#[test]
fn a_jitter_that_nobody_measured_is_zero_and_said_to_be() {
    let text = screen(&[program("balance", &[control()])], "");
    assert_eq!(
        text,
        "admitted: control R = 150 us <= D = 800 us on CPU 3 (budget declared, jitter not measured)
no determinism report of this boot: release jitter is taken as 0"
    );
    let text = screen(&[program("balance", &[control()])], "2 1000 2026-11-22");
    assert!(
        text.ends_with("\nno determinism report of CPU 3 in this boot: its release jitter is taken as 0"),
        "{text}"
    );
}

#[test]
fn a_jitter_of_a_run_without_a_verdict_refuses_nobody_and_is_told() {
    let (_root, machine) = machine("3 35757062 2026-11-25 no-verdict\n2 1 2026-11-25 no-verdict\n");
    let admitted = admit(&[program("balance", &[control()])], &machine).unwrap();
    assert!(admitted.is_admitted());
    assert_eq!(
        admitted.to_string(),
        "admitted: control R = 150 us <= D = 800 us on CPU 3 (budget declared, jitter not measured)
the determinism report of 2026-11-25 has no verdict on CPU 3: its release jitter of 35.758 ms is not counted"
    );
    // The same of a board is a refusal.
    let (_root, machine) = self::machine("3 35757062 2026-11-25\n");
    let error = admit(&[program("balance", &[control()])], &machine).unwrap_err().to_string();
    assert!(error.contains("jitter 35.757062ms is longer than its period"), "{error}");
}

#[test]
fn threads_of_two_programs_are_two_though_they_have_one_number() {
    let low = node("log", "3", "fifo:10", 0, [100 * MS, 50 * MS, 100 * MS]);
    let own = [program("balance", &[control(), low.clone()])];
    let shared = screen(&own, "");
    assert!(shared.contains("log (fifo:10, budget 50 ms every 100 ms) shares its thread"), "{shared}");
    let others = [program("balance", &[control()]), program("logger", &[low])];
    let (_root, machine) = machine("");
    let admitted = admit(&others, &machine).unwrap();
    assert!(admitted.is_admitted(), "{admitted}");
    assert!(admitted.to_string().starts_with("admitted: balance/control R = 150 us"), "{admitted}");
    assert_eq!(admitted.predicted(0, 0), Some(Duration::from_micros(150)));
    assert!(admitted.predicted(1, 0) > Some(Duration::from_millis(50)));
}

#[test]
fn a_node_without_a_known_demand_is_named_with_what_it_puts_in_doubt() {
    let hog = NodeInfo { budget_ns: 0, ..node("hog", "2-3", "fifo:90", 1, [MS, 0, MS]) };
    let below = NodeInfo { budget_ns: 0, ..node("idler", "3", "fifo:79", 2, [MS, 0, MS]) };
    let (_root, machine) = machine("3 0 2026-11-22");
    let admitted = admit(&[program("balance", &[control(), hog, below])], &machine).unwrap();
    let text = admitted.to_string();
    assert!(
        text.ends_with(
            "
not analysed: hog: no budget declared; what is said of control holds only while it does not run
not analysed: idler: no budget declared"
        ),
        "{text}"
    );
    assert!(admitted.is_admitted());
    assert_eq!(admitted.predicted(0, 0), None, "a figure that may be false is none");
}

#[test]
fn every_reason_is_found() {
    let full = || node("full", "3", "rr:80", 0, [MS, 100 * US, MS]);
    for (info, reason) in [
        (NodeInfo { scheduling_policy: "other".to_owned(), ..full() }, "scheduling policy other"),
        (NodeInfo { budget_ns: 0, ..full() }, "no budget declared"),
        (
            NodeInfo { period_ns: 0, on: Some("imu".to_owned()), ..full() },
            "released by events without a minimum inter-arrival time",
        ),
        (NodeInfo { on: Some("imu".to_owned()), ..full() }, "released by its period and by events"),
        (NodeInfo { cpu: "any".to_owned(), ..full() }, "may run on several CPUs (0-3)"),
        (NodeInfo { cpu: "housekeeping".to_owned(), ..full() }, "may run on several CPUs (0-1)"),
    ] {
        let text = screen(&[program("balance", &[info])], "");
        assert!(text.starts_with(&format!("not analysed: full: {reason}")), "{text}");
    }
    let (_root, machine) = machine("");
    // A number is a mistake; a role is one that another machine may have.
    for (cpu, said, is_admitted) in [("7", "refused", false), ("isolated:2", "not analysed", true)] {
        let missing = NodeInfo { cpu: cpu.to_owned(), ..full() };
        let admitted = admit(&[program("balance", &[missing])], &machine).unwrap();
        assert!(
            admitted.to_string().starts_with(&format!("{said}: full: this machine has no CPU '{cpu}'")),
            "{admitted}"
        );
        assert_eq!(admitted.is_admitted(), is_admitted);
    }
    let sporadic = NodeInfo { period_ns: 0, min_inter_arrival_ns: MS, on: Some("imu".to_owned()), ..full() };
    assert!(screen(&[program("balance", &[sporadic])], "").starts_with("admitted: full R = 100 us"));
}

#[test]
fn texts_that_are_no_cpu_and_no_policy_are_errors_that_name_the_node() {
    let (_root, machine) = machine("");
    for (cpu, policy) in [("third", "fifo:80"), ("3", "fifo:100")] {
        let process =
            program("balance", &[NodeInfo { cpu: cpu.to_owned(), scheduling_policy: policy.to_owned(), ..control() }]);
        let error = admit(&[process], &machine).unwrap_err().to_string();
        assert!(error.starts_with("node control: "), "{error}");
    }
    let twice = [program("balance", &[control(), control()])];
    assert!(matches!(admit(&twice, &machine), Err(AdmitError::Tasks(TaskError::DuplicateName(_)))));
}

#[test]
fn a_chain_is_compared_with_its_limit() {
    let chain = |limit| ChainInfo { nodes: vec!["vision".to_owned(), "control".to_owned()], end_to_end_ns: limit };
    let vision = NodeInfo { cpu: "2".to_owned(), ..vision() };
    let with = |limit| ProcessInfo { chains: vec![chain(limit)], ..program("balance", &[vision.clone(), control()]) };
    // Vision answers within 643 us; then control waits a period of 1 ms at most and answers within 150 us.
    let (_root, machine) = machine("2 0 2026-11-22\n3 0 2026-11-22\n");
    let says = |limit: u64| {
        let admitted = admit(&[with(limit)], &machine).unwrap();
        (admitted.is_admitted(), admitted.to_string().lines().last().unwrap().to_owned())
    };
    let admitted = "admitted: the chain vision, control takes 1.793 ms <= 1.793 ms end to end";
    assert_eq!(says(1_793 * US), (true, admitted.to_owned()));
    let refused = "refused: the chain vision, control may take 1.793 ms end to end, its limit is 1 ms";
    assert_eq!(says(MS), (false, refused.to_owned()));
    assert_eq!(says(0).1, "the chain vision, control takes at most 1.793 ms end to end");
    let mut unknown = with(MS);
    unknown.nodes[0].budget_ns = 0;
    let admitted = admit(&[unknown], &machine).unwrap();
    assert!(admitted.to_string().contains("no bound: the chain vision, control: vision is not analysed"), "{admitted}");
}
