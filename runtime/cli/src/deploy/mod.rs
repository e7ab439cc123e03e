//! `horus deploy HOST`: from a project on a laptop to a node on the appliance. `horus deploy robot.toml HOST`: all programs of a robot.
//!
//! What the project is, its files tell: Cargo.toml (Rust), CMakeLists.txt (C and C++), pyproject.toml (Python).
//!
//! The program is built for the machine's processor, sent over SSH in one stream, checked, put in the place of the version that
//! runs, started and watched. A version that does not become ready is taken back there, also when the connection is lost.
//!
//! Exit status: 0 the new version runs, 1 it does not and what was there before runs again, 2 nothing was changed.

mod cargo;
mod cmake;
mod member;
mod project;
mod python;
pub mod remote;
mod robot;
mod tool;
mod zig;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};

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
    /// The machine: NAME.local, an address, or USER@HOST; the user is root if none is named. Before it, a robot.toml, of which all programs are
    /// deployed; else the project in this folder is
    #[arg(value_names = ["ROBOT.TOML", "[USER@]HOST"], num_args = 1..=2, required = true)]
    what: Vec<String>,
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
    let host = match &args.what[..] {
        [file, host] => return robot::deploy(args, Path::new(file), host),
        [file] if file.ends_with(".toml") => {
            return Err(format!(
                "{file} is deployed to a machine: name that, too, as in `horus deploy {file} robot.local`"
            ));
        }
        others => &others[0],
    };
    let project = Project::read(Path::new("."))?;
    let remote = Remote::new(host, &args.ssh)?;
    let machine = remote.machine()?;
    let program = build(args, &project, &machine)?;
    let status = remote.install(&project, &program)?;
    follow(args, &remote, status, &[&project.name])
}

/// What the machine said of an installation; of one that runs, its programs' journals.
fn follow(args: &Args, remote: &Remote, status: ExitStatus, names: &[&str]) -> Result<ExitCode, String> {
    if !status.success() {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(ExitCode::from(code.unwrap_or(1)));
    }
    if !args.no_follow {
        println!("following its journal, Ctrl-C leaves it running");
        let units: Vec<_> = names.iter().map(|name| format!("--unit=horus-node@{name}.service")).collect();
        let mut words = vec!["journalctl", "--follow", "--lines=5", "--no-hostname"];
        words.extend(units.iter().map(String::as_str));
        remote.command(&words).stdin(Stdio::null()).status().map_err(|error| error.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the program for a machine, as `uname -m` names its processor, and returns its file. It carries its C library (musl), so it runs
/// on every image, whatever that was built from.
fn build(args: &Args, project: &Project, machine: &str) -> Result<PathBuf, String> {
    if args.target.is_none() && !["x86_64", "aarch64"].contains(&machine) {
        return Err(format!("no program can be built for its processor '{machine}'"));
    }
    let Project { name, version, tool, folder, .. } = project;
    if args.target.is_some() && !matches!(tool, Tool::Cargo(_)) {
        return Err("--target is for projects of cargo: build this one by hand, and install its folder with `horus node install`".to_owned());
    }
    println!("building {name} {version} for {machine}");
    match tool {
        Tool::Cargo(programs) => {
            let target = args.target.clone().unwrap_or_else(|| format!("{machine}-unknown-linux-musl"));
            cargo::build(name, &target, folder, programs)
        }
        Tool::Cmake => cmake::build(name, machine, folder, args.horus.as_deref()),
        Tool::Python => python::build(name, folder),
    }
}
