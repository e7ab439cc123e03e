//! One node in its thread: its cycles, its account, and what it does when it misses.
//!
//! Nothing in here knows how time passes: the same code runs on the machine's clock and on a virtual one.

mod arming;
mod calm;
mod messages;
mod virtually;

use std::sync::Arc;

use horus_shm::ends::Subscription;
use horus_shm::ring::local;

use super::change::{Change, ChangeKind};
use crate::deadline::{CycleRecord, MAX_PERIOD, Tally, Timing, Verdict};
use crate::figures::{Figures, State};
use crate::log::Log;
use crate::miss::MissRecorder;
use crate::node::{Action, Cycle, Node, OnMiss, Window};
use crate::param::Intake;
use crate::port::{Outlet, Sight, Trigger};
use crate::stale::InputWatch;
use crate::time::MonotonicTime;
use crate::witness::freeze::Trace;

/// An input, as its executor sees it.
pub(crate) struct Port {
    pub sight: Arc<Sight>,
    pub watch: InputWatch,
    pub received: u64,
}

/// Hears what is known of a cycle, and the judgement.
pub(crate) type Observer<'a> = Box<dyn FnMut(&CycleRecord, &Verdict) + Send + 'a>;

/// What a runner is made of.
pub(crate) struct Parts<'a> {
    pub node: Box<dyn Node + Send + 'a>,
    /// Hears of each cycle; its own time delays the next one.
    pub observer: Option<Observer<'a>>,
    pub timing: Timing,
    /// Whether a grid releases it, and how far behind that of the period.
    pub phase_ns: Option<u64>,
    pub trigger: Option<Box<dyn Trigger>>,
    pub min_inter_arrival_ns: u64,
    pub is_logical: bool,
    pub budget_ns: Option<u64>,
    pub on_miss: OnMiss,
    /// Releases until it ends.
    pub releases: u64,
    pub inputs: Vec<Port>,
    pub outlets: Vec<Outlet>,
    pub params: Option<Box<Intake>>,
    pub recorder: MissRecorder,
    pub changes: local::Writer<Change>,
    /// For what its steps say, until the runner has it.
    pub log: Log,
}

impl Parts<'_> {
    /// When what is published now counts as sent, in nanoseconds: at the deadline with logical execution time.
    fn stamp(&self, cycle: &Cycle, now: MonotonicTime) -> u64 {
        if self.is_logical { cycle.deadline.max(now).as_nanos() } else { now.as_nanos() }
    }
}

/// A node with all that its executor knows of it.
pub(crate) struct Runner<'a> {
    parts: Parts<'a>,
    figures: Arc<Figures>,
    tally: Tally,
    window: Window,
    state: State,
    number: u64,
    /// The next release by the grid, of number `number` unless events come between.
    grid: MonotonicTime,
    cycle: Cycle,
    is_pending: bool,
    not_before: MonotonicTime,
    last_event: Option<MonotonicTime>,
    cpu_time_before: u64,
    over_budget: u64,
    /// A change of state that found the ring full.
    untold: Option<Change>,
    /// Whether the next cycle may take the short way of [`finish`](Self::finish); `calm` says what keeps it from that.
    is_calm: bool,
}

impl<'a> Runner<'a> {
    pub fn new(mut parts: Parts<'a>, figures: Arc<Figures>) -> Self {
        let never = MonotonicTime::default();
        Self {
            window: Window::new(&parts.on_miss),
            figures,
            tally: Tally::default(),
            state: State::Starting,
            number: 0,
            grid: MonotonicTime::default(),
            cycle: Cycle { log: std::mem::take(&mut parts.log), ..Cycle::new(0, never, never, never) },
            is_pending: false,
            not_before: MonotonicTime::default(),
            untold: None,
            is_calm: false,
            last_event: None,
            cpu_time_before: 0,
            over_budget: 0,
            parts,
        }
    }

    /// Publishes what is safe, if its node reacts to misses by its safe state, and discards what its step has set: when its thread cannot go on.
    pub fn publish_safe(&mut self, now: MonotonicTime) {
        self.parts.outlets.iter_mut().for_each(Outlet::discard);
        if self.parts.on_miss.action == Action::SafeState {
            let stamp = self.parts.stamp(&self.cycle, now);
            self.parts.outlets.iter_mut().for_each(|outlet| outlet.publish_safe(stamp));
        }
    }

    /// The first release behind `from`, if a grid releases the node. Events before that are as if they came then.
    pub fn first_release(&mut self, from: MonotonicTime) -> Option<MonotonicTime> {
        self.not_before = from;
        let phase = std::time::Duration::from_nanos(self.parts.phase_ns?);
        self.begin_at(self.parts.timing.next_release(from, phase))
    }

    /// Begins the grid there.
    pub fn begin_at(&mut self, release: MonotonicTime) -> Option<MonotonicTime> {
        self.grid = release;
        (self.parts.releases > 0).then_some(self.grid)
    }

