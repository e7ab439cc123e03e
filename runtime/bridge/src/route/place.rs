//! Where messages from ROS go: the place of the topic's next message, which is taken before the message is.
//!
//! The loop that serves all topics fills it, or a thread of what carries the messages, which is spared the loop's waking up. The
//! thread that does it has the lock for as long as it takes to convert one message.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use horus_shm::ends::Publication;
use horus_sys::clock::monotonic_ns;

use super::{CIRCLE, Took};
use crate::convert::{Context, Pairing};

/// A topic's publication, with all that it takes to convert a message for it.
pub struct Place {
    pub(super) publication: Publication,
    pub(super) is_of_bytes: bool,
    pub(super) bytes: usize,
    pub(super) pairing: Arc<Pairing>,
    pub(super) context: Context,
    /// Messages that were published, and that were none.
    pub(super) carried: u64,
    pub(super) refused: u64,
    pub(super) trouble: Option<String>,
}

/// A place that several threads fill.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Place>>);

/// What became of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A message went, or was refused.
    Went,
    /// There was no message.
    Nothing,
    /// The topic has no room.
    Full,
}

impl Shared {
    /// Shares a place.
    pub fn new(place: Place) -> Self {
        Self(Arc::new(Mutex::new(place)))
    }

    /// No other thread publishes meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Place> {
        // What a panic interrupted is a message that was not published.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Publishes a message, CDR without the four bytes in front, or counts one that cannot be read; false if there is no room for it.
    pub fn put(&mut self, message: Option<&[u8]>) -> bool {
        let there = |into: &mut dyn FnMut(Option<&[u8]>)| {
            into(message);
            Took::Message
        };
        self.next(there) != Next::Full
    }

    /// Refuses a message that comes back to where it was sent from.
    pub fn refuse_circle(&mut self) {
        self.refused += 1;
        self.trouble = Some(CIRCLE.to_owned());
    }

    /// Publishes what `take` hands over, if it does; it is not asked when there is no room.
    pub fn next(&mut self, take: impl FnOnce(&mut dyn FnMut(Option<&[u8]>)) -> Took) -> Next {
        let Self { publication, is_of_bytes, bytes, pairing, context, .. } = self;
        let mut outcome = None;
        let loan = match *is_of_bytes {
            true => publication.loan_bytes(*bytes).ok(),
            false => publication.loan().ok(),
        };
        let Some(mut loan) = loan else { return Next::Full };
        match take(&mut |message| {
            outcome = Some(message.map(|message| pairing.read(message, &mut loan, context)));
        }) {
            Took::Nothing => return Next::Nothing,
            Took::Again => return Next::Went,
            Took::Circle => outcome = None,
            Took::Message => {}
        }
        if let Some(Some(Ok(length))) = outcome {
            if *is_of_bytes {
                loan.shorten(length);
            }
            loan.publish(monotonic_ns());
        }
        match outcome {
            Some(Some(Ok(_))) => self.carried += 1,
            Some(Some(Err(error))) => {
                self.refused += 1;
                self.trouble = Some(error.to_string());
            }
            Some(None) => self.refused += 1,
            None => self.refuse_circle(),
        }
        Next::Went
    }
}
