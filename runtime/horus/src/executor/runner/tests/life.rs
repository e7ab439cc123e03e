//! A node in its executor's hands, with all ends at which something comes out of its loop.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tempfile::TempDir;

use super::super::*;
use super::{BUDGET_NS, DEADLINE_NS, Fate, Kind, PERIOD_NS};
use crate::executor::change::{self, ChangeCollector};
use crate::executor::queue::Queue;
use crate::figures::Sheet;
use crate::log::Log;
use crate::message::Stamp;
use crate::miss::{self, MissCollector};
use crate::port::{Output, pair};
use crate::stale::{self, StaleCollector};
use crate::topic::{Options, Publisher, Received, Subscriber};

/// A node that says what is asked of it.
struct Speaker {
    said: Sender<String>,
    output: Option<Output<Stamp>>,
}

impl Speaker {
    fn set(&mut self, sequence: u64) {
        if let Some(output) = &mut self.output {
            output.set(Stamp { sequence, sent_ns: 0 });
        }
    }
}

impl Node for Speaker {
    fn step(&mut self, cycle: &Cycle) {
        self.said.send(format!("step {cycle:?}")).unwrap();
        self.set(cycle.number);
    }

    fn safe_state(&mut self, cycle: &Cycle) {
        self.said.send(format!("safe state {cycle:?}")).unwrap();
        self.set(u64::MAX);
    }
}

/// An event that came: when it was sent; 0 where none came.
struct Bell(Arc<AtomicU64>);

impl Trigger for Bell {
    fn take(&mut self) -> Option<u64> {
        Some(self.0.swap(0, Relaxed)).filter(|sent_ns| *sent_ns > 0)
    }

    fn subscription(&mut self) -> &mut Subscription {
        unreachable!("no loop waits here")
    }
}

/// See the module documentation.
pub struct Life {
    pub(in super::super) runner: Runner<'static>,
    queue: Queue,
    now: MonotonicTime,
    cpu_time: u64,
    bell: Arc<AtomicU64>,
    sight: Option<Arc<Sight>>,
    said: Receiver<String>,
    published: Option<Subscriber<Stamp>>,
    misses: MissCollector,
    changes: ChangeCollector,
    stale_inputs: Option<StaleCollector>,
    _topics: Option<TempDir>,
}

/// All that can be seen of a node after a cycle.
#[derive(Debug, PartialEq)]
pub struct After {
    next: Option<MonotonicTime>,
    left: u64,
    number: u64,
    grid: MonotonicTime,
    state: State,
    tally: Tally,
    figures: Vec<u64>,
    said: Vec<String>,
    published: Vec<(u64, u64)>,
    told: Vec<String>,
}

fn timing() -> Timing {
    Timing::new(Duration::from_nanos(PERIOD_NS), Duration::from_nanos(DEADLINE_NS)).unwrap()
}

