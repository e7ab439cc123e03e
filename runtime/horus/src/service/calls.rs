//! The calls of a client that are unanswered: at most so many, in places that are made once.
//!
//! A call is given up by dropping its handle. The place and the handle share a counter, so that the client sees it when it looks for a free
//! place: no message, no lock.

use std::collections::VecDeque;
use std::sync::Arc;

/// Why a call will not be answered any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The server was killed, or another took its place.
    Died,
    /// It stopped.
    Stopped,
    /// It said that it does not answer.
    Unanswered,
    /// There was none.
    NotServed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Messages may come.
    Waiting,
    /// All of the answer is there.
    Complete,
    /// The rest will not come.
    Lost(Lost),
}

/// What there is of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look<T> {
    /// Nothing yet.
    Nothing,
    /// A message; whether it is the last one.
    Message(T, bool),
    /// No more messages.
    End,
    /// It will not come.
    Lost(Lost),
    /// This is no call of this client, or it is over.
    Over,
}

/// Whose call it is.
#[derive(Debug)]
pub(super) struct Handle {
    place: usize,
    number: u64,
    held: Arc<()>,
}

struct Place<T> {
    /// One more than this one while the call's handle lives.
    held: Arc<()>,
    number: u64,
    state: State,
    messages: VecDeque<T>,
}

impl<T> Place<T> {
    fn is_held(&self) -> bool {
        // A count that is old by a moment keeps a place for a moment longer; no data hangs on it.
        Arc::strong_count(&self.held) > 1
    }

    fn awaits(&self, number: u64) -> bool {
        self.number == number && self.state == State::Waiting && self.is_held()
    }
}

/// All places of a client.
pub(super) struct Calls<T> {
    places: Box<[Place<T>]>,
    room: usize,
    late: u64,
}

impl<T> Calls<T> {
    /// `calls` places, each with room for `messages` messages.
    pub fn new(calls: usize, messages: usize) -> Self {
        let place = |_| Place {
            held: Arc::new(()),
            number: 0,
            state: State::Complete,
            messages: VecDeque::with_capacity(messages),
        };
        Self { places: (0..calls).map(place).collect(), room: messages, late: 0 }
    }

    /// Whether another call has a place.
    pub fn has_room(&self) -> bool {
        self.places.iter().any(|place| !place.is_held())
    }

    /// A place for the call of this number.
    pub fn begin(&mut self, number: u64) -> Option<Handle> {
        let index = self.places.iter().position(|place| !place.is_held())?;
        let place = &mut self.places[index];
        place.messages.clear();
        (place.number, place.state) = (number, State::Waiting);
        Some(Handle { place: index, number, held: Arc::clone(&place.held) })
    }

    /// Whether the next message, whoever it is for, has a place.
    pub fn can_take(&self) -> bool {
        self.places.iter().all(|place| place.messages.len() < self.room || !place.is_held())
    }

    /// A message of an answer; whether it is the last one.
    pub fn enter(&mut self, number: u64, message: T, is_last: bool) {
        let room = self.room;
        match self.places.iter_mut().find(|place| place.awaits(number)) {
            Some(place) if place.messages.len() < room => {
                place.messages.push_back(message);
                if is_last {
                    place.state = State::Complete;
                }
            }
            _ => self.late += 1,
        }
    }

    /// There are no more messages of this answer.
    pub fn end(&mut self, number: u64) {
        self.change(number, State::Complete);
    }

    /// This call will not be answered.
    pub fn lose(&mut self, number: u64, why: Lost) {
        self.change(number, State::Lost(why));
    }

    fn change(&mut self, number: u64, state: State) {
        match self.places.iter_mut().find(|place| place.awaits(number)) {
            Some(place) => place.state = state,
            None => self.late += 1,
        }
    }

    /// Calls of lower numbers will not be answered any more.
    pub fn lose_before(&mut self, number: u64, why: Lost) {
        let lost = self.places.iter_mut().filter(|place| place.number < number && place.state == State::Waiting);
        lost.for_each(|place| place.state = State::Lost(why));
    }

    /// A message that makes no sense, or that no call waits for.
    pub fn count_late(&mut self) {
        self.late += 1;
    }

    /// Messages for calls that were given up.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Calls that are unanswered.
    pub fn waiting(&self) -> usize {
        self.places.iter().filter(|place| place.state == State::Waiting && place.is_held()).count()
    }

    /// What there is of the answer to this call. What was told once is not told again.
    pub fn look(&mut self, handle: &Handle) -> Look<T> {
        let place = self.places.get_mut(handle.place);
        let ours = |place: &&mut Place<T>| place.number == handle.number && Arc::ptr_eq(&place.held, &handle.held);
        let Some(place) = place.filter(ours) else { return Look::Over };
        match (place.messages.pop_front(), place.state) {
            (Some(message), state) => Look::Message(message, state == State::Complete && place.messages.is_empty()),
            (None, State::Waiting) => Look::Nothing,
            (None, State::Complete) => Look::End,
            (None, State::Lost(why)) => Look::Lost(why),
        }
    }
}
