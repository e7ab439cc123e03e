//! What the thread beside the loops does for its nodes' misses: asks the witness about those that froze, and brings the answers.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::client::Client;
use crate::journal::Entry;
use crate::miss::MissCollector;
use crate::time::MonotonicTime;

/// How long the end of a program waits for answers about its last misses.
const LAST_PATIENCE: Duration = Duration::from_millis(500);

/// The time between two looks then.
const LAST_INTERVAL: Duration = Duration::from_millis(10);

/// See the module documentation.
pub(crate) struct Beside {
    /// The client comes when the threads have taken their CPUs, after this thread was started.
    coming: Receiver<Client>,
    client: Option<Client>,
}

impl Beside {
    /// With the client that will come.
    pub fn new(coming: Receiver<Client>) -> Self {
        Self { coming, client: None }
    }

    /// Before a look at the nodes: brings them what the witness has said.
    pub fn hear<'a>(
        &mut self,
        nodes: impl Iterator<Item = &'a mut MissCollector>,
        now: MonotonicTime,
        tell: impl FnMut(Entry),
    ) {
        self.client = self.client.take().or_else(|| self.coming.try_recv().ok());
        let Some(client) = &mut self.client else { return };
        let mut outcomes = client.look(now, tell);
        for (index, node) in nodes.enumerate() {
            for (_, cycle, outcome) in outcomes.extract_if(.., |(asked, ..)| *asked == index) {
                node.answer(cycle, outcome);
            }
            node.absent(client.why_not(index));
        }
    }

    /// After a look at the nodes: asks about what has frozen, and lets whose answer has come freeze again. True if answers are outstanding.
    pub fn ask<'a>(&mut self, nodes: impl Iterator<Item = &'a mut MissCollector>, now: MonotonicTime) -> bool {
        let Some(client) = &mut self.client else { return false };
        let mut is_waiting = false;
        for (index, node) in nodes.enumerate() {
            while let Some((missed, recorded)) = node.take_question(now) {
                let cycle = missed.cycle;
                if let Err(why) = client.ask(index, missed, recorded, now) {
                    node.answer(cycle, Err(why));
                }
            }
            if let Some(tid) = node.take_answered(now) {
                client.arm(tid);
            }
            is_waiting |= node.is_waiting();
        }
        is_waiting
    }

    /// When the loops have ended: gives the witness a moment for the last misses.
    pub fn finish(&mut self, nodes: &mut [&mut MissCollector], mut tell: impl FnMut(Entry)) {
        let patience = MonotonicTime::now().plus(LAST_PATIENCE);
        loop {
            let now = MonotonicTime::now();
            self.hear(nodes.iter_mut().map(|node| &mut **node), now, &mut tell);
            nodes.iter_mut().for_each(|node| node.gather());
            if !self.ask(nodes.iter_mut().map(|node| &mut **node), now) || now >= patience {
                return;
            }
            std::thread::park_timeout(LAST_INTERVAL);
        }
    }
}
