//! A node that answers every stamp that `ping` publishes, half a period behind it; see `ping` for how to start both.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use horus::message::Stamp;
use horus::prelude::*;
use horus_nodes::{Account, CAPACITY, DEADLINE, PERIOD};

struct Pong {
    stamps: Input<Stamp>,
    answers: Output<Stamp>,
    account: Arc<Account>,
    missed: u64,
}

impl Node for Pong {
    fn step(&mut self, _: &Cycle) {
        for stamp in self.stamps.messages().take(CAPACITY) {
            self.account.count_received();
            self.answers.set(stamp);
            self.account.count_sent();
        }
        let missed = self.stamps.missed();
        self.account.count_lost(missed - self.missed);
        self.missed = missed;
    }
}

fn main() -> ExitCode {
    let account = Arc::new(Account::default());
    let ended = horus::app::main("pong", |app| {
        let stamps = app.input_with("ping", Options::latest(CAPACITY))?;
        let answers = app.output_with("pong", Options::latest(CAPACITY))?;
        app.background(account.every_minute("pong"));
        let node = Pong { stamps, answers, account: Arc::clone(&account), missed: 0 };
        app.node("pong", node).period(PERIOD).deadline(DEADLINE).phase(PERIOD / 2);
        Ok(())
    });
    if account.is_used() {
        println!("pong: {account}");
    }
    ended
}
