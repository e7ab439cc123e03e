//! Who comes and goes in the graph of rmw_zenoh, and who means another message by our topics.

use std::sync::mpsc::{Receiver, sync_channel};

use horus::journal::Priority;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;

use super::keys::{Entity, TOKENS, read};
use crate::names::dds_message;
use crate::route::Endpoint;

/// Tokens that wait to be looked at; more are passed over.
const WAITING: usize = 4096;

/// The tokens of a domain.
pub struct Watch {
    ours: Vec<Endpoint>,
    /// Whether a token appeared, and which.
    tokens: Receiver<(bool, String)>,
    _subscriber: Subscriber<()>,
}

impl Watch {
    /// Watches a domain, with what is there already.
    pub fn new(session: &zenoh::Session, domain: u16) -> Result<Self, String> {
        let (sender, tokens) = sync_channel(WAITING);
        let own = format!("{TOKENS}/{domain}/{}/", session.zid());
        let subscriber = session
            .liveliness()
            .declare_subscriber(format!("{TOKENS}/{domain}/**"))
            .history(true)
            .callback(move |sample| {
                if !sample.key_expr().starts_with(&own) {
                    let _ = sender.try_send((sample.kind() == SampleKind::Put, sample.key_expr().to_string()));
                }
            })
            .wait()
            .map_err(|error| error.to_string())?;
        Ok(Self { ours: Vec::new(), tokens, _subscriber: subscriber })
    }

    /// We have one more endpoint.
    pub fn add(&mut self, endpoint: &Endpoint) {
        self.ours.push(endpoint.clone());
    }

    /// Tells what happened to our topics.
    pub fn tell(&self, tell: &mut dyn FnMut(&str, Priority, String)) {
        while let Ok((has_come, token)) = self.tokens.try_recv() {
            let Some((entity, topic, type_name, hash)) = read(&token) else { continue };
            let Some(ours) = self.ours.iter().find(|ours| ours.topic == topic) else { continue };
            let who = if entity == Entity::Publisher { "a publisher" } else { "a subscription" };
            let wanted = dds_message(&ours.type_name);
            if !has_come {
                tell(&topic, Priority::Info, format!("{who} went"));
            } else if type_name != wanted || hash != ours.hash {
                let text = format!(
                    "{who} means {type_name} {hash}, and here it is {wanted} {}: no message goes between them",
                    ours.hash
                );
                tell(&topic, Priority::Warning, text);
            } else {
                tell(&topic, Priority::Info, format!("{who} came"));
            }
        }
    }
}
