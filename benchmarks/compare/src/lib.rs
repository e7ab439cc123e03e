//! The systems that one would take instead of HORUS, each behind the traits that the benchmarks' loops measure.
//!
//! One small file for each rival says how it is set up and where it differs from the others.

#[cfg(feature = "aeron")]
pub mod aeron;
pub mod disruptor;
pub mod gateway;
pub mod helpers;
pub mod iceoryx;
pub mod iceoryx_calls;
pub mod iceoryx_event;
pub mod iceoryx_in_place;
pub mod joining;
pub mod pipes;
pub mod rendezvous;
pub mod ros2_service;
pub mod rtrb;
pub mod seed;
pub mod seed_csharp;
pub mod seed_tables;
pub mod sleeping_sockets;
pub mod sockets;
pub mod tasks;
#[cfg(feature = "zeromq")]
pub mod zeromq;
