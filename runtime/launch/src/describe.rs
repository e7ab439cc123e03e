//! Asks a program what its nodes are, without running them.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use horus::graph::ProcessInfo;
use horus::time::MonotonicTime;
use horus_evidence::child::{Group, Words};
use serde::Deserialize;

/// The longest description that is read: far more than that of the largest set that can be analysed.
const MAX_BYTES: u64 = 1 << 20;

/// How often a wait looks whether it is called off.
const LOOK: Duration = Duration::from_millis(10);

/// How much of what is no description is shown.
const SHOWN: usize = 200;

/// What the program that `command` starts says of its nodes, within `limit`, and no longer than until it `is_called_off`. `shown` is the program, for people.
///
/// # Errors
/// When it does not describe nodes: what it said.
pub fn describe(
    command: &mut Command,
    shown: &str,
    limit: Duration,
    is_called_off: &dyn Fn() -> bool,
) -> Result<ProcessInfo, String> {
    command.arg("--describe").env_remove("NOTIFY_SOCKET");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command).map_err(|error| format!("cannot start {shown}: {error}"))?;
    let (stdout, stderr) = (group.leader().stdout.take(), group.leader().stderr.take());
    let words = Words::of(stderr.expect("stderr is a pipe"));
    let said = said(stdout.expect("stdout is a pipe"));
    if let Err(error) = group.wait_unless(limit, is_called_off) {
        return Err(format!("{shown} --describe: {error}{}", words.last()));
    }
    // It has ended. What it left running may still hold the pipe: no reason to wait longer.
    let end = MonotonicTime::now().plus(limit);
    let text = loop {
        match said.recv_timeout(LOOK) {
            Ok(text) => break text,
            Err(_) if MonotonicTime::now() < end && !is_called_off() => {}
            Err(_) => return Err(format!("{shown} --describe: something that it started runs on")),
        }
    };
    let info = described(&text)
        .map_err(|error| format!("{shown} --describe does not describe nodes ({error}): {}", beginning(&text)))?;
    if info.nodes.is_empty() {
        return Err(format!("{shown} --describe names no node"));
    }
    Ok(info)
}

/// The description in what a program printed: it may say more, before and after.
fn described(text: &str) -> Result<ProcessInfo, serde_json::Error> {
    let starts = text.match_indices('{').map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let mut tried = starts.map(|at| ProcessInfo::deserialize(&mut serde_json::Deserializer::from_str(&text[at..])));
    let first = tried.next().unwrap_or_else(|| serde_json::from_str(text));
    first.or_else(|error| tried.find_map(Result::ok).ok_or(error))
}

/// What is written to a pipe until it is closed. A thread reads, so that a program that writes more than a pipe holds does not
/// wait for us while we wait for it.
fn said(pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(MAX_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn beginning(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match line.chars().count() {
        0 => "it printed nothing".to_owned(),
        length if length > SHOWN => format!("'{} …'", line.chars().take(SHOWN).collect::<String>()),
        _ => format!("'{line}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_found_among_other_lines() {
        let info = "{\"name\": \"ping\",\n\"nodes\": []\n}\n";
        for text in [info.to_owned(), format!("hello\n{info}ping: 0 sent"), format!("{{hello}}\n{info}")] {
            assert_eq!(described(&text).unwrap().name, "ping", "{text}");
        }
        for text in ["", "hello", "{}", "{hello}", "{\"name\": \"ping\", \"nodes\": [", &format!(" {info}x")[2..]] {
            assert!(described(text).is_err(), "{text}");
        }
    }
}
