//! HORUS topics: threads and processes take the same way, through shared memory.

use horus::message::{Field, FieldType, Message};
use horus::topic::{OpenError, Options, Publisher, Subscriber, WaitStrategy};

use crate::transport::{Content, Failure, Link, Meeting, Payload, Processes, Receiver, Sender, Threads};

impl<const WORDS: usize> Message for Payload<WORDS> {
    const TYPE_NAME: &'static str = "benchmarks/Payload";
    const FIELDS: &'static [Field] = &[Field {
        name: "words",
        type_name: "[u64; WORDS]",
        type_hash: <[u64; WORDS] as FieldType>::TYPE_HASH,
        made_of: <[u64; WORDS] as FieldType>::MADE_OF,
        offset: 0,
        bytes: WORDS * size_of::<u64>(),
    }];
}

/// A topic with `PUBLISHERS` publishers at one end and `SUBSCRIBERS` subscribers at the other, reliable: nothing may get
/// lost.
pub struct Horus<const PUBLISHERS: usize = 1, const SUBSCRIBERS: usize = 1>;

/// One end of a topic: its `N` publishers or subscribers take turns.
pub struct Turns<E, const N: usize> {
    ends: [E; N],
    turn: usize,
}

/// The publishing end.
pub type Publishing<M, const PUBLISHERS: usize = 1> = Turns<Publisher<M>, PUBLISHERS>;

/// The subscribing end.
pub type Subscribing<M, const SUBSCRIBERS: usize = 1> = Turns<Subscriber<M>, SUBSCRIBERS>;

/// How the benchmarks make topics, but for what they vary.
pub fn options(meeting: &Meeting, capacity: usize) -> Options {
    Options::reliable(capacity).directory(&meeting.directory).wait_strategy(WaitStrategy::Spin)
}

impl<E, const N: usize> Turns<E, N> {
    fn open(open: impl Fn() -> Result<E, OpenError>) -> Result<Self, Failure> {
        let ends = (0..N).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { ends: ends.try_into().unwrap_or_else(|_| unreachable!("collected as many")), turn: 0 })
    }

    /// Lets the one whose turn it is try; if it succeeds, it is the next one's turn.
    #[inline]
    fn take_turn(&mut self, attempt: impl FnOnce(&mut E) -> bool) -> bool {
        let turn = if N == 1 { 0 } else { self.turn };
        let succeeded = attempt(&mut self.ends[turn]);
        if N > 1 && succeeded {
            self.turn = (turn + 1) % N;
        }
        succeeded
    }
}

impl<M: Message, const PUBLISHERS: usize> Publishing<M, PUBLISHERS> {
    /// Makes the topic.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = options(meeting, capacity).publishers(PUBLISHERS);
        Self::open(|| Publisher::open(&meeting.name, &options))
    }
}

impl<M: Message, const SUBSCRIBERS: usize> Subscribing<M, SUBSCRIBERS> {
    /// Joins the topic, which may come into being meanwhile.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = options(meeting, capacity);
        Self::open(|| Subscriber::open(&meeting.name, &options))
    }
}

impl<M: Message + Content, const PUBLISHERS: usize> Sender<M> for Publishing<M, PUBLISHERS> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self.take_turn(|publisher| publisher.try_send(message).is_ok())
    }

    fn publishers(&self) -> u64 {
        PUBLISHERS as u64
    }
}

impl<M: Message + Content, const SUBSCRIBERS: usize> Receiver<M> for Subscribing<M, SUBSCRIBERS> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        self.take_turn(|subscriber| subscriber.try_recv_into(into).is_some())
    }

    fn subscribers(&self) -> u64 {
        SUBSCRIBERS as u64
    }
}

impl<M: Message + Content, const PUBLISHERS: usize, const SUBSCRIBERS: usize> Threads<M>
    for Horus<PUBLISHERS, SUBSCRIBERS>
{
    const SYSTEM: &'static str = "horus";

    fn channel(meeting: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let publishing = Publishing::<M, PUBLISHERS>::new(&meeting, capacity)?;
        Ok((publishing, Subscribing::<M, SUBSCRIBERS>::new(&meeting, capacity)?))
    }
}

impl<M: Message + Content, const PUBLISHERS: usize, const SUBSCRIBERS: usize> Processes<M>
    for Horus<PUBLISHERS, SUBSCRIBERS>
{
    const SYSTEM: &'static str = "horus";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let publishing = Publishing::<M, PUBLISHERS>::new(&link.out(), capacity)?;
        Ok((publishing, Subscribing::<M, SUBSCRIBERS>::new(&link.back(), capacity)?))
    }
}
