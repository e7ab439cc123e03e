//! `horus bridge`: runs the program `horus-bridge`, which is a package of its own, because it brings DDS and Zenoh.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The program, beside this one or on the path.
const PROGRAM: &str = "horus-bridge";

/// Command line of `horus bridge`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// What horus-bridge is told: ros2 --dds --to-ros imu=/imu, and so on; --help says all
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Becomes the program.
pub fn run(args: &Args) -> ExitCode {
    let beside =
        std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM))).filter(|path| path.exists());
    let error = Command::new(beside.unwrap_or_else(|| PathBuf::from(PROGRAM))).args(&args.arguments).exec();
    if error.kind() == ErrorKind::NotFound {
        eprintln!(
            "horus bridge: {PROGRAM} is not installed: it is a program of its own, because it brings DDS and Zenoh. Build it by \
             `cargo build --release` in runtime/bridge and put it beside horus; docs/ros2.md says more"
        );
    } else {
        eprintln!("horus bridge: cannot start {PROGRAM}: {error}");
    }
    ExitCode::FAILURE
}
