//! Waiting for several topics at once.
//!
//! ```
//! use std::time::Duration;
//! use horus::message::Stamp;
//! use horus::topic::{Options, Publisher, Subscriber};
//! use horus::wait::wait_any;
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let options = Options::latest(4);
//! # let options = options.directory(scratch.path());
//! let mut left = Subscriber::<Stamp>::open("wheel.left", &options).unwrap();
//! let mut right = Subscriber::<Stamp>::open("wheel.right", &options).unwrap();
//! let mut publisher = Publisher::<Stamp>::open("wheel.right", &options).unwrap();
//!
//! publisher.try_send(Stamp::default()).unwrap();
//! assert_eq!(wait_any(&mut [&mut left, &mut right], Duration::from_secs(1)), Some(1));
//! assert!(right.try_recv().is_some());
//! ```

use std::time::Duration;

use horus_shm::ends::Subscription;

/// A subscriber of any kind.
pub trait Waitable {
    /// What of it can be waited for.
    fn subscription(&mut self) -> &mut Subscription;
}

/// Waits until one of the subscribers has something to receive, or the trace of something that was overwritten, at most
/// `limit`; returns its index, or `None` when the time is up.
///
/// Looks at them in order: while an earlier one has messages, later ones are not looked at. Sleeps, unless one of them waits
/// busily ([`Options::waiting`](crate::topic::Options::waiting)). Allocates one small vector.
pub fn wait_any(subscribers: &mut [&mut dyn Waitable], limit: Duration) -> Option<usize> {
    let mut subscriptions: Vec<_> = subscribers.iter_mut().map(|subscriber| subscriber.subscription()).collect();
    Subscription::wait_any(&mut subscriptions, limit)
}
