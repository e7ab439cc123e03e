//! Why a service cannot be served, and why a call has no answer: each with what to do.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::topic::OpenError;

/// Why a server could not be opened.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Another server lives.
    #[error(
        "service {service} has a server already, and has room for no other: stop that one, or serve under another name ({source})"
    )]
    Served {
        /// The service.
        service: String,
        /// Who it is.
        source: Box<OpenError>,
    },
    /// One of its servers or clients says [`Options::shared`](super::Options::shared), and another one does not.
    #[error(
        "service {service} is open {} and this server says {}: let all of its servers and clients say `Options::shared`, or none ({source})",
        if *.is_shared { "for one server alone" } else { "for servers that share it" },
        if *.is_shared { "`Options::shared`" } else { "that it is the only one" },
    )]
    NotAlike {
        /// The service.
        service: String,
        /// Whether this server says that it is shared.
        is_shared: bool,
        /// What its topic says.
        source: Box<OpenError>,
    },
    /// As many servers share it as can.
    #[error("{servers} servers share {service}, and it has room for no other: stop one of them ({source})")]
    TooMany {
        /// The service.
        service: String,
        /// The servers.
        servers: usize,
        /// Who the last one is.
        source: Box<OpenError>,
    },
    /// One of its topics cannot be opened.
    #[error(transparent)]
    Topic(#[from] OpenError),
}

/// Why a call has no answer.
#[derive(Debug, Error)]
pub enum CallError {
    /// No living program serves it. No server got the request.
    #[error(
        "service {service} has no server: start the program that serves it, or wait for it (`Client::wait_until_served`)"
    )]
    NotServed {
        /// The service.
        service: Arc<str>,
    },
    /// The server was killed, crashed, or was replaced by another.
    #[error(
        "the server of {service} died before it answered, and may have done what it was asked to: look before you ask again"
    )]
    Died {
        /// The service.
        service: Arc<str>,
    },
    /// The server ended in order.
    #[error("the server of {service} stopped before it answered: ask again when it runs")]
    Stopped {
        /// The service.
        service: Arc<str>,
    },
    /// The server took the request, and let go of it.
    #[error(
        "the server of {service} gave no answer to this request: its program dropped the `Answer`, or its answer was too long"
    )]
    Unanswered {
        /// The service.
        service: Arc<str>,
    },
    /// The time is up. The call is given up: its answer will be dropped and counted.
    #[error(
        "the server of {service} lives and did not answer within {limit:?}: give it longer, or look what holds it up (`horus top`)"
    )]
    TimedOut {
        /// The service.
        service: Arc<str>,
        /// How long the caller waited.
        limit: Duration,
    },
    /// As many calls as a client may have are unanswered.
    #[error(
        "{calls} calls to {service} are unanswered, and no client may have more: look for their answers, or drop them"
    )]
    TooMany {
        /// The service.
        service: Arc<str>,
        /// The calls.
        calls: usize,
    },
    /// The server has not taken the requests before this one.
    #[error("the server of {service} has yet to take the last {requests} requests of this client: ask again later")]
    Full {
        /// The service.
        service: Arc<str>,
        /// The requests.
        requests: usize,
    },
    /// The answer was taken already.
    #[error("this call to {service} has been answered, or belongs to another client: ask again")]
    Over {
        /// The service.
        service: Arc<str>,
    },
    /// The request cannot be sent: it is too long, or cannot be serialized.
    #[error(transparent)]
    NotSent(Box<dyn Error + Send + Sync>),
    /// One of its topics cannot be used any longer.
    #[error(transparent)]
    Topic(#[from] OpenError),
}
