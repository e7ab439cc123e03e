//! A node that answers every stamp that `ping` publishes, half a period behind it; see `ping` for how to start both.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use horus::deadline::Timing;
use horus::message::Stamp;
use horus::scheduler::{Cycle, Node};
use horus::silence::InputWatch;
use horus::topic::{Publisher, Subscriber, TopicName};
use horus_nodes::{Account, CAPACITY, NodeOptions, Parts};

/// Answer every stamp that ping publishes.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    node: NodeOptions,
    /// Topic to answer on
    #[arg(long, default_value = "pong")]
    publish: TopicName,
    /// Topic that the stamps come on
    #[arg(long, default_value = "ping")]
    subscribe: TopicName,
}

struct Pong {
    stamps: Subscriber<Stamp>,
    publisher: Publisher<Stamp>,
    input: InputWatch,
    account: Arc<Account>,
    missed: u64,
}

impl Node for Pong {
    fn step(&mut self, cycle: &Cycle) {
        let mut heard = false;
        for _ in 0..CAPACITY {
            let Some(stamp) = self.stamps.try_recv() else { break };
            heard = true;
            self.account.count_received();
            if self.publisher.try_send(stamp.message).is_ok() {
                self.account.count_sent();
            }
        }
        self.input.observe(heard, cycle.wake);
        let missed = self.stamps.missed();
        self.account.count_lost(missed - self.missed);
        self.missed = missed;
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let topics = (&arguments.publish, &arguments.subscribe);
    let half_a_period = |timing: &Timing| timing.period() / 2;
    horus_nodes::run("pong", &arguments.node, topics, half_a_period, |parts| {
        let Parts { publisher, subscriber: stamps, input, account } = parts;
        Pong { stamps, publisher, input, account, missed: 0 }
    })
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pong: {error}");
            ExitCode::FAILURE
        }
    }
}
