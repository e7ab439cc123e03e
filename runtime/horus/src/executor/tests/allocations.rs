//! What the loop allocates: nothing, whatever its nodes have and whatever happens to them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::ms;
use crate::action::{self, Preemption, Progress, SentGoal};
use crate::app::{App, executor};
use crate::figures::State;
use crate::message::Stamp;
use crate::node::{Cycle, Node, OnMiss, SafeState};
use crate::port::{Input, Output};
use crate::service::{self, Answer};
use crate::time::{Clock, SystemClock};
use crate::topic::{Bytes, Options, Raw, Serde};
use crate::witness::freeze::Trace;

/// Releases until the loop is told to end.
const RELEASES: u64 = 60;

/// Sends on what it hears; late in every fifth cycle.
struct Relay {
    input: Input<Stamp>,
    output: Output<Stamp>,
}

impl Relay {
    fn open(app: &mut App, topics: &Path, from: &str, to: &str) -> Self {
        // As many lanes as the output will ask for.
        let options = Options::latest(8).publishers(2).directory(topics);
        let input = app.input_with(from, options.clone()).unwrap();
        Self { input, output: app.output_with(to, options).unwrap() }
    }
}

impl Node for Relay {
    fn step(&mut self, cycle: &Cycle) {
        let sequence = self.input.latest().map_or(0, |stamp| stamp.sequence + 1);
        self.output.set(Stamp { sequence, sent_ns: cycle.release.as_nanos() });
        for line in 0..3 {
            cycle.log(crate::info!("sends {} as number {} of {}", sequence, line, "three")); // and more than find room
        }
        if cycle.number % 5 == 4 {
            SystemClock.sleep_until(cycle.deadline.plus_nanos(200_000));
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.output.set(Stamp::default());
    }
}

/// Sends on what it hears, as bytes and as values of fixed size.
struct Other {
    lines: (Input<[u8]>, Output<[u8]>),
    values: (Input<Serde<Tilt>>, Output<Serde<Tilt>>),
    raw: (Input<Raw>, Output<Raw>),
}

type Tilt = (f64, Option<u32>);

impl Other {
    fn open(app: &mut App, topics: &Path) -> Self {
        let options = || Options::latest(8).directory(topics);
        let (lines, values) = (Bytes::up_to(64), Bytes::of_type("test/Tilt", 64));
        let layout = "message test/Pair\n left f64\n right f64".parse().unwrap();
        Self {
            lines: (
                app.input_as("lines", lines, options()).unwrap(),
                app.output_as("lines", lines, options()).unwrap(),
            ),
            values: (
                app.input_as("values", values, options()).unwrap(),
                app.output_as("values", values, options()).unwrap(),
            ),
            raw: (app.input_as("raw", &layout, options()).unwrap(), app.output_as("raw", &layout, options()).unwrap()),
        }
    }
}

impl Node for Other {
    fn step(&mut self, _: &Cycle) {
        let Self { lines, values, raw } = self;
        lines.1.set(lines.0.latest().unwrap_or(b"left wheel slips"));
        let tilt = values.0.latest().map(|tilt| *tilt.unwrap());
        values.1.set(tilt.unwrap_or((0.5, Some(7))));
        raw.1.set(raw.0.latest().unwrap_or(&[7; 16]));
        while lines.0.try_recv().is_some() {}
        assert!(values.0.messages().all(|tilt| tilt.is_ok()));
    }
}

fn program(topics: &Path, stop: Arc<AtomicBool>) -> App {
    let mut app = App::new("allocations").unwrap();
    let bare = move |cycle: &Cycle| stop.store(cycle.number >= RELEASES, Ordering::Relaxed);
    app.node("bare", bare).period(ms(2));
    let relay = Relay::open(&mut app, topics, "reply", "call");
    app.node("ports", relay).period(ms(2)).budget(us(1)).on_miss(OnMiss::skip());
    let relay = Relay::open(&mut app, topics, "call", "echo");
    app.node("event", relay).on("call").min_inter_arrival(us(500)).deadline(us(400));
    let relay = Relay::open(&mut app, topics, "call", "logical");
    app.node("logical", relay).period(ms(4)).logical_execution_time().stale_after(ms(1));
    let relay = Relay::open(&mut app, topics, "logical", "reply");
    app.node("safe", relay).period(ms(2)).on_miss(SafeState::after(2).within(50));
    declare_service(&mut app, ["asker", "next"], service::Options::default().directory(topics));
    declare_service(&mut app, ["sharer", "share"], service::Options::default().directory(topics).shared());
    declare_action(&mut app, topics);
    let other = Other::open(&mut app, topics);
    app.node("other", other).period(ms(2));
    app
}

/// A node that asks, and one that answers.
fn declare_service(app: &mut App, [asks, serves]: [&str; 2], options: service::Options) {
    let mut client = app.client_as::<Stamp, Stamp>(serves, (), (), options.clone()).unwrap();
    let mut asked = None;
    let asker = move |_: &Cycle| match &mut asked {
        // Of a service that is shared it knows by its server's first message.
        None => asked = client.ask(Stamp::default()).ok(),
        Some(pending) => {
            if pending.try_answer(&mut client).unwrap().is_some() {
                asked = None;
            }
        }
    };
    app.node(asks, asker).period(ms(2));
    let next = |asked: Stamp, answer: Answer<'_, Stamp>| answer.send(asked).unwrap();
    app.service_as::<Stamp, Stamp>(serves, (), (), options, next).unwrap().deadline(ms(2));
}

/// A node that works on goals, and one that sends them, hears of each, and cancels some.
fn declare_action(app: &mut App, topics: &Path) {
    let options = || action::Options::from(Preemption::Replace).directory(topics);
    let mut client = app.action_client_as::<Stamp, Stamp, Stamp>("count", (), (), (), options()).unwrap();
    let (mut sent, mut ended, mut steps) = (None::<SentGoal<Stamp>>, 0, 0);
    let sender = move |cycle: &Cycle| {
        let goal = sent.get_or_insert_with(|| client.send(Stamp { sequence: 3, sent_ns: 0 }).unwrap());
        if cycle.number % 16 == 15 {
            let _asked = client.cancel(goal.id()).unwrap();
        }
        loop {
            match goal.look(&mut client).unwrap() {
                Progress::Nothing => break,
                Progress::Ended(_) => {
                    ended += 1;
                    sent = None;
                    break;
                }
                Progress::Accepted | Progress::Feedback(_) => {}
            }
        }
        steps += 1;
        assert!(steps < 40 || ended > 1, "goals end, and that was counted too");
    };
    app.node("sender", sender).period(ms(2));
    let mut server = app.action_as::<Stamp, Stamp, Stamp>("count", (), (), (), options()).unwrap();
    let mut counted = 0;
    let worker = move |_: &Cycle| {
        let Some(mut goal) = server.goal() else { return };
        counted = if goal.is_new() { 0 } else { counted + 1 };
        let _ = match goal.value().sequence {
            _ if goal.is_canceling() => goal.canceled(),
            wanted if wanted == counted => goal.succeed(Stamp::default()),
            _ => goal.feedback(Stamp { sequence: counted, sent_ns: 0 }),
        };
    };
    app.node("worker", worker).period(ms(2));
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

#[test]
fn nodes_with_inputs_outputs_events_and_logical_time_allocate_nothing_in_their_loop() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (mut executor, names) = executor(program(scratch.path(), Arc::clone(&stop)), SystemClock).unwrap();
    let (marker, given) = rustix::pipe::pipe().unwrap();
    let trace = Arc::new(Trace::default());
    trace.connect(given);
    executor.runners().iter_mut().for_each(|runner| runner.freeze_by(Some(Arc::clone(&trace))));
    let from = SystemClock.now();
    let allocations = allocation_counter::measure(|| executor.run(from, &stop));
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert!(rustix::io::read(&marker, &mut [0; 64]).unwrap() > 0, "a miss froze the trace, which was counted too");
    for (name, runner) in names.iter().zip(executor.runners()) {
        let tally = runner.tally();
        assert!(tally.cycles > 0, "{name}: {tally:?}");
        let is_in_time =
            matches!(name.as_str(), "bare" | "other" | "asker" | "next" | "sharer" | "share" | "sender" | "worker");
        assert!(is_in_time || tally.misses > 0, "{name}: what a miss leads to was counted too, {tally:?}");
        assert!(name != "safe" || runner.state() == State::Safe, "{name}: its safe state was counted too");
    }
}
