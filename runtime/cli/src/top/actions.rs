//! Actions at one moment, taken out of the services that they are made of: who serves, who asks, and where the goals stand.

use horus::action::GoalStatus;
use horus_shm::directory::Directory;
use serde::Serialize;

use super::services::Service;
use super::topics::Topics;
use crate::topic::Process;
use crate::topic::goals::{Goal, goals};
use crate::topic::parts::Parts;

/// An action.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Who serves it; none when no living process does.
    pub server: Option<Process>,
    /// The living clients.
    pub clients: usize,
    /// Goals that are worked on, those that are being cancelled among them.
    pub executing: usize,
    /// Goals that were accepted and wait for their turn.
    pub waiting: usize,
    /// The goal that was accepted last.
    pub newest: Option<Goal>,
}

/// The actions of the look `now`. Their services leave `services`.
pub fn actions(now: &Topics, services: &mut Vec<Service>, directory: Option<&Directory>) -> Vec<Action> {
    let parts = Parts::of(now.seen.iter().map(|(name, seen)| (name.as_str(), seen.header.type_name.as_str())));
    let mut actions: Vec<_> =
        parts.actions().map(|name| Action { name: name.to_owned(), ..Action::default() }).collect();
    services.retain(|service| {
        let of = parts.action_of(&service.name).and_then(|name| actions.iter_mut().find(|action| action.name == name));
        let is_goal = |action: &Action| service.name.strip_prefix(&*action.name) == Some(".goal");
        let Some(action) = of else { return true };
        if is_goal(action) {
            (action.server, action.clients) = (service.server.clone(), service.clients);
        }
        false
    });
    for action in &mut actions {
        let status = format!("{}.status", action.name).parse().ok();
        let file = directory.zip(status).map(|(directory, status)| directory.file(&status));
        // What a server that is gone said of its goals holds no longer.
        action.stand(action.server.as_ref().and(file).map_or_else(Vec::new, |file| goals(&file)));
    }
    actions
}

impl Action {
    fn stand(&mut self, goals: Vec<Goal>) {
        let are = |states: &[GoalStatus]| {
            goals.iter().filter(|goal| states.iter().any(|state| goal.status == state.to_string())).count()
        };
        self.executing = are(&[GoalStatus::Executing, GoalStatus::Canceling]);
        self.waiting = are(&[GoalStatus::Accepted]);
        self.newest = goals.into_iter().min_by(|one, other| one.age_s.total_cmp(&other.age_s));
    }
}
