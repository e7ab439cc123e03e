//! ROS 2's default wire: DDS, by RustDDS. Payloads go through as they are; what RustDDS would serialise is done already.

mod adapter;
mod events;
mod joined;
mod kept;
mod late;
mod matches;
mod nodes;
mod quality;
mod reader;
mod service;
mod threads;
mod writer;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use horus::journal::{Entry, Priority};

use crate::route::{Called, Endpoint, Served, ServiceEndpoint, Shared, Sink, Source, Transport};
use joined::Joined;
use kept::Kept;
use late::Asking;
use reader::Reader;
use service::{CalledOverDds, ServedOverDds};
use writer::Writer;

/// A participant of a DDS domain that looks like a node of ROS 2.
pub struct Dds {
    domain: u16,
    node: String,
    /// Shared with the endpoints, which follow when it is made anew.
    joined: Rc<RefCell<Joined>>,
    asking: Asking,
    kept: Kept,
    /// Why it could not be made anew, if that was said.
    trouble: Option<String>,
}

impl Dds {
    /// Joins the domain; what arrives unparks this thread.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn join(domain: u16, node: &str) -> Result<Self, String> {
        let joined = Rc::new(RefCell::new(Joined::new(domain, node, 0)?));
        let (asking, kept) = (Asking::default(), Kept::new());
        Ok(Self { domain, node: node.to_owned(), joined, asking, kept, trouble: None })
    }
}

impl Transport for Dds {
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String> {
        Ok(Box::new(Writer::new(endpoint, &self.joined, &self.asking, &self.kept)?))
    }

    fn subscribe(&mut self, endpoint: &Endpoint, _: Option<&Shared>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Reader::new(endpoint, &self.joined)?))
    }

    fn look(&mut self) {
        if self.joined.borrow().lives() {
            return;
        }
        let turn = self.joined.borrow().turn + 1;
        match Joined::new(self.domain, &self.node, turn) {
            Ok(next) => {
                // Who asks is told of by the next one again.
                self.asking.keep(|_| false);
                self.joined.replace(next);
                self.trouble = None;
                say(
                    "DDS ended, as it does where the process was stopped for a while. It was joined again: what was on its way is lost",
                );
            }
            Err(reason) if self.trouble.as_ref() != Some(&reason) => {
                say(&format!("DDS ended, and cannot be joined again; it is tried again: {reason}"));
                self.trouble = Some(reason);
            }
            Err(_) => {}
        }
    }

    fn events(&mut self, tell: &mut dyn FnMut(&str, Priority, String)) {
        let mut joined = self.joined.borrow_mut();
        while let Some(event) = joined.event() {
            self.asking.follow(&event);
            joined.events.tell(&event, tell);
        }
    }

    fn serve(&mut self, endpoint: &ServiceEndpoint) -> Result<Box<dyn Served>, String> {
        Ok(Box::new(ServedOverDds::new(endpoint, &self.joined)?))
    }

    fn call(&mut self, endpoint: &ServiceEndpoint) -> Result<Box<dyn Called>, String> {
        Ok(Box::new(CalledOverDds::new(endpoint, &self.joined)?))
    }
}

fn say(text: &str) {
    Entry::plain(Priority::Warning, format!("bridge: {text}")).send_or_print();
}

/// By number: what is known of an endpoint of ours.
type Ours = BTreeMap<rustdds::GUID, Endpoint>;
