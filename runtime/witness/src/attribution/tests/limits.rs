//! What a trace cannot show: a machine that does not run, lost events, a buffer that is too short.

use super::*;

#[test]
fn an_idle_cpu_whose_node_is_due_is_nobodys_and_not_certain_without_a_second_sign() {
    let missed = missed(210_010_000, 210_100_000);
    let record = Trace::of(IDLE).timer(210_000_000, 210_002_000).preempt(210_005_000, NODE).frozen(&missed);
    let verdict = judge(&record, &missed);
    let silence = share(&verdict, Kind::Nobody);
    assert_eq!(silence.ns, 200_003_000);
    assert!(silence.is_suspect && silence.detail.as_ref().unwrap().ends_with("no second sign"));
    assert_eq!(verdict.confidence, Confidence::Low);
    let signs = Signs { seen: vec!["CPU 2 was silent too".to_owned()] };
    let verdict = judge_with(&record, &missed, None, &signs);
    assert_eq!(verdict.confidence, Confidence::High);
    assert!(share(&verdict, Kind::Nobody).detail.as_ref().unwrap().ends_with("CPU 2 was silent too"));
}

#[test]
fn the_longest_silence_is_where_nobody_was() {
    let missed = missed(14_000_000, 14_100_000);
    let record = Trace::of(IDLE).preempt(11_000_000, HOG).sleep(12_000_000, IDLE).preempt(14_000_000, NODE);
    let account = Account::new(&record.frozen(&missed), &missed, None);
    assert_eq!(account.longest_silence(), Some(12_000_000..14_000_000));
}

#[test]
fn another_cpu_fell_silent_if_it_had_events_before_and_none_meanwhile() {
    let events = [7 * MS, 9 * MS, 15 * MS].map(|ns| Event { ns, tid: IDLE, what: What::Other }).to_vec();
    let record = Record { events, seen: 4 * MS..20 * MS };
    assert!(record.fell_silent(&(10 * MS..14 * MS)));
    assert!(record.fell_silent(&(10 * MS..15 * MS)), "it wakes at about the same time");
    assert!(!record.fell_silent(&(12 * MS..18 * MS)), "it ran meanwhile");
    assert!(!record.fell_silent(&(17 * MS..18 * MS)), "it was quiet before, too");
    assert!(!record.fell_silent(&(16 * MS..25 * MS)), "its trace ends before");
    assert!(!record.fell_silent(&(8 * MS..14 * MS)), "its trace begins too late to tell");
}

#[test]
fn own_code_that_is_silent_for_longer_than_a_tick_was_stopped() {
    let missed = missed(10_000_000, 30_000_000);
    let record =
        Trace::of(NODE).timer(9_500_000, 9_501_000).timer(10_500_000, 10_501_000).timer(25_000_000, 25_001_000);
    let record = record.timer(26_000_000, 26_001_000).timer(27_000_000, 27_001_000).timer(28_000_000, 28_001_000);
    let record = record.timer(29_000_000, 29_001_000).frozen(&missed);
    let verdict = judge_with(&record, &missed, Some(MS), &Signs::default());
    assert_eq!(share(&verdict, Kind::Nobody).ns, 25_000_000 - 11_501_000);
    let verdict = judge(&record, &missed);
    assert!(verdict.shares.iter().all(|share| share.kind != Kind::Nobody), "without a tick silence says nothing");
}

#[test]
fn an_empty_trace_is_unknown() {
    let missed = missed(10_000_000, 12_000_000);
    let verdict = judge(&Record::default(), &missed);
    assert_eq!(table(&verdict), [(Kind::Unknown, "CPU 1", 2_000_000)]);
    assert_eq!(verdict.confidence, Confidence::None);
    assert_eq!(verdict.shares[0].detail.as_deref(), Some("the trace holds no event"));
}

