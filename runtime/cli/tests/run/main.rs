//! `horus run` with real programs and real signals. Nothing here asserts how fast anything is.

mod graph;
mod lives;
mod mistakes;
mod page;
mod running;
mod virtually;
