//! The end of a topic that a node writes in its steps.

use std::marker::PhantomData;
use std::sync::Arc;

use horus_shm::ends::Publication;

use super::Outlet;
use super::lost::{Lost, Set};
use super::outlet::Shared;
use crate::message::Message;

/// The largest message of an output, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The end of a topic that a node writes; [`App::output`](crate::app::App::output) makes it.
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
pub struct Output<M: Message> {
    shared: Arc<Shared>,
    _message: PhantomData<fn(M)>,
}

impl<M: Message> Output<M> {
    /// Publishes the message when the step returns, after what the step set before. One that is not taken is counted.
    #[inline]
    pub fn set(&mut self, message: M) {
        let _counted = self.try_set(message);
    }

    /// As [`set`](Self::set), and says whether the message was taken. Wait-free, no allocation, no system call.
    #[inline]
    pub fn try_set(&mut self, message: M) -> Set {
        self.shared.set(message.as_bytes(), |publication| publication.stage(&message))
    }

    /// The messages that were set and not published, since the program began.
    pub fn lost(&self) -> Lost {
        self.shared.counts.now()
    }
}

/// Both halves of an output.
pub(crate) fn pair<M: Message>(topic: &str, publication: Publication) -> (Output<M>, Outlet) {
    const { assert!(size_of::<M>() <= MAX_OUTPUT_BYTES, "too large for an output: let the node own a Publisher") };
    let outlet = Outlet::new(topic, publication);
    (Output { shared: outlet.shared(), _message: PhantomData }, outlet)
}
