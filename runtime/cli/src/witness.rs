//! `horus witness`: the service that traces the real-time CPUs, and says to nodes who broke their deadlines (crate `horus-witness`).

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::cpus::{self, CpuList};
use horus::journal::{Entry, Priority, id};
use horus::supervise::notify_ready;
use horus::witness::protocol::SOCKET;
use horus_witness::{Config, Listen, Notice, TRACEFS, TRACES};
use rustix::net::SocketType;

/// Command line of `horus witness`.
#[derive(clap::Args)]
pub struct Args {
    /// Where the kernel's tracer is
    #[arg(long, value_name = "DIR", default_value = TRACEFS)]
    tracefs: PathBuf,
    /// Where frozen traces are kept
    #[arg(long, value_name = "DIR", default_value = TRACES)]
    directory: PathBuf,
    /// How many megabytes of them are kept; the oldest go first
    #[arg(long, value_name = "MB", default_value_t = 64)]
    quota: u64,
    /// Trace these CPUs [default: the isolated ones]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Listen here, unless systemd gives a socket as standard input
    #[arg(long, value_name = "SOCKET", default_value = SOCKET)]
    listen: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("horus witness: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let stop = horus::stop::on_termination()?;
    let cpus = args.cpus.clone().unwrap_or_else(|| cpus::isolated(Path::new("/")));
    if cpus.is_empty() {
        eprintln!("horus witness: no CPU is isolated, so there is none to trace: programs are told so");
    }
    let config = Config {
        tracefs: args.tracefs.clone(),
        cpus: cpus.iter().collect(),
        traces: args.directory.clone(),
        quota_bytes: args.quota.saturating_mul(1_000_000),
        listen: given_socket().unwrap_or_else(|| Listen::Path(args.listen.clone())),
    };
    Ok(horus_witness::serve(config, &stop, &mut tell)?)
}

/// What systemd gives by `StandardInput=socket`; nothing where a person started it.
fn given_socket() -> Option<Listen> {
    let input = std::io::stdin();
    match rustix::net::sockopt::socket_type(&input) {
        Ok(SocketType::SEQPACKET) => input.as_fd().try_clone_to_owned().ok().map(Listen::Socket),
        _ => None,
    }
}

/// Tells the journal. Nodes wait for the witness to be ready, which it is when it traces or knows that it cannot.
fn tell(notice: Notice) {
    if let Notice::Started { .. } = notice {
        notify_ready(&notice.to_string());
    }
    entry(&notice).send_or_print();
}

/// What the journal gets: trouble as a warning, so that `journalctl -p warning` shows it.
fn entry(notice: &Notice) -> Entry {
    let text = notice.to_string();
    let priority = if notice.is_warning() { Priority::Warning } else { Priority::Info };
    match notice {
        Notice::Started { cpus } => {
            let which = if cpus.is_empty() { "none".to_owned() } else { cpus.to_string() };
            Entry::new(id::WITNESS_STARTED, priority, text).field("HORUS_CPUS", which)
        }
        Notice::Missing(_) | Notice::NotTraced { .. } => {
            Entry::new(id::WITNESS_MISSING, priority, text.clone()).field("HORUS_MISSING", text)
        }
        // No search asks for these by an identifier.
        Notice::NotRead { .. } | Notice::NotKept { .. } | Notice::Thawed { .. } | Notice::Ended { .. } => {
            Entry::plain(priority, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_of_the_witness_is_a_warning_in_the_journal_and_the_normal_course_is_none() {
        let reason = || "no space left on device".to_owned();
        for trouble in [
            Notice::NotTraced { cpu: Some(2), reason: reason() },
            Notice::NotRead { cpu: 2, reason: reason() },
            Notice::NotKept { reason: reason() },
            Notice::Ended { process: 7, reason: reason() },
        ] {
            let entry = entry(&trouble);
            assert_eq!((entry.priority(), entry.message()), (Priority::Warning, &*trouble.to_string()));
            entry.check().unwrap();
        }
        for usual in [Notice::Started { cpus: CpuList::default() }, Notice::Thawed { cpu: 2 }] {
            assert_eq!(entry(&usual).priority(), Priority::Info, "{usual}");
        }
    }
}
