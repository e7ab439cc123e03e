//! A node's inputs and outputs: topics as a step sees them, with the same rules on the machine's clock and on a virtual one.
//!
//! - What a step sets on an [`Output`] is published when the step returns.
//! - What an [`Input`] gives does not change while a node uses logical execution time: it ends with the release.
//!
//! AUTOSAR calls this implicit communication. A step that hangs publishes nothing, one that is in its safe state nothing but that, and a
//! step under test publishes when its virtual execution time is over.
//!
//! # Trade-offs
//! An output is copied once more than a message of a [`Publisher`](crate::topic::Publisher). So it takes messages of at most
//! [`MAX_OUTPUT_BYTES`]: images and clouds go by a publisher of their own, that the node owns.

mod input;
mod output;
pub mod raw;

pub use input::{Input, Messages};
pub(crate) use input::{OpenTrigger, Sight, Trigger};
pub use output::{CYCLE_MESSAGES, MAX_OUTPUT_BYTES, Output};
pub(crate) use output::{Outlet, pair};
