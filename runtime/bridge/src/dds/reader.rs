//! A topic that comes in.

use std::cell::RefCell;
use std::rc::Rc;

use rustdds::no_key::SimpleDataReader;

use super::adapter::{Decoder, Plain};
use super::joined::Joined;
use crate::route::{Endpoint, Numbers, Source, Took};

/// Takes a topic's messages.
pub struct Reader {
    reader: SimpleDataReader<(), Plain>,
    endpoint: Endpoint,
    joined: Rc<RefCell<Joined>>,
    /// The participant that the reader is of.
    turn: u32,
    numbers: Numbers,
}

impl Reader {
    /// Asks for a topic.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn new(endpoint: &Endpoint, joined: &Rc<RefCell<Joined>>) -> Result<Self, String> {
        let reader = joined.borrow_mut().reader(endpoint)?;
        let (turn, numbers) = (joined.borrow().turn, Numbers::new(&endpoint.file));
        Ok(Self { reader, endpoint: endpoint.clone(), joined: joined.clone(), turn, numbers })
    }
}

impl Source for Reader {
    fn take(&mut self, into: &mut dyn FnMut(Option<&[u8]>)) -> Took {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.joined.borrow().waker()));
        let into = RefCell::new(into);
        match self.reader.try_take_one_with(Decoder(&into)) {
            Ok(None) => Took::Nothing,
            Ok(Some(message)) => {
                let (sender, number) = (message.writer_guid.to_bytes(), i64::from(message.sequence_number));
                if self.numbers.is_again(&sender, number) {
                    Took::Again
                } else if self.numbers.follow(sender, number) {
                    Took::Message
                } else {
                    Took::Circle
                }
            }
            Err(_) => {
                self.numbers.unread();
                into.borrow_mut()(None);
                Took::Message
            }
        }
    }

    fn damage(&self) -> (u64, u64) {
        self.numbers.damage()
    }

    fn look(&mut self) {
        let mut joined = self.joined.borrow_mut();
        if self.turn == joined.turn {
            return;
        }
        // One that cannot be made is tried again with the next look.
        if let Ok(next) = joined.reader(&self.endpoint) {
            (self.reader, self.turn) = (next, joined.turn);
            self.numbers.begin_again();
        }
    }
}
