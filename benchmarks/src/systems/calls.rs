//! HORUS services as a way of messages: the first process asks, the second one answers, and half of a round trip is one way.
//!
//! The first end is a client with one call on its way, the second one a server that keeps a request's ticket until the loop sends the answer.

use std::cell::RefCell;
use std::rc::Rc;

use horus::message::Message;
use horus::service::{Client, Options, Pending, Server, Ticket};
use horus::topic::WaitStrategy;

use crate::patience::PATIENCE;
use crate::systems::sleeping::NAP;
use crate::transport::{Content, End, Failure, Link, Processes, Receiver, Sender};

/// Both ends look for messages without a pause.
pub struct Calls;
/// Both ends sleep until a message comes.
pub struct SleepingCalls;

/// A client or a server, which sends and receives.
enum Party<M: Message> {
    Client { client: Box<Client<M, M>>, asked: Option<Pending> },
    Server { server: Box<Server<M, M>>, ticket: Option<Ticket> },
}

/// Sends; both halves are used by one thread.
struct Sends<M: Message>(Rc<RefCell<Party<M>>>);
/// Receives; sleeps if it may.
struct Receives<M: Message> {
    party: Rc<RefCell<Party<M>>>,
    may_sleep: bool,
}

impl<M: Message + Content> Sender<M> for Sends<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        match &mut *self.0.borrow_mut() {
            Party::Client { client, asked } => {
                let Ok(pending) = client.ask(*message) else { return false };
                *asked = Some(pending);
                true
            }
            Party::Server { server, ticket } => {
                let Some(ticket) = ticket.take() else { return false };
                server.answer(ticket).send(*message).is_ok()
            }
        }
    }
}

impl<M: Message + Content> Receiver<M> for Receives<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        match &mut *self.party.borrow_mut() {
            Party::Client { client, asked } => {
                let Some(pending) = asked else { return false };
                if self.may_sleep {
                    client.wait(NAP);
                }
                match pending.try_answer(client) {
                    Ok(Some(answer)) => {
                        (*into, *asked) = (answer, None);
                        true
                    }
                    Ok(None) => false,
                    Err(error) => panic!("a call: {error}"),
                }
            }
            Party::Server { server, ticket } => {
                let limit = if self.may_sleep { NAP } else { std::time::Duration::ZERO };
                server.serve(limit, |request, answer| (*into, *ticket) = (request, Some(answer.later())))
            }
        }
    }
}

fn ends<M: Message + Content>(link: &Link, may_sleep: bool) -> Result<(Sends<M>, Receives<M>), Failure> {
    let wait = if may_sleep { WaitStrategy::Sleep } else { WaitStrategy::Spin };
    let options = Options::default().directory(&link.meeting.directory).wait_strategy(wait);
    let name = &link.meeting.name;
    let party = match link.end {
        End::Second => Party::Server { server: Box::new(Server::open(name, &options)?), ticket: None },
        End::First => {
            let mut client = Client::open(name, &options)?;
            // What is asked before there is a server, no server gets.
            if !client.wait_until_served(PATIENCE)? {
                return Err("the server does not start".into());
            }
            Party::Client { client: Box::new(client), asked: None }
        }
    };
    let party = Rc::new(RefCell::new(party));
    Ok((Sends(Rc::clone(&party)), Receives { party, may_sleep }))
}

impl<M: Message + Content> Processes<M> for Calls {
    const SYSTEM: &'static str = "horus service";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        ends(&link, false)
    }
}

impl<M: Message + Content> Processes<M> for SleepingCalls {
    const SYSTEM: &'static str = "horus service";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        ends(&link, true)
    }
}
