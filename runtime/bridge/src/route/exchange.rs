//! What the bridge does beside carrying single topics, and what carries requests and answers beyond this machine.

use std::time::Instant;

use horus::journal::Priority;
use horus_shm::directory::Directory;

use super::{Sender, Sent, Transport};

/// What is looked after beside topics: a service, the parameters of a program, the frames.
pub trait Exchange {
    /// What it is called here, in the journal.
    fn name(&self) -> String;

    /// Asked now and then: begins what can begin, ends what has to end, and looks at the clock.
    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport);

    /// Carries at most so much; true if that was all that can be carried now.
    fn carry(&mut self, limit: usize) -> bool;

    /// Whether something may come that wakes no thread here, so that it has to be looked for.
    fn is_looked_for(&self) -> bool;

    /// Whether it is bridged now.
    fn is_there(&self) -> bool;

    /// What is worth telling since this was asked last.
    fn told(&mut self) -> Option<(Priority, String)>;

    /// Its figures, in words, and how much was lost so far.
    fn figures(&self) -> (String, u64);
}

/// A call from out there: who asked, and the number that it gave the request.
pub type CallId = (Sender, i64);

/// A service as it is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEndpoint {
    /// Its name, with its leading slash.
    pub service: String,
    /// What its messages are called, request first: `std_srvs/srv/Trigger_Request`.
    pub messages: [String; 2],
    /// The node of ROS that has it; that of the bridge if not said.
    pub node: Option<String>,
    /// Bytes of a message here, of the longer one: how much memory it takes to keep one.
    pub bytes: usize,
}

/// What hears a request: who asked, when it came, and what.
pub type Requested<'a> = dyn FnMut(CallId, Instant, Option<&[u8]>) + 'a;

/// A service that those out there call.
pub trait Served {
    /// Hands the next request over, with when it came; false if there is none. `None` is given for one that cannot be read.
    fn take(&mut self, into: &mut Requested<'_>) -> bool;

    /// Answers a call: CDR with its four bytes in front. `Full` may be tried again.
    fn answer(&mut self, to: CallId, message: &[u8]) -> Sent;

    /// Asked now and then: what has to be done beside the calls. False when calls that came before are lost.
    fn look(&mut self) -> bool;
}

/// A service out there.
pub trait Called {
    /// Whether a program out there serves it.
    fn is_served(&self) -> bool;

    /// Asks: CDR with its four bytes in front. Gives the number of the call; `None` if there is no room now.
    fn ask(&mut self, message: &[u8]) -> Option<i64>;

    /// Hands the next answer to a call of this side over; false if there is none. `None` is given for one that cannot be read.
    fn take(&mut self, into: &mut dyn FnMut(i64, Option<&[u8]>)) -> bool;

    /// Asked now and then: what has to be done beside the calls. False when calls that were asked before are lost.
    fn look(&mut self) -> bool;
}
