//! HORUS topics: threads and processes take the same way, through shared memory.

use horus::message::{Field, FieldType, Message};
use horus::topic::{Options, Publisher, Subscriber, Wait};

use crate::patience::PATIENCE;
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

/// A topic with one publisher and `SUBSCRIBERS` subscribers, reliable: nothing may get lost.
///
/// Messages are stamped with 0: the loops read the clock themselves, and no rival stamps messages.
pub struct Horus<const SUBSCRIBERS: usize = 1>;

/// The publishing end.
pub struct Publishing<M: Message>(Publisher<M>);

/// The subscribing end: its subscribers take turns.
pub struct Subscribing<M: Message, const SUBSCRIBERS: usize> {
    subscribers: [Subscriber<M>; SUBSCRIBERS],
    turn: usize,
}

impl<M: Message> Publishing<M> {
    /// Makes the topic.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = Options::reliable(capacity).directory(&meeting.directory);
        Ok(Self(Publisher::create_or_open(&meeting.name.parse()?, &options)?))
    }
}

impl<M: Message, const SUBSCRIBERS: usize> Subscribing<M, SUBSCRIBERS> {
    /// Joins the topic, which may come into being meanwhile.
    pub fn new(meeting: &Meeting, capacity: usize) -> Result<Self, Failure> {
        let options = Options::reliable(capacity).directory(&meeting.directory);
        let name = meeting.name.parse()?;
        let subscribers: Result<Vec<_>, _> =
            (0..SUBSCRIBERS).map(|_| Subscriber::open(&name, &options, Wait::UpTo(PATIENCE))).collect();
        let subscribers = subscribers?.try_into().unwrap_or_else(|_| unreachable!("collected as many"));
        Ok(Self { subscribers, turn: 0 })
    }
}

impl<M: Message + Content> Sender<M> for Publishing<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self.0.try_send_stamped(*message, 0).is_ok()
    }
}

impl<M: Message + Content, const SUBSCRIBERS: usize> Receiver<M> for Subscribing<M, SUBSCRIBERS> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let turn = if SUBSCRIBERS == 1 { 0 } else { self.turn };
        let Some(received) = self.subscribers[turn].try_recv() else { return false };
        *into = received.message;
        self.turn = if turn + 1 == SUBSCRIBERS { 0 } else { turn + 1 };
        true
    }

    fn subscribers(&self) -> u64 {
        SUBSCRIBERS as u64
    }
}

impl<M: Message + Content, const SUBSCRIBERS: usize> Threads<M> for Horus<SUBSCRIBERS> {
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M>;
    type Receiver = Subscribing<M, SUBSCRIBERS>;

    fn channel(meeting: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        Ok((Publishing::new(meeting, capacity)?, Subscribing::new(meeting, capacity)?))
    }
}

impl<M: Message + Content, const SUBSCRIBERS: usize> Processes<M> for Horus<SUBSCRIBERS> {
    const SYSTEM: &'static str = "horus";
    type Sender = Publishing<M>;
    type Receiver = Subscribing<M, SUBSCRIBERS>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let (out, back) = match end {
            End::First => ("there", "back"),
            End::Second => ("back", "there"),
        };
        Ok((Publishing::new(&meeting.of(out), capacity)?, Subscribing::new(&meeting.of(back), capacity)?))
    }
}