#[test]
fn the_part_of_a_window_before_the_buffer_begins_is_unknown() {
    let missed = missed(11_000_000, 12_000_000);
    let events = vec![
        Event { ns: 10_800_000, tid: HOG, what: What::Lost },
        Event { ns: 10_800_000, tid: HOG, what: What::Other },
        Event { ns: 11_000_000, tid: HOG, what: What::Switch { from: task(HOG), sleeps: true, to: task(NODE) } },
        Event { ns: 12_000_000, tid: NODE, what: What::Marker },
    ];
    let record = Record { events, seen: 10_800_000..12_000_000 };
    let verdict = judge(&record, &missed);
    assert_eq!(
        table(&verdict),
        [
            (Kind::OwnCode, "balance/control", 1_000_000),
            (Kind::Unknown, "CPU 1", 800_000),
            (Kind::Task, "hog/137", 200_000)
        ]
    );
    assert_eq!(share(&verdict, Kind::Unknown).detail.as_deref(), Some("it is older than the trace"));
    assert_eq!(verdict.confidence, Confidence::Low);
}

#[test]
fn silence_since_the_trace_went_on_is_not_unknown() {
    let missed = missed(11_000_000, 12_000_000);
    let record = Trace { events: Vec::new(), running: HOG }.sleep(11_000_000, NODE).at(12_000_000, What::Marker);
    let record = Record { events: record.events, seen: 9_000_000..12_000_000 };
    let verdict = judge(&record, &missed);
    assert_eq!(share(&verdict, Kind::Task).ns, 1_000_000, "who switches away had the CPU before");
    assert_eq!(verdict.confidence, Confidence::High);
}

#[test]
fn lost_events_leave_a_gap_that_nobody_is_blamed_for() {
    let missed = missed(10_000_000, 14_000_000);
    let mut record = Trace::of(NODE).at(11_000_000, What::Other);
    record = record.at(11_000_000, What::Lost).at(13_000_000, What::Other);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!(share(&verdict, Kind::Unknown).ns, 2_000_000);
    assert_eq!(share(&verdict, Kind::Unknown).detail.as_deref(), Some("events were lost"));
    assert_eq!(verdict.confidence, Confidence::Low);
}

#[test]
fn a_window_that_goes_on_after_the_freeze_or_is_over_before_the_trace_is_unknown() {
    let early = missed(10_000_000, 11_000_000);
    let record = Trace::of(NODE).frozen(&early);
    let late = missed(10_500_000, 15_000_000);
    let verdict = judge(&record, &late);
    assert_eq!(share(&verdict, Kind::Unknown).ns, 4_000_000);
    assert_eq!(share(&verdict, Kind::Unknown).detail.as_deref(), Some("the trace was frozen by a miss before"));
    let record = Record { events: record.events, seen: 4_000_000..11_000_000 };
    let old = Missed { release_ns: MS, wake_ns: MS, completion_ns: 2 * MS, ..early };
    assert_eq!(judge(&record, &old).shares[0].detail.as_deref(), Some("it is older than the trace"));
}

#[test]
fn what_happened_while_a_miss_before_had_frozen_the_trace_is_unknown() {
    let missed = missed(10_000_000, 14_000_000);
    let record = Trace::of(NODE).at(11_000_000, What::Marker).at(13_000_000, What::Other);
    let verdict = judge(&record.frozen(&missed), &missed);
    assert_eq!((share(&verdict, Kind::Unknown).ns, share(&verdict, Kind::OwnCode).ns), (2_000_000, 2_000_000));
}

#[test]
fn a_window_without_length_has_no_shares() {
    let backwards = missed(9_000_000, 9_000_000);
    let verdict = judge(&Trace::of(NODE).frozen(&missed(RELEASE, RELEASE + MS)), &backwards);
    assert_eq!((verdict.window_ns, verdict.shares.len(), verdict.confidence), (0, 0, Confidence::None));
}

#[test]
fn an_answer_about_a_thousand_tasks_fits_its_packet() {
    let missed = missed(11_500_000, 11_600_000);
    let mut trace = Trace::of(IDLE);
    for tid in 1_000..2_000 {
        trace = trace.preempt(10_000_000 + u64::from(tid) * 1_000 - 1_000_000, tid);
    }
    let verdict = judge(&trace.preempt(11_100_000, NODE).frozen(&missed), &missed);
    assert!(serde_json::to_vec(&verdict).unwrap().len() < horus::witness::protocol::MAX_PACKET / 2);
    assert!(verdict.shares.iter().any(|share| share.name == "992 others"), "{verdict:#?}");
}
