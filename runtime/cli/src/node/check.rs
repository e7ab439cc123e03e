//! `horus node check`: whether the nodes of a program would meet their deadlines here, before it runs.
//!
//! Exit status: 0 admitted, 1 refused, 2 it could not be checked.

mod describe;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use horus::admission::{Assessment, TaskError};
use horus::figures::Everywhere;
use horus::graph::{AdmitError, Admitted, Machine, admit};
use horus::outside::printable;
use horus::time::parse_duration;
use horus_shm::directory::{Directory, Location};
use serde::Serialize;

use crate::installed::user::DESCRIPTION_LIMIT;
use crate::output::write;
use crate::topic::json;

/// The program, or the machine, did not say what the check needs.
const NOT_CHECKED: u8 = 2;

/// Command line of `horus node check`.
#[derive(clap::Args)]
pub struct Args {
    /// The program's node.toml
    file: PathBuf,
    /// The program [default: the file in the folder of FILE that its line `program =` names]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Count the nodes that run now in all namespaces, too, but for those of the same program in this one
    #[arg(long)]
    with_running: bool,
    /// How long the program may take to describe its nodes
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, hide = true)]
    time_limit: Duration,
    /// Read CPUs and release jitter of the machine below this directory
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
    /// Run the program as the user of nodes
    #[arg(long, hide = true)]
    runs_as_nodes_do: bool,
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Checked<'a> {
    /// Version of this structure.
    schema: &'static str,
    /// Whether nothing is refused.
    admitted: bool,
    program: &'a str,
    nodes: Vec<Verdict>,
    chains: Vec<Chain>,
    /// Nodes that ask each other in a circle.
    circles: Vec<Circle>,
    /// What is printed otherwise.
    text: &'a [String],
}

/// What is said of a node.
#[derive(Serialize)]
struct Verdict {
    /// Its name; with its program's where several run.
    name: String,
    /// `admitted`, `refused` or `not analysed`.
    verdict: &'static str,
    cpu: Option<u32>,
    deadline_ns: Option<u64>,
    /// The bound of its response, where there is one.
    worst_response_ns: Option<u64>,
    /// Why it is not analysed.
    reason: Option<String>,
    /// What would make it fit.
    remedies: Vec<String>,
    /// Analysed nodes that it may hold up.
    holds_up: Vec<String>,
}

/// What is said of a chain.
#[derive(Serialize)]
struct Chain {
    nodes: Vec<String>,
    refused: bool,
    limit_ns: u64,
    predicted_ns: Option<u64>,
    reason: Option<String>,
}

/// Nodes that ask each other in a circle.
#[derive(Serialize)]
struct Circle {
    /// Each asks the next one, and the last one the first one.
    calls: Vec<Call>,
    refused: bool,
}

/// A node of a circle, and the service that it asks.
#[derive(Serialize)]
struct Call {
    node: String,
    service: String,
}

/// Runs the command.
pub fn run(args: &Args, location: Result<Location, String>, as_json: bool) -> ExitCode {
    match check(args, location) {
        Ok(found) => {
            let Found { program, admitted, .. } = &found;
            let lines: Vec<_> = found.text().lines().map(printable).collect();
            let text = if as_json { json(&checked(program, admitted, &lines)) } else { lines.join("\n") + "\n" };
            match write(&text) {
                Ok(()) => ExitCode::from(status(program, admitted)),
                Err(reason) => {
                    eprintln!("horus node: {reason}");
                    ExitCode::from(NOT_CHECKED)
                }
            }
        }
        Err(Failure { reason, status }) => {
            let lines: Vec<_> = reason.lines().map(printable).collect();
            eprintln!("horus node: {}", lines.join("\n"));
            ExitCode::from(status)
        }
    }
}

/// 0 all of the program's nodes are admitted, 1 something is refused, 2 a node of the program was not analysed. What runs beside it is another's
/// affair.
fn status(program: &str, admitted: &Admitted) -> u8 {
    // A name has its program's before it where several are asked about.
    let is_own = |name: &str| name.split_once('/').is_none_or(|(of, _)| of == program);
    match admitted.not_analysed.iter().any(|node| is_own(&node.name)) {
        _ if !admitted.is_admitted() => 1,
        true => NOT_CHECKED,
        false => 0,
    }
}

