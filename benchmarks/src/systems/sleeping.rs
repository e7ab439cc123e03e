//! HORUS subscribers that sleep in the kernel until a message comes, for those with better use of the CPU than waiting.

use std::time::Duration;

use horus::message::Message;
use horus::topic::{Subscriber, WaitStrategy};

use crate::systems::horus::{Publishing, options};
use crate::transport::{Content, Failure, Link, Meeting, Processes, Receiver, Sender, Threads};

/// How long a receiver sleeps before it looks whether the run is over; far more than a message takes.
pub const NAP: Duration = Duration::from_millis(2);

/// Topics as of [`Horus`](crate::systems::horus::Horus), but subscribers sleep at once.
pub struct Sleeping;

fn sleeper<M: Message + Content>(
    meeting: &Meeting,
    capacity: usize,
) -> Result<impl Receiver<M> + Send + use<M>, Failure> {
    let options = options(meeting, capacity).wait_strategy(WaitStrategy::Sleep);
    let mut subscriber = Subscriber::<M>::open(&meeting.name, &options)?;
    Ok(move |into: &mut M| subscriber.recv_timeout(NAP).map(|received| *into = received.message).is_some())
}

impl<M: Message + Content> Threads<M> for Sleeping {
    const SYSTEM: &'static str = "horus";

    fn channel(meeting: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        Ok((Publishing::<M>::new(&meeting, capacity)?, sleeper(&meeting, capacity)?))
    }
}

impl<M: Message + Content> Processes<M> for Sleeping {
    const SYSTEM: &'static str = "horus";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        Ok((Publishing::<M>::new(&link.out(), capacity)?, sleeper(&link.back(), capacity)?))
    }
}
