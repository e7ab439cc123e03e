//! One trace for each thing that can keep a node.

use super::*;

#[test]
fn a_more_urgent_task_is_named_with_its_priority() {
    let missed = missed(15_010_000, 15_200_000);
    let record = Trace::of(IDLE).preempt(9_900_000, HOG).timer(10_000_100, 10_002_100).sleep(15_000_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(
        table(&verdict),
        [
            (Kind::Task, "hog/137", 4_998_000),
            (Kind::OwnCode, "balance/control", 190_000),
            (Kind::OwnCode, "balance/control", 10_000),
            (Kind::Interrupt, "local timer", 2_000),
        ]
    );
    assert_eq!(verdict.confidence, Confidence::High);
    assert_eq!(words::sentence(&verdict, &missed), "missed by 4.2 ms: task hog/137 (FIFO 90) on CPU 1 for 5 ms (96 %)");
}

#[test]
fn what_ran_before_the_first_event_of_the_window_is_taken_from_the_switch_before() {
    let missed = missed(10_500_000, 11_500_000);
    let record = Trace::of(IDLE).preempt(6_000_000, HOG).at(7_000_000, What::Other).sleep(10_400_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::Task).ns, 400_000);
}

#[test]
fn a_flood_of_interrupts_is_both_the_handler_and_its_thread() {
    let missed = missed(10_010_000, 12_010_000);
    let mut trace = Trace::of(IDLE).preempt(10_000_000, NODE);
    for round in 0..100 {
        let at = 10_010_000 + round * 20_000;
        trace = trace.interrupt(at, at + 6_000).preempt(at + 6_000, INTERRUPT_THREAD).sleep(at + 18_000, NODE);
    }
    let verdict = judge(&trace.frozen(&missed), &missed);
    assert_eq!(
        table(&verdict)[..2],
        [(Kind::Interrupt, "irq/3-ttyS1", 1_200_000), (Kind::Interrupt, "27 (eth0)", 600_000)]
    );
    assert_eq!(verdict.shares[0].detail.as_deref(), Some("FIFO 95"));
    assert_eq!(verdict.shares[1].detail.as_deref(), Some("100 times"));
    assert_eq!(share(&verdict, Kind::OwnCode).ns, 200_000);
}

#[test]
fn interrupts_nest_and_each_has_its_own_time() {
    let missed = missed(10_000_000, 11_000_000);
    let record = Trace::of(NODE)
        .at(10_100_000, What::InterruptEntry { number: 27, name: "eth0".to_owned() })
        .timer(10_200_000, 10_250_000)
        .at(10_400_000, What::InterruptExit);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(
        table(&verdict),
        [
            (Kind::OwnCode, "balance/control", 700_000),
            (Kind::Interrupt, "27 (eth0)", 250_000),
            (Kind::Interrupt, "local timer", 50_000)
        ]
    );
}

#[test]
fn deferred_work_of_interrupts_is_a_softirq_wherever_it_runs() {
    let missed = missed(10_000_000, 12_000_000);
    let record = Trace::of(NODE)
        .at(10_100_000, What::SoftirqEntry(3))
        .at(10_600_000, What::SoftirqExit)
        .preempt(10_700_000, INTERRUPT_THREAD)
        .at(10_700_000, What::SoftirqEntry(1))
        .at(11_400_000, What::SoftirqExit)
        .sleep(11_400_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    let softirqs: Vec<_> = table(&verdict).into_iter().filter(|row| row.0 == Kind::Softirq).collect();
    assert_eq!(softirqs, [(Kind::Softirq, "TIMER in irq/3-ttyS1", 700_000), (Kind::Softirq, "NET_RX", 500_000)]);
}

#[test]
fn a_work_item_is_named_by_its_function() {
    let missed = missed(13_000_000, 13_100_000);
    let record = Trace::of(IDLE)
        .preempt(9_000_000, WORKER)
        .at(9_100_000, What::WorkStart(0xffff_8000))
        .at(12_900_000, What::WorkEnd)
        .at(12_900_000, What::WorkStart(0xbeef))
        .at(12_950_000, What::WorkEnd)
        .sleep(13_000_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(verdict.shares[0].name, "update_pages_handler in kworker/1:1");
    assert_eq!((verdict.shares[0].kind, verdict.shares[0].ns), (Kind::WorkItem, 2_900_000));
    assert_eq!(verdict.shares[0].detail.as_deref(), Some("FIFO 95"));
    assert!(verdict.shares.iter().any(|share| share.name == "0xbeef in kworker/1:1" && share.ns == 50_000));
}

#[test]
fn page_faults_are_counted_and_the_first_address_is_told() {
    let missed = missed(10_000_000, 11_200_000);
    let mut trace = Trace::of(NODE);
    for page in 0..512 {
        let at = 10_010_000 + page * 2_000;
        let address = 0x7f00_0000_0000 + page * 4096;
        trace = trace.at(at, What::Touch(address)).at(at, What::FaultEntry(None)).at(at + 1_800, What::FaultExit);
    }
    let verdict = judge(&trace.frozen(&missed), &missed);
    let faults = share(&verdict, Kind::MinorFault);
    assert_eq!((faults.ns, faults.is_suspect), (512 * 1_800, true));
    assert_eq!(faults.detail.as_deref(), Some("512 faults, first at 0x7f0000000000"));
    assert_eq!(
        words::sentence(&verdict, &missed),
        "missed by 200 us: page faults of its own (512 faults, first at 0x7f0000000000) on CPU 1 for 922 us (76 %)"
    );
}

#[test]
fn faults_without_the_probes_are_own_code_that_counts_them() {
    let missed = missed(10_000_000, 11_200_000);
    let record = Trace::of(NODE).at(10_100_000, What::Touch(1)).at(10_200_000, What::Touch(2));
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::OwnCode).detail.as_deref(), Some("2 page faults, of unknown length, in it"));
}

