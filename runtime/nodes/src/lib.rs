//! The nodes that the image brings, and what they share: the life of a node from its options to its last account.
//!
//! `ping` and `pong` are in `src/bin`; start there. A node of your own is a struct, what it opens, and what it does in a
//! period.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use horus::deadline::Timing;
use horus::message::Stamp;
use horus::scheduler::Node;
use horus::silence::InputWatch;
use horus::supervise;
use horus::time::MonotonicTime;
use horus::topic::{OpenError, Options, Publisher, Subscriber, TopicName};
use horus::{miss, silence, stop};

mod account;
mod options;

pub use account::Account;
pub use options::NodeOptions;

/// Messages that a topic holds: more than either side sends while the other is a few periods late.
pub const CAPACITY: usize = 64;

/// What a node is made of.
pub struct Parts {
    /// The topic that it publishes.
    pub publisher: Publisher<Stamp>,
    /// The topic that it listens to.
    pub subscriber: Subscriber<Stamp>,
    /// Has to be told in every cycle whether something came.
    pub input: InputWatch,
    /// What became of its messages.
    pub account: Arc<Account>,
}

/// Runs a node until it is stopped: prepares the process, opens the topics that it publishes and subscribes, enters the thread,
/// and runs what `make` makes of these parts, `phase` behind the grid.
///
/// # Errors
/// When an option makes no sense, a topic cannot be opened, or a strict node lacks something.
pub fn run<N: Node>(
    node: &'static str,
    options: &NodeOptions,
    topics: (&TopicName, &TopicName),
    phase: impl FnOnce(&Timing) -> Duration,
    make: impl FnOnce(Parts) -> N,
) -> Result<(), Box<dyn Error>> {
    let timing = options.timing()?;
    let silence = options.silence(&timing)?;
    let stop = stop::on_termination()?;
    let (publish, subscribe) = topics;
    let (input, mut silences) = silence::channel(node, &subscribe.to_string(), silence);
    let account = Arc::new(Account::new(silences.totals()));
    let (mut recorder, collector) = miss::channel(node, timing, miss::RING_CAPACITY)?;
    let (told, mut due) = (Arc::clone(&account), None);
    let supervisor = supervise::spawn(collector, move |now| {
        if let Some(entry) = silences.collect(now) {
            entry.send_or_print();
        }
        if now < MonotonicTime::MAX {
            told.send_every_minute(node, &mut due, now); // the last account is printed
        }
    })?;

    let opened = options.process().prepare().open(|| -> Result<N, OpenError> {
        let topic = Options::latest(CAPACITY);
        let publisher = Publisher::open(publish, &topic)?;
        let subscriber = Subscriber::open(subscribe, &topic)?;
        Ok(make(Parts { publisher, subscriber, input, account: Arc::clone(&account) }))
    })?;
    let mut entered = opened.enter(&options.thread());
    entered.granted().entry(node, &timing).send_or_print();
    if options.strict {
        entered.granted().complete()?;
    }
    supervise::notify_ready("publishes and receives");
    let scheduler = options.scheduler(timing, phase(&timing));
    let tally = entered.run(&scheduler, &stop, |cycle, verdict| recorder.observe(cycle, verdict));
    account.print(node, &tally);
    supervisor.finish();
    if stop.load(Ordering::Relaxed) {
        eprintln!("{node}: stopped by a signal");
    }
    Ok(())
}
