//! `horus deploy HOST`: from a project on a laptop to a node on the appliance.
//!
//! What the project is, its files tell: Cargo.toml (Rust), CMakeLists.txt (C and C++), pyproject.toml (Python).
//!
//! The program is built for the machine's processor, sent over SSH in one stream, checked, put in the place of the version that
//! runs, started and watched. A version that does not become ready is taken back there, also when the connection is lost.
//!
//! Exit status: 0 the new version runs, 1 it does not and what was there before runs again, 2 nothing was changed.

mod cargo;
mod cmake;
mod project;
mod python;
mod remote;
mod tool;
mod zig;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use horus::outside::printable;

use crate::new::sources;
use project::Project;
use remote::Remote;
use tool::Tool;

/// Nothing was changed.
const UNCHANGED: u8 = 2;

/// Command line of `horus deploy`.
#[derive(clap::Args)]
pub struct Args {
    /// The machine: NAME.local, an address, or USER@HOST; the user is root if none is named
    #[arg(value_name = "[USER@]HOST")]
    host: String,
    /// For Rust: what to build for [default: a static program for the machine's processor]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// For C and C++: the folder of the crate `horus`, whose sources libhorus is built from [default: $HORUS_SOURCE, or where this program
    /// was built]
    #[arg(long, value_name = "DIR", env = sources::VARIABLE)]
    horus: Option<PathBuf>,
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
    let program = build(args, &project, &machine)?;
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

/// Builds the program for a machine, as `uname -m` names its processor, and returns its file. It carries its C library (musl), so it runs
/// on every image, whatever that was built from.
fn build(args: &Args, project: &Project, machine: &str) -> Result<PathBuf, String> {
    if args.target.is_none() && !["x86_64", "aarch64"].contains(&machine) {
        return Err(format!("no program can be built for its processor '{machine}'"));
    }
    let Project { name, version, tool, .. } = project;
    if args.target.is_some() && !matches!(tool, Tool::Cargo(_)) {
        return Err("--target is for projects of cargo: build this one by hand, and install its folder with `horus node install`".to_owned());
    }
    println!("building {name} {version} for {machine}");
    match tool {
        Tool::Cargo(folder) => {
            let target = args.target.clone().unwrap_or_else(|| format!("{machine}-unknown-linux-musl"));
            cargo::build(name, &target, folder)
        }
        Tool::Cmake => cmake::build(name, machine, args.horus.as_deref()),
        Tool::Python => python::build(name),
    }
}