/// For who installs: what is said of the nodes of a program that is admitted beside those that run; else why it is not.
pub fn admitted(file: &Path, location: Result<Location, String>) -> Result<String, String> {
    let args = Args {
        file: file.to_owned(),
        program: None,
        with_running: true,
        time_limit: DESCRIPTION_LIMIT,
        root: PathBuf::from("/"),
        runs_as_nodes_do: true,
    };
    match check(&args, location) {
        Ok(found) if found.admitted.is_admitted() => Ok(found.text()),
        Ok(found) => Err(found.text()),
        Err(failure) => Err(failure.reason),
    }
}

/// Why there is no prediction, and the exit status for it.
struct Failure {
    reason: String,
    status: u8,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, status: NOT_CHECKED }
    }
}

impl From<AdmitError> for Failure {
    /// Times that contradict each other are the graph's fault; the rest is about what was asked.
    fn from(error: AdmitError) -> Self {
        let is_undecided = matches!(
            error,
            AdmitError::Cpu { .. }
                | AdmitError::SchedulingPolicy { .. }
                | AdmitError::Tasks(TaskError::TooMany(_) | TaskError::DuplicateName(_))
        );
        match is_undecided {
            true => error.to_string().into(),
            false => Self { reason: format!("refused: {error}"), status: 1 },
        }
    }
}

/// What is said of a program's nodes.
struct Found {
    program: String,
    admitted: Admitted,
    /// What runs beside them and could not be looked at.
    unseen: Option<String>,
}

impl Found {
    fn text(&self) -> String {
        let unseen = self.unseen.as_ref().map(|unseen| format!("\n{unseen}")).unwrap_or_default();
        format!("{}{unseen}", self.admitted)
    }
}

fn check(args: &Args, location: Result<Location, String>) -> Result<Found, Failure> {
    let program = describe::program(&args.file, args.program.as_deref())?;
    let info = describe::describe(&program, &args.file, args.time_limit, args.runs_as_nodes_do)?;
    let name = info.name.clone();
    let mut processes = vec![info];
    let mut unseen = None;
    if args.with_running {
        let location = location?;
        // A user who may not see the own namespace is told the reason.
        Directory::find(location.path()).map_err(|error| error.to_string())?;
        let everywhere = Everywhere::look(&location);
        // One of the same name in another namespace goes on beside it.
        processes.extend(everywhere.programs().into_iter().filter(|info| info.name != name));
        unseen = everywhere.unseen();
    }
    Ok(Found { admitted: admit(&processes, &Machine::at(&args.root))?, program: name, unseen })
}

fn checked<'a>(program: &'a str, admitted: &Admitted, text: &'a [String]) -> Checked<'a> {
    let analysed = admitted.admission.assessments().iter().map(verdict);
    let others = admitted.not_analysed.iter().map(|node| Verdict {
        name: node.name.clone(),
        verdict: if node.reason.is_refusal() { "refused" } else { "not analysed" },
        cpu: None,
        deadline_ns: None,
        worst_response_ns: None,
        reason: Some(node.reason.to_string()),
        remedies: Vec::new(),
        holds_up: node.holds_up.clone(),
    });
    let chains = admitted.chains.iter().map(|chain| Chain {
        nodes: chain.nodes.clone(),
        refused: chain.is_refused,
        limit_ns: nanos(chain.limit),
        predicted_ns: chain.predicted.as_ref().ok().map(|time| nanos(*time)),
        reason: chain.predicted.as_ref().err().cloned(),
    });
    let circles = admitted.circles.iter().map(|circle| Circle {
        calls: circle
            .calls
            .iter()
            .map(|call| Call { node: call.node.clone(), service: call.service.clone() })
            .collect(),
        refused: circle.is_refused(),
    });
    Checked {
        schema: "horus-admission/1",
        admitted: admitted.is_admitted(),
        program,
        nodes: analysed.chain(others).collect(),
        chains: chains.collect(),
        circles: circles.collect(),
        text,
    }
}

fn verdict(assessment: &Assessment) -> Verdict {
    Verdict {
        name: assessment.task.name.clone(),
        verdict: if assessment.is_refused() { "refused" } else { "admitted" },
        cpu: Some(assessment.task.cpu),
        deadline_ns: Some(nanos(assessment.task.deadline)),
        worst_response_ns: assessment.worst_response().map(nanos),
        reason: None,
        remedies: assessment.remedies.iter().map(ToString::to_string).collect(),
        holds_up: Vec::new(),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
