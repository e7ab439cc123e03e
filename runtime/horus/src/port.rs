//! A node's inputs and outputs: topics as a step sees them, with the same rules on the machine's clock and on a virtual one.
//!
//! - What a step sets on an [`Output`] is published when the step returns.
//! - What an [`Input`] gives does not change while a node uses logical execution time: it ends with the release.
//!
//! AUTOSAR calls this implicit communication. A step that hangs publishes nothing, one that is in its safe state nothing but that, and a
//! step under test publishes when its virtual execution time is over.
//!
//! # Trade-offs
//! - A message that is set stands in its topic at once, in a slot that no reader looks at before the step returns. So it is copied once,
//!   as that of a [`Publisher`](crate::topic::Publisher), and a step can set as many as the topic holds. What the slot held before is
//!   gone from then on, also when the step's outcome is discarded.
//! - It takes messages of at most [`MAX_OUTPUT_BYTES`]: they stand on the step's stack. Images and clouds go by a publisher of their own,
//!   that the node owns.

mod input;
mod lost;
mod missed;
mod outlet;
mod output;
pub mod raw;

pub use input::{Input, Messages};
pub(crate) use input::{OpenTrigger, Sight, Trigger};
pub(crate) use lost::LostCollector;
pub use lost::{Lost, Set};
pub(crate) use missed::MissedCollector;
pub(crate) use outlet::Outlet;
pub(crate) use output::pair;
pub use output::{MAX_OUTPUT_BYTES, Output};
