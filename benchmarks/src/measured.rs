//! What measuring a cell yields, before it is written down between its floors.

use crate::samples::Samples;
use crate::tally::Counts;

/// What measuring a cell yields.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The times; none where only throughput was measured.
    pub samples: Option<Samples>,
    /// Messages of all its runs.
    pub counts: Counts,
    /// Messages a second, from the first to the last received.
    pub per_second: Option<f64>,
    /// What was noticed while measuring; joins the heading's note.
    pub note: Option<String>,
}
