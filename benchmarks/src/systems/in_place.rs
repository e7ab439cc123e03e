//! Large HORUS messages in place: the sender borrows the slot and writes the message's head into it, the receiver reads
//! the head where it stands. Nothing else of the message is touched, and nothing is copied.

use horus::topic::{Publisher, Subscriber};

use crate::options::throughput_capacity;
use crate::systems::horus::options;
use crate::transport::{End, Failure, Meeting, Payload, Processes, Receiver, Sender};

/// What the loops see of a message: number and checksum.
pub type Head = Payload<2>;

/// A topic of messages of `WORDS` words, of which only the first two are written and read.
pub struct InPlace<const WORDS: usize>;

/// The publishing end.
pub struct Lending<const WORDS: usize>(Publisher<Payload<WORDS>>);

/// The subscribing end.
pub struct Borrowing<const WORDS: usize>(Subscriber<Payload<WORDS>>);

impl<const WORDS: usize> Sender<Head> for Lending<WORDS> {
    #[inline]
    fn try_send(&mut self, head: &Head) -> bool {
        let Ok(mut loan) = self.0.loan() else { return false };
        loan.0[..2].copy_from_slice(&head.0);
        loan.publish();
        true
    }
}

impl<const WORDS: usize> Receiver<Head> for Borrowing<WORDS> {
    #[inline]
    fn try_recv(&mut self, into: &mut Head) -> bool {
        let Some(sample) = self.0.borrow() else { return false };
        into.0.copy_from_slice(&sample.0[..2]);
        true
    }
}

impl<const WORDS: usize> Processes<Head> for InPlace<WORDS> {
    const SYSTEM: &'static str = "horus";
    type Sender = Lending<WORDS>;
    type Receiver = Borrowing<WORDS>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let capacity = capacity.min(throughput_capacity(size_of::<Payload<WORDS>>()));
        let (out, back) = end.directions();
        let (out, back) = (meeting.of(out), meeting.of(back));
        let publisher = Publisher::open(&out.name, options(&out, capacity))?;
        let subscriber = Subscriber::open(&back.name, options(&back, capacity))?;
        Ok((Lending(publisher), Borrowing(subscriber)))
    }
}
