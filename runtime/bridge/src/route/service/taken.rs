//! A server of ROS that programs here call.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use horus::journal::Priority;
use horus::service::{Options, Server, Ticket};
use horus::topic::Raw;
use horus_shm::directory::{Directory, TopicName};

use super::{CALLS, Calls, Types, context, has_clients, limit, opened, unlike};
use crate::cdr::Writer;
use crate::config::ServiceRoute;
use crate::convert::Context;
use crate::route::{Called, Exchange, Transport};

/// A service of ROS that programs here may call. The bridge is its server here as long as ROS has one.
pub struct Taken {
    name: TopicName,
    route: ServiceRoute,
    limit: Duration,
    calls: Calls,
    open: Option<Open>,
    told: VecDeque<(Priority, String)>,
}

struct Open {
    called: Box<dyn Called>,
    /// As long as ROS has a server: clients here are told by it that there is none.
    server: Option<Server<Raw, Raw>>,
    types: Types,
    context: Context,
    /// A request, CDR, that ROS has no room for yet, and since when.
    held: Option<(Ticket, Vec<u8>, Instant)>,
    asked: BTreeMap<i64, (Ticket, Instant)>,
}

impl Taken {
    /// A service that was not looked at yet.
    pub fn new(name: TopicName, route: ServiceRoute) -> Self {
        let limit = limit(&route);
        Self { name, route, limit, calls: Calls::default(), open: None, told: VecDeque::new() }
    }

    fn tell(&mut self, priority: Priority, text: String) {
        if self.told.len() < 8 {
            self.told.push_back((priority, text));
        }
    }

    fn begin(&self, directory: &Directory, transport: &mut dyn Transport) -> Result<Option<Open>, String> {
        if !has_clients(directory, &self.name) {
            return Ok(None);
        }
        let Some(types) = Types::find(directory, &self.name, &self.route, false)? else { return Ok(None) };
        let mut trouble = None;
        let called = opened(transport.call(&types.endpoint(&self.route)), &mut trouble);
        let Some(called) = called else { return Err(trouble.unwrap_or_default()) };
        let (held, asked) = (None, BTreeMap::new());
        Ok(Some(Open { called, server: None, types, context: context(), held, asked }))
    }

    /// Follows whether ROS has a server.
    fn follow(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.context = context();
        if !open.called.look() {
            self.calls.unanswered += open.give_up();
        }
        match (open.called.is_served(), open.server.is_some()) {
            (true, false) => {
                let [request, answer] = &open.types.layouts;
                match Server::<Raw, Raw>::open_as(self.name.as_str(), request, answer, Options::default()) {
                    Ok(server) => {
                        open.server = Some(server);
                        let text = open.types.begun(&self.route, "is served by ROS at");
                        self.tell(Priority::Info, text);
                    }
                    Err(error) => self.tell(Priority::Warning, error.to_string()),
                }
            }
            (false, true) => {
                // Those who wait are told that the server stopped.
                self.calls.unanswered += open.asked.len() as u64;
                (open.server, open.held, open.asked) = (None, None, BTreeMap::new());
                self.tell(Priority::Warning, format!("{} has no server in ROS any more", self.route.service));
            }
            _ => {}
        }
    }
}

impl Exchange for Taken {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        if self.open.is_some() {
            self.follow();
            // Without a client the topics go, so that programs with other messages may come.
            if !has_clients(directory, &self.name) {
                self.open = None;
            }
            return;
        }
        match self.begin(directory, transport) {
            Ok(None) => {}
            Ok(Some(open)) => self.open = Some(open),
            Err(reason) => self.tell(Priority::Warning, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(open) = &mut self.open else { return true };
        let mut texts = Vec::new();
        let is_idle = open.carry(most, self.limit, &mut self.calls, &mut texts);
        for text in texts.into_iter().take(2) {
            self.tell(Priority::Warning, text);
        }
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        // A request comes into a topic, which wakes no thread here.
        self.open.as_ref().is_some_and(|open| open.server.is_some())
    }

    fn is_there(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.server.is_some())
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        self.calls.figures()
    }
}