#[test]
fn a_fault_that_slept_is_a_major_one_whoever_ran_meanwhile() {
    let missed = missed(10_000_000, 14_000_000);
    let record = Trace::of(NODE)
        .at(10_100_000, What::FaultEntry(Some(0x1000)))
        .at(10_200_000, What::FaultExit)
        .at(11_000_000, What::FaultEntry(Some(0x2000)))
        .sleep(11_100_000, IDLE)
        .interrupt(12_000_000, 12_050_000)
        .preempt(12_100_000, 999)
        .sleep(12_200_000, NODE)
        .at(13_000_000, What::FaultExit);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::MajorFault).ns, 2_000_000 - 50_000);
    assert_eq!(share(&verdict, Kind::MajorFault).detail.as_deref(), Some("1 fault, at 0x2000"));
    assert_eq!(share(&verdict, Kind::MinorFault).ns, 100_000);
    assert!(verdict.shares.iter().all(|share| share.kind != Kind::OwnWait && share.kind != Kind::Nobody));
}

#[test]
fn own_code_is_to_blame_beyond_its_budget_and_never_within_it() {
    let mut missed = missed(10_005_000, 13_005_000);
    let record = Trace::of(IDLE).preempt(10_000_000, NODE).frozen(&missed);
    let blamed = |missed: &Missed| share(&judge(&record, missed), Kind::OwnCode).is_suspect;
    assert!(blamed(&missed), "no other task had the CPU, and no budget is declared");
    missed.budget_ns = Some(2_999_999);
    assert!(blamed(&missed));
    missed.budget_ns = Some(4_000_000);
    assert!(!blamed(&missed));
}

#[test]
fn own_code_without_a_budget_is_not_to_blame_beside_a_considerable_culprit() {
    let missed = missed(10_000_000, 12_000_000);
    let record = Trace::of(NODE).preempt(10_500_000, HOG).sleep(11_000_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert!(!share(&verdict, Kind::OwnCode).is_suspect && share(&verdict, Kind::Task).is_suspect);
    assert!(words::sentence(&verdict, &missed).ends_with("task hog/137 (FIFO 90) on CPU 1 for 500 us (25 %)"));
}

#[test]
fn a_sleep_of_the_step_is_its_own_wait_but_for_more_urgent_tasks() {
    let missed = missed(10_000_000, 14_000_000);
    let record = Trace::of(NODE)
        .sleep(10_500_000, IDLE)
        .preempt(11_000_000, 999)
        .preempt(12_000_000, HOG)
        .sleep(13_000_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::OwnWait).ns, 1_500_000);
    assert_eq!(share(&verdict, Kind::Task).ns, 1_000_000);
    assert_eq!(share(&verdict, Kind::Task).name, "hog/137");
}

#[test]
fn a_ready_thread_waits_for_whoever_goes_first_however_little_urgent() {
    let missed = missed(10_000_000, 12_000_000);
    let record = Trace::of(NODE).preempt(10_500_000, 999).sleep(11_500_000, NODE);
    assert_eq!(share(&judge(&record.frozen(&missed), &missed), Kind::Task).ns, 1_000_000);
}

#[test]
fn the_cycle_before_is_told_from_the_cycle_itself() {
    let missed = missed(12_000_000, 12_100_000);
    let verdict = judge(&Trace::of(NODE).frozen(&missed), &missed);
    assert_eq!(verdict.shares[0].ns, 2_000_000);
    assert!(verdict.shares[0].detail.as_ref().unwrap().starts_with("before its cycle began"));
    assert!(verdict.shares[0].is_suspect);
}

#[test]
fn a_lowered_frequency_has_the_time_that_full_speed_would_have_saved() {
    let missed = missed(10_000_000, 13_000_000);
    let frequency = |cpu, khz| What::Frequency { cpu, khz };
    let record = Trace::of(NODE)
        .at(6_000_000, frequency(1, 2_000_000))
        .at(7_000_000, frequency(0, 9_000_000))
        .at(11_000_000, frequency(1, 500_000));
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::Frequency).ns, 1_500_000);
    assert_eq!(share(&verdict, Kind::OwnCode).ns, 1_500_000);
}

#[test]
fn two_culprits_at_once_are_both_named() {
    let missed = missed(13_000_000, 13_100_000);
    let record = Trace::of(IDLE)
        .preempt(9_000_000, HOG)
        .interrupt(10_500_000, 11_500_000)
        .sleep(12_000_000, WORKER)
        .at(12_000_000, What::WorkStart(0xffff_8000))
        .at(13_000_000, What::WorkEnd)
        .sleep(13_000_000, NODE);
    let verdict = judge(&record.frozen(&missed), &missed);
    let kinds: Vec<Kind> = verdict.shares.iter().map(|share| share.kind).collect();
    assert!(
        kinds[..3].contains(&Kind::Task)
            && kinds[..3].contains(&Kind::Interrupt)
            && kinds[..3].contains(&Kind::WorkItem)
    );
    let said = words::sentence(&verdict, &missed);
    assert!(said.contains("hog/137") && said.contains("27 (eth0)") && said.contains("update_pages_handler"), "{said}");
}
