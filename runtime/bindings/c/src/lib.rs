//! The C interface of HORUS, which other languages stand on: `include/horus/horus.h` is made from this crate.
//!
//! In reading order: `status` (what a call comes to, and the sentence of an error) -> `handle` (how a pointer from C becomes a
//! reference) -> `payload` (messages or bytes) -> `layout` -> `topic` (its ends, waiting) -> `service`, `action` (their ends) ->
//! `transform` (frames) -> `param` (those of other programs) -> `nodes` (`port`, `step`, `program`, `app` and `node`, `world`, `param`) -> `journal`.
//!
//! Every function is called with pointers that a program in C made. Each states in `# Safety` what has to hold of them; what can be
//! looked at is: null, a handle of another kind, one that was closed and not yet reused, a wrong number of bytes. No panic crosses.

mod action;
mod handle;
mod journal;
mod layout;
mod nodes;
mod param;
mod payload;
mod service;
mod status;
mod topic;
mod transform;

pub use action::*;
pub use journal::*;
pub use layout::*;
pub use nodes::*;
pub use param::*;
pub use service::*;
pub use status::*;
pub use topic::*;
pub use transform::*;

/// The version of this interface. A program that was built for another first number does not work with this library.
pub const HORUS_ABI_VERSION: u32 = 1;

/// The interface's version of the library that runs: compare it with `HORUS_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn horus_abi_version() -> u32 {
    HORUS_ABI_VERSION
}
