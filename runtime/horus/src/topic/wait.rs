//! Waiting for several topics at once.

use std::borrow::{Borrow, BorrowMut};
use std::time::Duration;

use horus_shm::ends::Subscription;

/// A subscriber of any kind, for [`wait_any`]: what [`Subscriber::waitable`](super::Subscriber::waitable) lends.
pub struct Waitable<'a>(pub(super) &'a mut Subscription);

// Hidden: `wait_any` takes a slice of these as a slice of subscriptions, so that it needs no list of its own.
#[doc(hidden)]
impl Borrow<Subscription> for Waitable<'_> {
    fn borrow(&self) -> &Subscription {
        self.0
    }
}

#[doc(hidden)]
impl BorrowMut<Subscription> for Waitable<'_> {
    fn borrow_mut(&mut self) -> &mut Subscription {
        self.0
    }
}

/// Waits until one of the subscribers has something to receive, or the trace of something that was overwritten, at most
/// `limit`; returns its index, or `None` when the time is up.
///
/// Looks at them in order: while an earlier one has messages, later ones are not looked at. Sleeps, unless one of them waits
/// busily ([`Options::wait_strategy`](super::Options::wait_strategy)). Allocates nothing.
///
/// ```
/// use std::time::Duration;
/// use horus::message::Stamp;
/// use horus::topic::{Bytes, Options, Publisher, Subscriber, wait_any};
///
/// # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
/// let options = Options::latest(4);
/// # let options = options.directory(scratch.path());
/// let mut log = Subscriber::<[u8]>::open_as("log", Bytes::up_to(64), &options).unwrap();
/// let mut wheel = Subscriber::<Stamp>::open("wheel", &options).unwrap();
/// let mut publisher = Publisher::<Stamp>::open("wheel", &options).unwrap();
///
/// publisher.try_send(Stamp::default()).unwrap();
/// assert_eq!(wait_any(&mut [log.waitable(), wheel.waitable()], Duration::from_secs(1)), Some(1));
/// assert!(wheel.try_recv().is_some());
/// ```
pub fn wait_any(subscribers: &mut [Waitable<'_>], limit: Duration) -> Option<usize> {
    Subscription::wait_any(subscribers, limit)
}
