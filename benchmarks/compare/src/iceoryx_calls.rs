//! iceoryx2's request-response as a way of messages: the first process asks, the second one answers.
//!
//! Where ends sleep, each has a listener of its event service, and its peer notifies it, as for [`Iceoryx2Event`](crate::iceoryx_event::Iceoryx2Event):
//! request-response by itself wakes no process.

use std::cell::RefCell;
use std::rc::Rc;

use horus_benchmarks::systems::sleeping::NAP;
use horus_benchmarks::transport::{End, Failure, Link, Processes, Receiver, Sender};
use iceoryx2::active_request::ActiveRequest;
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::Client;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::server::Server;
use iceoryx2::prelude::{ServiceName, ipc};

use crate::iceoryx::{Marked, Printable, config, node};
use crate::iceoryx_event::event;
use crate::rendezvous;

/// Both ends look without a pause.
pub struct Iceoryx2Calls;
/// Both ends sleep until they are notified.
pub struct Iceoryx2SleepingCalls;

type Service = ipc::Service;
type Asked<M> = PendingResponse<Service, Marked<M>, (), Marked<M>, ()>;
type Request<M> = ActiveRequest<Service, Marked<M>, (), Marked<M>, ()>;

enum Party<M: Printable> {
    Client { client: Client<Service, Marked<M>, (), Marked<M>, ()>, asked: Option<Asked<M>> },
    Server { server: Server<Service, Marked<M>, (), Marked<M>, ()>, request: Option<Request<M>> },
}

struct Sends<M: Printable> {
    party: Rc<RefCell<Party<M>>>,
    notifier: Option<Notifier<Service>>,
}

struct Receives<M: Printable> {
    party: Rc<RefCell<Party<M>>>,
    listener: Option<Listener<Service>>,
}

impl<M: Printable> Sender<M> for Sends<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        let sent = match &mut *self.party.borrow_mut() {
            Party::Client { client, asked } => {
                *asked = client.send_copy(Marked(*message)).ok();
                asked.is_some()
            }
            Party::Server { request, .. } => {
                let Some(request) = request.take() else { return false };
                request.send_copy(Marked(*message)).is_ok()
            }
        };
        if let (true, Some(notifier)) = (sent, &self.notifier) {
            // A listener whose queue of notifications is full is awake already, or will be.
            let _ = notifier.notify();
        }
        sent
    }
}

impl<M: Printable> Receives<M> {
    fn look(&mut self, into: &mut M) -> bool {
        match &mut *self.party.borrow_mut() {
            Party::Client { asked, .. } => {
                let Some(pending) = asked else { return false };
                let Ok(Some(answer)) = pending.receive() else { return false };
                *into = answer.payload().0;
                drop(answer);
                *asked = None;
                true
            }
            Party::Server { server, request } => match server.receive() {
                Ok(Some(active)) => {
                    *into = active.payload().0;
                    *request = Some(active);
                    true
                }
                Ok(None) => false,
                Err(error) => panic!("iceoryx2 receive: {error}"),
            },
        }
    }
}

impl<M: Printable> Receiver<M> for Receives<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        if self.look(into) {
            return true;
        }
        let Some(listener) = &self.listener else { return false };
        // However it ends, the next look tells.
        let _ = listener.timed_wait(|_| {}, NAP);
        self.look(into)
    }
}

fn ends<M: Printable>(link: &Link, may_sleep: bool) -> Result<(Sends<M>, Receives<M>), Failure> {
    let name = ServiceName::new(&link.meeting.name)?;
    let service = node(&config(&link.meeting.directory)?)?
        .service_builder(&name)
        .request_response::<Marked<M>, Marked<M>>()
        .open_or_create()?;
    let party = match link.end {
        End::First => Party::Client { client: service.client_builder().create()?, asked: None },
        End::Second => Party::Server { server: service.server_builder().create()?, request: None },
    };
    let (mut notifier, mut listener) = (None, None);
    if may_sleep {
        listener = Some(event(&link.back())?.listener_builder().create()?);
        notifier = Some(event(&link.out())?.notifier_builder().create()?);
    }
    rendezvous::both_here(link, "calls")?;
    let party = Rc::new(RefCell::new(party));
    Ok((Sends { party: Rc::clone(&party), notifier }, Receives { party, listener }))
}

impl<M: Printable> Processes<M> for Iceoryx2Calls {
    const SYSTEM: &'static str = "iceoryx2 request-response";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        ends(&link, false)
    }
}

impl<M: Printable> Processes<M> for Iceoryx2SleepingCalls {
    const SYSTEM: &'static str = "iceoryx2 request-response";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        ends(&link, true)
    }
}
