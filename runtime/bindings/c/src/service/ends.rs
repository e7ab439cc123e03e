//! The ends of a service, whatever its requests and answers are: messages of a layout, or bytes of any length.

use std::time::Duration;

use horus::service::{Answer, CallError, Client, NodeServer, Part, Pending, Server, Ticket};
use horus::topic::Payload;

use crate::status::horus_status::{
    HORUS_CALL_DIED, HORUS_CALL_FULL, HORUS_CALL_NOT_SERVED, HORUS_CALL_OVER, HORUS_CALL_STOPPED, HORUS_CALL_TIMED_OUT,
    HORUS_CALL_TOO_MANY, HORUS_CALL_UNANSWERED, HORUS_FAILED, HORUS_FULL, HORUS_MISUSE, HORUS_OK,
};
use crate::status::{Refusal, horus_status, misuse};

/// A kind of payload whose messages are bytes here.
pub trait Plain: for<'a> Payload<Value = [u8], Message<'a> = &'a [u8], Owned = Vec<u8>> + 'static {}

impl<P: ?Sized> Plain for P where P: for<'a> Payload<Value = [u8], Message<'a> = &'a [u8], Owned = Vec<u8>> + 'static {}

/// Why a call has no answer, by its name in C.
#[cold]
pub fn refused(error: &CallError) -> Refusal {
    let status = match error {
        CallError::NotServed { .. } => HORUS_CALL_NOT_SERVED,
        CallError::Died { .. } => HORUS_CALL_DIED,
        CallError::Stopped { .. } => HORUS_CALL_STOPPED,
        CallError::Unanswered { .. } => HORUS_CALL_UNANSWERED,
        CallError::TimedOut { .. } => HORUS_CALL_TIMED_OUT,
        CallError::TooMany { .. } => HORUS_CALL_TOO_MANY,
        CallError::Full { .. } => HORUS_CALL_FULL,
        CallError::Over { .. } => HORUS_CALL_OVER,
        CallError::NotSent(_) => HORUS_MISUSE,
        CallError::Topic(_) => HORUS_FAILED,
    };
    Refusal::new(status, error)
}

/// What a client can do.
pub trait Asks {
    fn ask(&mut self, request: &[u8]) -> Result<Pending, CallError>;
    fn call(&mut self, request: &[u8], limit: Duration) -> Result<Vec<u8>, CallError>;
    fn look(&mut self, pending: &mut Pending) -> Result<Part<Vec<u8>>, CallError>;
    fn give_back(&mut self, answer: Vec<u8>);
    fn wait(&mut self, limit: Duration) -> bool;
    fn check_server(&mut self) -> Result<bool, CallError>;
    fn is_served(&mut self) -> Result<bool, CallError>;
    fn wait_until_served(&mut self, limit: Duration) -> Result<bool, CallError>;
    fn late(&self) -> u64;
    fn unanswered(&self) -> usize;
}

impl<Q: Plain + ?Sized, A: Plain + ?Sized> Asks for Client<Q, A>
where
    for<'a> &'a [u8]: horus::topic::Sendable<Q>,
{
    fn ask(&mut self, request: &[u8]) -> Result<Pending, CallError> {
        Client::ask(self, request)
    }

    fn call(&mut self, request: &[u8], limit: Duration) -> Result<Vec<u8>, CallError> {
        Client::call(self, request, limit)
    }

    fn look(&mut self, pending: &mut Pending) -> Result<Part<Vec<u8>>, CallError> {
        pending.try_part(self)
    }

    fn give_back(&mut self, answer: Vec<u8>) {
        Client::give_back(self, answer);
    }

    fn wait(&mut self, limit: Duration) -> bool {
        Client::wait(self, limit)
    }

    fn check_server(&mut self) -> Result<bool, CallError> {
        Client::check_server(self)
    }

    fn is_served(&mut self) -> Result<bool, CallError> {
        Client::is_served(self)
    }

    fn wait_until_served(&mut self, limit: Duration) -> Result<bool, CallError> {
        Client::wait_until_served(self, limit)
    }

    fn late(&self) -> u64 {
        Client::late(self)
    }

    fn unanswered(&self) -> usize {
        Client::unanswered(self)
    }
}

/// What a message to a client is.
#[derive(Clone, Copy)]
pub enum Reply<'a> {
    /// The answer, or the last part of it.
    Answer(&'a [u8]),
    /// A part, and more follow.
    Part(&'a [u8]),
    /// No more parts.
    End,
    /// There is none.
    None,
}

/// What a server can do.
pub trait Serves {
    /// Takes the next request, and says whose it is; `None` when there is none within the limit. A server in a node does not wait.
    fn next(&mut self, limit: Duration, take: &mut dyn FnMut(&[u8])) -> Option<[u64; 2]>;
    fn reply(&mut self, ticket: [u64; 2], reply: Reply<'_>) -> Result<horus_status, Refusal>;
    fn undelivered(&self) -> u64;
}

/// Sends a reply to whom it is for.
fn send<A: Plain + ?Sized>(mut answer: Answer<'_, A>, reply: Reply<'_>) -> Result<horus_status, Refusal>
where
    for<'a> &'a [u8]: horus::topic::Sendable<A>,
{
    let sent = match reply {
        Reply::Answer(bytes) => answer.send(bytes),
        Reply::Part(bytes) => {
            let sent = answer.part(bytes);
            let _asked_again = answer.later();
            sent
        }
        Reply::End => {
            answer.end();
            Ok(())
        }
        Reply::None => {
            drop(answer);
            Ok(())
        }
    };
    match sent {
        Ok(()) => Ok(HORUS_OK),
        Err(error) if A::is_full(&error) => Ok(HORUS_FULL),
        Err(error) => Err(misuse(error)),
    }
}

impl<Q: Plain + ?Sized, A: Plain + ?Sized> Serves for Server<Q, A>
where
    for<'a> &'a [u8]: horus::topic::Sendable<A>,
{
    fn next(&mut self, limit: Duration, take: &mut dyn FnMut(&[u8])) -> Option<[u64; 2]> {
        let mut of = None;
        self.serve(limit, |request, answer| {
            take(request);
            of = Some(answer.later().words());
        });
        of
    }

    fn reply(&mut self, ticket: [u64; 2], reply: Reply<'_>) -> Result<horus_status, Refusal> {
        send(self.answer(Ticket::of_words(ticket)), reply)
    }

    fn undelivered(&self) -> u64 {
        Server::undelivered(self)
    }
}

impl<Q: Plain + ?Sized, A: Plain + ?Sized> Serves for NodeServer<Q, A>
where
    for<'a> &'a [u8]: horus::topic::Sendable<A>,
{
    fn next(&mut self, _limit: Duration, take: &mut dyn FnMut(&[u8])) -> Option<[u64; 2]> {
        let mut of = None;
        self.serve(|request, answer| {
            take(request);
            of = Some(answer.later().words());
        });
        of
    }

    fn reply(&mut self, ticket: [u64; 2], reply: Reply<'_>) -> Result<horus_status, Refusal> {
        send(self.answer(Ticket::of_words(ticket)), reply)
    }

    fn undelivered(&self) -> u64 {
        NodeServer::undelivered(self)
    }
}
