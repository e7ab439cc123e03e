//! Who comes late to a `transient_local` topic, and what it gets.
//!
//! RustDDS sends what a transient-local writer keeps to every subscription that comes late, to volatile ones, too, for which DDS has
//! nothing old. It keeps more than the depth: what was sent in the last seconds. So the writer is volatile as long as no
//! subscription asks for more, and the last messages stay here. When a subscription asks for transient_local, a writer that has
//! just these messages takes the place of the volatile one; when the last such subscription went, the next writer is volatile
//! again (docs/decisions/0052).

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
pub struct Asking(Rc<RefCell<BTreeMap<String, BTreeSet<GUID>>>>);

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
        self.0.borrow_mut().entry(topic.to_owned()).or_default().insert(guid);
    }

    /// Only these ask still.
    pub fn keep(&self, is_kept: impl Fn(&GUID) -> bool) {
        self.0.borrow_mut().retain(|_, asking| {
            asking.retain(|guid| is_kept(guid));
            !asking.is_empty()
        });
    }

    /// Whether one does, of this topic.
    pub fn is_any(&self, topic: &str) -> bool {
        self.0.borrow().contains_key(topic)
    }
}

/// What a topic has beside its writer for those who come late.
pub struct Late {
    /// What DDS calls the topic.
    topic: String,
    asking: Asking,
    depth: usize,
    /// Whether the writer is transient-local.
    pub is_given: bool,
    /// The last messages that were taken, of which the next transient-local writer gets these first.
    last: VecDeque<Bytes>,
    /// What the writer has to send before what comes next.
    pub due: VecDeque<Bytes>,
    /// Writers that another one took the place of, and since when.
    pub before: Vec<(DataWriter<Raw, Plain>, Instant)>,
}

impl Late {
    /// Nothing was sent yet.
    pub fn new(topic: String, asking: &Asking, depth: usize, is_given: bool) -> Self {
        let (last, due) = (VecDeque::new(), VecDeque::new());
        Self { topic, asking: asking.clone(), depth, is_given, last, due, before: Vec::new() }
    }

    /// A message was taken.
    pub fn taken(&mut self, message: Bytes) {
        if self.last.len() >= self.depth {
            self.last.pop_front();
        }
        self.last.push_back(message);
    }

    /// Whether a transient-local writer is asked for now.
    pub fn is_wanted(&mut self) -> bool {
        self.before.retain(|(_, since)| since.elapsed() < LINGER);
        self.asking.is_any(&self.topic)
    }

    /// A writer of that kind has begun.
    pub fn begin(&mut self, is_given: bool) {
        self.is_given = is_given;
        self.due = if is_given { self.last.clone() } else { VecDeque::new() };
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
}
