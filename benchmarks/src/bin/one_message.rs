//! Sends and receives a 16-byte message ten thousand times in one thread, for an instruction counter to look at:
//! `benchmarks/research/instructions.sh`.

use std::process::ExitCode;

use horus::message::Stamp;
use horus::topic::{Options, Publisher, Subscriber, Wait};
use horus_benchmarks::transport::Failure;

/// How many messages are sent and received.
const MESSAGES: u64 = 10_000;

/// A function of its own, for the counter to find.
#[inline(never)]
fn send(publisher: &mut Publisher<Stamp>, message: Stamp) -> bool {
    publisher.try_send(message).is_ok()
}

/// As [`send`].
#[inline(never)]
fn receive(subscriber: &mut Subscriber<Stamp>) -> Option<u64> {
    subscriber.try_recv().map(|received| received.message.sequence)
}

fn run() -> Result<(), Failure> {
    let directory = std::env::temp_dir().join(format!("horus-one-message-{}", std::process::id()));
    let (name, options) = ("one".parse()?, Options::reliable(1024).directory(&directory));
    let mut publisher = Publisher::create_or_open(&name, &options)?;
    let mut subscriber = Subscriber::open(&name, &options, Wait::No)?;
    for sequence in 0..MESSAGES {
        assert!(send(&mut publisher, Stamp { sequence, sent_ns: 0 }));
        assert_eq!(receive(&mut subscriber), Some(sequence));
    }
    drop((publisher, subscriber));
    std::fs::remove_dir(directory)?;
    println!("{MESSAGES}");
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("one_message: {error}");
            ExitCode::FAILURE
        }
    }
}
