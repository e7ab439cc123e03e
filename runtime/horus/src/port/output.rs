//! The end of a topic that a node writes in its steps.

use std::sync::Arc;

use horus_shm::ends::{Payload as Size, Publication};

use super::Outlet;
use super::lost::{Lost, Set};
use super::outlet::Shared;
use crate::topic::{Payload, Sendable};

/// The largest message of an output, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The end of a topic that a node writes; [`App::output`](crate::app::App::output) makes it.
///
/// Its messages are of the kind `P`: see the [table](crate::topic::payload#in-the-ports-of-a-node) of kinds.
///
/// A step can set as many messages as its topic holds, and on a `reliable` topic as many as its subscribers leave room for. What is
/// beyond that is not taken: the messages before it stay. [`try_set`](Self::try_set) says so at once, [`lost`](Self::lost) counts it,
/// and so do the program's account, the journal and `horus top`.
///
/// ```no_run
/// # use horus::prelude::*;
/// # fn declare(app: &mut App) -> horus::Result {
/// let mut log = app.output_with::<CmdVel>("log", Options::reliable(64))?;
/// app.node("control", move |_: &Cycle| {
///     if !log.try_set(CmdVel::STOP).is_taken() {
///         // The log's reader is 64 messages behind.
///     }
/// }).period(ms(1));
/// # Ok(())
/// # }
/// ```
///
/// What becomes of a message that `try_set` was given is not to be overlooked:
/// ```compile_fail
/// # #![deny(unused_must_use)]
/// # use horus::prelude::*;
/// fn step(cmd: &mut Output<CmdVel>) {
///     cmd.try_set(CmdVel::STOP);
/// }
/// ```
pub struct Output<P: Payload + ?Sized> {
    shared: Arc<Shared>,
    /// Where a value is serialized to.
    writer: P::Writer,
    size: Size,
}

impl<P: Payload + ?Sized> Output<P> {
    /// Publishes the message, which may be given by reference, when the step returns, after what the step set before. One that is not taken
    /// is counted.
    ///
    /// # Panics
    /// When the bytes of a message of a [`Layout`](crate::message::layout::Layout) are not as many as the layout says.
    #[inline]
    pub fn set(&mut self, message: impl Sendable<P>) {
        let _counted = self.try_set(message);
    }

    /// As [`set`](Self::set), and says whether the message was taken. Wait-free, no allocation (but what serializing a value allocates), no
    /// system call.
    ///
    /// # Panics
    /// As there.
    #[inline]
    pub fn try_set(&mut self, message: impl Sendable<P>) -> Set {
        let Self { shared, writer, size } = self;
        let Some(staged) = P::staged(writer, message.value(), *size) else {
            return shared.counts.refuse(Set::Invalid);
        };
        shared.set(|publication| P::stage(publication, staged), |size| P::payload(staged, size))
    }

    /// The messages that were set and not published, since the program began.
    pub fn lost(&self) -> Lost {
        self.shared.counts.now()
    }

    /// The most bytes that a message can have.
    pub fn message_bytes(&self) -> usize {
        P::bytes(self.size)
    }
}

/// Both halves of an output.
pub(crate) fn pair<P: Payload + ?Sized>(topic: &str, publication: Publication) -> (Output<P>, Outlet) {
    let (writer, size) = (P::writer(&publication), publication.payload());
    let outlet = Outlet::new(topic, publication);
    (Output { shared: outlet.shared(), writer, size }, outlet)
}

/// Refuses messages that are too large for an output.
pub(crate) fn check_size(topic: &str, bytes: usize) -> crate::Result {
    if bytes <= MAX_OUTPUT_BYTES {
        return Ok(());
    }
    Err(crate::Error::new(format!(
        "a message of {bytes} bytes is too large for an output, of topic {topic}: at most {MAX_OUTPUT_BYTES}; let the node own \
         a publisher"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::{Bytes, Options, Publisher, Serde, Subscriber};

    #[test]
    fn what_is_safe_of_bytes_has_the_length_that_was_set() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let (options, shape) = (Options::latest(4).directory(scratch.path()), Bytes::up_to(64));
        let mut subscriber = Subscriber::<[u8]>::open_as("log", shape, &options).unwrap();
        let publisher = Publisher::<[u8]>::open_as("log", shape, &options).unwrap();
        let (mut output, mut outlet) = pair::<[u8]>("log", publisher.into_publication());
        output.set("motors off");
        outlet.learn_safe();
        assert_eq!(outlet.safe().unwrap().len(), 8 + 64, "all of a slot, as the monitor publishes it");
        output.set("of a step that is discarded");
        outlet.publish_safe(5);
        let received = subscriber.try_recv().unwrap();
        assert_eq!((received.message, received.sent_ns), (&b"motors off"[..], 5));
        assert!(subscriber.try_recv().is_none());
        assert_eq!(output.lost(), Lost { discarded: 1, ..Lost::default() });
    }

    #[test]
    fn what_is_safe_of_values_is_the_value_that_was_set() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let (options, shape) = (Options::latest(4).directory(scratch.path()), Bytes::of_type("test/Words", 64));
        let mut subscriber = Subscriber::<Serde<Vec<String>>>::open_as("words", shape, &options).unwrap();
        let publisher = Publisher::<Serde<Vec<String>>>::open_as("words", shape, &options).unwrap();
        let (mut output, mut outlet) = pair::<Serde<Vec<String>>>("words", publisher.into_publication());
        let safe = vec!["motors".to_owned(), "off".to_owned()];
        output.set(&safe);
        outlet.learn_safe();
        outlet.publish_safe(5);
        assert_eq!(subscriber.try_recv().unwrap().message.unwrap(), safe);
    }
}
