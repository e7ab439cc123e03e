//! The table of docs/topics.md that says how a message can fail to arrive: each row says who is told and where it is counted, and names a
//! test that the suite runs. What the cells say is provoked and asserted by `runtime/cli/tests/losses.rs`.

use std::path::Path;

/// The cells of each row.
fn rows(guide: &str) -> Vec<Vec<&str>> {
    let section = guide.split("## When a message does not arrive").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// Why the suite does not run this test, if it does not.
fn is_not_run(root: &Path, file: &str, text: &str, name: &str) -> Option<&'static str> {
    let check = std::fs::read_to_string(root.join("scripts/checks/catalogue.py")).expect("the suite's checks");
    let called = |call: &str| text.matches(call).count() > 1;
    let declared = |words: &[&str]| words.iter().find_map(|words| text.find(&format!("{words}{name}(")));
    match file.rsplit('.').next().expect("an ending") {
        "rs" => {
            let before = &text[..declared(&["fn "])?];
            // Its attributes stand between it and the end of what is before it.
            let own = &before[before.rfind('}').unwrap_or(0)..];
            let steps = text.contains("#![cfg(failpoints)]") && !check.contains("command(\"soak\", \"kill\"");
            let others = text.lines().any(|line| {
                line.starts_with("#![cfg(") && line != "#![cfg(failpoints)]" && line != "#![cfg(not(loom))]"
            });
            match () {
                () if !own.contains("#[test]") => Some("it is no test"),
                () if own.contains("#[ignore") => Some("it is ignored"),
                () if steps || others => Some("its file is left out"),
                () => None,
            }
        }
        "py" if file.contains("/tests/") => (!name.starts_with("test_")).then_some("unittest does not find it"),
        "py" => {
            (!called(&format!("{name}(")) || !check.contains("module(\"ros2.fleet\")")).then_some("no check calls it")
        }
        _ => (!called(&format!("{name}("))).then_some("its program does not call it"),
    }
}

#[test]
fn each_way_to_lose_a_message_is_told_counted_and_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/topics.md")).unwrap();
    let rows = rows(&guide);
    assert!(rows.len() >= 24, "the table is cut short: {} rows", rows.len());
    for row in &rows {
        let [who, because, told, counted, test] = row[..] else { panic!("not five cells: {row:?}") };
        for cell in [who, because, told, counted] {
            let is_of_no_one = ["nobody", "somebody", "whoever"].iter().any(|word| cell.contains(word));
            assert!(!cell.is_empty() && cell != "-" && !is_of_no_one, "a loss that no one hears of: {row:?}");
        }
        let mut quoted = test.split('`').skip(1).step_by(2);
        let (file, name) = (quoted.next().expect("a file"), quoted.next().expect("a name"));
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_there = ["fn ", "def ", "void "].iter().any(|word| text.contains(&format!("{word}{name}(")));
        assert!(is_there, "{file} has no {name}: {row:?}");
        assert_eq!(is_not_run(&root, file, &text, name), None, "{file} {name}: {row:?}");
    }
    let holders =
        ["publisher", "subscriber", "output", "input", "event", "C", "C++", "Python", "C#", "gateway", "bridge"];
    for holder in holders {
        let is_told_of = rows.iter().any(|row| row[0].split(',').next() == Some(holder));
        assert!(is_told_of, "no row tells of: {holder}");
    }
    assert!(rows.iter().any(|row| row[0].contains("question and its answer")), "no row tells of a service");
    let nodes = std::fs::read_to_string(root.join("docs/nodes.md")).unwrap();
    assert!(nodes.contains("topics.md#when-a-message-does-not-arrive"), "docs/nodes.md does not lead to the table");
}

#[test]
fn test_that_does_not_run_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let says = |file: &str, text: &str| is_not_run(&root, file, text, "it_holds");
    assert_eq!(says("a/b.rs", "}\n#[test]\nfn it_holds() {}"), None);
    assert_eq!(says("a/b.rs", "}\n#[test]\n#[ignore = \"slow\"]\nfn it_holds() {}"), Some("it is ignored"));
    assert_eq!(says("a/b.rs", "}\nfn it_holds() {}"), Some("it is no test"));
    assert_eq!(says("a/b.rs", "#![cfg(loom)]\n}\n#[test]\nfn it_holds() {}"), Some("its file is left out"));
    assert_eq!(says("a/b.cpp", "void it_holds() {}"), Some("its program does not call it"));
    assert_eq!(says("a/b.cpp", "void it_holds() {}\nit_holds();"), None);
}
