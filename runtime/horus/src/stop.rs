//! Ending a node in an orderly way when the service manager or a person at the keyboard asks for it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

/// A flag that SIGTERM and SIGINT set; [`App::run`](crate::app::App::run) looks at it, and so does [`Solo::run`](crate::executor::Solo::run).
///
/// A second signal ends the process at once, so a node that hangs in its work can still be interrupted.
///
/// # Errors
/// When the kernel refuses the handlers.
pub fn on_termination() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // Order matters: the action registered first runs first, and must see the flag as earlier signals left it.
        register_conditional_default(signal, Arc::clone(&stop))?;
        register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
