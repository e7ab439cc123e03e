//! Everything that a node's program usually names: `use horus::prelude::*;`.

pub use crate::app::App;
pub use crate::messages::*;
pub use crate::node::{Cycle, Node, OnMiss, SafeState};
pub use crate::param::Param;
pub use crate::port::{Input, Output};
pub use crate::startup::{CpuChoice, SchedulingPolicy};
pub use crate::time::{MonotonicTime, ms, secs, sleep, us};
pub use crate::topic::{Options, Publisher, Subscriber};
pub use crate::world::VirtualWorld;
pub use crate::{debug, error, info, warn};
