//! Topics, nodes and a scheduler with deadlines, over shared memory, for Linux on 64-bit machines.
//!
//! A **topic** is a named stream of messages between the programs of one machine. A **node** is work that is done once a period
//! and has a deadline. There is no daemon: programs meet in a file in RAM.
//!
//! ```
//! use std::time::Duration;
//! use horus::messages::CmdVel;
//! use horus::topic::{Options, Publisher, Subscriber};
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm")?;
//! let options = Options::latest(8);
//! # let options = options.directory(scratch.path());
//! let mut subscriber = Subscriber::<CmdVel>::open("base.cmd", &options)?; // in one program, which may start first
//! let mut publisher = Publisher::<CmdVel>::open("base.cmd", &options)?; // in another
//!
//! publisher.try_send(CmdVel { forward: 0.5, turn: 0.0 })?;
//!
//! let received = subscriber.recv_timeout(Duration::from_millis(100)).expect("it was sent");
//! assert_eq!((received.message.forward, subscriber.missed()), (0.5, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program of nodes declares what they do and what they promise; [`App`](app::App) does the rest:
//!
//! ```no_run
//! use horus::prelude::*;
//!
//! fn balance(app: &mut App) -> horus::Result {
//!     let mut imu = app.input::<Imu>("imu")?;
//!     let mut cmd = app.output::<CmdVel>("base.cmd")?;
//!     let control = move |_: &Cycle| {
//!         if let Some(imu) = imu.latest() {
//!             cmd.set(CmdVel { forward: 0.8 * imu.angular_velocity.y, turn: 0.0 });
//!         }
//!     };
//!     app.node("control", control).period(ms(1)).deadline(us(800));
//!     Ok(())
//! }
//!
//! horus::main!(balance);
//! ```
//!
//! # Guarantees
//! Topics:
//! - **Nothing half-written arrives.** A message is received whole or not at all, also when its publisher is killed while it writes.
//!   Model tests (loom) run every interleaving of the ring up to a bound of preemptions.
//! - **Every loss is counted.** A `reliable` topic loses nothing of what was accepted; a `latest` topic counts what a subscriber did not
//!   read in time ([`Subscriber::missed`](topic::Subscriber::missed)).
//! - **Sending and receiving are bounded.** `try_send` and `try_recv` are wait-free. They allocate nothing and take no lock.
//!   `try_send` makes one system call for each time that a subscriber fell asleep, and none with
//!   [`Options::never_wake`](topic::Options::never_wake). `try_recv` makes none once the topic is published.
//! - **A peer that dies holds up no other for good.** The kernel tells who lives, in any container. The successor of a dead
//!   publisher starts at once.
//! - **A stranger's bytes are no undefined behaviour** for a program that receives by copy. Types, sizes and layouts are compared
//!   when a topic is opened, and a mismatch names the field.
//!
//! Nodes:
//! - **The grid does not move.** Release `k` is at `r_0 + k T`, however late a cycle was.
//! - **Every release is accounted for.** One that is skipped counts as a miss, and the longest run of misses is kept.
//! - **The loop allocates nothing** and takes no lock. A test counts allocations.
//! - **Nothing is refused silently.** CPU, scheduling policy and locked memory are asked for, then read back from the kernel
//!   ([`startup::Granted`]).
//! - **The order of nodes on one thread is always the same:** by release, then as they were declared.
//! - **The same graph runs in virtual time** ([`world::VirtualWorld`]), and two runs are the same, bit for bit.
//!
//! # What it does not do
//! - Topics do not leave the machine by themselves: `horus gateway` and `horus bridge` are programs of their own.
//! - There is no order between two publishers, and no translation between versions of a message.
//! - No peer is told that another one left. A program asks ([`Subscriber::is_published`](topic::Subscriber::is_published)), or
//!   watches its input ([`Spec::stale_after_of`](node::Spec::stale_after_of)).
//! - The executor cannot make a machine real-time. A period is kept as well as kernel, CPUs and settings permit; `horus doctor` and
//!   `horus determinism` say how well that is.
//!
//! # Trade-offs
//! - Messages have a fixed size and plain fields, so that sending is copying. [Other kinds of payload](topic::payload) carry
//!   the rest, at a cost.
//! - All memory of a topic is allocated and locked when the topic is made, used or not.
//! - Opening, closing and looking for the dead make system calls, so that sending and receiving need not.
//! - [`Subscriber::borrow`](topic::Subscriber::borrow) reads a large message where it is, and trusts every program that may write to the
//!   topic. Receiving by copy trusts none.
//! - A handle moves between threads and is not shared by them. It does not survive `fork`.
//!
//! # Where things are
//! | module | what is in it |
//! |---|---|
//! | [`topic`] | [`Publisher`](topic::Publisher), [`Subscriber`](topic::Subscriber), [`Options`](topic::Options): start here |
//! | [`messages`] | messages of the field: velocities, poses, IMU, scans, images, … |
//! | [`message`](mod@message) | [`message!`]: a message of your own |
//! | [`topic::payload`] | what a topic carries: messages, any bytes, every type that serde knows, layouts that are known at run time |
//! | [`message::layout`] | such layouts, as other languages bring them |
//! | [`app`], [`node`], [`port`] | a program of nodes: start here, or with `docs/nodes.md` |
//! | [`transform`] | where frames are to each other: a tree of them, looked up at a time |
//! | [`service`] | a program asks, and one server answers |
//! | [`action`] | a program sends a goal, hears how far it is, and what came of it |
//! | [`param`] | values that other programs set while a program runs |
//! | [`world`] | the same program in virtual time |
//! | [`admission`] | whether a set of tasks meets its deadlines, before it runs |
//! | [`deadline`] | period, deadline, and the account of what was missed |
//! | [`startup`] | real time, wish by wish: locked memory, CPU, scheduling policy, and what was granted |
//! | [`stop`], [`time`](mod@time) | ending on SIGTERM; clocks, among them a virtual one |
//! | [`log`](mod@log) | what a step says: lines that a thread beside the loop writes to the journal |
//! | [`journal`] | entries with fields in the machine's journal |
//!
//! The other modules are for HORUS's own programs. `docs/architecture.md` says what is in each.
//!
//! `docs/topics.md` is the guide to topics, `docs/message-path.md` and `docs/architecture.md` show how it works. The crate has no
//! unsafe code of its own: that is in `horus-shm` and `horus-sys`, each block with its reason.
#![forbid(unsafe_code)]

