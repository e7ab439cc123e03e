//! Published examples, the screens to the letter, and what is refused before any analysis.

use super::*;

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A task on CPU 3 on a thread of its own, with the period as its deadline.
fn fifo(name: &str, thread: u32, priority: u8, period: Duration, budget: Duration) -> Task {
    let arrival = Arrival::Periodic { period };
    Task { thread, ..Task::new(name, 3, TaskPolicy::Fifo(priority), arrival, budget, period) }
}

fn deadline_task(name: &str, thread: u32, period: Duration, deadline: Duration, budget: Duration) -> Task {
    Task { policy: TaskPolicy::Deadline, deadline, ..fifo(name, thread, 1, period, budget) }
}

/// The tasks of the screen in the documentation of the command.
fn control_and_vision() -> [Task; 2] {
    let mut control = fifo("control", 0, 80, ms(1), us(150));
    control.deadline = us(800);
    control.jitter = us(120);
    control.jitter_source = JitterSource::Report { date: "2026-11-22".to_owned() };
    [control, fifo("vision", 1, 85, ms(10), us(643))]
}

fn screen(tasks: &[Task]) -> String {
    analyse(tasks, &[2, 3]).unwrap().to_string()
}

/// Analyses tasks given as (T, D, C), the first with the highest priority, and returns their responses in milliseconds.
fn responses(tasks: &[(u64, u64, u64)]) -> Vec<u128> {
    let task = |(index, &(period, deadline, budget)): (usize, &(u64, u64, u64))| {
        let number = u8::try_from(index).unwrap();
        let task = fifo(&format!("task {index}"), u32::from(number), 50 - number, ms(period), ms(budget));
        Task { deadline: ms(deadline), ..task }
    };
    let tasks: Vec<Task> = tasks.iter().enumerate().map(task).collect();
    let admission = analyse(&tasks, &[]).unwrap();
    admission.assessments().iter().map(|assessment| assessment.worst_response().unwrap().as_millis()).collect()
}

#[test]
fn the_examples_of_burns_and_wellings_have_the_responses_of_the_book() {
    // A. Burns and A. Wellings, "Real-Time Systems and Programming Languages", chapter on scheduling, response time
    // analysis: three tasks that rate-monotonic bounds do not admit, and four with deadlines below their periods.
    assert_eq!(responses(&[(7, 7, 3), (12, 12, 3), (20, 20, 5)]), [3, 6, 20]);
    assert_eq!(responses(&[(20, 20, 5), (40, 40, 10), (80, 80, 40)]), [5, 15, 80]);
    assert_eq!(responses(&[(20, 5, 3), (15, 7, 3), (10, 10, 4), (20, 20, 3)]), [3, 6, 10, 20]);
}

#[test]
fn jitter_of_the_task_above_can_cost_one_of_its_jobs_more() {
    let above = fifo("above", 0, 90, ms(10), ms(4));
    let low = fifo("low", 1, 80, ms(40), ms(6));
    let worst = |jitter| {
        let tasks = [Task { jitter, ..above.clone() }, low.clone()];
        analyse(&tasks, &[]).unwrap().assessments()[1].worst_response().unwrap()
    };
    assert_eq!((worst(ms(0)), worst(Duration::from_nanos(1))), (ms(10), ms(14)));
}

#[test]
fn a_graph_that_fits_reads_as_documented() {
    let [mut control, mut vision] = control_and_vision();
    control.budget = us(92);
    vision.cpu = 2;
    vision.budget_source = BudgetSource::Observed { runs: 10_000 };
    let arm = Task { cpu: 1, ..deadline_task("arm", 0, ms(2), ms(1), us(500)) };
    let log = Task { cpu: 0, policy: TaskPolicy::Other, ..fifo("log", 0, 1, ms(1), us(1)) };
    assert_eq!(
        screen(&[control, vision, arm, log]),
        "admitted: control R = 212 us <= D = 800 us on CPU 3 (budget declared, jitter of the report of 2026-11-22)
admitted: vision R = 643 us <= D = 10 ms on CPU 2 (budget observed, not WCET: the largest of 10000 runs, jitter declared)
admitted: arm R <= D = 1 ms on CPU 1 (budget declared, jitter declared)
no guarantee: log (other) on CPU 0"
    );
}

