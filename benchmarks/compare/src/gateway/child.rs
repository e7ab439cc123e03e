//! A process that ends with its owner: this program in another role, or a system's server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use horus_benchmarks::transport::Failure;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};

/// As many open files as this user may have, for this process and those that it starts.
///
/// # Errors
/// When the kernel refuses.
pub fn allow_files() -> Result<(), Failure> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// The process.
pub struct Child(std::process::Child);

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// When it is not there.
    pub fn start(command: &mut Command) -> Result<Self, Failure> {
        let program = command.get_program().to_owned();
        let started = command.stdin(Stdio::null()).spawn();
        started.map(Self).map_err(|error| format!("cannot start {}: {error}", program.display()).into())
    }

    /// Starts this program in a role, and reads the lines in which it says where it is.
    ///
    /// # Errors
    /// When it ends at once.
    pub fn role<const LINES: usize>(role: &str, argument: &str) -> Result<(Self, [String; LINES]), Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--role", role, "--argument", argument]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Self::start(&mut command)?;
        let mut lines = BufReader::new(child.0.stdout.take().expect("it has a pipe")).lines();
        let mut said = [const { String::new() }; LINES];
        for line in &mut said {
            *line = lines.next().ok_or_else(|| format!("{role} ended at once"))??;
        }
        Ok((child, said))
    }
}

impl Child {
    /// The most bytes of memory that it had so far.
    ///
    /// # Errors
    /// When it is gone.
    pub fn peak_memory(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Asked first: it may have something to remove. Who is gone already needs no signal.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}
