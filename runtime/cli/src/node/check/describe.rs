//! Asks a program what its nodes are, without running them.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use horus::graph::ProcessInfo;
use horus_evidence::child::{Group, Words};
use nix::unistd::{User, geteuid};
use serde::Deserialize;

/// Names the program's node.toml for it.
const FILE_VARIABLE: &str = "HORUS_NODE_FILE";

/// The longest description that is read: far more than that of the largest set that can be analysed.
const MAX_BYTES: u64 = 1 << 20;

/// How much of what is no description is shown.
const SHOWN: usize = 200;

/// Their user, of conf/horus/rootfs/usr/lib/sysusers.d/horus.conf.
const USER_OF_NODES: &str = "horus";

/// Of a node.toml, what is not left to its program.
#[derive(Deserialize)]
struct Named {
    program: Option<String>,
}

/// The program that `file` is for, or `given` one.
pub fn program(file: &Path, given: Option<&Path>) -> Result<PathBuf, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let named: Named = toml::from_str(&text).map_err(|error| format!("{shown}: {}", error.to_string().trim_end()))?;
    let path = match (given, named.program) {
        (Some(given), _) => given.to_owned(),
        (None, Some(name)) => file.with_file_name(name),
        (None, None) => {
            return Err(format!("{shown} names no program: add the line program = \"NAME\", or give --program PATH"));
        }
    };
    match path.is_file() {
        // A path without a folder is no word to be looked for in $PATH.
        true => std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display())),
        false => Err(format!(
            "there is no program {}: put it there, or give --program PATH (cargo leaves it in target/debug or target/release)",
            path.display()
        )),
    }
}

/// What `program` says of its nodes when `file` has its settings; within `limit`. A root that installs a program does not run it as root.
pub fn describe(program: &Path, file: &Path, limit: Duration, as_nodes_do: bool) -> Result<ProcessInfo, String> {
    let shown = program.display();
    let file = std::path::absolute(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut command = Command::new(program);
    command.arg("--describe").env(FILE_VARIABLE, &file).env_remove("NOTIFY_SOCKET");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(user) = user_of_nodes().filter(|_| as_nodes_do && geteuid().is_root()) {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    let mut group = Group::start(&mut command).map_err(|error| format!("cannot start {shown}: {error}"))?;
    let (stdout, stderr) = (group.leader().stdout.take(), group.leader().stderr.take());
    let words = Words::of(stderr.expect("stderr is a pipe"));
    let said = said(stdout.expect("stdout is a pipe"));
    if let Err(error) = group.wait(limit) {
        return Err(format!("{shown} --describe: {error}{}", words.last()));
    }
    // It has ended. What it left running may still hold the pipe: no reason to wait longer.
    let text =
        said.recv_timeout(limit).map_err(|_| format!("{shown} --describe: something that it started runs on"))?;
    let info = described(&text)
        .map_err(|error| format!("{shown} --describe does not describe nodes ({error}): {}", beginning(&text)))?;
    if info.nodes.is_empty() {
        return Err(format!("{shown} --describe names no node"));
    }
    Ok(info)
}

/// Whom nodes run as on the appliance.
fn user_of_nodes() -> Option<User> {
    User::from_name(USER_OF_NODES).ok().flatten()
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
