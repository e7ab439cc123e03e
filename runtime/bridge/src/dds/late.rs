//! Who comes late to a `transient_local` topic, and what it gets.
//!
//! RustDDS sends what a transient-local writer keeps to every subscription that comes late, to volatile ones, too, for which DDS has
//! nothing old. It keeps more than the depth: what was sent in the last seconds. So the writer is volatile as long as no
//! subscription asks for more, and the last messages stay here. When a subscription asks for transient_local, a writer that has
//! just these messages takes the place of the volatile one; when the last such subscription went, the next writer is volatile
//! again (docs/decisions/0052).
//!
//! RustDDS 0.15 gives nothing old any more to those who come when one of the subscriptions has gone. Then the next one that comes has a new
//! writer take the place of this one, and those that stayed get the last messages once more.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustdds::no_key::DataWriter;
use rustdds::policy::Durability;
use rustdds::{DomainParticipantStatusEvent, GUID};

use super::adapter::{Plain, Raw};

/// A writer that another one takes the place of stays so long, so that what it sent is sent again where it was lost.
const LINGER: Duration = Duration::from_secs(10);

/// The subscriptions that ask for transient_local, by what DDS calls their topic.
#[derive(Clone, Debug, Default)]
pub struct Asking(Rc<RefCell<BTreeMap<String, Askers>>>);

#[derive(Debug, Default)]
struct Askers {
    guids: BTreeSet<GUID>,
    /// One went, and none came since.
    has_lost: bool,
    /// How often one came after one had gone.
    turn: u64,
}

impl Asking {
    /// An endpoint came or went.
    pub fn follow(&self, event: &DomainParticipantStatusEvent) {
        use DomainParticipantStatusEvent as Event;
        match event {
            Event::ReaderDetected { reader }
                if reader.qos.durability().is_some_and(|kind| kind != Durability::Volatile) =>
            {
                self.come(&reader.topic_name, reader.guid);
            }
            Event::ReaderLost { guid, .. } => self.keep(|asking| asking != guid),
            Event::ParticipantLost { id, .. } => self.keep(|asking| asking.prefix != *id),
            _ => {}
        }
    }

    fn come(&self, topic: &str, guid: GUID) {
        let mut all = self.0.borrow_mut();
        let askers = all.entry(topic.to_owned()).or_default();
        if askers.guids.insert(guid) && std::mem::take(&mut askers.has_lost) {
            askers.turn += 1;
        }
    }

    /// Only these ask still.
    pub fn keep(&self, is_kept: impl Fn(&GUID) -> bool) {
        for askers in self.0.borrow_mut().values_mut() {
            let before = askers.guids.len();
            askers.guids.retain(|guid| is_kept(guid));
            askers.has_lost |= askers.guids.len() < before;
        }
    }

    /// Whether one does, of this topic.
    pub fn is_any(&self, topic: &str) -> bool {
        self.0.borrow().get(topic).is_some_and(|askers| !askers.guids.is_empty())
    }

    /// Another number whenever one came that the writer of before would give nothing.
    fn turn(&self, topic: &str) -> u64 {
        self.0.borrow().get(topic).map_or(0, |askers| askers.turn)
    }
}

/// What a topic has beside its writer for those who come late.
pub struct Late {
    /// What DDS calls the topic.
    topic: String,
    asking: Asking,
    turn: u64,
    depth: usize,
    /// Whether the writer is transient-local.
    pub is_given: bool,
    /// Whether the newest message of each lane is kept, and not the last ones of all.
    is_latched: bool,
    /// The messages that the next transient-local writer gets first, each with its lane.
    last: VecDeque<(usize, Bytes)>,
    /// What the writer has to send before what comes next.
    pub due: VecDeque<Bytes>,
    /// Writers that another one took the place of, and since when.
    pub before: Vec<(DataWriter<Raw, Plain>, Instant)>,
}

impl Late {
    /// Nothing was sent yet.
    pub fn new(topic: String, asking: &Asking, depth: usize, is_latched: bool, is_given: bool) -> Self {
        let (last, due) = (VecDeque::new(), VecDeque::new());
        let turn = asking.turn(&topic);
        Self { topic, asking: asking.clone(), turn, depth, is_latched, is_given, last, due, before: Vec::new() }
    }

    /// A message of a lane was taken.
    pub fn taken(&mut self, message: Bytes, lane: usize) {
        if self.is_latched {
            self.last.retain(|(last, _)| *last != lane);
        }
        if self.last.len() >= self.depth {
            self.last.pop_front();
        }
        self.last.push_back((lane, message));
    }

    /// Whether a transient-local writer is asked for now.
    pub fn is_wanted(&mut self) -> bool {
        self.before.retain(|(_, since)| since.elapsed() < LINGER);
        self.asking.is_any(&self.topic)
    }

    /// Whether the writer gives nothing to one that has come since.
    pub fn is_exhausted(&self) -> bool {
        self.is_given && self.turn != self.asking.turn(&self.topic)
    }

    /// A writer of that kind has begun.
    pub fn begin(&mut self, is_given: bool) {
        self.is_given = is_given;
        self.turn = self.asking.turn(&self.topic);
        self.due =
            if is_given { self.last.iter().map(|(_, message)| message.clone()).collect() } else { VecDeque::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_asked_for_as_long_as_one_of_the_subscriptions_is_there() {
        let asking = Asking::default();
        let (one, other) = (GUID::from_bytes([1; 16]), GUID::from_bytes([2; 16]));
        asking.come("rt/a", one);
        asking.come("rt/a", other);
        asking.keep(|guid| *guid != one);
        assert!(asking.is_any("rt/a") && !asking.is_any("rt/b"));
        asking.keep(|guid| guid.prefix != other.prefix);
        assert!(!asking.is_any("rt/a"));
    }

    #[test]
    fn one_that_comes_after_one_has_gone_has_a_writer_of_its_own() {
        let asking = Asking::default();
        let [one, other, third] = [1, 2, 3].map(|byte| GUID::from_bytes([byte; 16]));
        asking.come("rt/a", one);
        let mut late = Late::new("rt/a".into(), &asking, 2, true, true);
        asking.come("rt/a", other);
        assert!(!late.is_exhausted(), "the writer gives it what it keeps");
        asking.keep(|guid| *guid != one);
        assert!(!late.is_exhausted() && late.is_wanted());
        asking.come("rt/a", third);
        assert!(late.is_exhausted());
        late.begin(true);
        assert!(!late.is_exhausted());
        // The last one goes, and another one comes before the writer is looked at.
        asking.keep(|_| false);
        asking.come("rt/a", one);
        assert!(late.is_wanted() && late.is_exhausted());
    }

    #[test]
    fn of_a_latched_topic_each_publishers_newest_message_is_due_and_of_others_the_last_ones() {
        let due = |is_latched| {
            let mut late = Late::new("rt/a".into(), &Asking::default(), 2, is_latched, false);
            for (lane, byte) in [(0, 1), (1, 2), (1, 3), (1, 4)] {
                late.taken(Bytes::from(vec![byte]), lane);
            }
            late.begin(true);
            late.due.iter().map(|message| message[0]).collect::<Vec<_>>()
        };
        assert_eq!((due(true), due(false)), (vec![1, 4], vec![3, 4]));
    }
}
