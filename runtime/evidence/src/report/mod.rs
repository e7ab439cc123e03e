//! Reports for who asks: the newest one of a machine, and whether two sets of them differ.

pub mod compare;
pub mod newest;
