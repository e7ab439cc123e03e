//! The three programs, as their environment says: `ROLE`, `NUMBER`, `POLICY`, `CAPACITIES`, and where their `RECORD` is.

use std::fs::{File, OpenOptions};

use horus::prelude::*;

use super::record::{ENDED, MISSED, OPENED, RECEIVED, SET, STEP, append};

horus::message! {
    /// A message, numbered by who published it.
    struct Numbered = "order/Numbered" {
        /// The program that published it.
        origin: u64,
        /// Its number there, among those that were accepted.
        number: u64,
    }
}

/// Messages of a source's step.
const BURST: u64 = 2;

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: the test starts this program"))
}

fn options(capacity: usize) -> Options {
    match (capacity, variable("POLICY").as_str()) {
        (0, _) => Options::default(),
        (capacity, "reliable") => Options::reliable(capacity),
        (capacity, _) => Options::latest(capacity),
    }
}

fn now() -> u64 {
    MonotonicTime::now().as_nanos()
}

/// What a role reads, with its record.
struct Reading {
    input: Input<Numbered>,
    missed: u64,
}

impl Reading {
    fn read(&mut self, file: &mut File, mut each: impl FnMut(&mut File)) {
        for message in self.input.messages() {
            append(file, RECEIVED, message.origin, message.number);
            each(file);
        }
        if self.input.missed() > self.missed {
            self.missed = self.input.missed();
            append(file, MISSED, self.missed, 0);
        }
    }
}

/// What a role writes.
struct Writing {
    output: Output<Numbered>,
    origin: u64,
    accepted: u64,
    attempts: u64,
}

impl Writing {
    fn write(&mut self, file: &mut File) {
        self.attempts += 1;
        let before = now();
        if self.output.try_set(Numbered { origin: self.origin, number: self.accepted }).is_taken() {
            append(file, SET, self.accepted, before);
            self.accepted += 1;
        }
        assert_eq!(self.attempts, self.accepted + self.output.lost().total(), "each is accepted or counted");
    }
}

/// Runs the role; panics when the program does not end well.
pub fn run() {
    let role = variable("ROLE");
    let origin: u64 = variable("NUMBER").parse().expect("a number");
    let capacities: Vec<usize> =
        variable("CAPACITIES").split(' ').map(|number| number.parse().expect("a number")).collect();
    let mut record = OpenOptions::new().append(true).create(true).open(variable("RECORD")).expect("a record");
    let mut app = App::new(&format!("order-{role}")).unwrap();
    let mut reading = None;
    if role != "source" {
        let (topic, capacity) = if role == "relay" { ("a", capacities[1]) } else { ("b", capacities[3]) };
        let input = app.input_with::<Numbered>(topic, options(capacity)).unwrap();
        append(&mut record, OPENED, now(), 0);
        reading = Some(Reading { input, missed: 0 });
    }
    let mut writing = None;
    if role != "sink" {
        let (topic, capacity) = if role == "source" { ("a", capacities[0]) } else { ("b", capacities[2]) };
        let output = app.output_with::<Numbered>(topic, options(capacity)).unwrap();
        writing = Some(Writing { output, origin, accepted: 0, attempts: 0 });
    }
    let is_relay = role == "relay";
    let mut file = record.try_clone().expect("a second descriptor");
    let step = move |_: &Cycle| {
        append(&mut file, STEP, now(), 0);
        match (&mut reading, &mut writing) {
            (Some(reading), writing) => reading.read(&mut file, |file| {
                if let Some(writing) = writing {
                    writing.write(file);
                }
            }),
            (None, Some(writing)) => (0..BURST).for_each(|_| writing.write(&mut file)),
            (None, None) => unreachable!("each role has a port"),
        }
    };
    let node = app.node(&role, step).period(if is_relay { ms(5) } else { ms(1) });
    if is_relay {
        // Events release it, too, and each of them is seen.
        node.on("a").deadline(ms(5));
    }
    app.run().unwrap();
    append(&mut record, ENDED, now(), 0);
}
