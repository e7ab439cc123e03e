//! Topics: many publishers, many subscribers, messages through shared memory.
//!
//! ```
//! use std::time::Duration;
//! use horus::message::Stamp;
//! use horus::topic::{Options, Publisher, Subscriber};
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let options = Options::reliable(64);
//! # let options = options.directory(scratch.path());
//! let mut subscriber = Subscriber::<Stamp>::open("doc-example", &options)?;
//! let mut publisher = Publisher::<Stamp>::open("doc-example", &options)?;
//!
//! publisher.try_send(Stamp { sequence: 1, sent_ns: 0 })?;
//! let received = subscriber.recv_timeout(Duration::from_millis(100)).unwrap();
//! assert_eq!(received.message.sequence, 1);
//! assert_eq!(subscriber.missed(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Messages are of a type, or of another kind: bytes, serialized values, or a layout that is known at run time. [`payload`] has the
//! table. The methods are the same for all of them.
//!
//! Publishers and subscribers come in any order. A subscriber that comes first waits for its publisher.
//!
//! # What it does not do
//! - Order is kept for each publisher, not between publishers.
//! - A subscriber receives what is sent after it joined, and of what was sent before at most the
//!   [`history`](Options::history) that it asks for.
//! - Nobody is told that a peer left: [`Subscriber::is_published`] asks.
//! - A handle does not outlive `fork`: in the child it must not be used, and the kernel ends a child that does. See
//!   [`Publisher::check`].
//!
//! # Handles belong to one thread at a time
//! They may move to another thread and not be shared between two:
//!
//! ```
//! fn movable<T: Send>() {}
//! movable::<horus::topic::Publisher<horus::message::Stamp>>();
//! movable::<horus::topic::Subscriber<horus::message::Stamp>>();
//! ```
//! ```compile_fail
//! fn shared<T: Sync>() {}
//! shared::<horus::topic::Publisher<horus::message::Stamp>>();
//! ```
//! ```compile_fail
//! fn shared<T: Sync>() {}
//! shared::<horus::topic::Subscriber<horus::message::Stamp>>();
//! ```

mod in_place;
mod incoming;
mod options;
pub mod payload;
mod publisher;
mod subscriber;
mod wait;

pub use horus_shm::directory::{Directory, Group, IntoTopicName, NameError, TopicName};
#[doc(hidden)] // what the short way of the C ABI returns
pub use horus_shm::ends::Sent;
pub use horus_shm::ends::bytes::SendError;
pub use horus_shm::error::OpenError;
pub use horus_shm::ring::{Full, Received};
pub use horus_shm::segment::file::Access;
pub use horus_shm::segment::layout::{DeliveryPolicy, HELD_FROM_BYTES};
pub use horus_shm::segment::map::LockRefused;
pub use horus_shm::wait::WaitStrategy;
pub use in_place::{Loan, Sample};
pub use incoming::{Incoming, Messages};
pub use options::Options;
pub(crate) use payload::Rooms;
pub use payload::{ByValue, Bytes, DeserializeError, InPlace, Payload, Raw, Sendable, Serde, SerializeError};
pub use publisher::Publisher;
pub use subscriber::Subscriber;
pub use wait::{Waitable, wait_any};

#[inline]
fn now_if(is_stamping: bool) -> u64 {
    if is_stamping { horus_sys::clock::stamp_ns() } else { 0 }
}
