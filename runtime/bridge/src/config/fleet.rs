//! Which topics go between appliances: what is shared, and what is taken from whom.

use horus_shm::directory::Namespace;
use serde::Deserialize;

use super::{Config, ConfigError, DeliveryPolicy, FromRos, ToRos};

/// Settings of an appliance among others.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// What the others call this appliance.
    pub name: Option<String>,
    /// Topics that the others may take.
    #[serde(default)]
    pub share: Vec<String>,
    /// Topics of others by what they are called there, and what they are called here: `"robot2/imu=robot2.imu"`.
    #[serde(default)]
    pub take: Vec<String>,
    /// Whom it connects to, such as `tcp/192.168.7.2:7447`.
    #[serde(default)]
    pub connect: Vec<String>,
    /// Where it listens, such as `tcp/0.0.0.0:7447`.
    #[serde(default)]
    pub listen: Vec<String>,
    /// How often topics are looked at, microseconds; 1000 if not said otherwise.
    pub look_every_us: Option<u32>,
    /// What happens when a topic that is taken is full: `latest`, or `reliable`.
    #[serde(default)]
    pub delivery_policy: DeliveryPolicy,
    /// How many messages a topic that is taken holds.
    pub capacity: Option<usize>,
}

impl Fleet {
    /// Reads a file of settings.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &std::path::Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)?;
        super::renamed::refuse(&text)?;
        Ok(toml::from_str(&text)?)
    }

    /// The same as routes; topics here are those of `namespace`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn routes(&self, namespace: &Namespace) -> Result<Config, ConfigError> {
        let wrong = |text: String| ConfigError::Topic(text);
        let name = self.name.as_deref().filter(|name| is_name(name));
        let name = name.ok_or_else(|| {
            wrong("what do the others call this appliance? Say --name robot1: letters, digits, - and _".into())
        })?;
        let mut config = Config { look_every_us: self.look_every_us, ..Config::default() };
        for topic in &self.share {
            let route = ToRos { topic: format!("{name}/{namespace}/{topic}"), ..ToRos::default() };
            config.to_ros.insert(topic.clone(), route);
        }
        for word in &self.take {
            let (theirs, ours) = word
                .split_once('=')
                .ok_or_else(|| wrong(format!("`{word}` names no two topics: write --take robot2/imu=robot2.imu")))?;
            let topic = match theirs.split('/').collect::<Vec<_>>()[..] {
                [robot, topic] if is_name(robot) => format!("{robot}/default/{topic}"),
                [robot, namespace, topic] if is_name(robot) => format!("{robot}/{namespace}/{topic}"),
                _ => {
                    return Err(wrong(format!(
                        "`{theirs}` is no topic of an appliance: write robot2/imu, or robot2/NAMESPACE/imu"
                    )));
                }
            };
            let route =
                FromRos { topic, delivery_policy: self.delivery_policy, capacity: self.capacity, ..FromRos::default() };
            if config.from_ros.insert(ours.to_owned(), route).is_some() {
                return Err(wrong(format!("two topics are taken as {ours}: give one of them another name")));
            }
        }
        if config.to_ros.is_empty() && config.from_ros.is_empty() {
            return Err(wrong("nothing is shared or taken: say --share imu, or --take robot2/imu=robot2.imu".into()));
        }
        let theirs = config.from_ros.values().filter_map(|route| route.topic.rsplit('/').next());
        for topic in config.to_ros.keys().chain(config.from_ros.keys()).map(String::as_str).chain(theirs) {
            topic.parse::<horus_shm::directory::TopicName>().map_err(|error| wrong(error.to_string()))?;
        }
        if let Some(both) = config.to_ros.keys().find(|topic| config.from_ros.contains_key(*topic)) {
            return Err(wrong(format!("{both} is shared and taken, and its messages would come back for ever")));
        }
        Ok(config)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(share: &[&str], take: &[&str]) -> Fleet {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Fleet { name: Some("robot1".into()), share: words(share), take: words(take), ..Fleet::default() }
    }

    #[test]
    fn a_namespace_is_a_part_of_the_key() {
        let config = fleet(&["imu"], &["robot2/imu=robot2.imu", "robot3/lab/scan=scan"])
            .routes(&"arm".parse().unwrap())
            .unwrap();
        assert_eq!(config.to_ros["imu"].topic, "robot1/arm/imu");
        assert_eq!(config.from_ros["robot2.imu"].topic, "robot2/default/imu");
        assert_eq!(config.from_ros["scan"].topic, "robot3/lab/scan");
    }

    #[test]
    fn what_would_go_in_a_circle_or_nowhere_is_refused() {
        let routes =
            |share: &[&str], take: &[&str]| fleet(share, take).routes(&Namespace::default()).unwrap_err().to_string();
        assert!(routes(&[], &[]).contains("--share"));
        assert!(routes(&["imu"], &["robot2/imu=imu"]).contains("for ever"));
        assert!(routes(&[], &["robot2=imu"]).contains("robot2/NAMESPACE/imu"));
        assert!(routes(&[], &["a/x=b", "c/x=b"]).contains("another name"));
        assert!(Fleet::default().routes(&Namespace::default()).unwrap_err().to_string().contains("--name"));
    }
}
