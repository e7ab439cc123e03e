//! Ending a node in an orderly way when the service manager or a person at the keyboard asks for it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus_sys::termination;
pub use horus_sys::termination::GRACE;

/// A flag that SIGTERM and SIGINT set; [`App::run`](crate::app::App::run) looks at it, and so do HORUS's own loops.
///
/// A second signal within a second changes nothing: `timeout`, Ctrl-C under a script and others send two. A later one, or a third one,
/// ends the process at once, so a node that hangs in its work can still be interrupted.
///
/// # Errors
/// When the kernel refuses the handlers.
pub fn on_termination() -> io::Result<Arc<AtomicBool>> {
    termination::on_termination()
}

/// As [`on_termination`], where a second signal within `grace` changes nothing. That is so for the whole process.
///
/// # Errors
/// As there.
pub(crate) fn on_termination_within(grace: Duration) -> io::Result<Arc<AtomicBool>> {
    termination::set_grace(grace);
    termination::on_termination()
}
