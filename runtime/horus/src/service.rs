//! Services: a program asks, and one server answers.
//!
//! ```
//! use std::time::Duration;
//! use horus::service::{Client, Options, Server};
//!
//! horus::message! {
//!     /// Asks for the map to be saved.
//!     pub struct SaveMap = "example/SaveMap" { slot: u32 }
//! }
//! horus::message! {
//!     /// What was saved.
//!     pub struct MapSaved = "example/MapSaved" { cells: u32 }
//! }
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm")?;
//! let options = Options::default();
//! # let options = options.directory(scratch.path());
//! let mut server = Server::<SaveMap, MapSaved>::open("map.save", &options)?; // in one program
//! let mut client = Client::<SaveMap, MapSaved>::open("map.save", &options)?; // in another
//!
//! let mut asked = client.ask(SaveMap { slot: 3 })?;
//! server.serve(Duration::from_secs(1), |request, answer| {
//!     answer.send(MapSaved { cells: request.slot * 100 }).expect("the client lives and looks");
//! });
//! assert_eq!(asked.try_answer(&mut client)?.expect("it was answered").cells, 300);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a service is made of
//! Topics, and nothing below them. A service `map.save` is
//! - the `reliable` topic `map.save` of requests, on which each client has a lane of its own,
//! - for the client of lane 3 the `reliable` topic `map.save.answer.3`, on which the server alone publishes,
//! - the topic `map.save.server`, which has room for one publisher: the server. It and `map.save.client` carry what both ends count ([`figures`]).
//!
//! A service that servers [share](Options::shared) has all of this for each of its servers: server 2 serves `map.save.shared.2`. The topic
//! `map.save` then carries what its clients count, and says by its type that the service is shared.
//!
//! A call is known by the client's lane and by the number that its request has in the lane. The kernel gives a lane to one living client at a
//! time, and its numbers go on from a client to its successor. So no two calls have the same lane and number while a server lives. The
//! stamp of an answer says which request it answers.
//!
//! # What becomes of a call
//! It has an answer, or one of the errors of [`CallError`]: never a wait without an end. A request is handed to the server at most
//! once. A server that starts does not get the requests that were sent before it.
//!
//! # What it does not do
//! - A caller is not told how far the server got before it died.
//! - The stamps of answers are no times: `horus topic delay` shows nothing of use for the topics of answers.

mod answer;
mod calls;
#[cfg(test)]
mod calls_model;
mod client;
mod error;
pub mod figures;
mod inside;
mod options;
mod pending;
mod server;
mod shared;
mod tag;

use crate::topic::{OpenError, TopicName};
pub use answer::{Answer, Ticket};
pub use client::Client;
pub(crate) use client::Watch;
pub use error::{CallError, ServeError};
pub use inside::NodeServer;
pub use options::Options;
pub use pending::{Part, Pending};
pub use server::Server;
pub(crate) use server::open_answers;
pub(crate) use shared::{Place, mismatch};

/// Calls of a client that may be unanswered at a time.
pub const MAX_CALLS: usize = 16;
/// Messages that an answer may have that its client has not looked at yet. More of them wait in the topic.
pub const MAX_PARTS: usize = 16;
/// Clients that a service has room for, if its server does not ask for more.
pub const CLIENTS: usize = 8;
/// Servers that can share a service.
pub const SERVERS: usize = 8;

/// A name that is made of a service's real one: it is renamed no more.
pub(crate) fn real(name: &str) -> Result<TopicName, OpenError> {
    Ok(name.parse::<TopicName>()?)
}

/// The topic of the answers for the client of a lane.
fn answers_of(service: &str, lane: usize) -> String {
    format!("{service}.answer.{lane}")
}

/// The topic of what the clients count.
fn clients_of(service: &str) -> String {
    format!("{service}.client")
}

/// The topic that says who serves it.
fn seat_of(service: &str) -> String {
    format!("{service}.server")
}
