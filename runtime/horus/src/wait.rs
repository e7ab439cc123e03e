//! Waiting for several topics at once.
//!
//! ```
//! use std::time::Duration;
//! use horus::message::Stamp;
//! use horus::topic::{Options, Publisher, Subscriber, Wait, Waiting};
//! use horus::wait::wait_any;
//!
//! # let scratch = tempfile::tempdir().unwrap();
//! let options = Options::latest(4).waiting(Waiting::Sleep);
//! # let options = options.directory(scratch.path());
//! let open = |name: &str| {
//!     let name = name.parse().unwrap();
//!     let publisher = Publisher::<Stamp>::create_or_open(&name, &options).unwrap();
//!     (publisher, Subscriber::<Stamp>::open(&name, &options, Wait::No).unwrap())
//! };
//! let (_left, mut left) = open("wheel.left");
//! let (mut right_publisher, mut right) = open("wheel.right");
//!
//! right_publisher.try_send(Stamp::default()).unwrap();
//! assert_eq!(wait_any(&mut [&mut left, &mut right], Duration::from_secs(1)), Some(1));
//! assert!(right.try_recv().is_some());
//! ```

use std::time::Duration;

use horus_shm::wait::Subscription;

/// A subscriber of any kind.
pub trait Waitable {
    /// What of it can be waited for.
    fn subscription(&mut self) -> &mut Subscription;
}

/// Waits until one of the subscribers has something to receive, or the trace of something that was overwritten, at most
/// `limit`; returns its index, or `None` when the time is up.
///
/// Looks at them in order: while an earlier one has messages, later ones are not looked at. Sleeps if all of them may
/// sleep ([`Options::waiting`](crate::topic::Options::waiting)), else waits busily. Allocates one small vector.
pub fn wait_any(subscribers: &mut [&mut dyn Waitable], limit: Duration) -> Option<usize> {
    let mut subscriptions: Vec<_> = subscribers.iter_mut().map(|subscriber| subscriber.subscription()).collect();
    horus_shm::wait::any(&mut subscriptions, limit)
}