#[test]
fn every_kind_of_delay_is_named() {
    let mut control = fifo("control", 0, 80, ms(1), us(150));
    control.budget_source = BudgetSource::Observed { runs: 5 };
    let mut same_thread = fifo("plan", 0, 70, ms(100), us(680));
    same_thread.blocking = us(40);
    let mut equal = fifo("log", 1, 80, ms(100), us(90));
    equal.budget_source = BudgetSource::Observed { runs: 5 };
    let above = Task { arrival: Arrival::Sporadic { min_inter_arrival: ms(1) }, ..fifo("touch", 2, 90, ms(1), us(70)) };
    let below = fifo("map", 3, 20, ms(100), ms(1));
    let text = screen(&[control, same_thread, equal, above, below]);
    assert_eq!(
        text,
        "refused: control may take 1.25 ms after its release, its deadline is 1 ms
  150 us its own budget (observed, not WCET)
  150 us its own earlier releases, still unfinished
  40 us work of lower priority holds plan up
  680 us plan (fifo:70, budget 680 us every 100 ms) shares its thread, may run before it and is not interrupted
  140 us touch (fifo:90, budget 70 us at most every 1 ms) runs 2 times before it on CPU 3
  90 us log (fifo:80, budget 90 us observed, not WCET, every 100 ms) has its priority and may run before it on CPU 3
  try: move plan to CPU 2, or give control a thread of its own with a priority above 80"
    );
}

#[test]
fn work_that_piles_up_without_an_end_is_refused_with_its_share() {
    let text = screen(&[fifo("control", 0, 80, ms(1), us(400)), fifo("hog", 1, 90, ms(10), ms(8))]);
    assert_eq!(
        text,
        "refused: control may take any time, it and what runs before it ask for 120 % of CPU 3
  400 us its own budget
  8 ms hog (fifo:90, budget 8 ms every 10 ms) runs before it on CPU 3
  try: move hog to CPU 2"
    );
}

#[test]
fn deadline_tasks_are_judged_by_demand_and_run_before_every_priority() {
    let arm = deadline_task("arm", 0, ms(10), ms(1), us(700));
    let leg = deadline_task("leg", 1, ms(20), us(1_200), us(600));
    let control = Task { deadline: ms(1), ..fifo("control", 2, 98, ms(10), us(500)) };
    assert_eq!(
        screen(&[arm.clone(), leg]),
        "refused: arm may miss its deadline of 1 ms, the deadline tasks of CPU 3 may need 1.3 ms within 1.2 ms
  700 us arm (deadline, budget 700 us every 10 ms)
  600 us leg (deadline, budget 600 us every 20 ms)
  try: move leg to CPU 2
refused: leg may miss its deadline of 1.2 ms, the deadline tasks of CPU 3 may need 1.3 ms within 1.2 ms
  700 us arm (deadline, budget 700 us every 10 ms)
  600 us leg (deadline, budget 600 us every 20 ms)
  try: move arm to CPU 2"
    );
    let text = screen(&[arm, control]);
    assert!(text.contains("control may take 1.2 ms") && text.contains("700 us arm (deadline,"), "{text}");
    assert!(text.ends_with("try: move arm to CPU 2"), "no priority helps: {text}");
    let busy = [deadline_task("a", 0, ms(10), ms(10), ms(5)), deadline_task("b", 1, ms(10), ms(10), us(4_600))];
    assert!(screen(&busy).contains("ask for 96 % of it and get at most 95 %"), "{}", screen(&busy));
}

#[test]
fn nothing_is_suggested_that_would_not_make_it_fit() {
    let mut slow = fifo("slow", 0, 80, ms(1), us(600));
    slow.jitter = us(500); // on its own it is too late already
    let text = screen(&[slow.clone()]);
    assert!(
        text.ends_with("no other CPU, priority or rate alone makes it fit: allow more time, or cut budgets"),
        "{text}"
    );
    // CPU 2 is full, above vision control would be in its way, and vision runs once in any case.
    let [control, mut vision] = control_and_vision();
    vision.deadline = us(643);
    let full = Task { cpu: 2, ..fifo("full", 0, 90, ms(1), us(990)) };
    let text = screen(&[control, vision, full]);
    assert!(text.contains("refused: control") && !text.contains("try:"), "{text}");
    // Once every millisecond is too often, every two milliseconds is not.
    let low = Task { deadline: us(1_500), ..fifo("low", 0, 10, ms(10), us(900)) };
    let often = Task { deadline: us(500), ..fifo("often", 1, 90, ms(1), us(500)) };
    let text = analyse(&[low, often], &[3]).unwrap().to_string();
    assert!(text.ends_with("try: run often only every 2 ms"), "{text}");
}

