//! What is on the screen after misses of every kind.

use horus_evidence::blame::{Blame, Missed};

use super::*;

/// 2026-11-22 12:04:11 UTC.
const NOON: u64 = 1_795_349_051;

fn line(seconds: u64, node: &str, culprit: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("__REALTIME_TIMESTAMP", ((NOON + seconds) * 1_000_000).to_string()),
        ("HORUS_PROGRAM", "balance".to_owned()),
        ("HORUS_NODE", node.to_owned()),
        ("HORUS_MISSES", "3".to_owned()),
        ("HORUS_DEADLINE_NS", "800000".to_owned()),
        ("HORUS_WORST_RESPONSE_NS", "5000000".to_owned()),
    ];
    fields.extend(culprit.iter().map(|(name, value)| (*name, (*value).to_owned())));
    serde_json::to_string(&fields.into_iter().collect::<std::collections::BTreeMap<_, _>>()).unwrap()
}

const HOG: [(&str, &str); 8] = [
    ("HORUS_CULPRIT", "hog/137"),
    ("HORUS_CULPRIT_KIND", "task"),
    ("HORUS_CULPRIT_DETAIL", "FIFO 90"),
    ("HORUS_CULPRIT_CPU", "3"),
    ("HORUS_CULPRIT_NS", "4990000"),
    ("HORUS_CULPRIT_SHARE", "99"),
    ("HORUS_CULPRIT_CONFIDENCE", "high"),
    ("HORUS_CULPRIT_REMEDY", "give it a lower priority than the node, or another CPU (rules I3 and U3)"),
];

fn blame(lines: &[String]) -> Blame {
    let entries: Vec<_> = lines.iter().map(|line| Missed::parse(line).unwrap()).collect();
    Blame::of(&entries)
}

#[test]
fn a_boot_without_misses_says_so() {
    assert_eq!(text(&blame(&[]), 80, true), "no deadline was missed since boot\n");
    assert_eq!(text(&blame(&[]), 80, false), "no deadline was missed in that boot\n");
}

#[test]
fn entries_of_one_culprit_are_an_episode_and_the_table_names_what_prevents_it() {
    let again = line(60, "control", &HOG).replace("hog/137", "hog/151");
    let blame = blame(&[line(0, "control", &HOG), line(1, "control", &HOG), again]);
    let expected = "\
9 misses in 2 episodes since boot, times are UTC
WHEN      NODE             LATE BY  CULPRIT                      SHARE  WHAT PREVENTS IT
12:04:11  balance/control   4.2 ms  task hog/137, FIFO 90, CPU 3   99 %  give it a lower priority than the node, or another CPU (rules I3 and U3)
12:05:11  balance/control   4.2 ms  task hog/151, FIFO 90, CPU 3   99 %  give it a lower priority than the node, or another CPU (rules I3 and U3)

CULPRIT   EPISODES  MISSES  LONGEST  LATE BY
task hog         2       9  4.99 ms   4.2 ms
";
    let trimmed = |text: &str| {
        text.lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .map(|words| words.join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(trimmed(&text(&blame, 200, true)), trimmed(expected));
}

#[test]
fn the_screen_is_80_columns_wide_at_most() {
    let long = "w".repeat(90);
    let mut other = HOG;
    other[0].1 = &long;
    other[6].1 = "low";
    let node = "n".repeat(60);
    let trace = [("HORUS_TRACE", "/var/lib/horus/traces/12.dat")];
    let lines = [
        line(0, "control", &HOG),
        line(5, &node, &[&other[..], &trace].concat()),
        line(9, "control", &[("HORUS_CULPRIT_MISSING", "no witness runs")]),
    ];
    let text = text(&blame(&lines), 80, true);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}\n{text}");
    }
    for part in [
        "task hog/137",
        "          give it a lower priority",
        "no witness runs",
        "not known",
        "12.dat",
        "\n?  not certain",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn misses_without_a_witness_say_why_they_have_no_culprit() {
    let lines = [line(0, "control", &[("HORUS_CULPRIT_MISSING", "no witness runs")]), line(20, "other", &[])];
    let text = text(&blame(&lines), 100, true);
    assert!(text.contains("no witness runs: see docs/blame.md") && text.contains("no witness was asked"), "{text}");
}

#[test]
fn names_from_anybody_do_not_steer_the_terminal_and_rubbish_is_left_out() {
    let mut hog = HOG;
    hog[0].1 = "\u{1b}[2Jhog\n/1";
    let text = text(&blame(&[line(0, "control", &hog)]), 80, true);
    assert!(!text.contains('\u{1b}') && text.contains("[2Jhog /1"), "{text}");
    for rubbish in ["", "{}", "[1]", "{\"HORUS_NODE\":1}", "{\"HORUS_NODE\":\"a\"}", "\u{0}"] {
        assert_eq!(Missed::parse(rubbish), None, "{rubbish}");
    }
}

#[test]
fn two_nodes_by_turns_stay_two_episodes() {
    let lines: Vec<_> = (0..20).map(|second| line(second, ["control", "vision"][second as usize % 2], &HOG)).collect();
    let blame = blame(&lines);
    assert_eq!((blame.episodes.len(), blame.culprits.len(), blame.misses), (2, 1, 60));
    assert_eq!(blame.culprits[0].episodes, 2);
}

#[test]
fn json_has_every_episode_and_every_culprit() {
    let value = serde_json::to_value(blame(&[line(0, "control", &HOG)])).unwrap();
    assert_eq!(value["episodes"][0]["kind"], "task");
    assert_eq!(value["episodes"][0]["ns"], 4_990_000);
    assert_eq!(value["culprits"][0]["misses"], 3);
}
