//! Starts: of those whose time has come, and of those that ended and have a rule that says so.

use std::process::ExitStatus;

use horus::time::MonotonicTime;

use super::{Run, seconds};
use crate::file::Ready;
use crate::member::State;
use crate::process::Process;
use crate::ready::Socket;
use crate::restart::MOST_RESTARTS;
use crate::robot::Program;

impl Run<'_> {
    /// Starts those whose time has come: also those that wait for one which is ready at once, for nothing else of it would wake this loop.
    pub(super) fn start_due(&mut self) {
        let now = MonotonicTime::now();
        while let Some(place) = (0..self.members.len()).find(|place| self.is_due(*place, now)) {
            self.start(place);
        }
    }

    fn is_due(&self, place: usize, now: MonotonicTime) -> bool {
        let is_its_time = match self.members[place].state {
            State::Waiting => self.programs[place].after.iter().all(|before| self.members[*before].was_ready),
            State::Pausing { until } => now >= until,
            _ => false,
        };
        is_its_time && self.stop.is_none() && self.may_start()
    }

    fn start(&mut self, place: usize) {
        let (program, member) = (&self.programs[place], &mut self.members[place]);
        member.starts += 1;
        member.begin();
        let seat = self.stage.as_mut().map_or_else(|| Ok(Vec::new()), |stage| stage.seat(place, program));
        let started = seat.map_err(|error| std::io::Error::other(error.to_string())).and_then(|more| {
            let socket = Socket::bind(self.folder, place, member.starts)?;
            Process::start(program, socket.path(), &more).map(|process| (socket, process))
        });
        match started {
            Ok((socket, process)) => {
                self.guard.add(&process, self.before[place].len());
                (member.socket, member.process, member.state) = (Some(socket), Some(process), State::Starting);
                if program.ready == Ready::Start && self.stage.is_none() {
                    self.is_ready(place, "started");
                }
            }
            Err(error) => {
                member.state = State::Over;
                let command = program.start.command.display();
                self.screen.say(place, &program.name, &format!("cannot be started: {command}: {error}"));
                if program.is_optional {
                    member.was_ready = true;
                    return;
                }
                self.has_failed = true;
                self.is_missing(place);
            }
        }
    }

    pub(super) fn is_ready(&mut self, place: usize, words: &str) {
        let member = &mut self.members[place];
        (member.state, member.was_ready, member.was_ready_now) = (State::Running, true, true);
        self.screen.say(place, &self.programs[place].name, words);
    }

    /// Whether programs wait for this one.
    pub(super) fn waits_for(&self, place: usize) -> Option<&str> {
        let waits = |(other, program): (usize, &Program)| {
            program.after.contains(&place) && self.members[other].state == State::Waiting
        };
        let other = self.programs.iter().enumerate().position(waits)?;
        Some(&self.programs[other].name)
    }

    /// A program is gone for good: what waits for it cannot start.
    fn is_missing(&mut self, place: usize) {
        if self.stop.is_some() || self.members[place].was_ready {
            return;
        }
        if let Some(waiting) = self.waits_for(place) {
            let sentence =
                format!("{} was never ready, and {waiting} starts after it: all are ended", self.programs[place].name);
            self.screen.tell(&sentence);
            (self.stop, self.has_failed) = (Some(MonotonicTime::now()), true);
        }
    }

    pub(super) fn has_ended(&mut self, place: usize, status: ExitStatus) {
        let (program, member) = (&self.programs[place], &mut self.members[place]);
        let (state, ran) = (member.state, MonotonicTime::now().since(member.began));
        (member.socket, member.rest_until) = (None, None);
        if matches!(state, State::Ending { .. } | State::Killed { .. }) {
            member.state = State::Over;
            self.order.push(place);
            return;
        }
        let how = member.how(status);
        let is_failure = !status.success();
        if program.is_optional && !member.was_ready {
            (member.state, member.was_ready) = (State::Over, true); // who starts after it does not wait
            let how = if is_failure { how } else { "it ended before it was ready".to_owned() };
            self.screen.say(place, &program.name, &format!("is left out: {how}"));
            return;
        }
        let may_again = self.stage.is_none();
        let again = if may_again && program.restart.applies(is_failure) { member.attempts.next(ran) } else { None };
        if let (Some(attempt), None) = (again, self.stop) {
            member.state = State::Pausing { until: MonotonicTime::now().plus(attempt.pause) };
            let (pause, number) = (seconds(attempt.pause), attempt.number);
            self.screen.say(place, &program.name, &format!("{how} -> again in {pause} ({number} of {MOST_RESTARTS})"));
            return;
        }
        member.state = State::Over;
        self.has_failed |= is_failure;
        let rest = match may_again && program.restart.applies(is_failure) && self.stop.is_none() {
            true => format!("; given up after {MOST_RESTARTS} restarts"),
            false => String::new(),
        };
        self.screen.say(place, &program.name, &format!("{how}{rest}"));
        if !self.is_missed_on_stage(place, is_failure) {
            self.is_missing(place);
        }
    }
}
