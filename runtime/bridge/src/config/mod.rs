//! Which topics go where: by words on the command line, or by a file with the same words.
//!
//! Nothing is bridged that is not written here. A topic goes one way only: both ways, a message would come back for ever.

mod exchange;
pub mod fleet;
mod renamed;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use horus_shm::directory::TopicName;
use serde::Deserialize;
use thiserror::Error;

use crate::interface::standard;
use crate::names;

pub use exchange::{ActionRoute, ParametersRoute, ServiceRoute, Transforms};

/// All settings.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What carries the messages: `dds`, if the command line says nothing else.
    pub wire: Option<Wire>,
    /// The number of the domain, as in ROS_DOMAIN_ID; 0 if not said otherwise.
    pub domain: Option<u16>,
    /// What the bridge is called among the nodes of ROS.
    pub node: Option<String>,
    /// How often topics are looked at, microseconds; 1000 if not said otherwise.
    pub look_every_us: Option<u32>,
    /// With Zenoh: whom it connects to, such as `tcp/192.168.7.2:7447`.
    #[serde(default)]
    pub connect: Vec<String>,
    /// With Zenoh: where it listens, such as `tcp/0.0.0.0:7447`.
    #[serde(default)]
    pub listen: Vec<String>,
    /// Definitions of one's own: files `PACKAGE/msg/NAME.msg`.
    #[serde(default)]
    pub definitions: Vec<PathBuf>,
    /// Topics that go to ROS, by our name.
    #[serde(default)]
    pub to_ros: BTreeMap<String, ToRos>,
    /// Topics that come from ROS, by our name.
    #[serde(default)]
    pub from_ros: BTreeMap<String, FromRos>,
    /// Services of ours that ROS may call, by our name.
    #[serde(default)]
    pub service_to_ros: BTreeMap<String, ServiceRoute>,
    /// Services of ROS that programs here may call, by our name.
    #[serde(default)]
    pub service_from_ros: BTreeMap<String, ServiceRoute>,
    /// Actions of ours that ROS may send goals to, by our name.
    #[serde(default)]
    pub action_to_ros: BTreeMap<String, ActionRoute>,
    /// Actions of ROS that programs here may send goals to, by our name.
    #[serde(default)]
    pub action_from_ros: BTreeMap<String, ActionRoute>,
    /// Programs whose parameters ROS may look at and set.
    #[serde(default)]
    pub parameters: BTreeMap<String, ParametersRoute>,
    /// The frames.
    pub transforms: Option<Transforms>,
}

/// What carries messages to ROS.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// ROS 2's default middleware.
    #[default]
    Dds,
    /// rmw_zenoh's wire.
    Zenoh,
}

/// A topic that goes to ROS.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ToRos {
    /// What ROS calls it.
    pub topic: String,
    /// The message of ROS; the one that suits the topic's message best if not said.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The frame that headers name, where our message names none; the topic's name if not said.
    pub frame: Option<String>,
    /// How it is delivered.
    #[serde(flatten)]
    pub quality: Quality,
}

/// A topic that comes from ROS.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct FromRos {
    /// What ROS calls it.
    pub topic: String,
    /// The message of ROS; the one that suits the topic's message best if not said.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Our message, if the bridge is to make the topic when no other program did.
    pub message: Option<String>,
    /// The most bytes of a message, if the bridge is to make it a topic of bytes.
    pub bytes: Option<usize>,
    /// What happens when it is full, if the bridge makes it.
    #[serde(default)]
    pub delivery_policy: DeliveryPolicy,
    /// How many messages it holds, if the bridge makes it.
    pub capacity: Option<usize>,
    /// How many publishers it has room for, if the bridge makes it; the bridge is one of them.
    pub publishers: Option<usize>,
    /// How it is delivered.
    #[serde(flatten)]
    pub quality: Quality,
}