impl Open {
    fn carry(&mut self, most: usize, limit: Duration, calls: &mut Calls, texts: &mut Vec<String>) -> bool {
        let mut is_idle = true;
        for _ in 0..most {
            if !self.ask(calls, texts) {
                break;
            }
            is_idle = false;
        }
        for _ in 0..most {
            if !self.answer(calls, texts) {
                break;
            }
            is_idle = false;
        }
        self.expire(limit, calls);
        is_idle
    }

    /// Takes a request of a client here, and hands it to ROS; false if there is none, or no room.
    fn ask(&mut self, calls: &mut Calls, texts: &mut Vec<String>) -> bool {
        let Self { called, server, types, context, held, asked } = self;
        let Some(server) = server else { return false };
        if held.is_none() {
            if asked.len() >= CALLS {
                return false;
            }
            let mut cdr = Vec::new();
            let mut written = Ok(());
            let is_one = server.serve(Duration::ZERO, |request, answer| {
                written = types.request.write(request, &mut Writer::new(&mut cdr), context);
                if written.is_ok() {
                    *held = Some((answer.later(), std::mem::take(&mut cdr), Instant::now()));
                }
            });
            if let Err(error) = written {
                calls.refused += 1;
                texts.push(unlike("a request", types, &error));
            }
            if !is_one {
                return false;
            }
        }
        let Some((ticket, cdr, since)) = held.take() else { return true };
        match called.ask(&cdr) {
            Some(number) => {
                asked.insert(number, (ticket, since));
                true
            }
            None => {
                *held = Some((ticket, cdr, since));
                false
            }
        }
    }

    /// Takes an answer of ROS, and gives it to the client that asked; false if there is none.
    fn answer(&mut self, calls: &mut Calls, texts: &mut Vec<String>) -> bool {
        let Self { called, server, types, context, asked, .. } = self;
        called.take(&mut |number, message| {
            let Some((ticket, _)) = asked.remove(&number) else {
                calls.late += 1;
                return;
            };
            let Some(server) = server else { return };
            // Dropped, it tells the client that there is no answer.
            let to = server.answer(ticket);
            let mut answer = vec![0; types.layouts[1].payload().bytes];
            match message.map(|message| types.answer.read(message, &mut answer, context)) {
                Some(Ok(_)) => match to.send(&answer) {
                    Ok(()) => calls.answered += 1,
                    Err(_) => calls.late += 1,
                },
                Some(Err(error)) => {
                    calls.refused += 1;
                    texts.push(unlike("an answer of ROS", types, &error));
                }
                None => calls.refused += 1,
            }
        })
    }

    /// Tells those that there is no answer whose time is up: the one that ROS never took, too. Numbers grow with the time.
    fn expire(&mut self, limit: Duration, calls: &mut Calls) {
        if let Some((ticket, ..)) = self.held.take_if(|(.., since)| since.elapsed() >= limit) {
            calls.unanswered += 1;
            self.leave_unanswered(ticket);
        }
        while let Some(entry) = self.asked.first_entry() {
            if entry.get().1.elapsed() < limit {
                break;
            }
            let (ticket, _) = entry.remove();
            calls.unanswered += 1;
            self.leave_unanswered(ticket);
        }
    }

    /// Tells a client that there is no answer.
    fn leave_unanswered(&mut self, ticket: Ticket) {
        if let Some(server) = &mut self.server {
            drop(server.answer(ticket));
        }
    }

    /// DDS was joined anew: what was asked before will not be answered.
    fn give_up(&mut self) -> u64 {
        let asked = std::mem::take(&mut self.asked);
        let count = asked.len() as u64;
        asked.into_values().for_each(|(ticket, _)| self.leave_unanswered(ticket));
        count
    }
}
