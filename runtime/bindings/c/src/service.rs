//! Services: a program asks, and one server answers.

pub(crate) mod client;
pub(crate) mod end;
mod ends;
pub(crate) mod server;

pub use client::*;
pub use server::*;
