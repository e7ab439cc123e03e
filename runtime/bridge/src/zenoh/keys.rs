//! What rmw_zenoh calls topics and the tokens of its graph.
//!
//! ```text
//! data     DOMAIN/TOPIC/TYPE/HASH
//! token    @ros2_lv/DOMAIN/SESSION/NODE/ENTITY/NN/ENCLAVE/NAMESPACE/NAME                               a node
//!          @ros2_lv/DOMAIN/SESSION/NODE/ENTITY/MP|MS/ENCLAVE/NAMESPACE/NAME/TOPIC/TYPE/HASH/QUALITY     a publisher or subscription
//! ```
//! In a token `/` is `%`, and so is what is empty.

use xxhash_rust::xxh3::xxh3_128;

use crate::names::dds_message;
use crate::route::Endpoint;

/// The beginning of all tokens.
pub const TOKENS: &str = "@ros2_lv";

/// ROS 2's numbers for what is not its default.
const BEST_EFFORT: &str = "2";
const TRANSIENT_LOCAL: &str = "1";

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
}

/// The keys of one node.
pub struct Keys {
    domain: u16,
    session: String,
    node: String,
    entities: u32,
}

impl Keys {
    /// Those of the node `node` of a session.
    pub fn new(domain: u16, session: &str, node: &str) -> Self {
        Self { domain, session: session.to_owned(), node: node.to_owned(), entities: 0 }
    }

    /// The node's own token.
    pub fn node(&self) -> String {
        format!("{TOKENS}/{}/{}/0/0/NN/%/%/{}", self.domain, self.session, self.node)
    }

    /// Where messages of a topic go.
    pub fn data(&self, endpoint: &Endpoint) -> String {
        let topic = endpoint.topic.trim_matches('/');
        format!("{}/{topic}/{}/{}", self.domain, dds_message(&endpoint.type_name), endpoint.hash)
    }

    /// The token of one more publisher or subscription.
    pub fn entity(&mut self, entity: Entity, endpoint: &Endpoint) -> String {
        self.entities += 1;
        let kind = if entity == Entity::Publisher { "MP" } else { "MS" };
        format!(
            "{TOKENS}/{}/{}/0/{}/{kind}/%/%/{}/{}/{}/{}/{}",
            self.domain,
            self.session,
            self.entities,
            self.node,
            endpoint.topic.replace('/', "%"),
            dds_message(&endpoint.type_name),
            endpoint.hash,
            quality(endpoint)
        )
    }
}

/// Reliability, durability, history and depth by ROS 2's numbers, where they are not its defaults; deadline, lifespan and liveliness
/// always are.
fn quality(endpoint: &Endpoint) -> String {
    let delivery = &endpoint.delivery;
    let reliability = if delivery.is_reliable { "" } else { BEST_EFFORT };
    let durability = if delivery.is_transient_local { TRANSIENT_LOCAL } else { "" };
    format!("{reliability}:{durability}:,{}:,:,:,,", delivery.depth)
}

/// What stands for a publisher in its messages: a hash of its token.
pub fn gid(token: &str) -> [u8; 16] {
    xxh3_128(token.as_bytes()).to_le_bytes()
}

/// What a token says of a publisher or subscription of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Which of the two.
    pub entity: Entity,
    /// The topic, with its leading slash.
    pub topic: String,
    /// The message, as DDS names it.
    pub type_name: &'a str,
    /// The message's hash.
    pub hash: &'a str,
    /// Whether lost messages are sent again; ROS 2's default is yes.
    pub is_reliable: bool,
    /// Whether who comes later gets the last messages; ROS 2's default is no.
    pub is_transient_local: bool,
}

/// Reads a token of another program.
pub fn read(token: &str) -> Option<Token<'_>> {
    let parts: Vec<_> = token.split('/').collect();
    let [TOKENS, _, _, _, _, kind, _, _, _, topic, type_name, hash, quality] = parts[..] else { return None };
    let entity = match kind {
        "MP" => Entity::Publisher,
        "MS" => Entity::Subscription,
        _ => return None,
    };
    let mut quality = quality.split(':');
    let is_reliable = quality.next() != Some(BEST_EFFORT);
    let is_transient_local = quality.next() == Some(TRANSIENT_LOCAL);
    Some(Token { entity, topic: topic.replace('%', "/"), type_name, hash, is_reliable, is_transient_local })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Delivery;

    fn endpoint(is_reliable: bool, is_transient_local: bool) -> Endpoint {
        Endpoint {
            topic: "/robot/chatter".into(),
            type_name: "std_msgs/msg/String".into(),
            hash: "RIHS01_df".into(),
            delivery: Delivery {
                is_reliable,
                is_transient_local,
                depth: 10,
                is_said: false,
                may_wait: false,
                is_latched: false,
            },
            bytes: 1,
            layout: String::new(),
            file: String::new(),
        }
    }

    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        let mut keys = Keys::new(7, "abc", "talker");
        assert_eq!(keys.node(), "@ros2_lv/7/abc/0/0/NN/%/%/talker");
        let data = "7/robot/chatter/std_msgs::msg::dds_::String_/RIHS01_df";
        assert_eq!(keys.data(&endpoint(true, false)), data);
        let token = keys.entity(Entity::Publisher, &endpoint(true, false));
        let wanted =
            "@ros2_lv/7/abc/0/1/MP/%/%/talker/%robot%chatter/std_msgs::msg::dds_::String_/RIHS01_df/::,10:,:,:,,";
        assert_eq!(token, wanted);
        let second = keys.entity(Entity::Subscription, &endpoint(false, true));
        assert!(second.contains("/0/2/MS/") && second.ends_with("/2:1:,10:,:,:,,"), "{second}");
        let found = read(&token).unwrap();
        assert_eq!((found.entity, found.topic.as_str()), (Entity::Publisher, "/robot/chatter"));
        assert_eq!((found.type_name, found.hash), ("std_msgs::msg::dds_::String_", "RIHS01_df"));
        assert_eq!((found.is_reliable, found.is_transient_local), (true, false));
        let found = read(&second).unwrap();
        assert_eq!((found.is_reliable, found.is_transient_local), (false, true));
        assert_eq!(read(&keys.node()), None);
    }
}
