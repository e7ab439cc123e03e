//! How HORUS measures: the same meter, the same rules and the same floor for the appliance and for the benchmarks.
//!
//! | Module | Question |
//! |---|---|
//! | [`meter`] | how long did it take? A histogram of fixed size, filled in the loop |
//! | [`quantile`] | which quantile may be stated? Only one with ten samples beyond it |
//! | [`bound`] | how rare are misses, with 95 % confidence? |
//! | [`merge`] | what do several runs say together? |
//! | [`cluster`] | do misses come alone, or do some boots have more of them than chance gives? |
//! | [`rank`] | did a tail change, and how small a change could have been seen? |
//! | [`random`] | draws that are the same in every run, for the tests by permutation |
//! | [`units`] | how does a person read it? Three digits and a unit |
//! | [`floor`] | how fast could the machine be at all? One cache line between two CPUs |
//!
//! # What it does not do
//! It chooses no CPU, asks for no priority and judges nothing: who measures does that. No outlier is removed anywhere.
//!
//! ```
//! use horus_measure::{bound::miss_bound_95, meter::Meter};
//! let mut meter = Meter::new();
//! (1..=1_000).for_each(|nanoseconds| meter.record(nanoseconds, 0));
//! assert_eq!(meter.quantile(0.99), Some(990));
//! assert_eq!(meter.quantile(0.999), None, "one sample beyond it is an anecdote");
//! assert!(miss_bound_95(0, 60_000) < 5.0e-5);
//! ```
#![forbid(unsafe_code)]

pub mod bound;
pub mod cluster;
pub mod floor;
pub mod merge;
pub mod meter;
pub mod quantile;
pub mod random;
pub mod rank;
pub mod units;
