//! `horus settings`: the file `horus.toml` of the boot partition, by which a machine is reached: host name, SSH keys, network, Wi-Fi, time.
//!
//! In reading order: `file` (text to settings, each section by itself) -> `value` and `key` (what may stand in it) -> `outputs` (which files below
//! /run they become) -> `boot_partition` (where the file is) -> `apply` (the boot's part).
//!
//! Exit status of `check`: 0 all of it would be used, 1 something would not, 2 the file cannot be read. `apply` ends with 0 whatever the file
//! says: a mistake in it is told, and is no failure of the machine.

mod apply;
mod boot_partition;
mod file;
mod key;
mod outputs;
mod value;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::outside::printable;

/// The name of the file in the root of the boot partition.
const NAME: &str = "horus.toml";

/// Command line of `horus settings`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say what a machine would make of a settings file, and where it would not use it
    Check {
        /// The file, as it will be called horus.toml on the boot partition
        file: PathBuf,
    },
    /// Read the boot partition and write what follows below /run; done at boot
    #[command(hide = true)]
    Apply {
        /// Read and write below this directory, and mount nothing
        #[arg(long, value_name = "DIR", default_value = "/")]
        root: PathBuf,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match &args.command {
        Command::Check { file } => check(file),
        Command::Apply { root } => apply::run(root),
    }
}

fn check(path: &Path) -> ExitCode {
    let (settings, problems) = match file::load(path) {
        Ok(read) => read,
        Err(reason) => {
            eprintln!("{}: {reason}", path.display());
            return ExitCode::from(2);
        }
    };
    for line in settings.describe() {
        println!("{}", printable(&line));
    }
    for problem in &problems {
        eprintln!("{}", printable(&format!("{}:{problem}", path.display())));
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}