impl Life {
    pub fn new(kind: &Kind) -> Self {
        let (says, said) = channel();
        let (recorder, misses) = miss::channel("node", timing(), 8).unwrap();
        let budget_ns = kind.has_budget.then_some(BUDGET_NS);
        let (changes, change_collector) = change::channel("node", kind.on_miss, budget_ns);
        let bell = Arc::new(AtomicU64::new(0));
        let mut node = Speaker { said: says.clone(), output: None };
        let (mut inputs, mut outlets) = (Vec::new(), Vec::new());
        let (mut sight, mut stale_inputs, mut published, mut topics) = (None, None, None, None);
        if kind.has_ports {
            let directory = tempfile::tempdir_in("/dev/shm").unwrap();
            let options = Options::latest(64).directory(directory.path());
            published = Some(Subscriber::open("out", &options).unwrap());
            let publisher = Publisher::<Stamp>::open("out", &options).unwrap();
            let (output, mut outlet) = pair("out", publisher.into_publication());
            node.output = Some(output);
            node.set(u64::MAX);
            outlet.learn_safe();
            outlets.push(outlet);
            let (watch, collector) = stale::channel("node", "in", timing().period() * 15);
            let seen = Arc::new(Sight::new("in", false));
            inputs.push(Port { sight: Arc::clone(&seen), watch, received: 0 });
            (sight, stale_inputs, topics) = (Some(seen), Some(collector), Some(directory));
        }
        let observer: Observer<'_> = Box::new(move |record: &CycleRecord, verdict: &Verdict| {
            says.send(format!("heard {record:?} {verdict:?}")).unwrap();
        });
        let trigger = || Box::new(Bell(Arc::clone(&bell))) as Box<dyn Trigger>;
        let parts = Parts {
            node: Box::new(node),
            observer: kind.is_observed.then_some(observer),
            timing: timing(),
            phase_ns: kind.has_grid.then_some(PERIOD_NS / 4),
            trigger: kind.has_events.then(trigger),
            min_inter_arrival_ns: PERIOD_NS / 3,
            is_logical: kind.is_logical,
            budget_ns,
            on_miss: kind.on_miss,
            releases: kind.releases,
            inputs,
            outlets,
            params: None,
            recorder,
            changes,
            log: Log::default(),
        };
        let mut life = Self {
            runner: Runner::new(parts, Sheet::own(1, "").of(0)),
            queue: Queue::with_capacity(1),
            now: MonotonicTime::from_nanos(PERIOD_NS),
            cpu_time: 0,
            bell,
            sight,
            said,
            published,
            misses,
            changes: change_collector,
            stale_inputs,
            _topics: topics,
        };
        if let Some(release) = life.runner.first_release(life.now) {
            life.queue.insert(release, 0);
        }
        life
    }

    /// Does what the executor's loop does in a cycle; none runs where no release is due.
    pub fn live(&mut self, fate: &Fate, goes_the_long_way: bool) -> After {
        if let Some(ago_ns) = fate.event {
            self.bell.store(self.now.as_nanos().saturating_sub(ago_ns).max(1), Relaxed);
        }
        if let Some(release) = self.runner.take_event(self.now) {
            self.queue.insert(release, 0);
        }
        let mut next = None;
        match self.queue.next() {
            Some((release, _)) if !self.runner.has_ended() && !self.runner.has_stopped() => {
                self.queue.pop();
                next = self.cycle(release, fate, goes_the_long_way);
            }
            _ => self.now = self.now.plus_nanos(PERIOD_NS),
        }
        if let Some(release) = next {
            self.queue.insert(release, 0);
        }
        let received = self.published.iter_mut().flat_map(|subscriber| std::iter::from_fn(|| subscriber.try_recv()));
        let published = received.map(|Received { message, sent_ns, .. }| (message.sequence, sent_ns)).collect();
        After {
            next,
            left: self.runner.parts.releases,
            number: self.runner.number,
            grid: self.runner.grid,
            state: self.runner.state,
            tally: self.runner.tally,
            figures: self.runner.figures.snapshot(),
            said: self.said.try_iter().collect(),
            published,
            told: if fate.is_collected { self.collect(self.now) } else { Vec::new() },
        }
    }

    fn cycle(&mut self, release: MonotonicTime, fate: &Fate, goes_the_long_way: bool) -> Option<MonotonicTime> {
        let wake = release.max(self.now).plus_nanos(fate.late_ns);
        let completion = wake.max(release.plus_nanos(fate.response_ns));
        let runner = &mut self.runner;
        if fate.is_rearmed && runner.state == State::Safe {
            runner.rearm();
        }
        runner.step(release, wake, self.cpu_time);
        if let Some(sight) = self.sight.as_ref().filter(|_| fate.hears) {
            let _ = sight.look(0);
        }
        if fate.is_taken_over {
            runner.figures.take_over();
        }
        runner.publish(completion);
        self.now = completion;
        self.cpu_time += fate.cpu_time_ns;
        if goes_the_long_way {
            runner.is_calm = false;
        }
        runner.finish(completion, fate.cpu, (fate.cpu + 1) % 4, self.cpu_time)
    }

    /// What the thread beside the loop tells the journal.
    pub fn collect(&mut self, now: MonotonicTime) -> Vec<String> {
        let mut entries = Vec::from_iter(self.misses.collect(now));
        entries.extend(std::iter::from_fn(|| self.changes.collect(now)));
        entries.extend(self.stale_inputs.as_mut().and_then(|stale_inputs| stale_inputs.collect(now)));
        entries.iter().map(|entry| format!("{entry:?}")).collect()
    }
}
