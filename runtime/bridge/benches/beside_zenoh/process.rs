//! Processes of the benchmark: their lines, their CPU time, and their end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

use super::PATIENCE;

/// A process that ends with its owner.
pub struct Running {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
    said: Vec<String>,
}

impl Running {
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let (sender, lines) = channel();
        let stdout: Option<ChildStdout> = child.stdout.take();
        std::thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Ok(Self { child, lines, said: Vec::new() })
    }

    pub fn has_said(&mut self, word: &str) -> bool {
        self.said.extend(self.lines.try_iter());
        self.said.iter().any(|line| line.starts_with(word))
    }

    /// The rest of the line that begins so.
    pub fn expect(&mut self, word: &str) -> Result<String, String> {
        let end = Instant::now() + 5 * PATIENCE;
        loop {
            if let Some(line) = self.said.iter().find_map(|line| line.strip_prefix(word)) {
                return Ok(line.trim().to_owned());
            }
            let left = end.saturating_duration_since(Instant::now());
            self.said.push(self.lines.recv_timeout(left).map_err(|_| format!("a process did not say `{word}`"))?);
        }
    }

    pub fn ticks(&self) -> u64 {
        cpu_ticks(&self.child.id().to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.stdin.take().map(|mut stdin| stdin.write_all(b"\n"));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of a process, in ticks of the kernel.
pub fn cpu_ticks(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let numbers: Vec<u64> =
        stat.rsplit(')').next().unwrap_or("").split(' ').map(|word| word.parse().unwrap_or(0)).collect();
    numbers.get(12..14).map_or(0, |both| both.iter().sum())
}
