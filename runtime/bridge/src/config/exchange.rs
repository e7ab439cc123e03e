//! What is bridged beside single topics: services, actions, parameters and transforms.

use serde::Deserialize;

/// A service, whichever side serves it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ServiceRoute {
    /// What ROS calls it.
    pub service: String,
    /// Its type in ROS; the one that the name of our request says if not said.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// How long an answer may take before the call is given up, milliseconds; 10 000 if not said.
    pub limit_ms: Option<u32>,
}

/// An action, whichever side serves it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ActionRoute {
    /// What ROS calls it.
    pub action: String,
    /// Its type in ROS; the one that the name of our goal says if not said.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// How long the other side may take to accept a goal, or to cancel one, milliseconds; 10 000 if not said. A result has no limit.
    pub limit_ms: Option<u32>,
}

/// The parameters of a program of ours, as those of a node of ROS.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ParametersRoute {
    /// What ROS calls the node; the program's name if not said.
    pub node: Option<String>,
    /// Whether ROS may look at them alone.
    #[serde(default)]
    pub read_only: bool,
}

impl ParametersRoute {
    /// The node of ROS that has the parameters of `program`, without a slash.
    pub fn node(&self, program: &str) -> String {
        let said = self.node.as_deref().unwrap_or(program);
        said.strip_prefix('/').unwrap_or(said).to_owned()
    }
}

/// The frames, as `/tf` and `/tf_static`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Transforms {
    /// Whether frames of ours go to ROS.
    #[serde(default)]
    pub to_ros: bool,
    /// Whether frames of ROS come here.
    #[serde(default)]
    pub from_ros: bool,
    /// Of a moving frame, at most one transform in so many milliseconds goes to ROS; all of them if not said.
    pub every_ms: Option<u32>,
}
