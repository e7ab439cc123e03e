//! iceoryx2 with sleeping receivers: its publish-subscribe, and its event service to wake the subscriber.
//!
//! A sender publishes and then notifies; a receiver looks, and only if there is nothing waits for a notification.

use horus_benchmarks::systems::sleeping::NAP;
use horus_benchmarks::transport::{Failure, Link, Meeting, Processes, Receiver, Sender};
use iceoryx2::prelude::{ServiceName, ipc};
use iceoryx2::service::port_factory::event::PortFactory;

use crate::iceoryx::{Printable, config, node, publishing, subscribing};

pub struct Iceoryx2Event;

impl<M: Printable> Processes<M> for Iceoryx2Event {
    const SYSTEM: &'static str = "iceoryx2";

    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        let (out, back) = (link.out(), link.back());
        let listener = event(&back)?.listener_builder().create()?;
        let mut subscribing = subscribing::<M>(&back, capacity)?;
        let notifier = event(&out)?.notifier_builder().create()?;
        let mut publishing = publishing::<M>(&out, capacity)?;
        let send = move |message: &M| {
            let sent = publishing.try_send(message);
            if sent {
                // A listener whose queue of notifications is full is awake already, or will be.
                let _ = notifier.notify();
            }
            sent
        };
        let receive = move |into: &mut M| {
            if subscribing.try_recv(into) {
                return true;
            }
            // However it ends, the next look tells.
            let _ = listener.timed_wait(|_| {}, NAP);
            subscribing.try_recv(into)
        };
        Ok((send, receive))
    }
}

/// The event service of a meeting.
pub fn event(meeting: &Meeting) -> Result<PortFactory<ipc::Service>, Failure> {
    let node = node(&config(&meeting.directory)?)?;
    Ok(node.service_builder(&ServiceName::new(&meeting.name)?).event().open_or_create()?)
}
