//! Parameters: values that a program declares, and that other programs set while it runs.
//!
//! ```
//! use horus::prelude::*;
//!
//! fn navigation(app: &mut App) -> horus::Result {
//!     let mut cmd = app.output::<CmdVel>("base.cmd")?;
//!     let gain = app.param("gain", 0.8).unit("1/s").range(0.0..=4.0).about("speed for a metre of distance");
//!     let drive = move |_: &Cycle| cmd.set(CmdVel { forward: gain.get() * 0.5, turn: 0.0 });
//!     app.node("drive", drive).period(ms(10));
//!     Ok(())
//! }
//!
//! let mut world = VirtualWorld::new(navigation)?;
//! world.set_param("drive", "gain", 2.0)?;
//! world.run_for(ms(20));
//! assert_eq!(world.last::<CmdVel>("base.cmd").unwrap().forward, 1.0);
//! let refused = world.set_param("drive", "gain", 9.0).unwrap_err();
//! assert_eq!(refused.to_string(), "gain may be 0 to 4 1/s (speed for a metre of distance); it stays 2");
//! # Ok::<(), horus::Error>(())
//! ```
//!
//! A parameter belongs to the node that is declared next, as inputs and outputs do. All that a step reads of its parameters is of one set,
//! which is taken at the start of its cycle. [`Params`] sets, watches and saves them from another program; `docs/parameters.md` is the
//! guide.
//!
//! # What it does not do
//! - A value that is set says nothing to the node but itself: no callback runs. A step that has work with a change compares.
//! - Two nodes take a new set each at the start of its own cycle.
//! - A handle that is given to another node, or to a thread, reads values that may change within its step.

mod any;
mod client;
mod declaration;
mod intake;
mod keeper;
mod origin;
mod saved;
mod sheet;
mod start;
mod value;

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

pub use any::{AnyParam, Wishes};
pub use client::{Change, Current, Params, SetError, Watch, list};
pub use declaration::Declaration;
pub(crate) use intake::Intake;
pub(crate) use keeper::Keeper;
pub use origin::Origin;
pub use saved::STATE_VARIABLE;
#[cfg(test)]
pub(crate) use sheet::Sheet;
pub(crate) use start::Assembled;
pub use value::{Default, Kind, MAX_TEXT_BYTES, Number, Text, Type, Value};

/// A parameter of a node; [`App::param`](crate::app::App::param) declares it.
#[derive(Clone)]
pub struct Param<T> {
    slot: Arc<Slot>,
    _type: PhantomData<fn() -> T>,
}

/// Where the loop keeps a value.
pub(crate) struct Slot {
    words: [AtomicU64; value::MAX_WORDS],
    /// Not looked at any more when the nodes run.
    declaration: Mutex<Declaration>,
}

impl Slot {
    pub(crate) fn name(&self) -> String {
        self.declaration().name
    }

    fn declaration(&self) -> Declaration {
        self.declaration.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<T: Type> Param<T> {
    pub(crate) fn declare(name: &str, default: &Value) -> (Self, Arc<Slot>) {
        let declaration = Mutex::new(Declaration::new(name, T::KIND, default));
        let mut words = Vec::new();
        default.write(&mut words);
        let word = |place| AtomicU64::new(words.get(place).copied().unwrap_or(0));
        let slot = Arc::new(Slot { words: std::array::from_fn(word), declaration });
        (Self { slot: Arc::clone(&slot), _type: PhantomData }, slot)
    }

    fn with(self, change: impl FnOnce(&mut Declaration)) -> Self {
        change(&mut self.slot.declaration.lock().unwrap_or_else(PoisonError::into_inner));
        self
    }

    /// Its unit, such as `1/s`: at most 16 bytes.
    #[must_use]
    pub fn unit(self, unit: &str) -> Self {
        self.with(|declaration| unit.clone_into(&mut declaration.unit))
    }

    /// What it is for, as a sentence without its end: at most 200 bytes.
    #[must_use]
    pub fn about(self, text: &str) -> Self {
        self.with(|declaration| text.clone_into(&mut declaration.about))
    }

    /// Has it change at the program's start alone, by `node.toml`.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.with(|declaration| declaration.read_only = true)
    }

    /// Its value in this cycle. Costs what reading a field of a struct behind a pointer costs.
    #[inline]
    #[must_use]
    pub fn get(&self) -> T {
        T::load(&self.slot.words)
    }
}

impl<T: Number> Param<T> {
    /// The values that it may have.
    #[must_use]
    pub fn range(self, range: RangeInclusive<T>) -> Self {
        self.with(|declaration| declaration.limits = Some([range.start().word(), range.end().word()]))
    }
}

#[cfg(test)]
mod tests;
