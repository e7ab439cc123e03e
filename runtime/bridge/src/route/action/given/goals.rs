//! The goals that ROS sent to a server here: requests of ROS, and what becomes of the goals.

use std::time::{Duration, Instant};

use horus::action::{ActionError, GoalId, GoalStatus, GoalStatusArray, Progress, SentGoal};
use horus::time::MonotonicTime;
use horus::zerocopy::{FromZeros, IntoBytes};

use super::{CANCELS, Counts, GOALS, KEEP, Known, Open, WAITERS, WHICH, Which};
use crate::cdr::{Malformed, Reader, Writer};
use crate::convert::action as cdr;
use crate::route::{CallId, Sent};

/// What there is to tell of a goal, or why nothing will come of it.
type Looked = Result<Progress<Vec<u8>, Vec<u8>>, ActionError>;

impl Open {
    fn answer(&mut self, which: Which, to: CallId, write: impl FnOnce(&mut Writer<'_>)) {
        let mut cdr = Vec::new();
        write(&mut Writer::new(&mut cdr));
        self.answers.push_back((which, to, Instant::now(), cdr));
    }

    /// Takes a request of a service; false if there is none.
    pub(super) fn take(&mut self, number: usize, which: Which, counts: &mut Counts, texts: &mut Vec<String>) -> bool {
        let mut came = None;
        if !self.services[number].take(&mut |id, _, message| came = Some((id, message.map(<[u8]>::to_vec)))) {
            return false;
        }
        let Some((to, Some(message))) = came else {
            counts.refused += 1;
            return true;
        };
        let mut reader = Reader::new(&message);
        let done = match which {
            Which::SendGoal => self.send_goal(to, &mut reader, counts, texts),
            Which::GetResult => self.get_result(to, &mut reader),
            Which::CancelGoal => self.cancel_goal(to, &mut reader),
        };
        if let Err(error) = done {
            counts.refused += 1;
            texts.push(format!("a request of ROS was refused: {error}"));
        }
        true
    }

    fn send_goal(
        &mut self,
        to: CallId,
        reader: &mut Reader<'_>,
        counts: &mut Counts,
        texts: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        let id = cdr::read_id(reader)?;
        let goal = self.types.goal.read(reader, &self.context);
        let sent = match goal {
            Ok(goal) if self.goals.len() < GOALS && !self.goals.contains_key(&id) => {
                self.client.send_as(id, &goal).map_err(|error| error.to_string())
            }
            Ok(_) => Err("there are too many goals, or one of this number".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        match sent {
            Ok(sent) => {
                let known = Known { sent: Some(sent), asked: Some(to), waiters: Vec::new(), result: None };
                self.goals.insert(id, known);
            }
            Err(reason) => {
                counts.rejected += 1;
                texts.push(format!("a goal of ROS was rejected: {reason}"));
                self.accepted(to, None);
            }
        }
        Ok(())
    }

    /// Says whether a goal was accepted, and when.
    fn accepted(&mut self, to: CallId, when: Option<MonotonicTime>) {
        let offset = self.context.offset;
        self.answer(Which::SendGoal, to, |writer| {
            writer.u8(when.is_some().into());
            cdr::write_time(when.map_or(0, MonotonicTime::as_nanos), offset, writer);
        });
    }

    fn get_result(&mut self, to: CallId, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let id = cdr::read_id(reader)?;
        match self.goals.get_mut(&id) {
            Some(Known { result: Some((_, result)), .. }) => {
                let result = result.clone();
                self.answers.push_back((Which::GetResult, to, Instant::now(), result));
            }
            Some(known) if known.waiters.len() < WAITERS => known.waiters.push(to),
            _ => {
                let unknown = self.result(0, None);
                self.answers.push_back((Which::GetResult, to, Instant::now(), unknown));
            }
        }
        Ok(())
    }

    /// A result as ROS has it; one that does not convert says nothing.
    fn result(&self, status: u32, result: Option<&[u8]>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let write = |bytes: &mut Vec<u8>, result: Option<&[u8]>| {
            let mut writer = Writer::new(bytes);
            writer.u8(status as u8);
            match result {
                Some(result) => self.types.result.write(result, &mut writer, &self.context),
                None => {
                    self.types.result.write_nothing(&mut writer, &self.context);
                    Ok(())
                }
            }
        };
        if write(&mut bytes, result).is_err() {
            let _ = write(&mut bytes, None);
        }
        bytes
    }

    fn cancel_goal(&mut self, to: CallId, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let (id, until_ns) = cdr::read_info(reader, self.context.offset)?;
        let one = Some(id).filter(|id| *id != GoalId::ZERO);
        let asked = match (one, until_ns) {
            _ if self.cancels.len() >= CANCELS => None,
            (None, 0) => self.client.cancel_all().ok(),
            (Some(id), 0) => self.client.cancel(id).ok(),
            (one, until_ns) => self.client.cancel_until(MonotonicTime::from_nanos(until_ns), one).ok(),
        };
        match asked {
            Some(asked) => self.cancels.push((to, Instant::now(), asked)),
            None => self.answer(Which::CancelGoal, to, |writer| cdr::write_canceled(1, &[], writer)),
        }
        Ok(())
    }

    /// Follows the goals; whether there was something.
    pub(super) fn follow(&mut self, counts: &mut Counts, texts: &mut Vec<String>) -> bool {
        let mut is_any = false;
        let ids: Vec<_> = self.goals.iter().filter(|(_, known)| known.sent.is_some()).map(|(id, _)| *id).collect();
        for id in ids {
            while let Some(progress) = self.look_at(id) {
                is_any = true;
                let (status, result, reason) = match progress {
                    Ok(Progress::Nothing) => break,
                    Ok(Progress::Accepted) => {
                        self.is_accepted(id);
                        continue;
                    }
                    Ok(Progress::Feedback(feedback)) => {
                        self.tell_feedback(id, &feedback, counts);
                        continue;
                    }
                    Ok(Progress::Ended(outcome)) => (outcome.status.code(), outcome.result, None),
                    Err(ActionError::Rejected { .. }) => {
                        counts.rejected += 1;
                        if let Some(to) = self.goals.remove(&id).and_then(|known| known.asked) {
                            self.accepted(to, None);
                        }
                        break;
                    }
                    Err(error) => (GoalStatus::Aborted.code(), None, Some(error.to_string())),
                };
                counts.ended += 1;
                texts.extend(reason);
                self.end(id, status, result.as_deref());
                break;
            }
        }
        is_any
    }

    fn look_at(&mut self, id: GoalId) -> Option<Looked> {
        let sent = self.goals.get_mut(&id)?.sent.as_mut()?;
        let progress = sent.look(&mut self.client);
        (!matches!(progress, Ok(Progress::Nothing))).then_some(progress)
    }

    fn is_accepted(&mut self, id: GoalId) {
        let Some(known) = self.goals.get_mut(&id) else { return };
        let when = known.sent.as_ref().and_then(SentGoal::accepted);
        if let Some(to) = known.asked.take() {
            self.accepted(to, when.or(Some(MonotonicTime::now())));
        }
    }

    fn tell_feedback(&mut self, id: GoalId, feedback: &[u8], counts: &mut Counts) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        cdr::write_id(id, &mut writer);
        match self.types.feedback.write(feedback, &mut writer, &self.context) {
            Ok(()) => drop(self.feedback.send(&bytes, 0, 0)),
            Err(_) => counts.refused += 1,
        }
    }

    fn end(&mut self, id: GoalId, status: u32, result: Option<&[u8]>) {
        let bytes = self.result(status, result);
        let Some(known) = self.goals.get_mut(&id) else { return };
        let (asked, waiters) = (known.asked.take(), std::mem::take(&mut known.waiters));
        known.sent = None;
        known.result = Some((Instant::now(), bytes.clone()));
        if let Some(to) = asked {
            self.accepted(to, None); // its server went before it said anything
        }
        self.answers.extend(waiters.into_iter().map(|to| (Which::GetResult, to, Instant::now(), bytes.clone())));
    }

    pub(super) fn look_at_cancels(&mut self, limit: Duration) {
        let Self { client, cancels, answers, .. } = self;
        cancels.retain_mut(|(to, since, asked)| {
            let (code, goals) = match asked.look(client) {
                Ok(None) if since.elapsed() < limit => return true,
                Ok(Some(answer)) => (answer.return_code as u8, answer.goals().collect()),
                Ok(None) | Err(_) => (1, Vec::new()),
            };
            let mut bytes = Vec::new();
            cdr::write_canceled(code, &goals, &mut Writer::new(&mut bytes));
            answers.push_back((Which::CancelGoal, *to, Instant::now(), bytes));
            false
        });
    }

    /// Tells where the goals stand, the newest of what the server says.
    pub(super) fn tell_states(&mut self) {
        let Some(states) = &mut self.states else { return };
        let mut array = GoalStatusArray::new_zeroed();
        let mut is_any = false;
        while states.try_take(array.as_mut_bytes()).is_some() {
            is_any = true;
        }
        if !is_any {
            if self.are_states_due {
                self.send_states();
            }
            return;
        }
        let all: Vec<_> =
            array.goals().iter().map(|goal| (GoalId(goal.goal_id), goal.accepted_ns, goal.status as u8)).collect();
        self.states_told = all;
        self.send_states();
    }

    fn send_states(&mut self) {
        let mut bytes = Vec::new();
        cdr::write_states(&self.states_told, self.context.offset, &mut Writer::new(&mut bytes));
        self.are_states_due = self.status.send(&bytes, 0, 0) == Sent::Full;
    }

    /// The server has ended without a word: its goals are aborted.
    pub(super) fn abort_all(&mut self) {
        self.tell_states();
        let is_over = |status: u8| GoalStatus::of_code(status.into()).is_none_or(GoalStatus::is_over);
        for (_, _, status) in self.states_told.iter_mut().filter(|(_, _, status)| !is_over(*status)) {
            *status = GoalStatus::Aborted as u8;
        }
        self.send_states();
    }

    /// Gives answers to ROS. One whose client is not known yet waits, and holds up no other.
    pub(super) fn give(&mut self, limit: Duration, counts: &mut Counts) {
        let Self { services, answers, .. } = self;
        answers.retain(|(which, to, since, bytes)| {
            let number = WHICH.iter().position(|(known, _)| known == which).unwrap_or_default();
            match services[number].answer(*to, bytes) {
                Sent::Taken => false,
                Sent::Full if since.elapsed() < limit => true,
                Sent::Full | Sent::Lost => {
                    counts.late += 1;
                    false
                }
            }
        });
    }

    /// Results are kept for a while.
    pub(super) fn forget(&mut self) {
        self.goals.retain(|_, known| known.result.as_ref().is_none_or(|(since, _)| since.elapsed() < KEEP));
    }
}
