//! The ends of a topic: what a program holds.
//!
//! [`Publication`] and [`Subscription`] are raw: the size of a message is known when the topic is opened, not when the
//! program is compiled. They move plain data of any type by copy, lend a slot's bytes in place ([`place`]), and carry messages
//! of bytes ([`bytes`]). Typed ends, and those of other languages, are built on them without unsafe code.

pub mod bytes;
mod following;
pub mod inspect;
pub mod line;
pub mod observe;
mod opening;
pub mod place;
mod publication;
mod readers;
mod recall;
mod remake;
mod staged;
mod subscription;
mod whole;

pub use opening::{Joining, Kind, Making, Payload};
pub use publication::Publication;
pub use subscription::Subscription;
pub use whole::Sent;
