//! The lines on the screen: one a knob, as soon as it is done, and a count of what could not be done.

use std::cell::Cell;
use std::fmt::Display;
use std::io::{self, Write};

/// What is said, and how often something could not be done.
#[derive(Default)]
pub struct Report {
    failures: Cell<u32>,
}

impl Report {
    /// A knob changed.
    pub fn change(&self, knob: &str, old: impl Display, new: impl Display) {
        line(&format!("{knob}: {} → {}", printable(old), printable(new)));
    }

    /// A knob was as wanted.
    pub fn same(&self, knob: &str, value: impl Display) {
        line(&format!("{knob}: {} (is so already)", printable(value)));
    }

    /// A knob that this machine does not have; nothing is wrong.
    pub fn absent(&self, knob: &str, reason: &str) {
        line(&format!("{knob}: left out: {reason}"));
    }

    /// Something could not be done, and what the person can do.
    pub fn cannot(&self, knob: &str, reason: impl Display, remedy: &str) {
        self.failures.set(self.failures.get() + 1);
        line(&format!("{knob}: NOT DONE: {}; {remedy}", printable(reason)));
    }

    /// A sentence.
    pub fn say(&self, sentence: &str) {
        line(sentence);
    }

    /// How much could not be done.
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }
}

/// A reader that closed the pipe (`| head`) does not stop the work.
fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// On one line, without control characters: values come from files that anybody may have written.
fn printable(value: impl Display) -> String {
    let text = value.to_string();
    let clean: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    if clean.is_empty() { "empty".to_owned() } else { clean }
}
