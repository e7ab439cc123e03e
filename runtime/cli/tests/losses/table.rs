//! The table of docs/topics.md that says how a message can fail to arrive.

use std::path::Path;

/// Its cells but for the named test: who, because of what, who is told, and where it is counted.
pub fn rows() -> Vec<[String; 4]> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/topics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("## When a message does not arrive").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(|line| <[String; 4]>::try_from(cells(line)[..4].to_vec()).expect("cells")).collect()
}
