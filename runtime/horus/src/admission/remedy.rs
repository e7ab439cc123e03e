//! Single changes that would make a refused task fit. Each one that is named was tried by a new analysis.

use std::fmt;
use std::time::Duration;

use super::check::check;
use super::span::Span;
use super::task::{Task, TaskPolicy};
use super::{Assessment, assess, assess_all, levels, thread_priority};

/// The highest priority that is suggested: 99 is that of the kernel's own threads, which move tasks and watch CPUs.
const HIGHEST_SUGGESTED: u8 = 98;
/// How many of the tasks with the largest parts are tried; with a smaller part there is little to win.
const TRIED: usize = 3;
/// By what the period of another task is lengthened, in this order.
const SLOWER: [u32; 4] = [2, 4, 8, 16];

/// One change of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Pins a task to another CPU, on a thread of its own.
    Move {
        /// The task.
        task: String,
        /// The CPU.
        cpu: u32,
    },
    /// Gives a task the priority `above + 1`.
    Raise {
        /// The task.
        task: String,
        /// The priority that is too low.
        above: u8,
        /// Whether the task leaves a thread that it shares.
        own_thread: bool,
    },
    /// Lets a task run more seldom.
    Slow {
        /// The task.
        task: String,
        /// Its new period or minimum inter-arrival time.
        distance: Duration,
    },
}

impl Remedy {
    /// The name of the task that is changed.
    pub fn task(&self) -> &str {
        match self {
            Self::Move { task, .. } | Self::Raise { task, .. } | Self::Slow { task, .. } => task,
        }
    }

    /// Makes the change. A name that is not in the set changes nothing.
    pub fn apply(&self, tasks: &mut [Task]) {
        let Some(index) = tasks.iter().position(|task| task.name == self.task()) else { return };
        match *self {
            Self::Move { cpu, .. } => {
                tasks[index].thread = unused_thread(tasks, cpu);
                tasks[index].cpu = cpu;
            }
            Self::Raise { above, own_thread, .. } => {
                if own_thread {
                    tasks[index].thread = unused_thread(tasks, tasks[index].cpu);
                }
                tasks[index].policy = tasks[index].policy.with_priority(above.saturating_add(1));
            }
            Self::Slow { distance, .. } => tasks[index].arrival = tasks[index].arrival.with_distance(distance),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move { task, cpu } => write!(out, "move {task} to CPU {cpu}"),
            Self::Raise { task, above, own_thread: false } => write!(out, "give {task} a priority above {above}"),
            Self::Raise { task, above, own_thread: true } => {
                write!(out, "give {task} a thread of its own with a priority above {above}")
            }
            Self::Slow { task, distance } => write!(out, "run {task} only every {}", Span(*distance)),
        }
    }
}

/// The lowest number that no thread of the CPU has.
fn unused_thread(tasks: &[Task], cpu: u32) -> u32 {
    let used = |number: &u32| tasks.iter().any(|task| (task.cpu, task.thread) == (cpu, *number));
    (0..).find(|number| !used(number)).unwrap_or(u32::MAX) // a set is far smaller than the numbers
}

/// At most one remedy of each kind for the task at `index`, of those that admit it and refuse no task that was
/// admitted.
pub(super) fn find(index: usize, before: &[Assessment], cpus: &[u32]) -> Vec<Remedy> {
    if !before[index].is_refused() {
        return Vec::new();
    }
    let tasks: Vec<Task> = before.iter().map(|assessment| assessment.task.clone()).collect();
    let candidates = [moves(index, before, cpus), raises(index, before, &tasks), slower(index, before)];
    let first_that_fits = |kind: &Vec<Remedy>| kind.iter().find(|remedy| fits(remedy, index, before, &tasks)).cloned();
    candidates.iter().filter_map(first_that_fits).collect()
}

fn fits(remedy: &Remedy, index: usize, before: &[Assessment], tasks: &[Task]) -> bool {
    let mut changed = tasks.to_vec();
    remedy.apply(&mut changed);
    // The task itself first: most changes fail there, and only those that help are worth a look at all others.
    if check(&changed).is_err() || !assess(index, &changed, &levels(&changed)).is_admitted() {
        return false;
    }
    before.iter().zip(assess_all(&changed)).all(|(before, after)| before.is_refused() || !after.is_refused())
}

/// The largest of the other tasks away from here, or else the task itself.
fn moves(index: usize, before: &[Assessment], cpus: &[u32]) -> Vec<Remedy> {
    let refused = &before[index];
    let others = refused.interference().take(TRIED).map(|other| &other.task).chain([&refused.task.name]);
    let elsewhere = |task: &String| {
        let to = |cpu: &u32| Remedy::Move { task: task.clone(), cpu: *cpu };
        cpus.iter().filter(|cpu| **cpu != refused.task.cpu).map(to).collect::<Vec<_>>()
    };
    others.flat_map(elsewhere).collect()
}

/// Above one after the other of the threads that go before, the lowest first.
fn raises(index: usize, before: &[Assessment], tasks: &[Task]) -> Vec<Remedy> {
    let task = &tasks[index];
    if task.policy == TaskPolicy::Deadline {
        return Vec::new();
    }
    let own_thread = tasks.iter().any(|other| other.name != task.name && other.shares_thread_with(task));
    let in_front = |name: &String| tasks.iter().find(|other| other.name == *name);
    let mut levels: Vec<u8> = before[index]
        .interference()
        .filter_map(|other| thread_priority(in_front(&other.task)?, tasks))
        .filter(|level| *level < HIGHEST_SUGGESTED)
        .collect();
    levels.sort_unstable();
    levels.dedup();
    levels.into_iter().map(|above| Remedy::Raise { task: task.name.clone(), above, own_thread }).collect()
}

fn slower(index: usize, before: &[Assessment]) -> Vec<Remedy> {
    let others = before[index].interference().take(TRIED);
    others
        .flat_map(|other| {
            SLOWER.map(|factor| Remedy::Slow { task: other.task.clone(), distance: other.arrival.distance() * factor })
        })
        .collect()
}
