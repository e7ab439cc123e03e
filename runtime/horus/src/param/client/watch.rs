//! Changes of another program's parameters, as they come.

use std::time::Duration;

use super::{Current, Params, SetError};
use crate::param::sheet::NUMBER;
use crate::param::value::Value;
use crate::time::{MonotonicTime, pause};

/// How often the number of the set is looked at: setters write it and wake no watcher, so that they cost the program's loops nothing.
const INTERVAL: Duration = Duration::from_millis(10);

/// A value that is another one than before.
#[derive(Clone, Debug)]
pub struct Change {
    /// What it was; `None` where the board held none that it can be.
    pub before: Option<Value>,
    /// What it is, and where that came from.
    pub now: Current,
}

/// Waits for changes; [`Params::watch`] makes it.
///
/// It sees sets and not setters: what is set twice between two looks, 10 ms apart, is one change.
pub struct Watch {
    params: Params,
    number: u64,
    last: Vec<Current>,
}

impl Params {
    /// Watches them from now on.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn watch(&self) -> Result<Watch, SetError> {
        let (number, set) = self.read().filter(|_| self.view.is_owned()).ok_or_else(|| self.ended())?;
        Ok(Watch { params: self.clone(), number, last: self.all(&set) })
    }
}

impl Watch {
    /// The values that changed since the last call, or since the watch began. Waits for them at most so long; none came if what it
    /// returns is empty.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn next_within(&mut self, limit: Duration) -> Result<Vec<Change>, SetError> {
        let until = MonotonicTime::now().plus(limit);
        loop {
            let changes = self.look()?;
            let left = until.since(MonotonicTime::now());
            if !changes.is_empty() || left.is_zero() {
                return Ok(changes);
            }
            pause(left.min(INTERVAL));
        }
    }

    fn look(&mut self) -> Result<Vec<Change>, SetError> {
        let mut number = [0];
        if !self.params.view.read(NUMBER, &mut number) || !self.params.view.is_owned() {
            return Err(self.params.ended());
        }
        if number[0] == self.number {
            return Ok(Vec::new());
        }
        let (number, set) = self.params.read().ok_or_else(|| self.params.ended())?;
        let now = self.params.all(&set);
        let pairs = self.last.iter().zip(&now);
        let changed = pairs.filter(|(before, now)| before.value != now.value || before.origin != now.origin);
        let changes = changed.map(|(before, now)| Change { before: before.value.clone(), now: now.clone() }).collect();
        (self.number, self.last) = (number, now);
        Ok(changes)
    }
}
