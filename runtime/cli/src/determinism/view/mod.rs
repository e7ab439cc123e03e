//! Showing a report: as a screen of text, and as entries of the journal.

pub mod journal;
pub mod text;
