//! Sentences and remedies, word for word.

use super::*;

fn share(kind: Kind, name: &str, ns: u64, is_suspect: bool, detail: Option<&str>) -> Share {
    Share { kind, name: name.to_owned(), ns, is_suspect, detail: detail.map(str::to_owned) }
}

fn verdict(window_ns: u64, confidence: Confidence, shares: Vec<Share>) -> Verdict {
    Verdict { cycle: 7, window_ns, shares, confidence, trace: None }
}

fn missed(window_ns: u64, deadline_ns: u64) -> Missed {
    Missed {
        node: "balance/control".to_owned(),
        tid: 140,
        cpu: 1,
        cycle: 7,
        release_ns: 1_000,
        wake_ns: 1_000,
        completion_ns: 1_000 + window_ns,
        deadline_ns: 1_000 + deadline_ns,
        budget_ns: None,
    }
}

#[test]
fn a_culprit_is_named_with_its_priority_its_cpu_and_its_time() {
    let hog = share(Kind::Task, "hog/137", 4_990_000, true, Some("FIFO 90"));
    let own = share(Kind::OwnCode, "balance/control", 10_000, false, None);
    assert_eq!(
        sentence(&verdict(5_000_000, Confidence::High, vec![hog, own]), &missed(5_000_000, 800_000)),
        "missed by 4.2 ms: task hog/137 (FIFO 90) on CPU 1 for 4.99 ms (99 %)"
    );
}

#[test]
fn two_culprits_of_considerable_shares_are_both_named_and_a_third_of_little_is_not() {
    let shares = vec![
        share(Kind::Interrupt, "irq/3-ttyS1", 610_000, true, Some("FIFO 95")),
        share(Kind::Interrupt, "3 (ttyS1)", 310_000, true, Some("152 times")),
        share(Kind::Softirq, "TIMER", 50_000, true, None),
        share(Kind::OwnCode, "balance/control", 30_000, false, None),
    ];
    assert_eq!(
        sentence(&verdict(1_000_000, Confidence::Low, shares), &missed(1_000_000, 800_000)),
        "missed by 200 us: interrupt irq/3-ttyS1 (FIFO 95) on CPU 1 for 610 us (61 %) \
         and interrupt 3 (ttyS1) (152 times) on CPU 1 for 310 us (31 %); not certain"
    );
}

#[test]
fn what_could_not_have_kept_the_node_is_named_only_when_there_is_nobody_else() {
    let own = share(Kind::OwnCode, "balance/control", 900_000, false, None);
    let quiet = sentence(&verdict(1_000_000, Confidence::High, vec![own]), &missed(1_000_000, 800_000));
    assert_eq!(quiet, "missed by 200 us: its own code on CPU 1 for 900 us (90 %)");
    let empty = sentence(&verdict(0, Confidence::None, Vec::new()), &missed(1_000_000, 800_000));
    assert_eq!(empty, "missed by 200 us: nothing is known of what kept it");
}

#[test]
fn what_was_not_seen_says_why() {
    let unseen = share(Kind::Unknown, "CPU 1", 1_000_000, true, Some("the trace holds no event of this time"));
    assert_eq!(
        sentence(&verdict(1_000_000, Confidence::None, vec![unseen]), &missed(1_000_000, 800_000)),
        "missed by 200 us: unknown (the trace holds no event of this time) on CPU 1 for 1 ms (100 %)"
    );
}

#[test]
fn times_have_three_digits_and_a_unit() {
    let said = [0, 999, 1_000, 31_449, 4_990_000, 200_000_000, 12_300_000_000].map(time);
    assert_eq!(said, ["0 ns", "999 ns", "1 us", "31.4 us", "4.99 ms", "200 ms", "12.3 s"]);
}

#[test]
fn every_kind_has_a_remedy() {
    let kinds = [Kind::Task, Kind::Interrupt, Kind::Softirq, Kind::WorkItem, Kind::MinorFault, Kind::MajorFault];
    let more = [Kind::OwnCode, Kind::OwnWait, Kind::Frequency, Kind::Nobody, Kind::Unknown];
    let all: Vec<&str> = kinds.into_iter().chain(more).map(remedy).collect();
    assert!(all.iter().enumerate().all(|(index, text)| !text.is_empty() && !all[..index].contains(text)));
}
