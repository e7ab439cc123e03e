//! Large messages of iceoryx2 in place, as the harness's `in_place` does it with HORUS: the sender writes the message's
//! head into the loaned sample, the receiver reads the head where it stands; nothing else is touched or copied.

use horus_benchmarks::options::throughput_capacity;
use horus_benchmarks::systems::in_place::Head;
use horus_benchmarks::transport::{End, Failure, Meeting, Payload, Processes, Receiver, Sender};

use crate::iceoryx::{Publishing, Subscribing, publishing, subscribing};
use crate::rendezvous;

/// Messages of `WORDS` words, of which only the first two are written and read.
pub struct Iceoryx2InPlace<const WORDS: usize>;
pub struct Lending<const WORDS: usize>(Publishing<Payload<WORDS>>);
pub struct Borrowing<const WORDS: usize>(Subscribing<Payload<WORDS>>);

impl<const WORDS: usize> Sender<Head> for Lending<WORDS> {
    #[inline]
    fn try_send(&mut self, head: &Head) -> bool {
        let Ok(mut sample) = self.0.0.loan_uninit() else { return false };
        let payload = sample.payload_mut().as_mut_ptr();
        // SAFETY: the loan is valid for writes of a whole payload; a payload of two words and more starts with two.
        unsafe { payload.cast::<Head>().write(*head) };
        // SAFETY: the sample lies in memory that the kernel handed out zeroed, and any bytes are valid words.
        let sample = unsafe { sample.assume_init() };
        sample.send().is_ok_and(|reached| reached == 1)
    }
}

impl<const WORDS: usize> Receiver<Head> for Borrowing<WORDS> {
    #[inline]
    fn try_recv(&mut self, into: &mut Head) -> bool {
        let Ok(Some(sample)) = self.0.0.receive() else { return false };
        into.0.copy_from_slice(&sample.payload().0.0[..2]);
        true
    }
}

impl<const WORDS: usize> Processes<Head> for Iceoryx2InPlace<WORDS> {
    const SYSTEM: &'static str = "iceoryx2";
    type Sender = Lending<WORDS>;
    type Receiver = Borrowing<WORDS>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let capacity = capacity.min(throughput_capacity(size_of::<Payload<WORDS>>()));
        let (out, back) = end.directions();
        let subscribing = subscribing(&meeting.of(back), capacity)?;
        let publishing = publishing(&meeting.of(out), capacity)?;
        rendezvous::both_here(meeting, end, "connected")?;
        Ok((Lending(publishing), Borrowing(subscribing)))
    }
}
