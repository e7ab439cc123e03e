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
//! The same program is a node when a [`Scheduler`](scheduler::Scheduler) calls it once a period:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//! use horus::deadline::Timing;
//! use horus::scheduler::Scheduler;
//!
//! let timing = Timing::new(Duration::from_millis(2), Duration::from_millis(1))?;
//! let stop = AtomicBool::new(false); // a program takes `horus::stop::on_termination()`
//! let tally = Scheduler::new(timing).releases(5).run(&stop, |cycle| {
//!     assert!(cycle.deadline > cycle.release); // the work of one period
//! });
//! assert_eq!(tally.releases(), 5);
//! # Ok::<(), horus::deadline::TimingError>(())
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
//!   [`Options::never_wake`](topic::Options::never_wake). `try_recv` makes none once somebody has published.
//! - **A peer that dies holds up nobody for good.** The kernel tells who lives, in any container. The successor of a dead
//!   publisher starts at once.
//! - **A stranger's bytes are no undefined behaviour** for a program that receives by copy. Types, sizes and layouts are compared
//!   when a topic is opened, and a mismatch names the field.
//!
//! Nodes:
//! - **The grid does not move.** Release `k` is at `r_0 + k T`, however late a cycle was.
//! - **Every release is accounted for.** One that is skipped counts as a miss, and the longest run of misses is kept.
//! - **The loop allocates nothing** and takes no lock. A test counts allocations.
//! - **Nothing is refused silently.** CPU, policy and locked memory are asked for, then read back from the kernel
//!   ([`startup::Granted`]).
//!
//! # What it does not do
//! - Topics do not leave the machine, and there is no ROS 2 bridge.
//! - There is no order between two publishers, and no translation between versions of a message.
//! - Nobody is told that a peer left. A program asks ([`Subscriber::is_published`](topic::Subscriber::is_published)), or watches its
//!   input ([`silence`]).
//! - A process runs one node.
//! - The scheduler cannot make a machine real-time. A period is kept as well as kernel, CPUs and settings permit; `horus doctor` and
//!   `horus determinism` say how well that is.
//!
//! # Trade-offs
//! - Messages have a fixed size and plain fields, so that sending is copying. [`mod@bytes`] and [`serialized`] carry the rest, at a cost.
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
//! | [`mod@bytes`], [`serialized`] | topics of any bytes, and of every type that serde knows |
//! | [`wait`] | waiting for several topics at once |
//! | [`scheduler`], [`deadline`] | the loop on its grid; period, deadline, and the account of what was missed |
//! | [`admission`], [`simulation`] | whether tasks meet their deadlines, before they run; threads of fixed priority in virtual time |
//! | [`startup`], [`cpus`] | real time, step by step: locked memory, CPU, policy, and what was granted |
//! | [`miss`], [`silence`], [`journal`], [`supervise`] | a miss or a silent input on its way to the journal; the thread beside the loop; systemd's watchdog |
//! | [`stop`], [`time`](mod@time), [`task`] | ending on SIGTERM; clocks, among them a virtual one; what the kernel says of a thread |
//!
//! `docs/topics.md` is the guide to topics, `docs/message-path.md` and `docs/architecture.md` show how it works. The crate has no
//! unsafe code of its own: that is in `horus-shm`, each block with its reason.
#![forbid(unsafe_code)]

// The `message!` macro names its crate as its users do, and is used in here too.
extern crate self as horus;
/// For `message!`, whose derives name it.
#[doc(hidden)]
pub use zerocopy;

pub mod admission;
pub mod app;
pub mod bytes;
pub mod cpus;
pub mod deadline;
mod error;
pub mod executor;
pub mod figures;
pub mod graph;
pub mod journal;
pub mod message;
pub mod messages;
pub mod miss;
pub mod monitor;
pub mod node;
pub mod port;
pub mod prelude;
pub mod serialized;
pub mod silence;
pub mod simulation;
pub mod startup;
pub mod stop;
pub mod supervise;
pub mod task;
pub mod time;
pub mod topic;
pub mod wait;
pub mod world;

pub use error::{Error, Result};

/// The Rust of README.md, so that it goes on compiling.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
