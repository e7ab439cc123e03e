//! HORUS subscribers that sleep in the kernel until a message comes, for those with better use of the CPU than waiting.

use std::time::Duration;

use horus::message::Message;
use horus::topic::{Subscriber, Waiting};

use crate::systems::horus::{Publishing, options};
use crate::transport::{Content, End, Failure, Meeting, Processes, Receiver, Threads};

/// How long a receiver sleeps before it looks whether the run is over; far more than a message takes.
pub const NAP: Duration = Duration::from_millis(2);

/// Topics as of [`Horus`](crate::systems::horus::Horus), but subscribers sleep at once.
pub struct Sleeping;

/// The subscribing end.
pub struct Sleeper<M: Message>(Subscriber<M>);

impl<M: Message> Sleeper<M> {
    fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = options(meeting, capacity).waiting(Waiting::Sleep);
        Ok(Self(Subscriber::open(&meeting.name, &options)?))
    }
}

impl<M: Message + Content> Receiver<M> for Sleeper<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let Some(received) = self.0.recv_timeout(NAP) else { return false };
        *into = received.message;
        true
    }
}

impl<M: Message + Content> Threads<M> for Sleeping {
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M>;
    type Receiver = Sleeper<M>;

    fn channel(meeting: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        Ok((Publishing::new(meeting, capacity)?, Sleeper::new(meeting, capacity)?))
    }
}

impl<M: Message + Content> Processes<M> for Sleeping {
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M>;
    type Receiver = Sleeper<M>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let (out, back) = end.directions();
        Ok((Publishing::new(&meeting.of(out), capacity)?, Sleeper::new(&meeting.of(back), capacity)?))
    }
}
