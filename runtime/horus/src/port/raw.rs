//! Inputs and outputs of messages whose type is known only at run time: bytes, and a [`Layout`] says what they mean. They keep the
//! same rules as [`Input`](super::Input) and [`Output`](super::Output); nodes in other languages have them.
//!
//! ```
//! use horus::message::layout::Layout;
//! use horus::prelude::*;
//! use horus::world::VirtualWorld;
//!
//! let layout: Layout = "message example/WheelSpeed\n left f64\n right f64".parse()?;
//! let mut world = VirtualWorld::new(|app| {
//!     let mut measured = app.raw_input("wheels", &layout, None)?;
//!     let mut wanted = app.raw_output("wheels.copy", &layout, None)?;
//!     let node = move |_: &Cycle| {
//!         if let Some((wheels, _)) = measured.latest() {
//!             wanted.set(wheels);
//!         }
//!     };
//!     app.node("copy", node).period(ms(1));
//!     Ok(())
//! })?;
//! world.publish_raw("wheels", &layout, &[7; 16])?;
//! world.run_for(ms(3));
//! let mut last = [0; 16];
//! assert!(world.last_raw("wheels.copy", &layout, &mut last)? && last == [7; 16]);
//! # Ok::<(), horus::Error>(())
//! ```
//!
//! # Panics
//! What takes a message panics when its bytes are not as many as the layout says.

use std::mem::swap;
use std::sync::Arc;
use std::time::Duration;

use horus_shm::ends::Publication;

use super::input::{Look, MOST, Place};
use super::lost::{Lost, Set};
use super::outlet::Shared;
use super::{MAX_OUTPUT_BYTES, Outlet, Sight};
use crate::message::layout::Layout;
use crate::time::MonotonicTime;
use crate::topic::{Raw, Received, Subscriber};

/// The end of a topic that a node reads; [`App::raw_input`](crate::app::App::raw_input) makes it.
pub struct RawInput {
    subscriber: Subscriber<Raw>,
    sight: Arc<Sight>,
    /// Where the next message is received to. If `held` says so, it holds one that must not be seen yet.
    coming: Box<[u8]>,
    held: Option<Received<()>>,
    newest: Box<[u8]>,
    latest: Option<Received<()>>,
    /// Where the last message stood.
    last: Place,
}

impl RawInput {
    pub(crate) fn new(subscriber: Subscriber<Raw>, sight: Arc<Sight>) -> Self {
        let room = || vec![0; subscriber.message_bytes()].into_boxed_slice();
        Self { coming: room(), newest: room(), subscriber, sight, held: None, latest: None, last: Place::default() }
    }

    /// Bytes of a message.
    pub fn message_bytes(&self) -> usize {
        self.newest.len()
    }

    /// As [`Input::latest`](super::Input::latest), with what is known of the message beside its bytes.
    #[inline]
    pub fn latest(&mut self) -> Option<(&[u8], Received<()>)> {
        self.look();
        Some((&*self.newest, self.latest?))
    }

    /// As [`Input::fresh`](super::Input::fresh).
    #[inline]
    pub fn fresh(&mut self) -> Option<(&[u8], Received<()>)> {
        let came = self.look();
        Some((&*self.newest, self.latest.filter(|_| came)?))
    }

    /// The oldest message that came and was not read yet, as [`Input::messages`](super::Input::messages) gives them.
    pub fn next_message(&mut self) -> Option<(&[u8], Received<()>)> {
        let received = self.receive()?;
        let bytes = if self.keep(received) { &self.newest } else { &self.coming };
        Some((bytes, received))
    }

    /// Reads what has come; whether a newest message is among it.
    #[inline]
    fn look(&mut self) -> bool {
        let mut came = false;
        for _ in 0..MOST {
            let Some(received) = self.receive() else { break };
            came |= self.keep(received);
        }
        came
    }

    /// As [`Input::age`](super::Input::age).
    pub fn age(&self, now: MonotonicTime) -> Option<Duration> {
        let sent_ns = self.latest.as_ref()?.sent_ns;
        (sent_ns > 0).then(|| now.since(MonotonicTime::from_nanos(sent_ns)))
    }

    /// How many messages were overwritten before they were read.
    pub fn missed(&self) -> u64 {
        self.subscriber.missed()
    }

    /// Publishers have no common order: of several, the time says which message is the newest.
    #[inline]
    fn keep(&mut self, received: Received<()>) -> bool {
        let is_newest = self.latest.as_ref().is_none_or(|latest| received.sent_ns >= latest.sent_ns);
        if is_newest {
            swap(&mut self.coming, &mut self.newest);
            self.latest = Some(received);
        }
        is_newest
    }

    #[inline]
    fn receive(&mut self) -> Option<Received<()>> {
        loop {
            let received = match self.held.take() {
                Some(held) => held,
                None => {
                    let received = self.subscriber.try_recv_into(&mut self.coming)?;
                    if !self.last.goes_on(&received) {
                        self.sight.note_missed(self.subscriber.missed());
                    }
                    received
                }
            };
            match self.sight.look(received.sent_ns) {
                Look::Early => {
                    self.held = Some(received);
                    return None;
                }
                Look::Lost => {}
                Look::Seen => return Some(received),
            }
        }
    }
}

/// The end of a topic that a node writes; [`App::raw_output`](crate::app::App::raw_output) makes it.
pub struct RawOutput {
    shared: Arc<Shared>,
    bytes: usize,
}

impl RawOutput {
    /// Bytes of a message.
    pub fn message_bytes(&self) -> usize {
        self.bytes
    }

    /// As [`Output::set`](super::Output::set); whether the message was taken.
    #[inline]
    pub fn set(&mut self, message: &[u8]) -> bool {
        self.try_set(message).is_taken()
    }

    /// As [`Output::try_set`](super::Output::try_set).
    #[inline]
    pub fn try_set(&mut self, message: &[u8]) -> Set {
        assert_eq!(message.len(), self.bytes, "bytes of a message of this output");
        self.shared.set(message, |publication| publication.stage_whole(message))
    }

    /// As [`Output::lost`](super::Output::lost).
    pub fn lost(&self) -> Lost {
        self.shared.counts.now()
    }
}

/// Both halves of an output.
pub(crate) fn pair(topic: &str, publication: Publication) -> (RawOutput, Outlet) {
    let bytes = publication.payload().bytes;
    let outlet = Outlet::new(topic, publication);
    (RawOutput { shared: outlet.shared(), bytes }, outlet)
}

/// Refuses messages that are too large for an output.
pub(crate) fn check_size(topic: &str, layout: &Layout) -> crate::Result {
    let bytes = layout.payload().bytes;
    if bytes <= MAX_OUTPUT_BYTES {
        return Ok(());
    }
    Err(crate::Error::new(format!(
        "a message of {bytes} bytes is too large for an output, of topic {topic}: at most {MAX_OUTPUT_BYTES}; let the node own \
         a publisher"
    )))
}
