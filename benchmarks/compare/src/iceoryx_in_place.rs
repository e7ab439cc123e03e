//! Large messages of iceoryx2 in place, as the harness's `in_place` does it with HORUS: the sender writes the message's
//! head into the loaned sample, the receiver reads the head where it stands; nothing else is touched or copied.

use horus_benchmarks::options::throughput_capacity;
use horus_benchmarks::systems::in_place::Head;
use horus_benchmarks::transport::{Failure, Link, Payload, Processes, Receiver, Sender};

use crate::iceoryx::{publishing, subscribing};

/// Messages of `WORDS` words, of which only the first two are written and read.
pub struct Iceoryx2InPlace<const WORDS: usize>;

impl<const WORDS: usize> Processes<Head> for Iceoryx2InPlace<WORDS> {
    const SYSTEM: &'static str = "iceoryx2";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<Head>, impl Receiver<Head>), Failure> {
        let capacity = capacity.min(throughput_capacity(size_of::<Payload<WORDS>>()));
        let subscriber = subscribing::<Payload<WORDS>>(&link.back(), capacity)?.0;
        let publisher = publishing::<Payload<WORDS>>(&link.out(), capacity)?.0;
        let send = move |head: &Head| {
            let Ok(mut sample) = publisher.loan_uninit() else { return false };
            let payload = sample.payload_mut().as_mut_ptr();
            // SAFETY: the loan is valid for writes of a whole payload; a payload of two words and more starts with two.
            unsafe { payload.cast::<Head>().write(*head) };
            // SAFETY: the sample lies in memory that the kernel handed out zeroed, and any bytes are valid words.
            let sample = unsafe { sample.assume_init() };
            sample.send().is_ok_and(|reached| reached == 1)
        };
        let receive = move |into: &mut Head| {
            let Ok(Some(sample)) = subscriber.receive() else { return false };
            into.0.copy_from_slice(&sample.payload().0.0[..2]);
            true
        };
        Ok((send, receive))
    }
}
