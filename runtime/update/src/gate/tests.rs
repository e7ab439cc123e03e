use horus_measure::random::Random;

use super::*;
use crate::boot::{Excuse, Kind};

/// It shows some of the sentences.
const PAGE: &str = include_str!("../../../../docs/update.md");

/// The old version's reports: 22 µs and less.
fn old() -> Vec<u64> {
    (0..REPORTS as u64).map(|i| 22_000 - 100 * i).collect()
}

fn boot(report: Report) -> Boot {
    Boot { report, ..Boot::new("b0") }
}

fn valid(p999_ns: u64) -> Boot {
    boot(Report::Valid { p999_ns })
}

fn invalid() -> Boot {
    boot(Report::Invalid { reason: "the machine throttled 3 times".to_owned() })
}

fn fault(kind: Kind, name: &str, excuse: Option<Excuse>) -> Fault {
    Fault { kind, name: name.to_owned(), excuse }
}

fn with(mut boot: Boot, faults: &[Fault]) -> Boot {
    boot.faults = faults.to_vec();
    boot
}

#[test]
fn the_promise_is_one_in_all_choices_of_three_boots_of_23() {
    assert!((FALSE_ROLLBACK - 1.0 / 1771.0).abs() < 1e-15 && FALSE_ROLLBACK < 5.65e-4);
}

#[test]
fn a_tail_is_worse_beyond_a_tenth_or_two_microseconds_of_the_longest_of_the_newest_twenty() {
    for (longest, limit) in [(22_000, 24_200), (20_000, 22_000), (10_000, 12_000), (0, 2_000), (30_009, 33_009)] {
        let mut old = [longest / 2; REPORTS];
        old[7] = longest;
        assert_eq!(limit_ns(&old), Some(limit), "{longest}");
    }
    let mut long_ago = vec![90_000];
    long_ago.extend(old());
    assert_eq!((limit_ns(&long_ago), limit_ns(&old()[1..]), limit_ns(&[])), (Some(24_200), None, None));
    assert_eq!(limit_ns(&[u64::MAX; REPORTS]), Some(u64::MAX), "no overflow");
}

#[test]
fn three_worse_boots_and_no_fewer_take_a_version_back() {
    let boots = [24_201, 90_000, 24_201].map(valid);
    let why = Against::Tails { least_ns: 24_201, limit_ns: 24_200, old_ns: 22_000 };
    assert_eq!(decide(&old(), &boots), Standing::Back { why });
    assert!(matches!(decide(&old(), &boots[..2]), Standing::OnTrial { boot: 3, worse: 2, .. }));
    for place in 0..BOOTS {
        let mut boots = boots.clone();
        boots[place] = valid(24_200);
        assert_eq!(decide(&old(), &boots), Standing::Good { worse: 2, reports: 20 }, "boot {place} is just as allowed");
    }
    assert_eq!(decide(&old()[1..], &boots), Standing::Good { worse: 0, reports: 19 }, "19 reports compare nothing");
}

#[test]
fn a_fault_takes_a_version_back_at_once_with_or_without_old_reports_and_an_excused_one_never() {
    for kind in [Kind::Unit, Kind::Node, Kind::Rule] {
        for old in [old(), Vec::new()] {
            for report in [Report::Awaited, invalid().report, Report::Valid { p999_ns: 1 }] {
                let boots = |excuse| [valid(1), with(boot(report.clone()), &[fault(kind, "arm", excuse)])];
                let why = Against::Fault { boot: 2, fault: fault(kind, "arm", None), more: 0 };
                assert_eq!(decide(&old, &boots(None)), Standing::Back { why }, "{kind:?}, {report:?}");
                for excuse in [Excuse::Stopped, Excuse::Unplugged, Excuse::AsBefore] {
                    let without = [valid(1), boot(report.clone())];
                    assert_eq!(decide(&old, &boots(Some(excuse))), decide(&old, &without), "{kind:?}, {excuse:?}");
                }
            }
        }
    }
}

#[test]
fn nothing_of_a_boot_that_ended_before_its_report_counts() {
    let cut = with(boot(Report::Cut), &[fault(Kind::Unit, "arm", None)]);
    let boots = [cut.clone(), valid(90_000), cut, valid(90_000)];
    assert!(matches!(decide(&old(), &boots), Standing::OnTrial { boot: 3, worse: 2, cut: 2, has_begun: false, .. }));
}

