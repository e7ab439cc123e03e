//! What actions there are, and where their goals stand: seen in the topics that they are made of.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use horus_shm::directory::Location;
use serde::Serialize;

use crate::table::{Head, table};
use crate::topic::goals::{self, Goal};
use crate::topic::parts::Parts;
use crate::topic::survey::Topic;
use crate::topic::{Process, process};

/// An action at some moment.
#[derive(Debug, Serialize)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Name of the goals' type.
    pub goal: Option<String>,
    /// Name of the feedbacks' type.
    pub feedback: Option<String>,
    /// Name of the results' type.
    pub result: Option<String>,
    /// Who serves it; none when no living process does.
    pub server: Option<Process>,
    /// The living clients.
    pub clients: usize,
    /// How many clients can live at once.
    pub clients_limit: usize,
    /// Goals that are not over, and the last ones that are; none where no living process serves it.
    pub goals: Vec<Goal>,
}

/// The actions that `topics` are of, by name. One that no program serves is there as long as a client waits for it.
pub fn actions(topics: &[Topic]) -> Vec<Action> {
    let parts = Parts::of(topics.iter().map(|topic| (topic.name.as_str(), topic.type_name.as_str())));
    let by_name: BTreeMap<&str, &Topic> = topics.iter().map(|topic| (topic.name.as_str(), topic)).collect();
    let of = |action: &str, part: &str| by_name.get(format!("{action}.{part}").as_str()).copied();
    parts.actions().map(|name| action(name, |part| of(name, part))).collect()
}

fn action<'a>(name: &str, part: impl Fn(&str) -> Option<&'a Topic>) -> Action {
    let type_of = |part: Option<&Topic>, suffix: &str| {
        part.map(|topic| topic.type_name.strip_suffix(suffix).unwrap_or(&topic.type_name).to_owned())
    };
    let living = |topic: &&'a Topic| topic.publishers.iter().find_map(|publisher| publisher.process.as_ref());
    let goals = part("goal");
    let server = part("goal.server").as_ref().and_then(living);
    Action {
        name: name.to_owned(),
        goal: type_of(goals, "_Goal"),
        feedback: type_of(part("feedback"), "_Feedback"),
        result: type_of(part("goal.answer.0"), "_Outcome"),
        clients: goals.map_or(0, |topic| topic.publishers.iter().filter(|lane| lane.process.is_some()).count()),
        clients_limit: goals.map_or(0, |topic| topic.publishers_limit),
        goals: server.and(part("status")).map_or_else(Vec::new, |status| goals::goals(Path::new(&status.file))),
        server: server.map(|process| Process { pid: process.pid, elsewhere: process.elsewhere }),
    }
}

const HEADS: [Head; 6] =
    [("ACTION", false), ("GOAL", false), ("FEEDBACK", false), ("RESULT", false), ("SERVER", false), ("CLIENTS", true)];

/// A line each, and under them their goals.
pub fn text(actions: &[Action], location: &Location) -> String {
    if actions.is_empty() {
        return format!("no actions in {}\n", location.path().display());
    }
    let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let row = |action: &Action| {
        let server = action.server.as_ref().map_or_else(|| "none".to_owned(), process);
        [
            action.name.clone(),
            known(&action.goal),
            known(&action.feedback),
            known(&action.result),
            server,
            format!("{}/{}", action.clients, action.clients_limit),
        ]
    };
    let mut text = table(&HEADS, &actions.iter().map(row).collect::<Vec<_>>());
    let rows = |action: &Action| -> Vec<_> {
        let row = |goal: &Goal| {
            let age = Duration::from_secs_f64(goal.age_s);
            [action.name.clone(), goal.id.clone(), goal.status.clone(), format!("{:.1} s ago", age.as_secs_f64())]
        };
        action.goals.iter().map(row).collect()
    };
    let goals: Vec<_> = actions.iter().flat_map(rows).collect();
    if !goals.is_empty() {
        text += "\n";
        text += &table(&[("ACTION", false), ("GOAL", false), ("STATUS", false), ("ACCEPTED", true)], &goals);
    }
    text
}
