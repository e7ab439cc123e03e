//! Appliances that know each other: topics go between them as they are, under the appliance's name and its namespace.
//!
//! ```text
//! horus/ROBOT/NAMESPACE/TOPIC           messages, with their numbers beside them
//! horus-type/ROBOT/NAMESPACE/TOPIC      asked: what messages of the topic are
//! horus-here/ROBOT/NAMESPACE/TOPIC/…    a token: the topic is there
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use horus::journal::Priority;
use horus::message::layout::Layout;
use zenoh::Wait;
use zenoh::query::Queryable;

use super::{Reader, Writer};
use crate::convert::Ours;
use crate::route::{Endpoint, OVER_DDS, Shared, Sink, Source, Transport};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(2);
/// A text that describes a message is not longer.
const LONGEST: usize = 1 << 16;

/// An appliance among others.
pub struct Fleet {
    session: zenoh::Session,
    server: Thread,
    /// What others said of their topics; `None` while they are asked.
    known: Arc<Mutex<BTreeMap<String, Option<Ours>>>>,
    /// Who answers what our topics are.
    answers: Vec<Queryable<()>>,
    entities: u32,
}

impl Fleet {
    /// Is one among those that the session reaches; what arrives unparks this thread.
    pub fn join(session: zenoh::Session) -> Self {
        let server = std::thread::current();
        Self { session, server, known: Arc::default(), answers: Vec::new(), entities: 0 }
    }

    fn token(&mut self, topic: &str) -> String {
        self.entities += 1;
        format!("horus-here/{topic}/{}/{}", self.session.zid(), self.entities)
    }

    fn answer(&mut self, endpoint: &Endpoint) -> zenoh::Result<()> {
        let key = format!("horus-type/{}", endpoint.topic);
        let text = match endpoint.layout.is_empty() {
            true => format!("bytes {}", endpoint.bytes),
            false => endpoint.layout.clone(),
        };
        let own = key.clone();
        let answer = move |query: zenoh::query::Query| drop(query.reply(own.as_str(), text.as_str()).wait());
        self.answers.push(self.session.declare_queryable(key).callback(answer).wait()?);
        Ok(())
    }
}

impl Transport for Fleet {
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String> {
        let token = self.token(&endpoint.topic);
        self.answer(endpoint).map_err(|error| error.to_string())?;
        let writer = Writer::declare(&self.session, key(endpoint), token, endpoint);
        Ok(Box::new(writer.map_err(|error| error.to_string())?))
    }

    fn subscribe(&mut self, endpoint: &Endpoint, place: Option<&Shared>) -> Result<Box<dyn Source>, String> {
        let place = place.ok_or(OVER_DDS)?;
        let token = self.token(&endpoint.topic);
        let reader = Reader::declare(&self.session, key(endpoint), token, endpoint, place.clone(), self.server.clone());
        Ok(Box::new(reader.map_err(|error| error.to_string())?))
    }

    fn is_ros(&self) -> bool {
        false
    }

    fn describe(&mut self, topic: &str) -> Option<Ours> {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(topic) {
                Some(Some(_)) => return known.get(topic).cloned().flatten(),
                Some(None) => return None, // asked already
                None => drop(known.insert(topic.to_owned(), None)),
            }
        }
        let (all, name) = (self.known.clone(), topic.to_owned());
        let asking = Asking { all: all.clone(), name: name.clone() };
        let answered = move |reply: zenoh::query::Reply| {
            let _ = &asking; // dropped with the last answer
            let Ok(sample) = reply.result() else { return };
            let bytes = sample.payload().to_bytes();
            let said = std::str::from_utf8(&bytes).ok().filter(|text| text.len() <= LONGEST).and_then(read);
            if let Some(ours) = said {
                all.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), Some(ours));
            }
        };
        let asked = self.session.get(format!("horus-type/{topic}")).timeout(ANSWER).callback(answered).wait();
        drop(asked); // one that could not be asked is asked again
        None
    }

    fn events(&mut self, _: &mut dyn FnMut(&str, Priority, String)) {}
}

/// A question; when its last answer came and said nothing, it may be asked again.
struct Asking {
    all: Arc<Mutex<BTreeMap<String, Option<Ours>>>>,
    name: String,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&self.name).is_some_and(Option::is_none) {
            all.remove(&self.name);
        }
    }
}

/// Where messages of a topic go; those of another layout have another key.
fn key(endpoint: &Endpoint) -> String {
    format!("horus/{}/{}", endpoint.topic, endpoint.hash)
}

fn read(text: &str) -> Option<Ours> {
    match text.strip_prefix("bytes ") {
        Some(maximum) => maximum.parse().ok().map(Ours::Bytes),
        None => text.parse::<Layout>().ok().map(Ours::Layout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_topic_is_can_be_said_in_a_text() {
        let imu = Ours::Layout(Layout::of::<horus::messages::Imu>());
        assert_eq!(read(&imu.text()), Some(imu));
        assert_eq!(read("bytes 64"), Some(Ours::Bytes(64)));
        assert_eq!(read("bytes many"), None);
        assert_eq!(read("message a/B\n x bool"), None);
    }
}
