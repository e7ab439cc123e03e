//! The machine at the other end of SSH.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};

use super::project::Project;

/// Of ssh itself: it got no connection, or lost it.
pub const NO_CONNECTION: i32 = 255;

/// Which machine a command is about.
#[derive(clap::Args)]
pub struct Elsewhere {
    /// The machine, if it is not this one: NAME.local, an address, or USER@HOST; the user is root if none is named
    #[arg(long, global = true, value_name = "[USER@]HOST")]
    host: Option<String>,
    /// How SSH is started, such as "ssh -p 2222 -i key"
    #[arg(long, global = true, value_name = "COMMAND", default_value = "ssh")]
    ssh: String,
}

impl Elsewhere {
    /// The machine, if it is not this one.
    pub fn remote(&self) -> Option<Result<Remote, String>> {
        self.host.as_ref().map(|host| Remote::new(host, &self.ssh))
    }
}

/// What is sent.
pub type Archive = tar::Builder<ChildStdin>;

/// A machine, and how it is reached.
pub struct Remote {
    /// With the user.
    host: String,
    ssh: Vec<String>,
}

impl Remote {
    /// `host` may name a user; nodes are root's to install. `ssh` is the command with its options.
    pub fn new(host: &str, ssh: &str) -> Result<Self, String> {
        // What begins so would be an option of ssh.
        if host.is_empty() || host.starts_with('-') {
            return Err(format!("'{host}' is no host: write NAME, ADDRESS or USER@NAME"));
        }
        let host = if host.contains('@') { host.to_owned() } else { format!("root@{host}") };
        let ssh: Vec<_> = ssh.split_whitespace().map(str::to_owned).collect();
        if ssh.is_empty() {
            return Err("--ssh names no command".to_owned());
        }
        Ok(Self { host, ssh })
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        self.host.rsplit('@').next().unwrap_or(&self.host)
    }

    /// A command there.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.ssh[0]);
        command.args(&self.ssh[1..]).arg(&self.host).arg("--").args(words);
        command
    }

    /// Its processor, as `uname -m` names it.
    pub fn machine(&self) -> Result<String, String> {
        // A machine that is no appliance is told before anything is built.
        let mut command = self.command(&["uname -m && horus --version >/dev/null"]);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", self.ssh[0]))?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(said),
            Some(NO_CONNECTION) | None => Err(self.unreachable()),
            Some(_) => Err(format!("{} has no `horus`: is it a HORUS appliance?", self.name())),
        }
    }

    /// That it cannot be reached.
    pub fn unreachable(&self) -> String {
        let (ssh, host) = (self.ssh.join(" "), &self.host);
        format!(
            "{} cannot be reached by SSH: is its key set (docs/reach.md), and does `{ssh} {host}` work?",
            self.name()
        )
    }

    /// Runs a command there and prints what it says.
    pub fn run(&self, words: &str) -> Result<ExitStatus, String> {
        let spawned = self.command(&[words]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut ssh = spawned.map_err(|error| format!("cannot start {}: {error}", self.ssh[0]))?;
        self.pass_on(&mut ssh);
        ssh.wait().map_err(|error| format!("{}: {error}", self.ssh[0]))
    }

    /// The exit status of ssh is that of the command at its other end.
    pub fn exit_status(&self, status: ExitStatus) -> Result<ExitCode, String> {
        match status.code() {
            Some(NO_CONNECTION) | None => Err(self.unreachable()),
            Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        }
    }

    /// Sends program and settings, and lets the machine install them. Prints what it says.
    pub fn install(&self, project: &Project, program: &Path) -> Result<ExitStatus, String> {
        let write = |archive: &mut Archive| {
            text(archive, "node.toml", &project.settings)?;
            archive.append_file(&project.name, &mut File::open(program)?)
        };
        self.send("horus node install -", &program.display().to_string(), write)
    }

    /// Sends an archive to an installing command, and prints what that says. `shown` is what is sent, for people.
    pub fn send(
        &self,
        installs: &str,
        shown: &str,
        write: impl FnOnce(&mut Archive) -> io::Result<()>,
    ) -> Result<ExitStatus, String> {
        // As a unit of its own: what began ends well, also when the connection breaks off.
        let mut command = self.command(&[&format!("systemd-run --quiet --collect --pipe --wait {installs}")]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut ssh = spawned.map_err(|error| format!("cannot start {}: {error}", self.ssh[0]))?;
        let mut archive = tar::Builder::new(ssh.stdin.take().expect("stdin is a pipe"));
        // A program that a linker left with holes is sent as any other file.
        archive.sparse(false);
        let sent = write(&mut archive).and_then(|()| archive.into_inner()?.flush());
        self.pass_on(&mut ssh);
        let status = ssh.wait().map_err(|error| format!("{}: {error}", self.ssh[0]))?;
        match (status.code(), sent) {
            (Some(NO_CONNECTION), _) => Err(format!(
                "the connection to {} broke off: if all had arrived, its journal says what became of it; else nothing was changed",
                self.name()
            )),
            // A machine that refuses reads no further.
            (Some(0), Err(error)) => Err(format!("cannot send {shown}: {error}")),
            _ => Ok(status),
        }
    }

    fn pass_on(&self, ssh: &mut Child) {
        let stdout = ssh.stdout.take().expect("stdout is a pipe");
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let line = horus::outside::printable(&line);
            match line.strip_prefix("admitted: ") {
                Some(rest) => println!("admitted on {}: {rest}", self.name()),
                None => println!("{line}"),
            }
        }
    }
}

/// Adds a text to an archive.
pub fn text(archive: &mut Archive, path: &str, text: &str) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, path, text.as_bytes())
}
