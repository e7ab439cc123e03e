//! A node's inputs and outputs: topics as a step sees them, with the same rules on the machine's clock and on a virtual one.
//!
//! - What a step sets on an [`Output`] is published when the step returns.
//! - What an [`Input`] gives does not change while a node uses logical execution time: it ends with the release.
//!
//! AUTOSAR calls this implicit communication. A step that hangs publishes nothing, one that is in its safe state nothing but that, and a
//! step under test publishes when its virtual execution time is over.
//!
//! The messages of a port are of a type, or of another kind: bytes, serialized values, or a layout that is known at run time.
//! [`payload`](crate::topic::payload#in-the-ports-of-a-node) has the table, and says what a step pays for each kind.
//!
//! ```
//! use horus::prelude::*;
//! use horus::topic::Raw;
//!
//! let layout = "message example/WheelSpeed\n left f64\n right f64".parse()?;
//! let mut world = VirtualWorld::new(|app| {
//!     let mut measured = app.input_as::<Raw>("wheels", &layout, Options::default())?;
//!     let mut wanted = app.output_as::<Raw>("wheels.copy", &layout, Options::default())?;
//!     let node = move |_: &Cycle| {
//!         if let Some(wheels) = measured.latest() {
//!             wanted.set(wheels);
//!         }
//!     };
//!     app.node("copy", node).period(ms(1));
//!     Ok(())
//! })?;
//! world.publish_as::<Raw>("wheels", &layout, [7; 16])?;
//! world.run_for(ms(3));
//! assert_eq!(world.last_as::<Raw>("wheels.copy", &layout)?, Some(&vec![7; 16]));
//! # Ok::<(), horus::Error>(())
//! ```
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
mod sight;
mod trigger;

pub use input::{Input, Unread};
pub(crate) use lost::LostCollector;
pub use lost::{Lost, Set};
pub(crate) use missed::MissedCollector;
pub(crate) use outlet::Outlet;
pub use output::{MAX_OUTPUT_BYTES, Output};
pub(crate) use output::{check_size, pair};
pub(crate) use sight::Sight;
pub(crate) use trigger::{OpenTrigger, Trigger, Wanted};
