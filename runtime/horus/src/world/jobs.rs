//! The nodes of a world, as its simulation calls them.

use std::time::Duration;

use super::fault::{Event, Faults};
use crate::executor::Runner;
use crate::simulation::{self, Job, Jobs, Simulation, TaskId};
use crate::time::MonotonicTime;

/// A node.
struct Actor {
    task: TaskId,
    name: String,
    runner: Runner<'static>,
    faults: Faults,
    /// Whether the job under way is one that the node leaves out.
    is_left_out: bool,
    /// When the event came that releases the next job.
    event: Option<MonotonicTime>,
}

/// All nodes, by the numbers of their tasks.
#[derive(Default)]
pub(super) struct Running {
    actors: Vec<Actor>,
    events: Vec<Event>,
}

impl Running {
    pub fn add(&mut self, task: TaskId, name: &str, runner: Runner<'static>) {
        debug_assert_eq!(task.index(), self.actors.len());
        let actor =
            Actor { task, name: name.to_owned(), runner, faults: Faults::default(), is_left_out: false, event: None };
        self.actors.push(actor);
    }

    fn actor(&self, node: &str) -> &Actor {
        self.actors.iter().find(|actor| actor.name == node).unwrap_or_else(|| panic!("the world has no node {node}"))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.actors.iter().map(|actor| &*actor.name)
    }

    pub fn of(&self, node: &str) -> &Runner<'static> {
        &self.actor(node).runner
    }

    pub fn faults(&mut self, node: &str) -> &mut Faults {
        let task = self.actor(node).task;
        &mut self.actors[task.index()].faults
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn has_stopped(&self) -> bool {
        self.actors.iter().any(|actor| actor.runner.has_stopped())
    }

    /// Releases the nodes whose events have come.
    pub fn release_by_events(&mut self, simulation: &mut Simulation) {
        for actor in &mut self.actors {
            if let Some(release) = actor.runner.take_event(simulation.now()) {
                actor.event = Some(release);
                let _ = simulation.trigger(actor.task, release); // the runner asks once at a time
            }
        }
    }

    /// Takes note of what happened.
    pub fn take(&mut self, event: &simulation::Event) {
        let (job, at, is_end) = match event {
            simulation::Event::Start { job, at } => (job, *at, false),
            simulation::Event::Complete { job, at, .. } => (job, *at, true),
            _ => return,
        };
        let actor = &mut self.actors[job.task.index()];
        if actor.is_left_out {
            return;
        }
        if is_end {
            actor.runner.publish(at);
            actor.runner.finish(at, 0, 0, at.as_nanos());
        }
        self.events.push(Event { at, node: actor.name.clone(), cycle: job.number, is_end });
    }
}

impl Jobs for Running {
    fn jitter(&mut self, job: &Job) -> Duration {
        self.actors[job.task.index()].faults.next_lateness()
    }

    fn start(&mut self, job: &Job, at: MonotonicTime) -> Duration {
        let actor = &mut self.actors[job.task.index()];
        actor.is_left_out = !actor.runner.serves(job.release);
        if actor.is_left_out {
            return Duration::ZERO;
        }
        let execution = actor.faults.next_execution();
        actor.runner.step(actor.event.take().unwrap_or(job.release), at, at.as_nanos());
        execution
    }
}
