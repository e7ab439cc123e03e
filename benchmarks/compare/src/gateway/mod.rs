//! What the gateway costs, beside what one would put in its place: the same loop, the same messages, the same checks.
//!
//! | file | what is in it |
//! |---|---|
//! | `plan.rs` | what is sent, and how each message is known again |
//! | `load.rs` | sender and receiver: an open loop, each latency from the time at which the message was to be sent |
//! | `way.rs`, `child.rs` | what a way from the sender to the receiver is, and the process in the middle of it |
//! | `ours.rs`, `bare.rs`, `redis.rs`, `zeromq.rs`, `rabbitmq.rs` with `amqp.rs`, `aeron.rs` | the ways |
//! | `polling.rs` | a process in the middle that never sleeps |
//! | `floor.rs`, `ping_pong.rs` | floors: one cache line, and one message by TCP, thrown back and forth |
//! | `crowd.rs` | a thousand clients, without and with one that is slow and one that sends garbage |
//! | `inside.rs` | what single steps cost: log, frames, batches |
//! | `row.rs`, `out.rs` | a line of the result, as text and as CSV; the directory that it goes to |
//!
//! Every way has two hops over TCP on this machine: to a process in the middle, and from it. Aeron has hops of its own.

#[cfg(feature = "aeron")]
pub mod aeron;
pub mod amqp;
pub mod bare;
pub mod child;
pub mod crowd;
pub mod floor;
pub mod inside;
pub mod load;
pub mod ours;
pub mod out;
pub mod ping_pong;
pub mod plan;
pub mod polling;
pub mod rabbitmq;
pub mod redis;
pub mod row;
pub mod way;
#[cfg(feature = "zeromq")]
pub mod zeromq;
