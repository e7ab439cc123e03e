//! `horus action send`: sends a goal of any type, by the descriptions that stand in the action's topics.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use horus::action::{ActionClient, GoalStatus, Options, Outcome, Progress, SentGoal};
use horus::message::layout::{Layout, MadeOf};
use horus::time::parse_duration;
use horus::topic::Raw;
use horus_shm::directory::{Directory, Location, TopicName};
use serde::Serialize;
use serde_json::{Value, json};

use super::note;
use crate::output;
use crate::service::layouts::messages;
use crate::topic::json_line;
use crate::topic::message::{Kind, Shown, kind, text, write};

/// Elements of an array that are printed as text at most.
const ELEMENTS: usize = 128;
/// The time between two looks at Ctrl-C and at the server.
const LOOK: Duration = Duration::from_millis(20);

type Client = ActionClient<Raw, Raw, Raw>;

/// Whom to send what.
#[derive(clap::Args)]
pub struct Args {
    /// The action's name
    name: TopicName,
    /// The goal's values, such as 'x: 5.0'; what is not named is zero
    #[arg(default_value = "")]
    values: String,
    /// How long to wait for the outcome before the goal is canceled [default: without an end]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
}

/// What a goal, a feedback and a result are.
struct Types {
    goal: Layout,
    feedback: Layout,
    result: Layout,
}

/// Runs the command; what to print at its end.
pub fn run(location: &Location, directory: Option<&Directory>, args: &Args, as_json: bool) -> Result<String, String> {
    let name = args.name.as_str();
    let types = types(location, directory, name)?;
    let mut goal = vec![0; types.goal.payload().bytes];
    write(&kind_of(&types.goal), &args.values, &mut goal)
        .map_err(|reason| format!("{}: {reason}", types.goal.type_name()))?;
    let options = Options::default().directory(location.path());
    let mut client = Client::open_as(&args.name, &types.goal, &types.feedback, &types.result, options)
        .map_err(|error| error.to_string())?;
    if !client.is_served().map_err(|error| error.to_string())? {
        return Err(no_server(name));
    }
    let stop = horus::stop::on_termination().map_err(|error| error.to_string())?;
    let sent = client.send(goal).map_err(|error| error.to_string())?;
    let told = Told { feedback: kind_of(&types.feedback), result: kind_of(&types.result), as_json };
    let started = Instant::now();
    let is_over = || {
        if stop.load(Ordering::Relaxed) {
            return Some("Ctrl-C");
        }
        args.timeout.is_some_and(|limit| started.elapsed() >= limit).then_some("the time is up")
    };
    follow(&mut client, sent, &told, is_over)
}

/// Prints what becomes of the goal until it has ended.
fn follow(
    client: &mut Client,
    mut sent: SentGoal<Raw>,
    told: &Told,
    is_over: impl Fn() -> Option<&'static str>,
) -> Result<String, String> {
    let (started, mut is_canceled) = (Instant::now(), false);
    loop {
        if !is_canceled && let Some(why) = is_over() {
            note(&format!("{why}: canceling the goal"));
            let _asked = client.cancel(sent.id()).map_err(|error| error.to_string())?;
            is_canceled = true;
        }
        match sent.look(client).map_err(|error| error.to_string())? {
            Progress::Accepted => output::write(&told.accepted(&sent))?,
            Progress::Feedback(bytes) => output::write(&told.feedback(&bytes))?,
            Progress::Ended(outcome) => {
                let text = told.ended(&outcome, started.elapsed());
                if outcome.status == GoalStatus::Succeeded {
                    return Ok(text);
                }
                output::write(&text)?;
                return Err(said(&outcome));
            }
            Progress::Nothing => {
                if !client.wait(LOOK) {
                    client.check_server().map_err(|error| error.to_string())?;
                }
            }
        }
    }
}

fn said<T>(outcome: &Outcome<T>) -> String {
    match outcome.reason.as_str() {
        "" => format!("the goal was {}", outcome.status),
        reason => format!("the goal was {}: {reason}", outcome.status),
    }
}

/// How it is printed.
struct Told {
    feedback: Kind,
    result: Kind,
    as_json: bool,
}

impl Told {
    fn accepted(&self, sent: &SentGoal<Raw>) -> String {
        match self.as_json {
            true => json_line(&json!({ "event": "accepted", "goal": sent.id().to_string() })),
            false => format!("goal {} accepted\n", sent.id()),
        }
    }

    fn feedback(&self, bytes: &[u8]) -> String {
        let shown = Shown { kind: &self.feedback, bytes };
        match self.as_json {
            true => json_line(&json!({ "event": "feedback", "feedback": value(&shown) })),
            false => text(shown, ELEMENTS) + "---\n",
        }
    }

    fn ended(&self, outcome: &Outcome<Vec<u8>>, after: Duration) -> String {
        let result = outcome.result.as_ref().map(|bytes| Shown { kind: &self.result, bytes });
        if self.as_json {
            return json_line(&json!({
                "event": "ended",
                "status": outcome.status.to_string(),
                "reason": outcome.reason.as_str(),
                "after_s": after.as_secs_f64(),
                "result": result.as_ref().map(value),
            }));
        }
        let result = result.map_or_else(String::new, |shown| text(shown, ELEMENTS));
        format!("{result}{} after {:.1} s\n", outcome.status, after.as_secs_f64())
    }
}

fn value(shown: &impl Serialize) -> Value {
    serde_json::to_value(shown).expect("text and numbers are always JSON")
}

fn kind_of(layout: &Layout) -> Kind {
    kind(&layout.description(), layout.payload().bytes)
}

fn types(location: &Location, directory: Option<&Directory>, name: &str) -> Result<Types, String> {
    let Some(directory) = directory else {
        return Err(format!(
            "there are no topics in {}: start the program that serves {name}",
            location.path().display()
        ));
    };
    let body = |part: &str| -> Result<Option<Layout>, String> {
        let Some(found) = messages(directory, &format!("{name}.{part}"))? else { return Ok(None) };
        match found.layout.fields().last().map(|field| field.made_of()) {
            Some(MadeOf::Nested(body)) => Ok(Some(body.clone())),
            _ => Err(format!("{name}.{part} carries {}, which is no part of an action", found.layout.type_name())),
        }
    };
    let (goal, feedback, result) = (body("goal")?, body("feedback")?, body("goal.answer.0")?);
    match (goal, feedback, result) {
        (Some(goal), Some(feedback), Some(result)) => Ok(Types { goal, feedback, result }),
        _ => Err(no_server(name)),
    }
}

fn no_server(action: &str) -> String {
    format!("no program serves the action {action}: start it, or see `horus action list`")
}
