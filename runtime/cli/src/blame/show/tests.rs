//! What is printed of a kept recording, and of one that is not there.

use horus::message::{Stamp, description};
use horus::witness::protocol::{Missed, Recording, TailMessage, TopicTail};

use super::*;

const MS: u64 = 1_000_000;

fn kept(folder: &Path) {
    let missed = Missed {
        node: "balance/control".to_owned(),
        tid: 7,
        cpu: 3,
        cycle: 12,
        release_ns: 120 * MS,
        wake_ns: 121 * MS,
        completion_ns: 145 * MS,
        deadline_ns: 128 * MS,
        budget_ns: None,
    };
    let message = |sequence: u64, sent_ns: u64| TailMessage {
        publisher: 0,
        sequence,
        sent_ns,
        bytes: 16,
        hex: [sequence, sent_ns].iter().flat_map(|word| word.to_ne_bytes()).map(|byte| format!("{byte:02x}")).collect(),
    };
    let stamps = TopicTail {
        topic: "ping".to_owned(),
        is_read: true,
        type_name: "horus/Stamp".to_owned(),
        description: description::<Stamp>(),
        payload_bytes: 16,
        messages: vec![message(41, 110 * MS), message(42, 121 * MS)],
    };
    let long = TailMessage { bytes: 300, hex: "0aff".to_owned(), ..TailMessage::default() };
    let bytes = TopicTail { topic: "raw".to_owned(), messages: vec![long], ..TopicTail::default() };
    let cycle = |number: u64, ms: u64| [number, number * 10 * MS, (number * 10 + 1) * MS, (number * 10 + ms) * MS];
    let recorded = Recording {
        cycle: 12,
        cycles: vec![cycle(9, 2), cycle(11, 2), cycle(12, 25)],
        topics: vec![stamps, bytes],
        left_out: 1,
    };
    let text = serde_json::json!({ "missed": missed, "recorded": recorded }).to_string();
    fs::write(folder.join("000042-balance-control-b007-12.json"), text).unwrap();
}

#[test]
fn cycles_are_a_table_and_messages_are_as_echo_prints_them() {
    let folder = tempfile::tempdir().unwrap();
    kept(folder.path());
    let text = text(folder.path(), 42).unwrap();
    assert!(text.starts_with("cycle 12 of balance/control ended 17 ms after its deadline, on CPU 3\n"), "{text}");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["11", "-10", "ms", "1", "ms", "2", "ms", "1", "skipped", "before", "it"]), "{text}");
    assert!(rows.iter().any(|row| row.first() == Some(&"12") && row.last() == Some(&"late")), "{text}");
    for part in [
        "ping (horus/Stamp), which it reads\n# message 41 of lane 0, sent 10 ms before the release\nsequence: 41\n",
        "# message 42 of lane 0, sent 1 ms after the release\nsequence: 42\n",
        "raw (), which it writes\n# message 0 of lane 0, not stamped\nbytes: 300\nhex: '0a ff ...'\n",
        "too many: 1\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_is_not_kept_is_said_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    assert!(text(folder.path(), 1).unwrap_err().contains("there is none"));
    kept(folder.path());
    assert!(text(folder.path(), 41).unwrap_err().contains("from 42 to 42"));
    fs::write(folder.path().join("000043-x.json"), "{\"missed\":").unwrap();
    assert!(text(folder.path(), 43).unwrap_err().contains("is damaged"));
    assert!(text(&folder.path().join("no"), 1).unwrap_err().contains("cannot read"));
}