#[test]
fn a_set_that_makes_no_sense_is_an_error_that_says_what_to_do() {
    let good = || fifo("control", 0, 80, ms(1), us(150));
    let error = |tasks: &[Task]| analyse(tasks, &[]).unwrap_err().to_string();
    for (task, what) in [
        (Task { budget: Duration::ZERO, ..good() }, "task control has no budget: give the CPU time"),
        (Task { deadline: us(100), ..good() }, "budget 150µs is longer than deadline 100µs: do less work"),
        (Task { deadline: ms(2), ..good() }, "task control: deadline 2ms is longer than period 1ms: shorten"),
        (
            Task { arrival: Arrival::Sporadic { min_inter_arrival: ms(0) }, ..good() },
            "period 0ns is out of range: choose",
        ),
        (Task { jitter: ms(2), ..good() }, "jitter 2ms is longer than its period: measure it again"),
        (Task { blocking: ms(2), ..good() }, "blocking 2ms is longer than its period"),
        (Task { policy: TaskPolicy::Fifo(0), ..good() }, "there is no priority 0: choose 1 to 99"),
        (Task { policy: TaskPolicy::RoundRobin(100), ..good() }, "there is no priority 100"),
    ] {
        let error = error(&[task]);
        assert!(error.contains(what), "{error}");
    }
    assert!(error(&[good(), good()]).contains("two tasks are called control: rename"));
    assert!(error(&vec![good(); MAX_TASKS + 1]).contains("257 tasks are too many"));
    let other = Task { name: "other".to_owned(), ..good() };
    for policy in [TaskPolicy::RoundRobin(80), TaskPolicy::Deadline, TaskPolicy::Other] {
        let error = error(&[good(), Task { policy, ..other.clone() }]);
        assert!(error.contains("tasks control and other share thread 0 of CPU 3 but cannot"), "{error}");
    }
    assert!(
        analyse(&[good(), Task { policy: TaskPolicy::Fifo(20), ..other }], &[]).is_ok(),
        "fifo tasks may share a thread"
    );
}

#[test]
fn a_sampled_chain_takes_its_responses_and_periods_and_an_event_driven_one_only_its_responses() {
    let imu = fifo("imu", 0, 90, ms(1), us(100)); // R = 100 us
    let control = fifo("control", 1, 80, ms(2), us(300)); // R = 400 us
    let track =
        Task { arrival: Arrival::Sporadic { min_inter_arrival: ms(2) }, ..fifo("track", 2, 70, ms(2), us(200)) }; // R = 600 us
    let log = Task { cpu: 0, policy: TaskPolicy::Other, ..fifo("log", 0, 1, ms(1), us(1)) };
    let admission = analyse(&[imu, control, track, log], &[]).unwrap();
    assert_eq!(admission.end_to_end(&["imu", "control"]), Ok(us(1_000 + 100 + 2_000 + 400)));
    assert_eq!(admission.end_to_end(&["control", "track"]), Ok(us(2_000 + 400 + 600)));
    let error = |chain: &[&str]| admission.end_to_end(chain).unwrap_err().to_string();
    assert!(error(&["imu", "track"]).contains(
        "track runs at most every 2 ms, and imu feeds it every 1 ms: shorten its minimum inter-arrival time"
    ));
    assert!(error(&["imu", "contol"]).contains("there is no task contol"));
    assert!(error(&["imu", "log"]).contains("task log has no promised response"));
    assert!(error(&[]).contains("the chain is empty"));
}

#[test]
fn the_largest_set_is_analysed_though_all_of_it_is_refused() {
    let task = |number: usize| fifo(&format!("task {number}"), u32::try_from(number).unwrap(), 80, ms(10), ms(1));
    let tasks: Vec<Task> = (0..MAX_TASKS).map(task).collect();
    assert_eq!(analyse(&tasks, &[0, 1, 2, 3]).unwrap().refusals().count(), MAX_TASKS);
}
