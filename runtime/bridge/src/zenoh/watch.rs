//! Who comes and goes in the graph of rmw_zenoh, and who means another message by our topics.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, sync_channel};

use horus::journal::Priority;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;

use super::keys::{Entity, TOKENS, Token, read};
use crate::names::dds_message;
use crate::route::{Delivery, Endpoint};

/// Tokens that wait to be looked at, and those that are there; more are passed over.
const WAITING: usize = 4096;

/// The tokens of a domain.
pub struct Watch {
    ours: Vec<Endpoint>,
    /// Those of others that are there: one of a topic that we do not have yet is told when we have it.
    theirs: BTreeSet<String>,
    /// Topics of ours that are new since this was told last.
    fresh: Vec<String>,
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
        Ok(Self { ours: Vec::new(), theirs: BTreeSet::new(), fresh: Vec::new(), tokens, _subscriber: subscriber })
    }

    /// We have one more endpoint.
    pub fn add(&mut self, endpoint: &Endpoint) {
        self.ours.retain(|ours| ours.topic != endpoint.topic);
        self.ours.push(endpoint.clone());
        self.fresh.push(endpoint.topic.clone());
    }

    /// Tells what happened to our topics.
    pub fn tell(&mut self, tell: &mut dyn FnMut(&str, Priority, String)) {
        let fresh = std::mem::take(&mut self.fresh);
        let mut news: Vec<_> =
            self.theirs.iter().filter(|token| is_of(token, &fresh)).map(|token| (true, token.clone())).collect();
        while let Ok((has_come, token)) = self.tokens.try_recv() {
            if !has_come {
                self.theirs.remove(&token);
            } else if self.theirs.len() < WAITING {
                self.theirs.insert(token.clone());
            }
            news.push((has_come, token));
        }
        for (has_come, token) in news {
            let Some(theirs) = read(&token) else { continue };
            let Some(ours) = self.ours.iter().find(|ours| ours.topic == theirs.topic) else { continue };
            let (priority, text) = what(has_come, &theirs, ours);
            tell(&theirs.topic, priority, text);
        }
    }
}

fn is_of(token: &str, topics: &[String]) -> bool {
    read(token).is_some_and(|theirs| topics.contains(&theirs.topic))
}

/// What there is to say of an endpoint that came or went.
fn what(has_come: bool, theirs: &Token<'_>, ours: &Endpoint) -> (Priority, String) {
    let who = if theirs.entity == Entity::Publisher { "a publisher" } else { "a subscription" };
    let wanted = dds_message(&ours.type_name);
    if !has_come {
        return (Priority::Info, format!("{who} went"));
    }
    if theirs.type_name != wanted || theirs.hash != ours.hash {
        let text = format!(
            "{who} means {} {}, and here it is {wanted} {}: no message goes between them",
            theirs.type_name, theirs.hash, ours.hash
        );
        return (Priority::Warning, text);
    }
    match mismatch(theirs, ours.delivery) {
        Some(text) => (Priority::Warning, text),
        None => (Priority::Info, format!("{who} came")),
    }
}

/// What one end asks for and the other does not give. Over Zenoh messages go all the same; DDS would carry none.
fn mismatch(theirs: &Token<'_>, ours: Delivery) -> Option<String> {
    let (reliable, kept) = match theirs.entity {
        Entity::Subscription => (theirs.is_reliable && !ours.is_reliable, theirs.is_transient_local),
        Entity::Publisher => (!theirs.is_reliable && ours.is_reliable, ours.is_transient_local),
    };
    let is_theirs = theirs.entity == Entity::Subscription;
    let asks = if is_theirs { "a subscription asks for" } else { "the bridge asks for" };
    let gives = if is_theirs { "by the bridge" } else { "by a publisher" };
    if reliable {
        let what = if is_theirs { "\"reliable\" for it" } else { "\"best_effort\" for it" };
        return Some(format!(
            "reliability does not fit: {asks} reliable, and best effort is offered {gives}: messages come, and are dropped where a line \
             is full; write reliability = {what}"
        ));
    }
    kept.then(|| {
        format!(
            "durability does not fit: {asks} transient_local, which the bridge does not have over Zenoh: who comes late gets nothing of \
             what was sent before"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_more_than_the_other_gives_is_told() {
        let token = |entity, is_reliable, is_transient_local| Token {
            entity,
            topic: "/a".into(),
            type_name: "",
            hash: "",
            is_reliable,
            is_transient_local,
        };
        let ours = |is_reliable, is_transient_local| Delivery {
            is_reliable,
            is_transient_local,
            depth: 1,
            is_said: false,
            may_wait: false,
            is_latched: false,
        };
        let said = |theirs: &Token<'_>, ours| mismatch(theirs, ours).unwrap_or_default();
        let (publisher, subscription) = (Entity::Publisher, Entity::Subscription);
        assert!(
            said(&token(subscription, true, false), ours(false, false)).contains("a subscription asks for reliable")
        );
        assert!(said(&token(publisher, false, false), ours(true, false)).contains("the bridge asks for reliable"));
        assert!(said(&token(subscription, true, true), ours(true, true)).contains("durability does not fit"));
        assert!(said(&token(publisher, true, true), ours(true, true)).contains("durability does not fit"));
        // Who gives more than is asked for fits.
        assert_eq!(said(&token(subscription, false, false), ours(true, false)), "");
        assert_eq!(said(&token(publisher, true, true), ours(false, false)), "");
    }
}
