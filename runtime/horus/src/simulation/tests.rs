//! What the rules in the module's documentation say, one by one.

use std::time::Duration;

use super::*;

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn at(micros: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(micros * 1_000)
}

fn grid(first: u64, period: u64) -> Activation {
    Activation::Periodic { first_release: at(first), period: us(period) }
}

/// One release at `first`, and no other in the time of the test.
fn once(first: u64) -> Activation {
    grid(first, 1_000_000)
}

/// Runs for `micros`; each task computes as long as `works` says. Returns (task, start, completion) in microseconds.
fn completions(simulation: &mut Simulation, micros: u64, works: &[u64]) -> Vec<(usize, u64, u64)> {
    let mut work = |job: &Job, _| us(works[job.task.index()]);
    let mut done = Vec::new();
    while let Some(event) = simulation.next_event(at(micros), &mut work) {
        if let Event::Complete { job, start, at } = event {
            done.push((job.task.index(), start.as_nanos() / 1_000, at.as_nanos() / 1_000));
        }
    }
    done
}

#[test]
fn a_higher_priority_interrupts_and_the_interrupted_job_goes_on_where_it_was() {
    let mut simulation = Simulation::new();
    let (low, high) = (simulation.add_thread(0, 10), simulation.add_thread(0, 20));
    simulation.add_task(low, 10, once(0));
    simulation.add_task(high, 20, grid(30, 50));
    let expected = [(1, 30, 50), (1, 80, 100), (1, 130, 150), (0, 0, 160)];
    assert_eq!(completions(&mut simulation, 160, &[100, 20]), expected);
}

#[test]
fn an_interrupted_thread_stays_before_the_others_of_its_priority() {
    let mut simulation = Simulation::new();
    let [first, second] = [(); 2].map(|()| simulation.add_thread(0, 10));
    let high = simulation.add_thread(0, 20);
    simulation.add_task(first, 10, once(0));
    simulation.add_task(second, 10, once(5));
    simulation.add_task(high, 20, once(8));
    assert_eq!(completions(&mut simulation, 100, &[10, 10, 10]), [(2, 8, 18), (0, 0, 20), (1, 20, 30)]);
}

#[test]
fn cpus_do_not_wait_for_each_other() {
    let mut simulation = Simulation::new();
    for cpu in [0, 3] {
        let thread = simulation.add_thread(cpu, 10);
        simulation.add_task(thread, 10, once(0));
    }
    assert_eq!(completions(&mut simulation, 100, &[40, 30]), [(1, 0, 30), (0, 0, 40)]);
}

#[test]
fn a_thread_interrupts_no_job_of_its_own_and_then_goes_by_release_priority_and_order() {
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 30);
    simulation.add_task(thread, 10, once(0));
    simulation.add_task(thread, 10, once(5)); // as the two behind it, but less urgent, and of two equal ones the first
    simulation.add_task(thread, 20, once(5));
    simulation.add_task(thread, 10, once(5));
    simulation.add_task(thread, 30, once(6)); // the most urgent, and the last released
    let order: Vec<usize> = completions(&mut simulation, 1_000, &[10; 5]).iter().map(|done| done.0).collect();
    assert_eq!(order, [0, 2, 1, 3, 4]);
}

#[test]
fn a_busy_task_skips_releases_keeps_its_grid_and_serves_one_that_it_just_meets() {
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, grid(10, 10));
    let mut numbers = Vec::new();
    let mut skips = Vec::new();
    let mut work = |job: &Job, _| us([10, 25, 1][job.number.min(2) as usize]); // 10 to 20, 20 to 45, then 1 each
    while let Some(event) = simulation.next_event(at(60), &mut work) {
        match event {
            Event::Start { job, at } => numbers.push((job.number, at)),
            Event::Skip { job } => skips.push(job.number),
            _ => {}
        }
    }
    assert_eq!(numbers, [(0, at(10)), (1, at(20)), (4, at(50)), (5, at(60))]);
    assert_eq!((skips, simulation.skipped(task)), (vec![2, 3], 2));
}

