//! The nodes of a world, as its simulation calls them.

use std::sync::Arc;
use std::time::Duration;

use horus_sys::clock::stamp_virtually;

use super::fault::{Event, Faults};
use crate::app::{ThreadPlan, virtual_cpu};
use crate::conduct::BEGINNING;
use crate::executor::Runner;
use crate::figures::Sheet;
use crate::graph::NodeInfo;
use crate::simulation::{self, Activation, Job, Jobs, Simulation, TaskId};
use crate::startup::SchedulingPolicy;
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
pub(crate) struct Running {
    actors: Vec<Actor>,
    events: Vec<Event>,
    /// Whether all of this process is in its time, and no test looks at what happened.
    is_process: bool,
    /// Whose step ran last.
    last: Option<usize>,
}

impl Running {
    /// A program's threads and nodes, at the time when worlds begin.
    pub fn arrange(
        threads: Vec<ThreadPlan>,
        nodes: &[NodeInfo],
        sheet: &Arc<Sheet>,
    ) -> crate::Result<(Simulation, Self)> {
        let mut simulation = Simulation::starting_at(BEGINNING);
        let mut running = Self::default();
        for plan in threads {
            let priority = virtual_priority(plan.thread.policy);
            let thread = simulation.add_thread(virtual_cpu(plan.thread.cpu), priority);
            for (node, parts) in plan.nodes.into_iter().zip(plan.runners) {
                let mut runner = Runner::new(parts, sheet.of(node));
                let info = &nodes[node];
                if info.period_ns > 0 && info.on.is_some() {
                    let text = "has a period and an event: a virtual world releases a node by one of them only";
                    return Err(crate::Error::new(format!("node {} {text}", info.name)));
                }
                let activation = match runner.first_release(BEGINNING) {
                    Some(first_release) => {
                        Activation::Periodic { first_release, period: Duration::from_nanos(info.period_ns) }
                    }
                    // The runner keeps the gap itself.
                    None => Activation::Sporadic { min_inter_arrival: Duration::from_nanos(1) },
                };
                let task = simulation.add_task(thread, priority, activation);
                running.add(task, &info.name, runner);
            }
        }
        Ok((simulation, running))
    }

    /// Has steps stamp by their time what they send by themselves, and keeps no list of what happened.
    pub fn of_this_process(self) -> Self {
        Self { is_process: true, ..self }
    }

    fn add(&mut self, task: TaskId, name: &str, runner: Runner<'static>) {
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

    pub(super) fn faults(&mut self, node: &str) -> &mut Faults {
        let task = self.actor(node).task;
        &mut self.actors[task.index()].faults
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All nodes, with their names.
    pub fn runners(&self) -> impl Iterator<Item = (&str, &Runner<'static>)> {
        self.actors.iter().map(|actor| (&*actor.name, &actor.runner))
    }

    pub fn runners_mut(&mut self) -> impl Iterator<Item = &mut Runner<'static>> {
        self.actors.iter_mut().map(|actor| &mut actor.runner)
    }

    /// The node whose step ran last.
    pub fn last(&self) -> Option<&str> {
        self.last.map(|place| &*self.actors[place].name)
    }

    /// Whether all nodes have used up their releases.
    pub fn have_ended(&self) -> bool {
        self.actors.iter().all(|actor| actor.runner.has_ended())
    }

    pub fn has_stopped(&self) -> bool {
        self.actors.iter().any(|actor| actor.runner.has_stopped())
    }

    /// Releases the nodes whose events have come by `now`, which may be later than the simulation's.
    pub fn release_by_events(&mut self, simulation: &mut Simulation, now: MonotonicTime) {
        for actor in &mut self.actors {
            if let Some(release) = actor.runner.take_event(now) {
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
        if self.is_process {
            return;
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
        self.last = Some(job.task.index());
        if self.is_process {
            stamp_virtually(at.as_nanos());
        }
        actor.runner.step(actor.event.take().unwrap_or(job.release), at, at.as_nanos());
        execution
    }
}

/// Real-time threads by their number; what the kernel runs before them stands above, and what it runs behind them below.
fn virtual_priority(policy: SchedulingPolicy) -> u8 {
    match policy {
        SchedulingPolicy::Inherited | SchedulingPolicy::Other => 0,
        SchedulingPolicy::Fifo(priority) | SchedulingPolicy::RoundRobin(priority) => priority.get(),
        SchedulingPolicy::Deadline => u8::MAX,
    }
}
