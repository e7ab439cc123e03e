//! Topics, nodes and a scheduler with deadlines, over shared memory.
#![forbid(unsafe_code)]

// The `message!` macro names its crate as its users do, and is used in here too.
extern crate self as horus;
/// For `message!`, whose derives name it.
#[doc(hidden)]
pub use zerocopy;

pub mod bytes;
pub mod cpus;
pub mod deadline;
pub mod journal;
pub mod message;
pub mod messages;
pub mod miss;
pub mod scheduler;
pub mod serialized;
pub mod startup;
pub mod stop;
pub mod supervise;
pub mod task;
pub mod time;
pub mod topic;
pub mod wait;
