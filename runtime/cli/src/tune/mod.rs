//! `horus tune`: gives a Linux that is not our image the same tuning, from the same files of `conf/`, and takes it back exactly.
//!
//! In reading order: `conf` (what the files want) -> `cpus` (which CPUs) -> `boot` (where the kernel command line stands) -> `plan`
//! (what becomes of it on this machine) -> `snapshot` (what was there before) -> `apply`, `verify`, `revert`. Below them: `root` (files
//! below a directory that stands for `/`), `live` (values of the running kernel), `commands` (other programs), `report` (the lines
//! on the screen).
//!
//! No value of the profile stands in this program: a change in `conf/` is a change of what it applies.
//!
//! Exit status: 0 done, 1 something could not be done and was said, 2 nothing was done. For `verify` as for `horus doctor`.

mod apply;
mod boot;
mod commands;
mod conf;
mod cpus;
pub mod live;
mod plan;
mod report;
mod revert;
pub mod root;
mod snapshot;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::cpus::CpuList;

use crate::audit::Tree;
use conf::Conf;
use report::Report;
use root::{Root, Steps};

/// Command line of `horus tune`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Directory of the profile [default: /usr/share/horus/conf, or conf/ of the repository that this program was built in]
    #[arg(long, global = true, value_name = "DIR")]
    conf: Option<PathBuf>,
    /// Work on a directory that stands for / instead of this machine
    #[arg(long, global = true, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Kill this process at its Nth step: shows that the next one puts everything right
    #[arg(long, global = true, value_name = "N", hide = true)]
    die_at_step: Option<u64>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Take a snapshot of what will change, then bring this machine to the profile
    Apply {
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
        /// CPUs for real-time nodes, such as 2-3 [default: those that the board's folder in conf/machine leaves]
        #[arg(long, value_name = "CPULIST")]
        isolate: Option<CpuList>,
        /// Folder of conf/machine whose CPU split and parameters are taken [default: the one that fits this machine]
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
    },
    /// Audit this machine by the rules of the profile, and say what only waits for a restart
    Verify,
    /// Restore everything that `apply` changed from its snapshot
    Revert,
}

/// Nothing was done.
const REFUSED: u8 = 2;

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match done(args) {
        Ok(status) => ExitCode::from(status),
        Err(reason) => {
            eprintln!("horus tune: {reason}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Does it; an error says why nothing was done.
fn done(args: &Args) -> Result<u8, String> {
    let root = Root::open(&args.root)?;
    let report = Report::default();
    let steps = Steps::new(args.die_at_step);
    match &args.command {
        Command::Verify => return verify::verify(&root, &conf_directory(args)?),
        Command::Apply { dry_run, .. } => may_change(&root, *dry_run)?,
        Command::Revert => may_change(&root, false)?,
    }
    match &args.command {
        Command::Apply { dry_run, isolate, board } => {
            let tree = Tree::open(root.top()).map_err(|unread| unread.0)?;
            let chosen = cpus::Choice { isolate: isolate.as_ref(), board: board.as_deref() };
            let conf = Conf::read(&conf_directory(args)?, cpus::board(&tree, &chosen))?;
            let split = cpus::split(&tree, &conf, &chosen)?;
            apply::apply(&root, &tree, &conf, &split, &steps, &report, *dry_run)?;
        }
        _ => revert::revert(&root, &steps, &report)?,
    }
    Ok(u8::from(report.failures() > 0))
}

/// Whether `root` is a machine that may be changed by whom we are.
fn may_change(root: &Root, only_looks: bool) -> Result<(), String> {
    if is_appliance(root) {
        return Err(
            "this is the HORUS image, which is tuned already and read-only; 'horus doctor' audits it".to_owned()
        );
    }
    if root.is_live() && !only_looks && !rustix::process::geteuid().is_root() {
        return Err("this changes settings of the whole machine: run it as root, with sudo".to_owned());
    }
    Ok(())
}

/// Our image says `IMAGE_ID=horus`, whichever recipe made it.
fn is_appliance(root: &Root) -> bool {
    let release = ["/etc/os-release", "/usr/lib/os-release"].iter().find_map(|path| root.text(path));
    release.is_some_and(|text| text.lines().any(|line| line.replace('"', "") == "IMAGE_ID=horus"))
}

/// The profile's directory.
fn conf_directory(args: &Args) -> Result<PathBuf, String> {
    if let Some(directory) = &args.conf {
        return Ok(directory.clone());
    }
    let installed = PathBuf::from("/usr/share/horus/conf");
    // Only above the program itself, never above the working directory: what stands there is not for root to obey.
    let program = std::env::current_exe().unwrap_or_default();
    let built = program.ancestors().skip(1).map(|above| above.join("conf"));
    let is_profile = |directory: &PathBuf| directory.join(conf::COMMAND_LINE).is_file();
    [installed].into_iter().chain(built).find(is_profile).ok_or_else(|| {
        "there is no profile in /usr/share/horus/conf: name the directory conf of the source with --conf".to_owned()
    })
}

/// `path` for people: without what stands for `/`.
fn named(path: &Path) -> String {
    path.display().to_string()
}
