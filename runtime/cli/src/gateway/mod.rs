//! `horus gateway`: serves topics to programs outside of this machine, by what its settings allow; and `horus tap`, a client of it.
//!
//! Exit status: 0 it was ended by a signal, 1 it could not start or go on.

pub mod identity;
mod tally;
pub mod tap;

use std::path::PathBuf;
use std::process::ExitCode;

use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::{Directory, Location};
use rustix::process::{Resource, getrlimit, setrlimit};

/// Open files that are no client's: topics, logs, where it listens.
const OWN_FILES: usize = 256;

/// Command line of `horus gateway`.
#[derive(clap::Args)]
pub struct Args {
    /// The settings [default: /var/lib/horus/gateway.toml, or /etc/horus/gateway.toml where that is not there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
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
    let file = args.config.clone().unwrap_or_else(usual_settings);
    let config = Config::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    if config.listen.is_empty() {
        return Err(format!(
            "{}: it listens nowhere: write `listen = [{{ unix = \"/run/horus/gateway/socket\" }}]`",
            file.display()
        ));
    }
    allow_files(config.limits.clients)?;
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

/// The file on the data partition, because `/etc` is read-only on the appliance; elsewhere that of `/etc`.
fn usual_settings() -> PathBuf {
    let data = PathBuf::from("/var/lib/horus/gateway.toml");
    if data.exists() { data } else { "/etc/horus/gateway.toml".into() }
}

/// Has the kernel allow an open file for each client, as far as this user may have it.
fn allow_files(clients: usize) -> Result<(), String> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let wanted = (clients + OWN_FILES) as u64;
    match limit.maximum {
        Some(maximum) if maximum < wanted => Err(format!(
            "limits.clients = {clients} needs {wanted} open files, and {maximum} are allowed: lower it, or raise LimitNOFILE of the \
             unit (`ulimit -n` in a shell)"
        )),
        _ => setrlimit(Resource::Nofile, limit).map_err(|error| format!("cannot have {wanted} open files: {error}")),
    }
}
