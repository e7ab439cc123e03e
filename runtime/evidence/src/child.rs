//! Other programs: each has a time limit and a process group of its own, and none outlives the run.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use horus::time::{MonotonicTime, pause};
use rustix::process::{Pid, Signal, kill_process_group};

/// How often a waiting run looks whether a program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How much of what a program writes to stderr is kept.
const MAX_WORDS: usize = 1_000;

/// How long a program that has ended gets for its last words to be read.
const READ_TIME: Duration = Duration::from_millis(50);

/// The largest output that is read of a program.
const MAX_OUTPUT: u64 = 1 << 20;

/// A process and all processes that it starts; dropping it ends them all.
#[derive(Debug)]
pub struct Group {
    leader: Child,
}

impl Group {
    /// Starts `command` as the leader of a new process group.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(|leader| Self { leader })
    }

    /// The leader.
    pub fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Whether the leader is still running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.leader.try_wait(), Ok(None))
    }

    /// Waits up to `limit` for the leader to end by itself, and says whether it did so with success.
    pub fn wait(&mut self, limit: Duration) -> Result<(), String> {
        self.wait_unless(limit, &|| false)
    }

    /// As [`wait`](Self::wait), and no longer than until `is_called_off`.
    pub fn wait_unless(&mut self, limit: Duration, is_called_off: &dyn Fn() -> bool) -> Result<(), String> {
        let end = MonotonicTime::now().plus(limit);
        loop {
            match self.leader.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(status.to_string()),
                None if is_called_off() => return Err("was called off".to_owned()),
                None if MonotonicTime::now() >= end => return Err(format!("did not end within {limit:?}")),
                None => pause(LOOK),
            }
        }
    }

    fn signal(&self, signal: Signal) {
        // The group exists as long as the leader was not waited for, or a member lives; "no such group" is success.
        let _ = kill_process_group(Pid::from_child(&self.leader), signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_running() {
            self.signal(Signal::TERM);
            let _ = self.wait(GRACE);
        }
        self.signal(Signal::KILL);
        let _ = self.leader.wait();
    }
}

/// The end of what a program writes to stderr. A thread reads on, so that a talkative program never waits for us.
pub struct Words(Arc<Mutex<Vec<u8>>>);

impl Words {
    /// Begins to read.
    pub fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let words = Self(Arc::default());
        let kept = Arc::clone(&words.0);
        thread::spawn(move || {
            let mut chunk = [0; 1_024];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..length]);
                let surplus = kept.len().saturating_sub(MAX_WORDS);
                kept.drain(..surplus);
            }
        });
        words
    }

    /// The last lines of a program that has ended, in brackets.
    pub fn last(&self) -> String {
        pause(READ_TIME);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(3);
        let mut lines: Vec<_> = lines.collect();
        lines.reverse();
        if lines.is_empty() { String::new() } else { format!(" ({})", lines.join(", ")) }
    }
}

/// Runs a program to its end and returns what it printed; never longer than `limit`.
pub fn output(program: &str, arguments: &[&str], limit: Duration) -> Result<String, String> {
    let (text, ended) = run(program, arguments, limit)?;
    ended.map(|()| text).map_err(|error| format!("{program} {}: {error}", arguments.join(" ")))
}

/// As [`output`], for programs whose answer counts whatever their exit status is.
pub fn answer(program: &str, arguments: &[&str], limit: Duration) -> Result<String, String> {
    run(program, arguments, limit).map(|(text, _)| text)
}

/// What the program printed, and how it ended.
fn run(program: &str, arguments: &[&str], limit: Duration) -> Result<(String, Result<(), String>), String> {
    let fail = |error: String| format!("{program} {}: {error}", arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = Group::start(&mut command).map_err(|error| fail(error.to_string()))?;
    let pipe = group.leader().stdout.take().expect("stdout is a pipe");
    // A thread reads, so that a program that prints more than a pipe holds does not wait for us while we wait for it.
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let ended = group.wait(limit);
    drop(group); // ends whatever still holds the pipe, so that the reader ends too
    let text = reader.join().unwrap_or_default();
    Ok((text, ended))
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process;

    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended_at_its_limit_with_all_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        // Neither ends by itself while this test looks. The first one does not hold the pipe, to whose end `output` reads.
        let script = format!("sleep 600 > /dev/null & echo $! > {}; trap '' TERM; sleep 600", pids.display());
        let hang = |limit| {
            let error = output("sh", &["-c", &script], Duration::from_millis(limit)).unwrap_err();
            assert!(error.contains("did not end within"), "{error}");
            std::fs::read_to_string(&pids).ok()?.trim().parse::<i32>().ok()
        };
        // A busy machine may need longer than the shortest limit to start a shell.
        let pid = [300, 1_000, 5_000].into_iter().find_map(hang).expect("the shell starts");
        let gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => stat.contains(") Z"),
            Err(_) => test_kill_process(Pid::from_raw(pid).unwrap()).is_err(),
        };
        let end = MonotonicTime::now().plus(Duration::from_secs(60));
        while !gone() && MonotonicTime::now() < end {
            pause(LOOK);
        }
        assert!(gone(), "process {pid} outlived its group");
    }

    #[test]
    fn an_answer_counts_whatever_the_exit_status_is_and_never_hangs() {
        assert_eq!(answer("sh", &["-c", "echo none; exit 1"], Duration::from_secs(10)).unwrap(), "none\n");
        assert_eq!(answer("sleep", &["60"], Duration::from_millis(100)).unwrap(), "");
    }

    #[test]
    fn a_program_leaves_its_last_words_however_much_it_says() {
        let words = Words::of(std::io::Cursor::new(format!("{}\nout of luck\nno memory\n", "x".repeat(100_000))));
        let end = words.last();
        assert!(end.ends_with(", out of luck, no memory)") && end.len() <= MAX_WORDS + 10, "{end}");
        assert_eq!(Words::of(std::io::empty()).last(), "");
    }

    #[test]
    fn long_output_does_not_block() {
        let text = output("seq", &["1", "50000"], Duration::from_secs(10)).unwrap();
        assert!(text.ends_with("50000\n"));
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = output("false", &["x"], Duration::from_secs(10)).unwrap_err();
        assert!(error.starts_with("false x: "), "{error}");
        assert!(output("no-such-program", &[], Duration::from_secs(1)).is_err());
    }
}
