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
use horus::supervise;
use horus::topic::{OpenError, Options, Publisher, Subscriber, TopicName};
use horus::{miss, stop};

mod account;
mod options;

pub use account::Account;
pub use options::NodeOptions;

/// Messages that a topic holds: more than either side sends while the other is a few periods late.
pub const CAPACITY: usize = 64;

/// Runs a node until it is stopped: prepares the process, opens the topics that it publishes and subscribes, enters the thread,
/// and runs what `make` makes of both topics, `phase` behind the grid.
///
/// # Errors
/// When an option makes no sense, a topic cannot be opened, or a strict node lacks something.
pub fn run<N: Node>(
    node: &'static str,
    options: &NodeOptions,
    topics: (&TopicName, &TopicName),
    phase: impl FnOnce(&Timing) -> Duration,
    make: impl FnOnce(Publisher<Stamp>, Subscriber<Stamp>, Arc<Account>) -> N,
) -> Result<(), Box<dyn Error>> {
    let timing = options.timing()?;
    let stop = stop::on_termination()?;
    let account = Arc::new(Account::default());
    let (mut recorder, collector) = miss::channel(node, timing, miss::RING_CAPACITY)?;
    let (told, mut due) = (Arc::clone(&account), None);
    let supervisor = supervise::spawn(collector, move |now| told.send_every_minute(node, &mut due, now))?;

    let (publish, subscribe) = topics;
    let opened = options.process().prepare().open(|| -> Result<N, OpenError> {
        let topic = Options::latest(CAPACITY);
        let publisher = Publisher::open(publish, &topic)?;
        let subscriber = Subscriber::open(subscribe, &topic)?;
        Ok(make(publisher, subscriber, Arc::clone(&account)))
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
