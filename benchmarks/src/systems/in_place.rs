//! Large HORUS messages in place: the sender borrows the slot and writes the message's head into it, the receiver reads
//! the head where it stands. Nothing else of the message is touched, and nothing is copied.

use horus::topic::{Publisher, Subscriber};

use crate::options::throughput_capacity;
use crate::systems::horus::options;
use crate::transport::{Failure, Link, Payload, Processes, Receiver, Sender};

/// What the loops see of a message: number and checksum.
pub type Head = Payload<2>;

/// A topic of messages of `WORDS` words, of which only the first two are written and read.
pub struct InPlace<const WORDS: usize>;

impl<const WORDS: usize> Processes<Head> for InPlace<WORDS> {
    const SYSTEM: &'static str = "horus";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<Head>, impl Receiver<Head>), Failure> {
        let capacity = capacity.min(throughput_capacity(size_of::<Payload<WORDS>>()));
        let (out, back) = (link.out(), link.back());
        let mut publisher = Publisher::<Payload<WORDS>>::open(&out.name, options(&out, capacity))?;
        let mut subscriber = Subscriber::<Payload<WORDS>>::open(&back.name, options(&back, capacity))?;
        let send = move |head: &Head| {
            let Ok(mut loan) = publisher.loan() else { return false };
            loan.0[..2].copy_from_slice(&head.0);
            loan.publish();
            true
        };
        let receive = move |into: &mut Head| {
            let Some(sample) = subscriber.borrow() else { return false };
            into.0.copy_from_slice(&sample.0[..2]);
            true
        };
        Ok((send, receive))
    }
}
