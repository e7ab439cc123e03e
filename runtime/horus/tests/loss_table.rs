//! The table of docs/topics.md that says how a message can fail to arrive: each row says who is told and where it is counted, and names a
//! test that is there.

use std::path::Path;

/// The cells of each row.
fn rows(guide: &str) -> Vec<Vec<&str>> {
    let section = guide.split("## When a message does not arrive").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn each_way_to_lose_a_message_is_told_counted_and_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/topics.md")).unwrap();
    let rows = rows(&guide);
    assert!(rows.len() >= 20, "the table is cut short: {} rows", rows.len());
    for row in &rows {
        let [who, because, told, counted, test] = row[..] else { panic!("not five cells: {row:?}") };
        for cell in [who, because, told, counted] {
            assert!(
                !cell.is_empty() && cell != "-" && !cell.contains("nobody"),
                "a loss that nobody hears of: {row:?}"
            );
        }
        let mut quoted = test.split('`').skip(1).step_by(2);
        let (file, name) = (quoted.next().expect("a file"), quoted.next().expect("a name"));
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_there = ["fn ", "def ", "void "].iter().any(|word| text.contains(&format!("{word}{name}")));
        assert!(is_there, "{file} has no {name}: {row:?}");
    }
    let holders =
        ["publisher", "subscriber", "output", "input", "event", "C", "C++", "Python", "C#", "gateway", "bridge"];
    for holder in holders {
        let is_told_of = rows.iter().any(|row| row[0].split(',').next() == Some(holder));
        assert!(is_told_of, "no row tells of: {holder}");
    }
}