#[test]
fn a_first_release_in_the_past_is_served_at_once_as_the_scheduler_does() {
    let mut simulation = Simulation::new();
    assert_eq!(simulation.next_event(at(47), &mut |_: &Job, _| us(0)), None);
    assert_eq!(simulation.now(), at(47));
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, grid(10, 10));
    assert_eq!(completions(&mut simulation, 60, &[0]), [(0, 47, 47), (0, 50, 50), (0, 60, 60)]);
    assert_eq!(simulation.skipped(task), 3, "20, 30 and 40");
}

#[test]
fn jitter_delays_the_start_and_is_part_of_the_response() {
    struct Late;
    impl Jobs for Late {
        fn jitter(&mut self, _: &Job) -> Duration {
            us(7)
        }
        fn start(&mut self, _: &Job, _: MonotonicTime) -> Duration {
            us(5)
        }
    }
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, once(10));
    let job = Job { task, number: 0, release: at(10) };
    let events: Vec<Event> = std::iter::from_fn(|| simulation.next_event(at(100), &mut Late)).collect();
    let (start, end) = (at(17), at(22));
    assert_eq!(
        events,
        [Event::Release { job }, Event::Start { job, at: start }, Event::Complete { job, start, at: end }]
    );
    assert_eq!((events[2].response(), events[2].at()), (Some(us(12)), end));
}

#[test]
fn an_early_trigger_waits_for_the_gap_and_a_further_one_is_merged() {
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, Activation::Sporadic { min_inter_arrival: us(50) });
    for micros in [10, 20, 25, 200, 300] {
        assert_eq!(simulation.trigger(task, at(micros)), Trigger::Scheduled);
    }
    let expected = [(0, 10, 15), (0, 60, 65), (0, 200, 205), (0, 300, 305)];
    assert_eq!(completions(&mut simulation, 400, &[5]), expected);
    assert_eq!((simulation.merged(task), simulation.skipped(task)), (1, 0));
}

#[test]
fn a_trigger_during_a_long_job_is_served_at_its_end() {
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, Activation::Sporadic { min_inter_arrival: us(50) });
    let triggers = [10, 30].map(|micros| simulation.trigger(task, at(micros)));
    assert_eq!(triggers, [Trigger::Scheduled; 2]);
    assert_eq!(completions(&mut simulation, 400, &[70]), [(0, 10, 80), (0, 80, 150)]);
}

#[test]
fn a_result_releases_the_next_task_at_its_instant_before_anything_else_starts() {
    let mut simulation = Simulation::new();
    let (source, sink) = (simulation.add_thread(0, 10), simulation.add_thread(0, 20));
    let [producer, waiting] = [once(0), once(5)].map(|activation| simulation.add_task(source, 10, activation));
    let consumer = simulation.add_task(sink, 20, Activation::Sporadic { min_inter_arrival: us(50) });
    let mut starts = Vec::new();
    while let Some(event) = simulation.next_event(at(100), &mut |_: &Job, _| us(10)) {
        match event {
            Event::Complete { job, at, .. } if job.task == producer => {
                assert_eq!(simulation.trigger(consumer, at), Trigger::Scheduled);
            }
            Event::Start { job, at } => starts.push((job.task, at)),
            _ => {}
        }
    }
    assert_eq!(starts, [(producer, at(0)), (consumer, at(10)), (waiting, at(20))]);
}

#[test]
fn a_periodic_task_takes_no_trigger() {
    let mut simulation = Simulation::new();
    let thread = simulation.add_thread(0, 10);
    let task = simulation.add_task(thread, 10, once(10));
    assert_eq!(simulation.trigger(task, at(0)), Trigger::NotSporadic);
    assert_eq!(simulation.trigger(task, at(5)), Trigger::NotSporadic);
}

#[test]
fn a_simulation_stops_between_two_events_and_goes_on_as_if_it_had_not() {
    let make = || {
        let mut simulation = Simulation::new();
        let (low, high) = (simulation.add_thread(0, 10), simulation.add_thread(0, 20));
        simulation.add_task(low, 10, grid(0, 90));
        simulation.add_task(high, 20, grid(7, 20));
        simulation
    };
    let whole = completions(&mut make(), 400, &[31, 6]);
    let mut simulation = make();
    let pieces: Vec<_> = (0..=400).flat_map(|micros| completions(&mut simulation, micros, &[31, 6])).collect();
    assert_eq!(whole, pieces);
    assert!(whole.len() > 20, "{whole:?}");
}