    /// Whether events will release it.
    pub fn is_event_driven(&self) -> bool {
        self.parts.trigger.is_some() && self.parts.releases > 0
    }

    /// What its misses freeze.
    pub fn freeze_by(&mut self, trace: Option<Arc<Trace>>) {
        self.parts.recorder.freeze_by(trace);
    }

    pub(crate) fn has_budget(&self) -> bool {
        self.parts.budget_ns.is_some()
    }

    /// Whether it has used up its releases.
    pub fn has_ended(&self) -> bool {
        self.parts.releases == 0
    }

    /// It runs no more; what its account says of its state stays.
    pub fn end(&mut self) {
        self.figures.set_state(if self.state == State::Stopped { State::Stopped } else { State::Ended });
    }

    /// Whether it reacted to its misses by its end.
    pub fn has_stopped(&self) -> bool {
        self.state == State::Stopped
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The release that an event asks for, if one came and none is pending.
    pub fn take_event(&mut self, now: MonotonicTime) -> Option<MonotonicTime> {
        if self.is_pending || self.parts.releases == 0 {
            return None;
        }
        let sent = match self.parts.trigger.as_mut()?.take()? {
            0 => now,
            // A message of the future is one of a node with logical execution time: its event comes when it can be seen.
            sent_ns => match MonotonicTime::from_nanos(sent_ns) {
                sent if sent > now.plus(MAX_PERIOD) => now,
                sent => sent.max(self.not_before),
            },
        };
        self.is_pending = true;
        let release = self.last_event.map_or(sent, |last| sent.max(last.plus_nanos(self.parts.min_inter_arrival_ns)));
        self.last_event = Some(release);
        Some(release)
    }

    /// What to wait for, unless an event is pending.
    pub fn awaited(&mut self) -> Option<&mut Subscription> {
        let waits = self.is_event_driven() && !self.is_pending;
        self.parts.trigger.as_mut().filter(|_| waits).map(|trigger| trigger.subscription())
    }

    /// Does the work of a cycle.
    #[inline(always)] // a tenth of a tick is saved where the loop has it in place
    pub fn step(&mut self, release: MonotonicTime, wake: MonotonicTime, cpu_time: u64) {
        let timing = &self.parts.timing;
        let deadline = release.plus_nanos(timing.deadline_nanos());
        (self.cycle.number, self.cycle.release, self.cycle.wake, self.cycle.deadline) =
            (self.number, release, wake, deadline);
        if let Some(params) = &mut self.parts.params {
            params.look();
        }
        let sees_until = if self.parts.is_logical { release } else { wake };
        for input in &self.parts.inputs {
            input.sight.set(sees_until);
        }
        if self.is_pending
            && let Some(trigger) = &mut self.parts.trigger
        {
            let _ = trigger.take(); // this cycle sees what came since its event
        }
        self.cpu_time_before = cpu_time;
        self.figures.begin(self.number, release, wake, cpu_time);
        match self.state {
            State::Running => self.parts.node.step(&self.cycle),
            _ => self.step_in_another_state(),
        }
    }

    #[inline(never)]
    fn step_in_another_state(&mut self) {
        if self.state == State::Starting {
            self.state = State::Running;
            self.figures.set_state(State::Running);
        }
        self.arm_if_asked();
        match self.state {
            State::Safe => self.parts.node.safe_state(&self.cycle),
            _ => self.parts.node.step(&self.cycle),
        }
    }

    /// Publishes what the step has set; true if there are outputs. A node whose place a monitor took while its step hung publishes
    /// nothing of that step.
    #[inline(always)] // a tenth of a tick is saved where the loop has it in place
    pub fn publish(&mut self, now: MonotonicTime) -> bool {
        if self.parts.outlets.is_empty() {
            return false; // and there is nothing that a monitor could have taken over
        }
        let is_taken_over = self.figures.is_taken_over() && self.state != State::Safe;
        let stamp = self.parts.stamp(&self.cycle, now);
        for outlet in &mut self.parts.outlets {
            match is_taken_over {
                true => outlet.discard(),
                false => outlet.publish(stamp),
            }
        }
        if is_taken_over {
            self.state = State::Safe;
            self.figures.set_state(State::Safe);
            self.is_calm = false;
            self.tell(ChangeKind::TakenOver, 0, 1);
        }
        true
    }

    /// Judges the cycle; returns the next release by the grid, if there is one.
    ///
    /// Nearly all cycles are in time, and nothing that lasts has happened to their nodes. These take the short way: it is what a tick
    /// costs. The long way knows all that can happen, and says which way the next cycle may take. Both ask the same judge
    /// ([`Timing::is_met_by`]), and `tests` holds what they do against each other.
    #[inline(always)] // a tenth of a tick is saved where the loop has it in place
    pub fn finish(
        &mut self,
        completion: MonotonicTime,
        wake_cpu: u32,
        completion_cpu: u32,
        cpu_time: u64,
    ) -> Option<MonotonicTime> {
        let Cycle { number, release, wake, .. } = self.cycle;
        // In its safe state no step reads the inputs.
        if self.state != State::Safe {
            for input in &mut self.parts.inputs {
                let received = input.sight.received();
                input.watch.observe(received != input.received, wake);
                input.received = received;
            }
        }
        let record = CycleRecord { number, release, wake, completion, wake_cpu, completion_cpu, skipped: 0 };
        self.parts.recorder.note(&record);
        let response_ns = completion.nanos_since(release);
        let is_in_time = self.parts.timing.is_met_by(response_ns);
        // An event's release does not move the grid, and the last release ends the node: both are the long way's.
        if is_in_time && self.is_calm && release == self.grid && self.parts.releases > 1 {
            self.tally.add_in_time(response_ns, wake.nanos_since(release));
            self.figures.end(completion, completion_cpu, response_ns, &self.tally);
            self.number += 1;
            self.parts.releases -= 1;
            self.grid = self.grid.plus_nanos(self.parts.timing.period_nanos());
            return Some(self.grid);
        }
        self.finish_the_long_way(record, cpu_time)
    }

    #[inline(never)]
    fn finish_the_long_way(&mut self, mut record: CycleRecord, cpu_time: u64) -> Option<MonotonicTime> {
        let CycleRecord { release, completion, .. } = record;
        let by_grid = self.parts.phase_ns.is_some() && release == self.grid;
        let left = self.parts.releases.saturating_sub(1);
        match by_grid {
            true => record.skipped = self.parts.timing.releases_skipped(release, completion).min(left),
            false => self.is_pending = false,
        }
        let mut verdict = self.tally.add(&self.parts.timing, &record);
        if let Some(untold) = self.untold
            && self.parts.changes.try_send(untold).is_ok()
        {
            self.untold = None;
        }
        self.account_for_budget(cpu_time);
        let leaves_out = self.react(&mut verdict, completion, left - record.skipped);
        self.parts.recorder.observe(&record, &verdict);
        if let Some(observer) = &mut self.parts.observer {
            observer(&record, &verdict);
        }
        self.figures.end(completion, record.completion_cpu, record.response_nanos(), &self.tally);
        if verdict.misses() > 0 {
            self.figures.count_misses(&self.tally);
        }
        let used = 1 + record.skipped + leaves_out;
        self.parts.releases -= used;
        self.number += used;
        if by_grid {
            self.grid = self.grid.plus_nanos(used * self.parts.timing.period_nanos());
        }
        self.is_calm = self.is_calm_now();
        if self.parts.releases == 0 {
            self.end();
        }
        (by_grid && self.parts.releases > 0).then_some(self.grid)
    }

    fn account_for_budget(&mut self, cpu_time: u64) {
        let Some(budget_ns) = self.parts.budget_ns else { return };
        let used = cpu_time.saturating_sub(self.cpu_time_before);
        self.figures.used(used, used > budget_ns);
        if used > budget_ns {
            self.over_budget += 1;
            self.tell(ChangeKind::OverBudget, used, self.over_budget);
        }
    }

    /// Does what is to be done about misses; returns how many of the next releases are left out.
    fn react(&mut self, verdict: &mut Verdict, completion: MonotonicTime, left: u64) -> u64 {
        let is_broken = self.window.add(verdict);
        if is_broken && self.state == State::Running {
            self.state = match self.parts.on_miss.action {
                Action::Count | Action::Warn => return 0,
                Action::Skip => return self.leave_out(verdict, left.min(1)),
                Action::Degrade(_) => State::Degraded,
                Action::SafeState => State::Safe,
                Action::Stop => State::Stopped,
            };
            self.figures.set_state(self.state);
            self.tell(ChangeKind::Reacts, 0, 1);
            if self.state == State::Safe {
                let _of_before = self.figures.take_rearming();
                self.make_safe(completion);
            }
        }
        match (self.state, self.parts.on_miss.action) {
            (State::Degraded, Action::Degrade(every)) => (u64::from(every) - 1).min(left),
            _ => 0,
        }
    }

    /// Publishes the safe state at once, and not at the next release: that may be late, too.
    fn make_safe(&mut self, now: MonotonicTime) {
        self.parts.node.safe_state(&self.cycle);
        let stamp = self.parts.stamp(&self.cycle, now);
        self.parts.outlets.iter_mut().for_each(|outlet| outlet.publish(stamp));
    }

    /// Leaves releases out that were promised: each is a miss.
    fn leave_out(&mut self, verdict: &mut Verdict, releases: u64) -> u64 {
        self.tally.leave_out(releases);
        verdict.skipped += releases;
        releases
    }

    fn tell(&mut self, kind: ChangeKind, cpu_ns: u64, count: u64) {
        let change = Change::new(kind, self.cycle.number, cpu_ns, count);
        // Into a full ring nothing goes. Exceeded budgets are counted; a change of state, of which there is one, is told later.
        if self.parts.changes.try_send(change).is_err() && kind != ChangeKind::OverBudget {
            self.untold = Some(change);
        }
    }
}

#[cfg(test)]
mod tests;
