//! A route in one word: `imu=/imu:sensor_msgs/msg/Imu`, `/cmd_vel=base.cmd`.

use super::{ActionRoute, FromRos, ServiceRoute, ToRos};

/// Reads `TOPIC=/ROS_TOPIC[:TYPE]`.
pub fn to_ros(word: &str) -> Result<(String, ToRos), String> {
    let (ours, ros) = sides(word, "--to-ros imu=/imu:sensor_msgs/msg/Imu")?;
    let (topic, type_name) = side(ros);
    Ok((ours.to_owned(), ToRos { topic, type_name, ..ToRos::default() }))
}

/// Reads `/ROS_TOPIC[:TYPE]=TOPIC[:MESSAGE]`.
pub fn from_ros(word: &str) -> Result<(String, FromRos), String> {
    let (ros, ours) = sides(word, "--from-ros /cmd_vel=base.cmd:horus/CmdVel")?;
    let ((topic, type_name), (name, message)) = (side(ros), side(ours));
    Ok((name, FromRos { topic, type_name, message, ..FromRos::default() }))
}

/// Reads `SERVICE=/ROS_SERVICE[:TYPE]`.
pub fn service_to_ros(word: &str) -> Result<(String, ServiceRoute), String> {
    let (ours, ros) = sides(word, "--service-to-ros map.save=/save_map:std_srvs/srv/Trigger")?;
    let (service, type_name) = side(ros);
    Ok((ours.to_owned(), ServiceRoute { service, type_name, ..ServiceRoute::default() }))
}

/// Reads `/ROS_SERVICE=SERVICE[:TYPE]`.
pub fn service_from_ros(word: &str) -> Result<(String, ServiceRoute), String> {
    let (ros, ours) = sides(word, "--service-from-ros /get_plan=plan:nav_msgs/srv/GetPlan")?;
    let ((service, before), (name, behind)) = (side(ros), side(ours));
    Ok((name, ServiceRoute { service, type_name: before.or(behind), ..ServiceRoute::default() }))
}

/// Reads `ACTION=/ROS_ACTION[:TYPE]`.
pub fn action_to_ros(word: &str) -> Result<(String, ActionRoute), String> {
    let (ours, ros) = sides(word, "--action-to-ros drive_to=/drive_to:my_robot/action/DriveTo")?;
    let (action, type_name) = side(ros);
    Ok((ours.to_owned(), ActionRoute { action, type_name, limit_ms: None }))
}

/// Reads `/ROS_ACTION=ACTION[:TYPE]`.
pub fn action_from_ros(word: &str) -> Result<(String, ActionRoute), String> {
    let (ros, ours) = sides(word, "--action-from-ros /navigate=navigate:my_robot/action/Navigate")?;
    let ((action, before), (name, behind)) = (side(ros), side(ours));
    Ok((name, ActionRoute { action, type_name: before.or(behind), limit_ms: None }))
}

fn sides<'a>(word: &'a str, example: &str) -> Result<(&'a str, &'a str), String> {
    let sides = word.split_once('=').filter(|(left, right)| !left.is_empty() && !right.is_empty());
    sides.ok_or_else(|| format!("`{word}` has no two names: write {example}"))
}

fn side(side: &str) -> (String, Option<String>) {
    match side.split_once(':') {
        Some((name, kind)) => (name.to_owned(), Some(kind.to_owned())),
        None => (side.to_owned(), None),
    }
}
