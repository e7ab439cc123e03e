//! A gateway of the benchmark's own: another process, with topics and a log in directories that go with it.

use std::io::{BufRead, BufReader};
use std::process::{ChildStdout, Command, Stdio};

use horus_gateway::client::Address;
use rustix::process::{Pid, Signal, kill_process};

/// A process that ends with its owner.
pub struct Child(std::process::Child);

impl Child {
    pub fn start(command: &mut Command) -> std::io::Result<Self> {
        command.stdin(Stdio::null()).spawn().map(Self)
    }

    /// What it prints; to be asked for once.
    pub fn stdout(&mut self) -> ChildStdout {
        self.0.stdout.take().expect("it was started with a pipe")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Asked first: it removes its topics then. Who is gone already needs no signal.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// The gateway.
pub struct Gateway {
    _child: Child,
    address: Address,
    _directories: [tempfile::TempDir; 2],
}

impl Gateway {
    pub fn start(wanted: &super::Gateway) -> Result<Self, Box<dyn std::error::Error>> {
        let topics = tempfile::tempdir_in("/dev/shm")?;
        let files = tempfile::tempdir()?;
        let settings = files.path().join("gateway.toml");
        let log = if wanted.log { "log = { durability = \"none\" }\n" } else { "" };
        let look_every_us = if wanted.busy { 0 } else { 1_000 };
        std::fs::write(
            &settings,
            format!(
                "listen = [{{ tcp = \"127.0.0.1:0\" }}]\nlook_every_us = {look_every_us}\nlog_directory = \"{}\"\n\
                 [limits]\nqueue_bytes = 67108864\n\
                 [topics.\"{}\"]\ndirection = \"both\"\nbytes = {}\ncapacity = 1024\n{log}",
                files.path().join("log").display(),
                wanted.topic,
                wanted.bytes,
            ),
        )?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("gateway").arg("--config").arg(&settings).env("HORUS_SHM_DIR", topics.path());
        let mut child = Child::start(command.stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let mut address = String::new();
        BufReader::new(child.stdout()).read_line(&mut address)?;
        let address = address.trim().parse().map_err(|_| "it ended at once")?;
        Ok(Self { _child: child, address, _directories: [topics, files] })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }
}
