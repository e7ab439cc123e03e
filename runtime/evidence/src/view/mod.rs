//! Showing a report: as a screen of text, as entries of the journal, as a page, and in the formats of other programs.

pub mod escape;
pub mod history;
pub mod html;
pub mod journal;
pub mod junit;
pub mod openmetrics;
pub mod standing;
pub mod text;
