//! HORUS topics: threads and processes take the same way, through shared memory.

use horus::message::{Field, FieldType, Message};
use horus::topic::{Options, Publisher, Subscriber, Waiting};

use crate::transport::{Content, End, Failure, Meeting, Payload, Processes, Receiver, Sender, Threads};

impl<const WORDS: usize> Message for Payload<WORDS> {
    const TYPE_NAME: &'static str = "benchmarks/Payload";
    const FIELDS: &'static [Field] = &[Field {
        name: "words",
        type_name: "[u64; WORDS]",
        type_hash: <[u64; WORDS] as FieldType>::TYPE_HASH,
        offset: 0,
        bytes: WORDS * size_of::<u64>(),
    }];
}

/// A topic with `PUBLISHERS` publishers at one end and `SUBSCRIBERS` subscribers at the other, reliable: nothing may get
/// lost.
pub struct Horus<const PUBLISHERS: usize = 1, const SUBSCRIBERS: usize = 1>;

/// The publishing end: its publishers take turns.
pub struct Publishing<M: Message, const PUBLISHERS: usize = 1> {
    publishers: [Publisher<M>; PUBLISHERS],
    turn: usize,
}

/// The subscribing end: its subscribers take turns.
pub struct Subscribing<M: Message, const SUBSCRIBERS: usize = 1> {
    subscribers: [Subscriber<M>; SUBSCRIBERS],
    turn: usize,
}

/// How the benchmarks make topics, but for what they vary.
pub fn options(meeting: &Meeting, capacity: usize) -> Options {
    Options::reliable(capacity).directory(&meeting.directory).waiting(Waiting::Spin)
}

impl<M: Message, const PUBLISHERS: usize> Publishing<M, PUBLISHERS> {
    /// Makes the topic.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = options(meeting, capacity).publishers(PUBLISHERS);
        let publishers: Result<Vec<_>, _> = (0..PUBLISHERS).map(|_| Publisher::open(&meeting.name, &options)).collect();
        let publishers = publishers?.try_into().unwrap_or_else(|_| unreachable!("collected as many"));
        Ok(Self { publishers, turn: 0 })
    }
}

impl<M: Message, const SUBSCRIBERS: usize> Subscribing<M, SUBSCRIBERS> {
    /// Joins the topic, which may come into being meanwhile.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = options(meeting, capacity);
        let subscribers: Result<Vec<_>, _> =
            (0..SUBSCRIBERS).map(|_| Subscriber::open(&meeting.name, &options)).collect();
        let subscribers = subscribers?.try_into().unwrap_or_else(|_| unreachable!("collected as many"));
        Ok(Self { subscribers, turn: 0 })
    }
}

impl<M: Message + Content, const PUBLISHERS: usize> Sender<M> for Publishing<M, PUBLISHERS> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        let turn = if PUBLISHERS == 1 { 0 } else { self.turn };
        let sent = self.publishers[turn].try_send_from(message).is_ok();
        if PUBLISHERS > 1 && sent {
            self.turn = (turn + 1) % PUBLISHERS;
        }
        sent
    }

    fn publishers(&self) -> u64 {
        PUBLISHERS as u64
    }
}

impl<M: Message + Content, const SUBSCRIBERS: usize> Receiver<M> for Subscribing<M, SUBSCRIBERS> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let turn = if SUBSCRIBERS == 1 { 0 } else { self.turn };
        if self.subscribers[turn].try_recv_into(into).is_none() {
            return false;
        }
        if SUBSCRIBERS > 1 {
            self.turn = (turn + 1) % SUBSCRIBERS;
        }
        true
    }

    fn subscribers(&self) -> u64 {
        SUBSCRIBERS as u64
    }
}

impl<M: Message + Content, const PUBLISHERS: usize, const SUBSCRIBERS: usize> Threads<M>
    for Horus<PUBLISHERS, SUBSCRIBERS>
{
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M, PUBLISHERS>;
    type Receiver = Subscribing<M, SUBSCRIBERS>;

    fn channel(meeting: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        Ok((Publishing::new(meeting, capacity)?, Subscribing::new(meeting, capacity)?))
    }
}

impl<M: Message + Content, const PUBLISHERS: usize, const SUBSCRIBERS: usize> Processes<M>
    for Horus<PUBLISHERS, SUBSCRIBERS>
{
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M, PUBLISHERS>;
    type Receiver = Subscribing<M, SUBSCRIBERS>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let (out, back) = end.directions();
        Ok((Publishing::new(&meeting.of(out), capacity)?, Subscribing::new(&meeting.of(back), capacity)?))
    }
}
