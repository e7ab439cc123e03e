//! Where people find what was lost while a program runs: `horus top`, `horus node info`, the journal.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::programs::Program;

/// What a command prints when it succeeds.
pub fn horus(topics: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(arguments).env("HORUS_SHM_DIR", topics).env_remove("HORUS_NAMESPACE").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The line of `horus top` that begins with this word.
pub fn line_of_top(topics: &Path, first: &str) -> Option<String> {
    let screen = horus(topics, &["top", "--once", "--interval", "100ms"]);
    screen.lines().find(|line| line.split(' ').next() == Some(first)).map(str::to_owned)
}

/// The journal, `horus top` and `horus node info` tell of messages that an output of this program did not publish, by this cause.
pub fn tell_of_an_output(program: &Program, cause: &str) {
    let name = program.name;
    program.says(&format!("node {name} did not publish "));
    program.says(cause);
    let both = format!("{name}/{name}");
    let is_told = |line: String| line.ends_with(" messages lost");
    program.until("top tells", || line_of_top(&program.topics, &both).is_some_and(is_told));
    let info = horus(&program.topics, &["node", "info", name]);
    assert!(info.contains(" set and not published") && !info.contains(" 0 set"), "{info}");
}

/// The journal and `horus node info` tell of messages that an input of this program missed.
pub fn tell_of_an_input(program: &Program, topic: &str) {
    let name = program.name;
    program.says(&format!("node {name} missed "));
    program.says(&format!("overwritten on topic {topic} before it read"));
    program.until("node info tells", || {
        let info = horus(&program.topics, &["node", "info", name]);
        info.contains(" overwritten before they were read") && !info.contains(" 0 overwritten")
    });
}
