//! The end-to-end bound of chains against the simulator: no change at the input takes longer to the end of its chain.

use super::never_too_low::Random;
use super::*;
use crate::simulation::{Activation, Event, Job, Jobs, Simulation};
use crate::time::MonotonicTime;

const SETS: u64 = 2_000;
const EVENTS: usize = 200;

/// Three tasks in the order of their chain. The first is periodic; a sporadic one has at most the gap that its input
/// keeps.
fn chain(random: &mut Random) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for number in 0..3 {
        let before = tasks.last().map(|task| nanos(task.arrival.distance()));
        let distance = match before {
            Some(before) if random.one_in(2) => before - random.up_to(before / 2),
            _ => 100_000 + random.up_to(300_000),
        };
        let fits = before.is_some_and(|before| distance <= before) && !random.one_in(4);
        let [time, budget] = [distance, distance / 10 + random.up_to(distance / 6)].map(Duration::from_nanos);
        let arrival = match fits {
            true => Arrival::Sporadic { min_inter_arrival: time },
            false => Arrival::Periodic { period: time },
        };
        let policy = TaskPolicy::Fifo(10 + random.up_to(2) as u8);
        let mut task = Task::new(format!("task {number}"), random.up_to(1) as u32, policy, arrival, budget, time);
        task.thread = random.up_to(1) as u32;
        task.jitter = Duration::from_nanos(random.up_to(distance / 5));
        tasks.push(task);
    }
    tasks
}

/// Mostly the largest and the smallest that is possible.
struct Extremes<'a>(&'a [Task], &'a mut Random);

impl Extremes<'_> {
    fn portion(&mut self, whole: Duration) -> Duration {
        match self.1.up_to(4) {
            0 => Duration::from_nanos(self.1.up_to(nanos(whole))),
            1 | 2 => Duration::ZERO,
            _ => whole,
        }
    }
}

impl Jobs for Extremes<'_> {
    fn jitter(&mut self, job: &Job) -> Duration {
        self.portion(self.0[job.task.index()].jitter)
    }

    fn start(&mut self, job: &Job, _: MonotonicTime) -> Duration {
        self.portion(self.0[job.task.index()].budget)
    }
}

/// The longest time from a change at the input of the first task to a result of the last one that knows of it.
///
/// A job reads at its start what was written last, and writes at its completion. What the first task reads is as new as
/// its start.
fn slowest(tasks: &[Task], random: &mut Random) -> Duration {
    let mut simulation = Simulation::new();
    let (mut threads, mut ids) = (Vec::new(), Vec::new());
    for (index, task) in tasks.iter().enumerate() {
        let same = tasks[..index].iter().position(|other| other.shares_thread_with(task));
        let level = thread_priority(task, tasks).unwrap_or_default();
        let thread = match same {
            Some(same) => threads[same],
            None => simulation.add_thread(task.cpu, level),
        };
        threads.push(thread);
        let activation = match task.arrival {
            Arrival::Sporadic { min_inter_arrival } => Activation::Sporadic { min_inter_arrival },
            Arrival::Periodic { period } => {
                Activation::Periodic { period, first_release: MonotonicTime::from_nanos(random.up_to(nanos(period))) }
            }
        };
        ids.push(simulation.add_task(thread, task.policy.priority().unwrap_or_default(), activation));
    }
    let mut jobs = Extremes(tasks, random);
    // How new the input is that a result knows of: of the job under way, and of the result that was written last.
    let (mut reading, mut written) = ([None; 3], [None; 3]);
    let mut slowest = Duration::ZERO;
    for _ in 0..EVENTS {
        match simulation.next_event(MonotonicTime::MAX, &mut jobs) {
            Some(Event::Start { job, at }) => {
                let index = job.task.index();
                reading[index] = if index == 0 { Some(at) } else { written[index - 1] };
            }
            Some(Event::Complete { job, at, .. }) => {
                let index = job.task.index();
                if let (2, Some(known)) = (index, written[2]) {
                    slowest = slowest.max(at.since(known)); // what changed just after that was not known before
                }
                written[index] = reading[index];
                if let Some(Arrival::Sporadic { .. }) = tasks.get(index + 1).map(|next| next.arrival) {
                    let _ = simulation.trigger(ids[index + 1], at);
                }
            }
            _ => {}
        }
    }
    slowest
}

#[test]
fn no_simulated_chain_takes_longer_than_predicted() {
    let (mut compared, mut close) = (0, 0);
    for seed in 0..SETS {
        let random = &mut Random(seed);
        let tasks = chain(random);
        check::check(&tasks).expect("the sets make sense");
        let admission = Admission { assessments: assess_all(&tasks) };
        let Ok(predicted) = admission.end_to_end(&["task 0", "task 1", "task 2"]) else { continue };
        if !admission.is_admitted() {
            continue;
        }
        let slowest = slowest(&tasks, random);
        assert!(slowest <= predicted, "seed {seed}: {slowest:?} simulated, {predicted:?} predicted\n{admission}");
        compared += 1;
        close += u64::from(slowest > predicted * 3 / 4);
    }
    println!("{compared} chains, {close} of them within a quarter of the prediction");
    assert!(compared > 500 && close > 50, "{compared} {close}");
}
