//! The other process: this program once more, with a hidden first argument.
//!
//! A peer dies with the program that started it, and is killed as soon as its [`Peer`] is dropped; a peer that dies
//! early ends the wait for it. What it says comes as lines on its standard output: `ready`, then `result` and JSON.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::options::Effort;
use crate::patience::{NEVER, PATIENCE, Patience};
use crate::pinning::pin_to;
use crate::stage::Stage;
use crate::transport::{Failure, Meeting};

/// The hidden first argument.
pub const ARGUMENT: &str = "--this-is-a-peer";

/// A running peer process, seen by the one that started it.
pub struct Peer {
    child: Child,
    lines: Receiver<String>,
    ended: Arc<AtomicBool>,
    /// Whether it has told its result, after which it ends by itself.
    asked: Cell<bool>,
}

impl Peer {
    /// Starts this program again, on the stage's second CPU, as a peer that does `role` for the same task.
    pub fn start(stage: &Stage, meeting: &Meeting, role: &str) -> Result<Self, Failure> {
        let Stage { cpus, effort, task, .. } = *stage;
        let (role, meeting) = (role.to_owned(), meeting.clone());
        let role = Role { task, role, cpu: cpus.second, effort, meeting, shared: cpus.shared() };
        let mut child = Command::new(std::env::current_exe()?)
            .args([ARGUMENT, &serde_json::to_string(&role)?])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the peer has no standard output")?;
        let ended = Arc::new(AtomicBool::new(false));
        let (sender, lines) = channel();
        let notice = Arc::clone(&ended);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
            notice.store(true, Ordering::Relaxed); // a flag by itself: nothing else is read after it
        });
        Ok(Self { child, lines, ended, asked: Cell::new(false) })
    }

    /// Whether it still runs. Makes no system call.
    pub fn lives(&self) -> bool {
        !self.ended.load(Ordering::Relaxed)
    }

    /// Waits until the peer has connected.
    pub fn wait_until_ready(&self) -> Result<(), Failure> {
        self.line("ready", PATIENCE).map(|_rest| ())
    }

    /// Waits for what the peer found out.
    pub fn result<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let line = self.line("result", 2 * PATIENCE)?;
        self.asked.set(true);
        Ok(serde_json::from_str(&line)?)
    }

    fn line(&self, word: &str, limit: Duration) -> Result<String, Failure> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => match line.strip_prefix(word) {
                Some(rest) => Ok(rest.to_owned()),
                None => Err(format!("the peer said '{line}' where '{word}' was expected").into()),
            },
            Err(RecvTimeoutError::Timeout) => Err(format!("the peer did not say '{word}' in {limit:?}").into()),
            Err(RecvTimeoutError::Disconnected) => Err(format!("the peer died before it said '{word}'").into()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // One that is done gets a moment to clean up after itself; `recv_timeout` ends early when its output closes.
        while self.asked.get() && self.lines.recv_timeout(Duration::from_secs(2)).is_ok() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a peer process knows about its task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Role {
    /// Number of the task in its suite.
    pub task: usize,
    /// What to do; the task's own words.
    pub role: String,
    /// Where to run.
    pub cpu: usize,
    /// How long to measure.
    pub effort: Effort,
    /// Where to meet the first process.
    pub meeting: Meeting,
    /// Whether other ends need this CPU too.
    pub shared: bool,
}

impl Role {
    /// Reads what `Peer::start` wrote, ties this process to its CPU and its life to its parent's.
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Self, Failure> {
        let [role] = arguments else { return Err("a peer is started by a benchmark, not by hand".into()) };
        let role: Self = serde_json::from_str(role)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        pin_to(role.cpu)?;
        Ok(role)
    }

    /// For waits of the peer.
    pub fn patience(&self) -> Patience<'static> {
        Patience::new(PATIENCE, &NEVER).sharing(self.shared)
    }

    /// Tells the first process that this one has connected.
    pub fn ready(&self) -> Result<(), Failure> {
        say("ready".to_owned())
    }

    /// Tells the first process what was found out.
    pub fn result(&self, result: &impl Serialize) -> Result<(), Failure> {
        say(format!("result{}", serde_json::to_string(result)?))
    }
}

fn say(line: String) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
