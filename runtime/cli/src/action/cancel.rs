//! `horus action cancel`: cancels a goal of any client, or all of them.

use std::fmt::Write;
use std::time::Duration;

use horus::action::{CancelAnswer, CancelGoal, GoalId};
use horus::service::{CallError, Client, Options};
use horus_shm::directory::{Directory, Location, TopicName};
use serde_json::json;

use crate::topic::goals::goals;
use crate::topic::json_line;

/// How long the server may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// What to cancel.
#[derive(clap::Args)]
pub struct Args {
    /// The action's name
    name: TopicName,
    /// The goal, by the first of its digits as `horus action list` shows them [default: all goals]
    goal: Option<String>,
}

/// Runs the command; what to print.
pub fn run(location: &Location, directory: Option<&Directory>, args: &Args, as_json: bool) -> Result<String, String> {
    let name = args.name.as_str();
    let no_server = || format!("no program serves the action {name}: see `horus action list`");
    let directory = directory.ok_or_else(no_server)?;
    let file_of = |part: &str| format!("{name}.{part}").parse().map(|topic: TopicName| directory.file(&topic));
    let status = file_of("status").map_err(|error| error.to_string())?;
    if !file_of("cancel").map_err(|error| error.to_string())?.exists() {
        return Err(no_server());
    }
    let goal = match &args.goal {
        None => GoalId::ZERO,
        Some(digits) => named(digits, &goals(&status).into_iter().map(|goal| goal.id).collect::<Vec<_>>(), name)?,
    };
    let options = Options::default().directory(location.path());
    let mut client = Client::<CancelGoal, CancelAnswer>::open(format!("{name}.cancel").as_str(), options)
        .map_err(|error| error.to_string())?;
    let request = CancelGoal { goal_id: goal.0, ..CancelGoal::default() };
    let answer = client.call(request, LIMIT).map_err(|error| match error {
        CallError::NotServed { .. } => no_server(),
        other => other.to_string(),
    })?;
    match answer.return_code {
        CancelAnswer::REJECTED => Err(format!("the program that serves {name} refuses to cancel that")),
        CancelAnswer::UNKNOWN_GOAL_ID => Err(format!("{name} knows no goal {goal}: see `horus action list`")),
        CancelAnswer::GOAL_TERMINATED => Err(format!("goal {goal} of {name} has ended already")),
        _ => Ok(text(&answer, as_json)),
    }
}

/// The goal whose digits begin so.
fn named(digits: &str, known: &[String], action: &str) -> Result<GoalId, String> {
    if let Ok(goal) = digits.parse() {
        return Ok(goal);
    }
    let mut found = known.iter().filter(|goal| !digits.is_empty() && goal.starts_with(&digits.to_lowercase()));
    match (found.next(), found.next()) {
        (Some(goal), None) => goal.parse().map_err(|error| format!("{error}")),
        (Some(_), Some(_)) => Err(format!("several goals of {action} begin with {digits}: name more of its digits")),
        (None, _) => Err(format!("{action} has no goal that begins with {digits}: see `horus action list`")),
    }
}

fn text(answer: &CancelAnswer, as_json: bool) -> String {
    let goals: Vec<String> = answer.goals().map(|goal| goal.to_string()).collect();
    if as_json {
        return json_line(&json!({ "canceling": goals }));
    }
    if goals.is_empty() {
        return "no goal is left to cancel\n".to_owned();
    }
    goals.iter().fold(String::new(), |mut text, goal| {
        let _ = writeln!(text, "goal {goal} is canceling");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_named_by_as_many_digits_as_tell_it_from_the_others() {
        let known = ["81230000000000000000000000000001", "81240000000000000000000000000001"].map(str::to_owned);
        assert_eq!(named("8123", &known, "drive_to").unwrap().to_string(), known[0]);
        assert!(named("812", &known, "drive_to").unwrap_err().contains("several goals"));
        assert!(named("9", &known, "drive_to").unwrap_err().contains("no goal that begins with 9"));
        assert!(named("", &known, "drive_to").is_err());
        let other = "00000000000000000000000000000009";
        assert_eq!(named(other, &known, "drive_to").unwrap().to_string(), other, "a whole number needs no list");
    }
}
