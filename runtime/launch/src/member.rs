//! One program while the robot runs: what it does, its process, its last words.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use horus::outside::shown;
use horus::time::MonotonicTime;

use crate::process::Process;
use crate::ready::Socket;
use crate::restart::Attempts;

/// How many lines of stderr are kept of a program.
const KEPT: usize = 8;
/// The most characters of last words.
const MOST_WORDS: usize = 300;

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for those that it starts after.
    Waiting,
    /// Runs, and has not said that it is ready.
    Starting,
    /// Is ready.
    Running,
    /// Was asked to end, and is killed at this time.
    Ending { kill_at: MonotonicTime },
    /// Was killed, and is left if it has not ended at this time.
    Killed { give_up_at: MonotonicTime },
    /// Has ended, and starts again at this time.
    Pausing { until: MonotonicTime },
    /// Has ended, and does not start again.
    Over,
}

/// A program while the robot runs.
#[derive(Debug)]
pub struct Member {
    pub state: State,
    pub process: Option<Process>,
    pub socket: Option<Socket>,
    /// It has ended, and what it left running is killed at this time.
    pub rest_until: Option<MonotonicTime>,
    /// When it was started last.
    pub began: MonotonicTime,
    /// How often it was started.
    pub starts: u32,
    pub attempts: Attempts,
    /// Whether it was ever ready: who starts after it does not wait for a second time.
    pub was_ready: bool,
    /// Whether this start of it was.
    pub was_ready_now: bool,
    /// Lines of its stderr, the last one at the end.
    words: VecDeque<String>,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            state: State::Waiting,
            process: None,
            socket: None,
            rest_until: None,
            began: MonotonicTime::default(),
            starts: 0,
            attempts: Attempts::default(),
            was_ready: false,
            was_ready_now: false,
            words: VecDeque::new(),
        }
    }
}

impl Member {
    /// Keeps a line of stderr.
    pub fn keep(&mut self, line: &str) {
        if self.words.len() == KEPT {
            self.words.pop_front();
        }
        self.words.push_back(line.to_owned());
    }

    /// It starts, and what the start before said is forgotten.
    pub fn begin(&mut self) {
        self.began = MonotonicTime::now();
        self.was_ready_now = false;
        self.words.clear();
    }

    /// How it ended, with its last words.
    pub fn how(&self, status: ExitStatus) -> String {
        let how = match (status.code(), status.signal()) {
            (Some(0), _) => return "ended".to_owned(),
            (Some(1), _) => "ended".to_owned(),
            (Some(code), _) => format!("ended with status {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}{}", name(signal)),
            (None, None) => "ended".to_owned(),
        };
        let words = last(self.words.iter().map(String::as_str));
        match (words, status.code()) {
            (Some(words), _) => format!("{how}: {}", shown(words, MOST_WORDS)),
            (None, Some(1)) => "ended with status 1, without a word".to_owned(),
            (None, _) => format!("{how}, without a word"),
        }
    }
}

/// The last line that says something. What Rust adds to a panic is about backtraces.
fn last<'a>(lines: impl DoubleEndedIterator<Item = &'a str>) -> Option<&'a str> {
    lines.rev().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE"))
}

/// The names of signals that end programs, for people.
fn name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_with_the_last_line_that_says_something() {
        let mut member = Member::default();
        let status = ExitStatus::from_raw;
        assert_eq!(member.how(status(1 << 8)), "ended with status 1, without a word");
        assert_eq!(member.how(status(9)), "ended by signal 9 (SIGKILL), without a word");
        for line in ["Traceback:", "  import cv2", "ModuleNotFoundError: cv2", "", "note: run with `RUST_BACKTRACE=1`"]
        {
            member.keep(line);
        }
        assert_eq!(member.how(status(1 << 8)), "ended: ModuleNotFoundError: cv2");
        assert_eq!(member.how(status(3 << 8)), "ended with status 3: ModuleNotFoundError: cv2");
        assert_eq!(member.how(status(11)), "ended by signal 11 (SIGSEGV): ModuleNotFoundError: cv2");
        assert_eq!(member.how(status(0)), "ended");
    }
}
