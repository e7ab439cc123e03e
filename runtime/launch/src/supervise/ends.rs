//! Ends: in reverse order, within bounds, and of what is late.

use std::time::Duration;

use horus::time::MonotonicTime;
use rustix::process::Signal;

use super::{Run, seconds};
use crate::group::GRACE;
use crate::member::State;

/// A second signal that comes sooner is the first one, sent twice.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// What is late: a program that is not ready, one that does not end. And the end of those whose turn it is.
    pub(super) fn end_due(&mut self) {
        let now = MonotonicTime::now();
        for place in 0..self.members.len() {
            let program = &self.programs[place];
            match self.members[place].state {
                State::Starting
                    if self.stop.is_none() && now >= self.members[place].began.plus(program.ready_within) =>
                {
                    self.is_late(place);
                }
                State::Ending { kill_at } if now >= kill_at => {
                    let sentence = format!("did not end within {} of SIGTERM: killed", seconds(GRACE));
                    self.screen.say(place, &program.name, &sentence);
                    self.kill(place);
                }
                State::Killed { give_up_at } if now >= give_up_at => {
                    let sentence = "was killed and does not end: it waits for a device in the kernel, and is left";
                    self.screen.say(place, &program.name, sentence);
                    self.members[place].process = None;
                    self.members[place].state = State::Over;
                }
                _ => {}
            }
        }
        if self.stop.is_none() {
            return;
        }
        // What has no process holds up none, and no end of it would wake this loop.
        for member in &mut self.members {
            if matches!(member.state, State::Waiting | State::Pausing { .. }) {
                member.state = State::Over;
            }
        }
        for place in (0..self.members.len()).rev() {
            // Also those that start after it through one that has ended.
            let is_free = |(other, before): (usize, &Vec<usize>)| {
                !before.contains(&place) || self.members[other].state == State::Over
            };
            if !self.before.iter().enumerate().all(is_free) {
                continue;
            }
            let member = &mut self.members[place];
            if let (State::Starting | State::Running, Some(process)) = (member.state, &member.process) {
                process.signal(Signal::TERM);
                member.state = State::Ending { kill_at: now.plus(GRACE) };
            }
        }
    }

    fn is_late(&mut self, place: usize) {
        let program = &self.programs[place];
        let time = seconds(program.ready_within);
        if self.stage.is_some() {
            // A run without it would be another one, which a busy machine must not make of it.
            let remedy = "see what it prints, or write a longer ready_within";
            let sentence = format!("is not ready after {time}, and time begins when all are; all are ended: {remedy}");
            self.screen.say(place, &program.name, &sentence);
            self.fail();
            return;
        }
        let remedy = "it has to say READY=1, as a program of nodes does: see what it prints, or write ready = \"start\" if it never says so, or a \
                      longer ready_within";
        let waits = self.waits_for(place).map(str::to_owned);
        self.screen.say(place, &program.name, &format!("is not ready after {time}: {remedy}"));
        self.members[place].state = State::Running;
        if let Some(waiting) = waits {
            self.has_failed = true;
            self.screen.tell(&format!("{waiting} starts after {}, which is not ready: all are ended", program.name));
            self.stop = Some(MonotonicTime::now());
        }
    }

    fn kill(&mut self, place: usize) {
        let member = &mut self.members[place];
        if let Some(process) = &member.process {
            self.has_failed = true;
            process.signal(Signal::KILL);
            member.state = State::Killed { give_up_at: MonotonicTime::now().plus(GRACE) };
        }
    }

    pub(super) fn kill_all(&mut self) {
        for place in 0..self.members.len() {
            self.kill(place);
        }
    }

    /// Obeys `more` signals after `count`, and returns how many there were.
    pub(super) fn obey(&mut self, count: usize, more: usize) -> usize {
        if more == 0 {
            return count;
        }
        let now = MonotonicTime::now();
        match self.asked {
            None => {
                self.asked = Some(now);
                self.stop.get_or_insert(now);
            }
            Some(since) if count + more > 2 || now.since(since) > SAME_SIGNAL => {
                self.screen.tell("a second signal: all are killed");
                self.kill_all();
            }
            Some(_) => {}
        }
        count + more
    }
}