/// What ROS calls quality of service, where it shall not follow from the topic's delivery policy.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Quality {
    /// Whether lost messages are sent again.
    pub reliability: Option<Reliability>,
    /// Whether who comes later gets the last messages.
    pub durability: Option<Durability>,
    /// How many messages are kept for who is slow or late.
    pub depth: Option<usize>,
}

/// Whether lost messages are sent again.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Reliability {
    /// They are.
    Reliable,
    /// They are not.
    BestEffort,
}

/// Whether who comes later gets the last messages.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Durability {
    /// No.
    #[default]
    Volatile,
    /// Yes, as long as the sender lives.
    TransientLocal,
}

/// The delivery policy of a topic: what happens when it is full.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryPolicy {
    /// The oldest message is overwritten.
    #[default]
    Latest,
    /// Sending waits.
    Reliable,
}

/// Why settings are none.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// It is no such file; the error names the line.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A key that has another name now.
    #[error("{0}")]
    Renamed(String),
    /// A word of the command line.
    #[error("{0}")]
    Word(String),
    /// What it says cannot be.
    #[error("{0}")]
    Topic(String),
}

impl Config {
    /// Reads a file of settings.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)?;
        renamed::refuse(&text)?;
        Ok(toml::from_str(&text)?)
    }

    /// Adds what a word of the command line says: `imu=/imu:sensor_msgs/msg/Imu`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_to_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::to_ros(word).map_err(ConfigError::Word)?;
        self.to_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `/cmd_vel=base.cmd`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_from_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::from_ros(word).map_err(ConfigError::Word)?;
        self.from_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `map.save=/save_map:nav_msgs/srv/GetMap`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_service_to_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::service_to_ros(word).map_err(ConfigError::Word)?;
        self.service_to_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `/get_plan=plan:nav_msgs/srv/GetPlan`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_service_from_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::service_from_ros(word).map_err(ConfigError::Word)?;
        self.service_from_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `drive_to=/drive_to:my_robot/action/DriveTo`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_action_to_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::action_to_ros(word).map_err(ConfigError::Word)?;
        self.action_to_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `/navigate=navigate:my_robot/action/Navigate`.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn add_action_from_ros(&mut self, word: &str) -> Result<(), ConfigError> {
        let (name, route) = words::action_from_ros(word).map_err(ConfigError::Word)?;
        self.action_from_ros.insert(name, route);
        Ok(())
    }

    /// Adds what a word of the command line says: `nav`, or `nav=/navigation`.
    pub fn add_parameters(&mut self, word: &str) {
        let (program, node) = word.split_once('=').map_or((word, None), |(program, node)| (program, Some(node)));
        let route = ParametersRoute { node: node.map(str::to_owned), ..ParametersRoute::default() };
        self.parameters.insert(program.to_owned(), route);
    }

    /// How those topics are delivered whose settings do not say.
    pub fn otherwise(&mut self, usual: Quality) {
        let to_ros = self.to_ros.values_mut().map(|route| &mut route.quality);
        for quality in to_ros.chain(self.from_ros.values_mut().map(|route| &mut route.quality)) {
            quality.reliability = quality.reliability.or(usual.reliability);
            quality.durability = quality.durability.or(usual.durability);
        }
    }

    /// Checks what cannot be seen in one place.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError::Topic(text));
        let has_topics = !self.to_ros.is_empty() || !self.from_ros.is_empty();
        let has_services = !self.service_to_ros.is_empty() || !self.service_from_ros.is_empty();
        let has_actions = !self.action_to_ros.is_empty() || !self.action_from_ros.is_empty();
        if !has_topics && !has_services && !has_actions && self.parameters.is_empty() && self.transforms.is_none() {
            return wrong(
                "no topic is bridged: say --to-ros imu=/imu, --from-ros /cmd_vel=base.cmd or --config FILE".into(),
            );
        }
        self.check_exchanges()?;
        if let Some(node) = self.node.as_deref().filter(|node| names::node(node).is_err()) {
            return wrong(format!("`{node}` is no name of a node: write letters, digits and _, no digit first"));
        }
        let ours = self.to_ros.keys().chain(self.from_ros.keys());
        for name in ours {
            name.parse::<TopicName>().map_err(|error| ConfigError::Topic(error.to_string()))?;
        }
        let theirs = self.to_ros.values().map(|route| (&route.topic, &route.type_name));
        let theirs: Vec<_> =
            theirs.chain(self.from_ros.values().map(|route| (&route.topic, &route.type_name))).collect();
        for (topic, type_name) in &theirs {
            names::topic(topic).map_err(|error| ConfigError::Topic(error.to_string()))?;
            if let Some(name) = type_name {
                names::message(name).map_err(|error| ConfigError::Topic(error.to_string()))?;
            }
        }
        let mut seen = BTreeSet::new();
        if let Some((twice, _)) = theirs.iter().find(|(topic, _)| !seen.insert(*topic)) {
            return wrong(format!("{twice} is bridged twice: a topic goes one way, to one topic"));
        }
        if let Some(both) = self.to_ros.keys().find(|name| self.from_ros.contains_key(*name)) {
            return wrong(format!(
                "{both} goes both ways, and its messages would come back for ever: bridge two topics"
            ));
        }
        Ok(())
    }

    fn check_exchanges(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError::Topic(text));
        let text = |error: &dyn std::fmt::Display| ConfigError::Topic(error.to_string());
        let services = || self.service_to_ros.iter().chain(&self.service_from_ros);
        for (name, ServiceRoute { service, type_name, .. }) in services() {
            name.parse::<TopicName>().map_err(|error| text(&error))?;
            names::topic(service).map_err(|error| text(&error))?;
            let Some(type_name) = type_name else { continue };
            standard::check_service(type_name).map_err(ConfigError::Topic)?;
        }
        let mut seen = BTreeSet::new();
        if let Some((_, twice)) = services().find(|(_, route)| !seen.insert(&route.service)) {
            return wrong(format!("{} is bridged twice: a service has one server", twice.service));
        }
        if let Some(both) = self.service_to_ros.keys().find(|name| self.service_from_ros.contains_key(*name)) {
            return wrong(format!("{both} goes both ways, and would call itself for ever: bridge two services"));
        }
        let actions = || self.action_to_ros.iter().chain(&self.action_from_ros);
        for (name, ActionRoute { action, type_name, .. }) in actions() {
            name.parse::<TopicName>().map_err(|error| text(&error))?;
            names::topic(action).map_err(|error| text(&error))?;
            if let Some(type_name) = type_name {
                names::action_type(type_name).map_err(|error| text(&error))?;
            }
        }
        let mut seen = BTreeSet::new();
        if let Some((_, twice)) = actions().find(|(_, route)| !seen.insert(&route.action)) {
            return wrong(format!("{} is bridged twice: an action has one server", twice.action));
        }
        if let Some(both) = self.action_to_ros.keys().find(|name| self.action_from_ros.contains_key(*name)) {
            return wrong(format!("{both} goes both ways, and would send goals to itself: bridge two actions"));
        }
        let mut nodes = BTreeSet::from([self.node.clone().unwrap_or_else(|| "horus_bridge".to_owned())]);
        for (program, route) in &self.parameters {
            program.parse::<TopicName>().map_err(|error| text(&error))?;
            let node = route.node(program);
            if names::node(&node).is_err() {
                return wrong(format!(
                    "`{node}` is no name of a node, under which ROS would know the parameters of {program}: say `--parameters \
                     {program}=/NODE`, with letters, digits and _, no digit first"
                ));
            }
            if !nodes.insert(node.clone()) {
                return wrong(format!(
                    "two nodes are called {node}: say `--parameters {program}=/NODE` with another name"
                ));
            }
        }
        match &self.transforms {
            Some(Transforms { to_ros: false, from_ros: false, .. }) => wrong(
                "no transform is bridged: say `to_ros = true`, `from_ros = true`, or both below [transforms]".into(),
            ),
            _ => Ok(()),
        }
    }
}
