//! iceoryx2 with sleeping receivers: its publish-subscribe, and its event service to wake the subscriber.
//!
//! A sender publishes and then notifies; a receiver looks, and only if there is nothing waits for a notification.

use horus_benchmarks::systems::sleeping::NAP;
use horus_benchmarks::transport::{End, Failure, Meeting, Processes, Receiver, Sender};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::{ServiceName, ipc};
use iceoryx2::service::port_factory::event::PortFactory;

use crate::iceoryx::{Printable, Publishing, Subscribing, config, node, publishing, subscribing};
use crate::rendezvous;

pub struct Iceoryx2Event;

pub struct Notifying<M: Printable> {
    publishing: Publishing<M>,
    notifier: Notifier<ipc::Service>,
}

pub struct Listening<M: Printable> {
    subscribing: Subscribing<M>,
    listener: Listener<ipc::Service>,
}

impl<M: Printable> Sender<M> for Notifying<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        let sent = self.publishing.try_send(message);
        if sent {
            // A listener whose queue of notifications is full is awake already, or will be.
            let _ = self.notifier.notify();
        }
        sent
    }
}

impl<M: Printable> Receiver<M> for Listening<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        if self.subscribing.try_recv(into) {
            return true;
        }
        // However it ends, the next look tells.
        let _ = self.listener.timed_wait(|_| {}, NAP);
        self.subscribing.try_recv(into)
    }
}

impl<M: Printable> Processes<M> for Iceoryx2Event {
    const SYSTEM: &'static str = "iceoryx2";
    type Sender = Notifying<M>;
    type Receiver = Listening<M>;

    fn connect(meeting: &Meeting, end: End, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let (out, back) = end.directions();
        let (out, back) = (meeting.of(out), meeting.of(back));
        let listener = event(&back)?.listener_builder().create()?;
        let listening = Listening { subscribing: subscribing(&back, capacity)?, listener };
        let notifier = event(&out)?.notifier_builder().create()?;
        let notifying = Notifying { publishing: publishing(&out, capacity)?, notifier };
        rendezvous::both_here(meeting, end, "connected")?;
        Ok((notifying, listening))
    }
}

fn event(meeting: &Meeting) -> Result<PortFactory<ipc::Service>, Failure> {
    let node = node(&config(&meeting.directory)?)?;
    Ok(node.service_builder(&ServiceName::new(&meeting.name)?).event().open_or_create()?)
}
