//! Programs of nodes: declared by handles, run by [`horus::app`], and in virtual time by [`horus::world`].

pub(crate) mod app;
mod in_place;
pub(crate) mod keep;
mod kept;
mod log;
pub(crate) mod node;
pub(crate) mod node_handle;
mod param;
pub(crate) mod port;
pub(crate) mod program;
pub(crate) mod step;
pub(crate) mod turn;
pub(crate) mod world;

pub use app::*;
pub use in_place::*;
pub use kept::*;
pub use log::*;
pub use node::*;
pub use node_handle::*;
pub use param::*;
pub use port::*;
pub use program::*;
pub use step::*;
pub use world::*;
