//! What releases a node when a message comes.

use horus_shm::ends::place::Copied;
use horus_shm::ends::{Kind, Payload as Size, Subscription};

use super::input::MOST;
use crate::topic::{OpenError, Options, TopicName};

/// What releases a node when a message comes: a subscriber of the executor's own, beside the node's input.
pub(crate) trait Trigger: Send {
    /// Takes what has come: when the oldest of it was sent, 0 where that is not known.
    fn take(&mut self) -> Option<u64>;
    /// For waiting.
    fn subscription(&mut self) -> &mut Subscription;
}

/// A subscriber that counts, whatever the messages are.
struct Counting {
    subscription: Subscription,
    copied: Copied,
}

impl Trigger for Counting {
    fn take(&mut self) -> Option<u64> {
        let mut oldest = None;
        for _ in 0..MOST {
            // In place: what is only counted is not copied.
            let Some(sample) = self.subscription.sample(&mut self.copied) else { break };
            oldest.get_or_insert(sample.sent_ns());
        }
        oldest
    }

    fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}

/// Opens a trigger for the topic of an input.
pub(crate) type OpenTrigger = Box<dyn FnOnce() -> Result<Box<dyn Trigger>, OpenError> + Send>;

/// What the messages of an input are: how its trigger joins the same topic, after the input has said so.
pub(crate) struct Wanted {
    type_name: String,
    layout_hash: u64,
    description: String,
    size: Size,
}

impl Wanted {
    pub fn of(kind: Kind<'_>, size: Size) -> Self {
        let Kind { type_name, layout_hash, description } = kind;
        Self { type_name: type_name.to_owned(), layout_hash, description: description.to_owned(), size }
    }

    /// Opens a trigger as if it had joined when the input did, which has read nothing yet and begins in each lane with the number that
    /// `begins` says. What is no longer there is not counted.
    pub fn open(&self, name: &TopicName, options: Options, begins: &[u64]) -> Result<Box<dyn Trigger>, OpenError> {
        let directory = options.open_directory()?;
        let joining = options.history(usize::MAX).joining(&directory)?;
        let Self { type_name, layout_hash, description, size } = self;
        let kind = Kind { type_name, layout_hash: *layout_hash, description };
        let mut subscription = Subscription::open(&directory, name, kind, *size, joining)?;
        subscription.skip_before(begins);
        let copied = Copied::for_messages_of(&mut subscription);
        Ok(Box::new(Counting { subscription, copied }))
    }
}
