//! `horus deploy HOST`: from a project on a laptop to a node on the appliance.
//!
//! The program is built for the machine's processor, sent over SSH in one stream, checked, put in the place of the version that
//! runs, started and watched. A version that does not become ready is taken back there, also when the connection is lost.
//!
//! Exit status: 0 the new version runs, 1 it does not and what was there before runs again, 2 nothing was changed.

mod build;
mod project;
mod remote;

use std::path::Path;
use std::process::{ExitCode, Stdio};

use crate::topic::printable;
use project::Project;
use remote::Remote;

/// Nothing was changed.
const UNCHANGED: u8 = 2;

/// Command line of `horus deploy`.
#[derive(clap::Args)]
pub struct Args {
    /// The machine: NAME.local, an address, or USER@HOST; the user is root if none is named
    #[arg(value_name = "[USER@]HOST")]
    host: String,
    /// What to build for [default: a static program for the machine's processor]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Do not follow the node's journal afterwards
    #[arg(long)]
    no_follow: bool,
    /// How SSH is started, such as "ssh -p 2222 -i key"
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    ssh: String,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match deploy(args) {
        Ok(code) => code,
        Err(reason) => {
            eprintln!("horus deploy: {}", reason.lines().map(printable).collect::<Vec<_>>().join("\n"));
            ExitCode::from(UNCHANGED)
        }
    }
}

fn deploy(args: &Args) -> Result<ExitCode, String> {
    let project = Project::read(Path::new("."))?;
    let remote = Remote::new(&args.host, &args.ssh)?;
    let machine = remote.machine()?;
    let target = args.target.clone().map_or_else(|| build::target_for(&machine), Ok)?;
    println!("building {} {} for {machine}", project.name, project.version);
    let program = build::build(&project, &target)?;
    let status = remote.install(&project, &program)?;
    if !status.success() {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(ExitCode::from(code.unwrap_or(1)));
    }
    if !args.no_follow {
        println!("following its journal, Ctrl-C leaves it running");
        let unit = format!("--unit=horus-node@{}.service", project.name);
        let mut follow = remote.command(&["journalctl", "--follow", "--lines=5", "--no-hostname", &unit]);
        follow.stdin(Stdio::null()).status().map_err(|error| error.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