// The `message!` macro names its crate as its users do, and is used in here too.
extern crate self as horus;
/// For `message!`, whose derives name it.
#[doc(hidden)]
pub use zerocopy;

pub mod action;
pub mod admission;
pub mod app;
pub mod deadline;
pub mod journal;
pub mod log;
pub mod message;
pub mod messages;
pub mod node;
pub mod param;
pub mod port;
pub mod prelude;
pub mod service;
pub mod startup;
pub mod stop;
pub mod time;
pub mod topic;
pub mod transform;
pub mod world;

mod error;
mod miss;

// Hidden: HORUS's own programs are built of them (the command, the witness, the gateway, meters of the loop), and they change with these.
#[doc(hidden)]
pub mod conduct;
#[doc(hidden)]
pub mod cpus;
#[doc(hidden)]
pub mod executor;
#[doc(hidden)]
pub mod figures;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod monitor;
#[doc(hidden)]
pub mod near;
#[doc(hidden)]
pub mod outside;
#[doc(hidden)]
pub mod simulation;
#[doc(hidden)]
pub mod stale;
#[doc(hidden)]
pub mod supervise;
#[doc(hidden)]
pub mod task;
#[doc(hidden)]
pub mod witness;

pub use error::{Error, Result};

/// The Rust of README.md, so that it goes on compiling.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The Rust of docs/services.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/services.md")]
struct Services;

/// The Rust of docs/actions.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/actions.md")]
struct Actions;

/// The Rust of docs/nodes.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/nodes.md")]
struct Nodes;

/// The Rust of docs/transforms.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/transforms.md")]
struct Transforms;

/// The Rust of docs/parameters.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/parameters.md")]
struct Parameters;
