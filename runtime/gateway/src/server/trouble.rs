//! What is wrong with a topic, told to the journal once, and again once a minute as long as it is so.

use horus_sys::clock::monotonic_ns;

/// How long the same is not told again.
const AGAIN_NS: u64 = 60_000_000_000;

/// What is wrong.
#[derive(Debug, Default)]
pub struct Trouble {
    new: Option<String>,
    /// What was told last, and when.
    told: Option<(String, u64)>,
}

impl Trouble {
    /// Something is wrong; of several things between two tellings, the last one is told.
    pub fn set(&mut self, what: String) {
        self.new = Some(what);
    }

    /// What is to be told now.
    pub fn tell(&mut self) -> Option<String> {
        self.tell_at(monotonic_ns())
    }

    fn tell_at(&mut self, now: u64) -> Option<String> {
        let new = self.new.take()?;
        let is_known = |(told, at): &(String, u64)| *told == new && now.saturating_sub(*at) < AGAIN_NS;
        if self.told.as_ref().is_some_and(is_known) {
            return None;
        }
        self.told = Some((new.clone(), now));
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_told_once_a_minute_and_something_else_at_once() {
        let mut trouble = Trouble::default();
        let mut told = |what: &str, now: u64| {
            trouble.set(what.into());
            trouble.tell_at(now).is_some()
        };
        assert_eq!([told("full", 0), told("full", 1), told("full", AGAIN_NS - 1)], [true, false, false]);
        assert_eq!([told("full", AGAIN_NS), told("broken", AGAIN_NS + 1), told("full", AGAIN_NS + 2)], [true; 3]);
        assert_eq!(trouble.tell_at(u64::MAX), None);
    }
}
