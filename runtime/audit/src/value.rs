//! What was read for a rule: values with their places, and what kept others from being read.

use crate::tree::Unread;

/// What was read for a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// Values, and what kept others from being read.
    Found(Found),
    /// The place was read, and the thing looked for is not there.
    Absent(String),
    /// Nothing could be read.
    Unknown(Unread),
}

/// Values that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Each value with the place it comes from.
    pub values: Vec<Value>,
    /// Places that should have held a value and could not be read.
    pub gaps: Vec<Unread>,
    /// What a person should know besides, for example what was left out and why.
    pub note: Option<String>,
    /// Whether the places are findings themselves, to be named even when there is only one.
    pub is_listing: bool,
}

impl Found {
    /// What a scan found.
    pub fn findings(values: Vec<Value>) -> Self {
        Self { values, is_listing: true, ..Self::default() }
    }
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The place: a path, a parameter, a task.
    pub place: String,
    /// The value itself.
    pub text: String,
    /// What would put it right, where a scan knows: a rule that reads files says it with `set`.
    pub writes: Vec<Write>,
}

/// One write to a file of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: String,
    /// What is written.
    pub text: String,
}

impl Value {
    /// The value `text` found at `place`.
    pub fn new(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into(), writes: Vec::new() }
    }

    /// Adds a write that would put it right.
    pub fn put_right_by(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.writes.push(Write { path: path.into(), text: text.into() });
        self
    }
}

impl From<Unread> for Reading {
    fn from(unread: Unread) -> Self {
        Self::Unknown(unread)
    }
}

impl From<Found> for Reading {
    fn from(found: Found) -> Self {
        Self::Found(found)
    }
}

/// At most the first 240 characters of `text`, on one line.
pub fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(240) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