#[test]
fn each_standing_is_one_sentence_that_says_why() {
    let (cut, awaited) = (|| boot(Report::Cut), || boot(Report::Awaited));
    let stopped = fault(Kind::Node, "ping", Some(Excuse::Stopped));
    let faults = [stopped, fault(Kind::Node, "arm", None), fault(Kind::Unit, "arm.service", None)];
    let all_old = old();
    let (some, none): (&[u64], &[u64]) = (&all_old, &[]);
    let mut of_the_page: Vec<_> =
        PAGE.split("### What it says").nth(1).unwrap().split("```").nth(1).unwrap().trim().lines().collect();
    assert_eq!(of_the_page.len(), 5);
    for (old, boots, sentence) in [
        (some, vec![], "on trial: boot 1 of 3 comes with the next start"),
        (some, vec![awaited()], "on trial: boot 1 of 3 is not measured yet"),
        (
            some,
            vec![valid(30_000), cut(), valid(1), awaited()],
            "on trial: boot 3 of 3 is not measured yet, the tail was worse in 1 of 2 before it, and a boot that ended before its report does not count",
        ),
        (
            some,
            vec![cut(), valid(1), cut()],
            "on trial: boot 2 of 3 comes with the next start, and 2 boots that ended before their reports do not count",
        ),
        (
            some,
            vec![valid(1), invalid()],
            "held: the report of boot 2 of 3 is not valid (the machine throttled 3 times), so the boot is measured again and counts neither way",
        ),
        (some, vec![valid(1), invalid(), awaited()], "on trial: boot 2 of 3 is not measured yet"),
        (
            some,
            vec![cut(), cut(), cut(), awaited()],
            "held: 3 boots in a row ended before their reports, by power cuts or by crashes that look the same, and count neither way",
        ),
        (some, vec![valid(1); 3], "good: 3 boots had no fault, and none had a worse tail than the old version"),
        (
            some,
            vec![valid(30_000), valid(1), valid(1)],
            "good: 3 boots had no fault, and only 1 of them had a worse tail than the old version, which 3 would have to",
        ),
        (
            none,
            vec![valid(1); 3],
            "good: 3 boots had no fault, and tails were not compared, for which 20 reports of the old version are needed and 0 are there",
        ),
        (
            some,
            vec![valid(1), with(awaited(), &faults)],
            "back: node arm failed or did not become ready in boot 2 of 3, and 1 more with it",
        ),
        (
            none,
            vec![with(awaited(), &[fault(Kind::Rule, "C4", None)])],
            "back: rule C4 of the audit, which passed under the old version, failed in boot 1 of 3",
        ),
        (
            some,
            vec![valid(45_200), valid(50_000), valid(48_000)],
            "back: p99.9 of node-load was 45.2 us or more in all 3 boots, where 24.2 us are allowed and the old version had 22 us at most",
        ),
    ] {
        assert_eq!(decide(old, &boots).to_string(), sentence);
        of_the_page.retain(|line| *line != sentence);
    }
    assert!(of_the_page.is_empty(), "{of_the_page:?}");
}

/// Boots of all kinds, in a random order.
fn random_boots(random: &mut Random) -> Vec<Boot> {
    let one = |random: &mut Random| {
        let report = match random.below(8) {
            0 => Report::Awaited,
            1 => Report::Cut,
            2 => invalid().report,
            _ => Report::Valid { p999_ns: 20_000 + random.below(8_000) as u64 },
        };
        let excuse = [None, Some(Excuse::Stopped), Some(Excuse::Unplugged), Some(Excuse::AsBefore)][random.below(4)];
        let faults = if random.below(10) == 0 { vec![fault(Kind::Unit, "arm", excuse)] } else { Vec::new() };
        with(boot(report), &faults)
    };
    (0..random.below(9)).map(|_| one(random)).collect()
}

/// The rule again, word by word: against each old report, and in no other order than that of the words.
fn takes_back(old: &[u64], boots: &[Boot]) -> bool {
    let exceeds = |p999: i64, old: i64| (p999 - old) * 10 > old && p999 - old > 2_000;
    let is_worse = |p999: u64| old.iter().rev().take(20).all(|old| exceeds(p999 as i64, *old as i64));
    let (mut measured, mut worse) = (0, 0);
    for boot in boots {
        let has_fault = boot.faults.iter().any(|fault| fault.excuse.is_none());
        match boot.report {
            Report::Cut => {}
            _ if has_fault => return true,
            Report::Valid { p999_ns } => (measured, worse) = (measured + 1, worse + usize::from(is_worse(p999_ns))),
            Report::Awaited | Report::Invalid { .. } => {}
        }
        if measured == 3 {
            return old.len() >= 20 && worse == 3;
        }
    }
    false
}

#[test]
fn whatever_boots_come_the_rule_holds_and_what_is_decided_stays() {
    let mut random = Random::new(29);
    let mut seen = [0; 4];
    for turn in 0..20_000 {
        let boots = random_boots(&mut random);
        let old: Vec<_> = (0..15 + random.below(10)).map(|_| 18_000 + random.below(4_000) as u64).collect();
        let standing = decide(&old, &boots);
        let is_back = matches!(standing, Standing::Back { .. });
        assert_eq!(is_back, takes_back(&old, &boots), "turn {turn}: {standing}, {old:?}, {boots:?}");
        let place = match standing {
            Standing::OnTrial { .. } => 0,
            Standing::Hold { .. } => 1,
            Standing::Good { .. } => 2,
            Standing::Back { .. } => 3,
        };
        seen[place] += 1;
        // What follows a decision changes nothing, and neither do boots that were cut off or not valid.
        let mut more = boots.clone();
        more.extend(random_boots(&mut random));
        if place > 1 {
            assert_eq!(decide(&old, &more), standing, "turn {turn}");
        }
        let place = random.below(boots.len() + 1);
        let mut disturbed = boots;
        disturbed.splice(place..place, [boot(Report::Cut), invalid()]);
        disturbed.push(boot(Report::Awaited));
        let after = decide(&old, &disturbed);
        assert!(!matches!(standing, Standing::Good { .. } | Standing::Back { .. }) || after == standing, "turn {turn}");
        assert_eq!(matches!(after, Standing::Back { .. }), is_back, "turn {turn}");
    }
    assert!(seen.iter().all(|count| *count > 200), "{seen:?}");
}
