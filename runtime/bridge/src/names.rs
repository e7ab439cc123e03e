//! What ROS 2 calls topics and messages, and what DDS and Zenoh call them.

use thiserror::Error;

/// Why a name is none of ROS 2's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// No topic.
    #[error(
        "`{0}` is no topic of ROS 2: it begins with `/`; between slashes stand letters, digits and _, no digit first"
    )]
    Topic(String),
    /// No service.
    #[error("`{0}` is no service of ROS 2: write `package/srv/Name`, as in std_srvs/srv/Trigger")]
    Service(String),
    /// No action.
    #[error("`{0}` is no action of ROS 2: write `package/action/Name`, as in my_robot/action/DriveTo")]
    Action(String),
    /// No message.
    #[error("`{0}` is no message of ROS 2: write `package/msg/Name`, as in sensor_msgs/msg/Imu")]
    Message(String),
}

/// The longest name of a topic: DDS has room for 255 bytes, and its prefix takes some.
const MAX_TOPIC: usize = 240;

/// A topic of ROS 2, with its leading slash.
///
/// # Errors
/// When it is none.
pub fn topic(name: &str) -> Result<&str, NameError> {
    let rest = name.strip_prefix('/').filter(|_| name.len() <= MAX_TOPIC);
    let is_part = |part: &str| is_word(part) && !part.starts_with(|first: char| first.is_ascii_digit());
    match rest {
        Some(rest) if rest.split('/').all(is_part) => Ok(name),
        _ => Err(NameError::Topic(name.to_owned())),
    }
}

/// A message of ROS 2, whole; `sensor_msgs/Imu` is taken for `sensor_msgs/msg/Imu`.
///
/// # Errors
/// When it is none.
pub fn message(name: &str) -> Result<String, NameError> {
    let parts: Vec<_> = name.split('/').collect();
    match parts[..] {
        [package, last] | [package, "msg", last] if is_word(package) && is_word(last) => {
            Ok(format!("{package}/msg/{last}"))
        }
        _ => Err(NameError::Message(name.to_owned())),
    }
}

/// The type of a service of ROS 2, whole; `std_srvs/Trigger` is taken for `std_srvs/srv/Trigger`.
///
/// # Errors
/// When it is none.
pub fn service_type(name: &str) -> Result<String, NameError> {
    let parts: Vec<_> = name.split('/').collect();
    match parts[..] {
        [package, last] | [package, "srv", last] if is_word(package) && is_word(last) => {
            Ok(format!("{package}/srv/{last}"))
        }
        _ => Err(NameError::Service(name.to_owned())),
    }
}

/// The type of an action of ROS 2, whole; `my_robot/DriveTo` is taken for `my_robot/action/DriveTo`.
///
/// # Errors
/// When it is none.
pub fn action_type(name: &str) -> Result<String, NameError> {
    let parts: Vec<_> = name.split('/').collect();
    match parts[..] {
        [package, last] | [package, "action", last] if is_word(package) && is_word(last) => {
            Ok(format!("{package}/action/{last}"))
        }
        _ => Err(NameError::Action(name.to_owned())),
    }
}

/// A node of ROS 2, without namespace.
///
/// # Errors
/// When it is none.
pub fn node(name: &str) -> Result<&str, NameError> {
    if name.contains('/') { Err(NameError::Topic(name.to_owned())) } else { topic(&format!("/{name}")).map(|_| name) }
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The message as DDS names it: `sensor_msgs::msg::dds_::Imu_`.
pub fn dds_message(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((package, last)) => format!("{}::dds_::{last}_", package.replace('/', "::")),
        None => name.to_owned(),
    }
}

/// The topic as DDS names it: `rt/imu`.
pub fn dds_topic(name: &str) -> String {
    format!("rt{name}")
}

/// The topics of a service as DDS names them, of requests and of replies: `rq/save_mapRequest`, `rr/save_mapReply`.
pub fn dds_service(name: &str) -> [String; 2] {
    [format!("rq{name}Request"), format!("rr{name}Reply")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_ros() {
        assert_eq!(topic("/robot/imu_1"), Ok("/robot/imu_1"));
        for wrong in ["imu", "/", "/imu/", "//imu", "/1imu", "/i mu", ""] {
            assert!(topic(wrong).is_err(), "{wrong}");
        }
        assert_eq!(message("sensor_msgs/Imu").unwrap(), "sensor_msgs/msg/Imu");
        assert!(message("Imu").is_err() && message("a/srv/B").is_err());
        assert!(node("bridge_1").is_ok() && node("a/b").is_err() && node("*").is_err() && node("").is_err());
        assert_eq!(dds_message("sensor_msgs/msg/Imu"), "sensor_msgs::msg::dds_::Imu_");
        assert_eq!(dds_topic("/robot/imu"), "rt/robot/imu");
        assert_eq!(service_type("std_srvs/Trigger").unwrap(), "std_srvs/srv/Trigger");
        assert!(service_type("Trigger").is_err() && service_type("a/msg/B").is_err());
        assert_eq!(action_type("my_robot/DriveTo").unwrap(), "my_robot/action/DriveTo");
        assert!(action_type("my_robot/srv/DriveTo").is_err());
        assert_eq!(dds_service("/a/b"), ["rq/a/bRequest", "rr/a/bReply"]);
        assert_eq!(dds_message("std_srvs/srv/Trigger_Request"), "std_srvs::srv::dds_::Trigger_Request_");
    }
}
