//! Navigation: three nodes of one program.
//!
//! | Node | reads | sends |
//! |---|---|---|
//! | `localization` | `lidar`, the frame `base_link` in `odom` | the frame `odom` in `map`, `localization.correction` (latched) |
//! | `costmap` | `lidar`, the frame `lidar` in `map`, requests of `map.clear` | `map` (latched), answers |
//! | `planner` | `map`, the frame `base_link` in `map`, goals of `drive_to` | `path`, how far it is, where it ended |
//!
//! It may be killed at any time. The base stops, because its path grows old. What this program has learned stands in two latched topics, where its
//! successor finds it.
#![forbid(unsafe_code)]

mod costmap;
mod localization;
mod planner;
mod route;

use horus::prelude::*;

/// Declares the nodes of navigation.
///
/// # Errors
/// When a topic cannot be opened; the error says what to do.
pub fn navigation(app: &mut App) -> horus::Result {
    localization::localization(app)?;
    costmap::costmap(app)?;
    planner::planner(app)
}
