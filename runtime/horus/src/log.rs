//! What a node says while it runs: a step copies numbers and texts into a ring, and a thread beside the loop makes lines of them.
//!
//! ```
//! use horus::prelude::*;
//!
//! fn drive(app: &mut App) -> horus::Result {
//!     let step = |cycle: &Cycle| {
//!         let (wheel, slip) = ("left", 0.52);
//!         if cycle.number == 2 {
//!             cycle.log(warn!("wheel {} slips by {:.1} m", wheel, slip));
//!         }
//!     };
//!     app.node("drive", step).period(ms(10));
//!     Ok(())
//! }
//!
//! let mut world = VirtualWorld::new(drive)?;
//! world.run_for(ms(100));
//! let said = &world.journal()[0];
//! assert_eq!(said.message(), "node drive, cycle 2: wheel left slips by 0.5 m");
//! assert_eq!(said.get("HORUS_CYCLE"), Some("2"));
//! # Ok::<(), horus::Error>(())
//! ```
//!
//! [`debug!`](crate::debug), [`info!`](crate::info), [`warn!`](crate::warn) and [`error!`](crate::error) make a line, and
//! [`Cycle::log`](crate::node::Cycle::log) copies it: no allocation, no lock, no system call, no formatting. The thread that writes the journal
//! looks every 100 ms.
//!
//! # How much fits
//! - A text has up to 120 bytes, and 8 values: integers, floats, truth values, texts. A text among them has up to 64 bytes, and is cut
//!   behind that; so is one that finds no room beside the others. Text and values of a line have 232 bytes together.
//! - 64 lines of a node wait at a time. What finds no room is lost, and the journal tells how many were.
//!
//! The places for values are `{}`, `{:.3}` for a number of digits behind the point, and `{:x}` for a hexadecimal number. `{{` is a brace. Too few
//! values do not compile:
//!
//! ```compile_fail
//! # fn step(cycle: &horus::node::Cycle) {
//! cycle.log(horus::info!("wheel {} slips by {} m", "left"));
//! # }
//! # std::hint::black_box(step as fn(&horus::node::Cycle));
//! ```
//!
//! # What it does not do
//! - It keeps no line of a process that is killed within 100 ms.
//! - It formats nothing of its own: a value that is no number and no text has no place in a line.

mod channel;
mod macros;
mod record;
mod text;
mod value;

pub(crate) use channel::{Log, LogCollector, channel};
pub use text::{Text, TextError};
pub use value::{Loggable, Value};

use crate::journal::Priority;

/// Lines of a node that wait at a time.
pub const MAX_WAITING: usize = 64;
/// Bytes of a line's text.
pub const MAX_TEXT: usize = 120;
/// Values of a line.
pub const MAX_VALUES: usize = 8;
/// Bytes of a text among the values.
pub const MAX_TEXT_VALUE: usize = 64;

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For finding a mistake.
    Debug,
    /// The normal course of things.
    Info,
    /// Worth a look.
    Warn,
    /// Failed: a person has to act.
    Error,
}

impl Level {
    /// Its word in every language.
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }

    fn priority(self) -> Priority {
        match self {
            Level::Debug => Priority::Debug,
            Level::Info => Priority::Info,
            Level::Warn => Priority::Warning,
            Level::Error => Priority::Error,
        }
    }
}

/// A line that is about to be logged: [`info!`](crate::info) and its like make it.
#[derive(Clone, Copy, Debug)]
#[must_use = "cycle.log(…) takes it to the journal"]
pub struct Line<'a> {
    pub(crate) level: Level,
    pub(crate) text: &'a str,
    pub(crate) values: &'a [Value<'a>],
}

impl<'a> Line<'a> {
    /// A line whose text was checked when it was compiled.
    #[inline]
    pub const fn new(level: Level, text: Text, values: &'a [Value<'a>]) -> Self {
        Self { level, text: text.get(), values }
    }

    /// A line whose text is known at run time: other languages bring it.
    ///
    /// # Errors
    /// [`TextError`]: the text has not as many places as there are values, or is none.
    pub fn checked(level: Level, text: &'a str, values: &'a [Value<'a>]) -> Result<Self, TextError> {
        text::check(text, values.len())?;
        Ok(Self { level, text, values })
    }
}
