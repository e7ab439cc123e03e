//! `horus blame`: who broke the deadlines of a boot, how often, for how long, and what prevents it.
//!
//! It reads the entries of missed deadlines from the journal, with what the witness said of them. It measures nothing itself.
//! `--show N` prints what the flight recorder kept of one: the node's last cycles, and the last messages of its topics.

mod screen;
mod show;
mod unknown;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use horus::journal::id;
use horus_evidence::blame::{Blame, MOST_ENTRIES, node, parse};
use nix::unistd::{User, getuid};

use unknown::Told;

/// Where journald keeps its files.
const LOGS: [&str; 2] = ["/var/log/journal", "/run/log/journal"];

/// Whose programs nodes are, of conf/horus/rootfs/usr/lib/sysusers.d/horus.conf.
const USER_OF_NODES: &str = "horus";

/// Columns, where the terminal does not say how many there are.
const WIDTH: usize = 80;

/// Command line of `horus blame`.
#[derive(clap::Args)]
pub struct Args {
    /// Another boot than this one: its number as `journalctl --list-boots` counts (-1 is the one before), or its identifier
    #[arg(long, value_name = "BOOT", default_value = "0", allow_hyphen_values = true)]
    boot: String,
    /// Print JSON: episodes, and what each culprit did
    #[arg(long)]
    json: bool,
    /// Show what was kept beside trace number N: the node's last cycles, and the last messages on its topics
    #[arg(long, value_name = "N", conflicts_with_all = ["boot", "json"])]
    show: Option<u64>,
    /// Believe this user too, beside root, the user of nodes and you: anybody may write to the journal
    #[arg(long, value_name = "USER", value_parser = user)]
    user: Option<u32>,
    /// Where traces are kept
    #[arg(long, value_name = "DIR", default_value = horus_witness::TRACES, hide = true)]
    directory: PathBuf,
    /// Where the journal's files are
    #[arg(long, value_name = "DIR", default_values = LOGS, hide = true)]
    logs: Vec<PathBuf>,
    /// Read what `journalctl -o json` printed from this file, instead of the journal
    #[arg(long, value_name = "FILE", hide = true)]
    entries: Option<PathBuf>,
}

/// The boot of this identifier, as the journal of this machine tells of it.
///
/// # Errors
/// Why it does not: it was on another machine, or too long ago.
pub fn of_boot(boot: &str) -> Result<Blame, String> {
    of_journal(boot, None, &LOGS.map(PathBuf::from))
}

/// What the journal tells of a boot, and what it cannot.
fn of_journal(boot: &str, user: Option<u32>, logs: &[PathBuf]) -> Result<Blame, String> {
    let writers = writers(user);
    let misses = parse(&ask(boot, id::DEADLINE_MISS, &writers)?[..]);
    let starts = ask(boot, id::NODE_START, &writers)?;
    let starts = BufReader::new(&starts[..]).lines().map_while(Result::ok).filter_map(|line| node(&line)).collect();
    let told = Told { misses: &misses, starts: &starts, is_this_boot: boot == THIS_BOOT };
    Ok(Blame { unknown: unknown::unknown(&told, logs), ..Blame::of(&misses) })
}

/// As journalctl counts.
const THIS_BOOT: &str = "0";

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let text = match args.show {
        Some(number) => show::text(&args.directory, number),
        None => {
            let found = match &args.entries {
                Some(path) => of_file(path),
                None => of_journal(&args.boot, args.user, &args.logs),
            };
            found.map(|blame| screen_of(&blame, args))
        }
    };
    match text {
        Ok(text) => crate::output::print("horus blame", &text),
        Err(error) => {
            eprintln!("horus blame: {error}");
            ExitCode::FAILURE
        }
    }
}

fn screen_of(blame: &Blame, args: &Args) -> String {
    match args.json {
        true => serde_json::to_string_pretty(blame).expect("names and numbers can be written") + "\n",
        false => screen::text(blame, columns(), args.boot == THIS_BOOT),
    }
}

/// What a file says, which may be of another machine.
fn of_file(path: &Path) -> Result<Blame, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Blame::of(&parse(file)))
}

/// The entries of a kind, as lines of JSON, the oldest first.
fn ask(boot: &str, kind: &str, writers: &BTreeSet<u32>) -> Result<Vec<u8>, String> {
    let mut journal = Command::new("journalctl")
        .args(arguments(boot, kind, writers))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            format!(
                "cannot run journalctl ({error}): misses are written to systemd's journal. Where there is none, programs print them: read their standard \
                 error, or the counts of those that run in `horus node list`"
            )
        })?;
    let mut entries = Vec::new();
    if let Some(mut pipe) = journal.stdout.take() {
        pipe.read_to_end(&mut entries).map_err(|error| format!("journalctl: {error}"))?;
    }
    let mut said = String::new();
    if let Some(mut pipe) = journal.stderr.take() {
        let _ = pipe.read_to_string(&mut said);
    }
    match journal.wait() {
        Ok(status) if status.success() || said.trim().is_empty() => Ok(entries),
        Ok(_) => Err(format!("journalctl: {}", said.trim())),
        Err(error) => Err(format!("journalctl: {error}")),
    }
}

/// Who writes of misses: root, the user of nodes, who asks, on whose behalf root asks, and `further`. Any user may write to the journal,
/// and what others say there of a culprit is worth nothing.
fn writers(further: Option<u32>) -> BTreeSet<u32> {
    let of_nodes = User::from_name(USER_OF_NODES).ok().flatten().map(|user| user.uid.as_raw());
    let behind_sudo = std::env::var("SUDO_UID").ok().filter(|_| getuid().is_root()).and_then(|text| text.parse().ok());
    [Some(0), of_nodes, Some(getuid().as_raw()), behind_sudo, further].into_iter().flatten().collect()
}

/// What journalctl is asked: terms of one field are alternatives, and journald itself says who wrote.
fn arguments(boot: &str, kind: &str, writers: &BTreeSet<u32>) -> Vec<String> {
    let fixed = ["-q", "-o", "json", "--all"].map(str::to_owned);
    let asked = [format!("--lines={MOST_ENTRIES}"), format!("--boot={boot}"), format!("MESSAGE_ID={kind}")];
    fixed.into_iter().chain(asked).chain(writers.iter().map(|user| format!("_UID={user}"))).collect()
}

/// A user by name or number.
fn user(text: &str) -> Result<u32, String> {
    let named = || User::from_name(text).ok().flatten().map(|user| user.uid.as_raw());
    text.parse().ok().or_else(named).ok_or_else(|| "there is no such user".to_owned())
}

/// How wide the screen is: 80, unless a terminal says otherwise.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(WIDTH, |size| usize::from(size.ws_col)).max(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_forges_an_entry_is_not_asked() {
        let writers = writers(Some(4_000_000_000));
        assert!(writers.contains(&0) && writers.contains(&getuid().as_raw()) && writers.contains(&4_000_000_000));
        let asked = arguments("-1", id::DEADLINE_MISS, &BTreeSet::from([0, 990]));
        let terms: Vec<_> = asked.iter().skip_while(|word| word.starts_with('-') || *word == "json").collect();
        assert_eq!(terms, [&format!("MESSAGE_ID={}", id::DEADLINE_MISS), "_UID=0", "_UID=990"]);
        assert_eq!((user("root"), user("7")), (Ok(0), Ok(7)));
        assert!(user("no such user").is_err());
    }
}
