//! A server here that ROS calls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use horus::journal::Priority;
use horus::service::{CallError, Client, Options, Pending};
use horus::topic::Raw;
use horus_shm::directory::{Directory, TopicName};

use super::{CALLS, Calls, Types, context, is_served, limit, opened, unlike};
use crate::cdr::Writer;
use crate::config::ServiceRoute;
use crate::convert::Context;
use crate::route::{CallId, Exchange, Sent, Served, Transport};

/// A service of ours that ROS may call.
pub struct Given {
    name: TopicName,
    route: ServiceRoute,
    limit: Duration,
    calls: Calls,
    open: Option<Open>,
    told: VecDeque<(Priority, String)>,
}

struct Open {
    served: Box<dyn Served>,
    client: Client<Raw, Raw>,
    types: Types,
    context: Context,
    /// Requests that the server has no place for yet.
    waiting: VecDeque<(CallId, Instant, Vec<u8>)>,
    asked: Vec<(CallId, Instant, Pending)>,
    /// Answers, CDR, that ROS has no room for yet.
    answers: VecDeque<(CallId, Instant, Vec<u8>)>,
}

impl Given {
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

    fn begin(&mut self, directory: &Directory, transport: &mut dyn Transport) -> Result<Option<Open>, String> {
        if !is_served(directory, &self.name) {
            return Ok(None);
        }
        let Some(types) = Types::find(directory, &self.name, &self.route, true)? else { return Ok(None) };
        let [request, answer] = &types.layouts;
        let client = Client::<Raw, Raw>::open_as(self.name.as_str(), request, answer, Options::default());
        let client = client.map_err(|error| error.to_string())?;
        let mut trouble = None;
        let served = opened(transport.serve(&types.endpoint(&self.route)), &mut trouble);
        let Some(served) = served else { return Err(trouble.unwrap_or_default()) };
        let context = context();
        let (waiting, asked, answers) = (VecDeque::new(), Vec::new(), VecDeque::new());
        Ok(Some(Open { served, client, types, context, waiting, asked, answers }))
    }

    /// ROS is told that the service is not there any more: it has no other way to learn that calls will not be answered.
    fn end(&mut self, reason: &str) {
        let Some(open) = self.open.take() else { return };
        let lost = open.waiting.len() + open.asked.len();
        self.calls.unanswered += lost as u64;
        self.tell(
            Priority::Warning,
            format!("{reason}: ROS sees the service no more, and {lost} calls have no answer"),
        );
    }
}

impl Exchange for Given {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        if let Some(open) = &mut self.open {
            open.context = context();
            if !open.served.look() {
                self.calls.unanswered += (open.waiting.len() + open.asked.len()) as u64;
                (open.waiting, open.asked, open.answers) = Default::default();
            }
            match open.client.check_server() {
                Ok(true) => return,
                Ok(false) => {
                    // What it answered before it went is answered.
                    self.carry(CALLS);
                    self.end("its server has ended");
                }
                Err(error) => self.end(&error.to_string()),
            }
        }
        match self.begin(directory, transport) {
            Ok(None) => {}
            Ok(Some(open)) => {
                self.tell(Priority::Info, open.types.begun(&self.route, "is served to ROS at"));
                self.open = Some(open);
            }
            Err(reason) => self.tell(Priority::Warning, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(open) = &mut self.open else { return true };
        let troubles = open.carry(most, self.limit, &mut self.calls);
        let is_idle = troubles.is_idle;
        for text in troubles.texts {
            self.tell(Priority::Warning, text);
        }
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        // An answer comes into a topic, which wakes no thread here.
        self.open
            .as_ref()
            .is_some_and(|open| !open.asked.is_empty() || !open.waiting.is_empty() || !open.answers.is_empty())
    }

    fn is_there(&self) -> bool {
        self.open.is_some()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        self.calls.figures()
    }
}

struct Troubles {
    is_idle: bool,
    texts: Vec<String>,
}

impl Open {
    fn carry(&mut self, most: usize, limit: Duration, calls: &mut Calls) -> Troubles {
        let mut texts = Vec::new();
        let mut is_idle = self.take(most, calls, &mut texts);
        self.ask(limit, calls);
        is_idle &= !self.look_for_answers(limit, calls, &mut texts);
        self.give(limit, calls);
        texts.truncate(2);
        Troubles { is_idle, texts }
    }

    /// Takes what came; true if that was nothing.
    fn take(&mut self, most: usize, calls: &mut Calls, texts: &mut Vec<String>) -> bool {
        let Self { served, waiting, asked, answers, types, context, .. } = self;
        for taken in 0..most {
            let is_one = served.take(&mut |id, when, message| {
                let mut request = vec![0; types.layouts[0].payload().bytes];
                let read = message.map(|message| types.request.read(message, &mut request, context));
                match read {
                    Some(Ok(_)) if waiting.len() + asked.len() + answers.len() < CALLS => {
                        waiting.push_back((id, when, request))
                    }
                    Some(Ok(_)) => calls.refused += 1,
                    Some(Err(error)) => {
                        calls.refused += 1;
                        texts.push(unlike("a request of ROS", types, &error));
                    }
                    None => calls.refused += 1,
                }
            });
            if !is_one {
                return taken == 0;
            }
        }
        false
    }

    /// Hands requests to the server, as many as it may have at a time.
    fn ask(&mut self, limit: Duration, calls: &mut Calls) {
        while let Some((id, when, request)) = self.waiting.front() {
            if when.elapsed() < limit {
                match self.client.ask(request) {
                    Ok(pending) => self.asked.push((*id, *when, pending)),
                    Err(CallError::TooMany { .. } | CallError::Full { .. }) => return,
                    Err(_) => calls.unanswered += 1,
                }
            } else {
                calls.unanswered += 1;
            }
            self.waiting.pop_front();
        }
    }

    /// Takes the answers that are there; whether there was one.
    fn look_for_answers(&mut self, limit: Duration, calls: &mut Calls, texts: &mut Vec<String>) -> bool {
        let Self { client, types, context, asked, answers, .. } = self;
        let mut is_any = false;
        asked.retain_mut(|(id, when, pending)| {
            match pending.try_answer(client) {
                Ok(None) if when.elapsed() < limit => return true,
                Ok(None) => calls.unanswered += 1,
                Ok(Some(answer)) => {
                    is_any = true;
                    let mut cdr = Vec::new();
                    match types.answer.write(&answer, &mut Writer::new(&mut cdr), context) {
                        Ok(()) => answers.push_back((*id, *when, cdr)),
                        Err(error) => {
                            calls.refused += 1;
                            texts.push(unlike("an answer", types, &error));
                        }
                    }
                }
                Err(error) => {
                    calls.unanswered += 1;
                    texts.push(error.to_string());
                }
            }
            false
        });
        is_any
    }

    /// Gives answers to ROS. One whose client is not known yet waits, and holds up no other.
    fn give(&mut self, limit: Duration, calls: &mut Calls) {
        let Self { served, answers, .. } = self;
        answers.retain(|(id, when, cdr)| match served.answer(*id, cdr) {
            Sent::Taken => {
                calls.answered += 1;
                false
            }
            Sent::Full if when.elapsed() < limit => true,
            Sent::Full | Sent::Lost => {
                calls.late += 1;
                false
            }
        });
    }
}
