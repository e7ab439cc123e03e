//! `horus gateway`: serves topics to programs outside of this machine, by what its settings allow; and `horus tap`, a client of it.
//!
//! Exit status: 0 it was ended by a signal, 1 it could not start or go on.

pub mod tap;

use std::path::PathBuf;
use std::process::ExitCode;

use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::{Directory, Location};

/// Command line of `horus gateway`.
#[derive(clap::Args)]
pub struct Args {
    /// The settings
    #[arg(long, value_name = "FILE", default_value = "/etc/horus/gateway.toml")]
    config: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("horus gateway: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let config = Config::read(&args.config).map_err(|error| format!("{}: {error}", args.config.display()))?;
    if config.listen.is_empty() {
        return Err(format!(
            "{}: it listens nowhere: write `listen = [{{ unix = \"/run/horus/gateway.sock\" }}]`",
            args.config.display()
        ));
    }
    let location = Location::from_environment().map_err(|error| text(&error))?;
    let directory = Directory::at(&location.directory)
        .and_then(|directory| directory.in_namespace(&location.namespace))
        .map_err(|error| text(&error))?;
    let stop = horus::stop::on_termination().map_err(|error| text(&error))?;
    let topics = config.topics.len();
    let mut server = Server::open(config, directory).map_err(|error| text(&error))?;
    for address in server.addresses() {
        println!("{address}");
    }
    horus::supervise::notify_ready(&format!("{topics} topics on {}", server.addresses().join(", ")));
    server.run(&stop).map_err(|error| text(&error))
}
