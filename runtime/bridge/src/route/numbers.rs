//! The numbers that publishers give their messages: what is missing among them was lost on the way.

use std::collections::BTreeMap;

use super::mark::{self, Mark};

/// Who sent a message: 16 bytes that stand for a publisher, on either wire.
pub type Sender = [u8; 16];

/// Why a message is refused that comes back.
pub const CIRCLE: &str = "another bridge of this machine sends this very topic there, and its messages would come back for ever: they are \
                          refused; bridge it one way only";
/// Publishers whose numbers are followed; of more, only the first.
const PUBLISHERS: usize = 256;

/// The numbers of all publishers of a topic.
///
/// What a publisher sent before its first message that came is not counted, and what it sent after its last one cannot be.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The file of the topic into which the messages go.
    topic: String,
    senders: BTreeMap<Sender, Following>,
    /// Messages that came and could not be read, so that their numbers are unknown: they are no gap.
    unread: u64,
    lost: u64,
    reordered: u64,
}

#[derive(Debug)]
struct Following {
    next: i64,
    /// What is below it came before the messages were asked for anew, or was counted.
    floor: i64,
    /// It is a bridge of this machine that reads the topic into which its messages would go.
    is_circle: bool,
}

impl Numbers {
    /// Of messages that go into the topic of this file.
    pub fn new(topic: &str) -> Self {
        Self { topic: topic.to_owned(), ..Self::default() }
    }

    /// A message came; false if it comes back to where it was sent from, and is not to be taken.
    pub fn follow(&mut self, sender: Sender, number: i64) -> bool {
        let after = number.saturating_add(1);
        if let Some(Following { next, is_circle, .. }) = self.senders.get_mut(&sender) {
            if *is_circle {
                return false;
            }
            if number < *next {
                // It was counted as lost. A publisher that begins anew has another name.
                self.lost = self.lost.saturating_sub(1);
                self.reordered += 1;
                return true;
            }
            let gap = u64::try_from(number.saturating_sub(*next)).unwrap_or(0);
            let unread = gap.min(self.unread);
            self.unread -= unread;
            self.lost += gap - unread;
            *next = after;
        } else if self.senders.len() < PUBLISHERS {
            let is_circle = Mark::is_set(&mark::sending(&sender, &self.topic));
            self.senders.insert(sender, Following { next: after, floor: i64::MIN, is_circle });
            return !is_circle;
        }
        true
    }

    /// The messages are asked for anew: publishers may send again what they keep for who comes late.
    pub fn begin_again(&mut self) {
        self.senders.values_mut().for_each(|sender| sender.floor = sender.next);
    }

    /// Whether a message is such a one, which is not to be taken twice.
    pub fn is_again(&self, sender: &Sender, number: i64) -> bool {
        self.senders.get(sender).is_some_and(|sender| number < sender.floor)
    }

    /// A message came that cannot be read, nor its number. It is counted as refused, and not as lost, too.
    pub fn unread(&mut self) {
        self.unread += 1;
    }

    /// How many are missing, and how many came after a later one, since it began.
    pub fn damage(&self) -> (u64, u64) {
        (self.lost, self.reordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_among_a_publishers_numbers_is_lost_and_what_comes_late_is_not() {
        let mut numbers = Numbers::default();
        for (sender, number) in [(1, 5), (1, 6), (1, 9), (2, 100)] {
            assert!(numbers.follow([sender; 16], number));
        }
        assert_eq!(numbers.damage(), (2, 0), "7 and 8, and nothing of who came later");
        numbers.follow([1; 16], 7);
        assert_eq!(numbers.damage(), (1, 1));
    }

    #[test]
    fn what_came_before_messages_were_asked_for_anew_is_not_taken_again() {
        let mut numbers = Numbers::default();
        for number in 1..4 {
            assert!(!numbers.is_again(&[1; 16], number) && numbers.follow([1; 16], number));
        }
        numbers.begin_again();
        assert!(numbers.is_again(&[1; 16], 3) && !numbers.is_again(&[1; 16], 4) && !numbers.is_again(&[2; 16], 1));
        assert!(numbers.follow([1; 16], 6));
        assert_eq!(numbers.damage(), (2, 0), "4 and 5");
    }

    #[test]
    fn what_came_and_could_not_be_read_is_no_loss() {
        let mut numbers = Numbers::default();
        numbers.follow([1; 16], 1);
        numbers.unread();
        numbers.follow([1; 16], 4);
        assert_eq!(numbers.damage(), (1, 0), "of 2 and 3, one came");
    }

    #[test]
    fn what_a_bridge_of_this_machine_sends_of_the_same_topic_is_not_taken() {
        let topic = format!("/a/test/of/{}.topic", std::process::id());
        let _mark = Mark::set(&mark::sending(&[7; 16], &topic)).unwrap().unwrap();
        let (mut same, mut other) = (Numbers::new(&topic), Numbers::new("/another.topic"));
        for number in 1..4 {
            assert!(!same.follow([7; 16], number) && same.follow([8; 16], number));
            assert!(other.follow([7; 16], number), "into another topic it goes once");
        }
        assert_eq!(same.damage(), (0, 0));
    }
}
