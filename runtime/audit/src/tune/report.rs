//! The lines on the screen: one a knob, as soon as it is done, and a count of what could not be done.

use std::cell::Cell;
use std::fmt::Display;

/// What is said, and how often something could not be done.
pub struct Report {
    print: fn(&str),
    failures: Cell<u32>,
}

impl Report {
    /// A report whose lines go to `print`.
    pub fn new(print: fn(&str)) -> Self {
        Self { print, failures: Cell::new(0) }
    }

    /// A knob changed.
    pub fn change(&self, knob: &str, old: impl Display, new: impl Display) {
        (self.print)(&format!("{knob}: {} → {}", printable(old), printable(new)));
    }

    /// A knob was as wanted.
    pub fn same(&self, knob: &str, value: impl Display) {
        (self.print)(&format!("{knob}: {} (is so already)", printable(value)));
    }

    /// A knob that this machine does not have; nothing is wrong.
    pub fn absent(&self, knob: &str, reason: &str) {
        (self.print)(&format!("{knob}: left out: {reason}"));
    }

    /// Something could not be done, and what the person can do.
    pub fn cannot(&self, knob: &str, reason: impl Display, remedy: &str) {
        self.failures.set(self.failures.get() + 1);
        (self.print)(&format!("{knob}: NOT DONE: {}; {remedy}", printable(reason)));
    }

    /// A sentence.
    pub fn say(&self, sentence: &str) {
        (self.print)(sentence);
    }

    /// How much could not be done.
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }
}

/// On one line, without control characters: values come from files that anybody may have written.
fn printable(value: impl Display) -> String {
    let text = value.to_string();
    let clean: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    if clean.is_empty() { "empty".to_owned() } else { clean }
}
