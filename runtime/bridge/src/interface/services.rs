//! Definitions of ROS 2's standard services: of each, the message of its request and that of its response. And what the parts of services and
//! actions are called.

use super::{Interface, parse};

/// A service on each line: the fields of its request, three dashes, and those of its response.
const SERVICES: &str = "
diagnostic_msgs/AddDiagnostics: string load_namespace --- bool success, string message
diagnostic_msgs/SelfTest: --- string id, byte passed, DiagnosticStatus[] status
example_interfaces/AddTwoInts: int64 a, int64 b --- int64 sum
example_interfaces/SetBool: bool data --- bool success, string message
example_interfaces/Trigger: --- bool success, string message
nav_msgs/GetMap: --- OccupancyGrid map
nav_msgs/GetPlan: geometry_msgs/PoseStamped start, geometry_msgs/PoseStamped goal, float32 tolerance --- Path plan
nav_msgs/LoadMap: string map_url --- OccupancyGrid map, uint8 result
nav_msgs/SetMap: OccupancyGrid map, geometry_msgs/PoseWithCovarianceStamped initial_pose --- bool success
sensor_msgs/SetCameraInfo: CameraInfo camera_info --- bool success, string status_message
std_srvs/Empty: ---
std_srvs/SetBool: bool data --- bool success, string message
std_srvs/Trigger: --- bool success, string message
tf2_msgs/FrameGraph: --- string frame_yaml
";

/// The parts of a service, by what ROS calls its messages.
pub const PARTS: [&str; 2] = ["Request", "Response"];

/// The parts of an action.
pub const OF_ACTIONS: [&str; 3] = ["Goal", "Result", "Feedback"];

fn lines() -> impl Iterator<Item = (&'static str, [&'static str; 2])> {
    let line = |line: &'static str| {
        let (name, parts) = line.split_once(':')?;
        let (request, response) = parts.split_once("---")?;
        Some((name, [request, response]))
    };
    SERVICES.lines().filter_map(line)
}

/// The names of all, as `package/srv/Name`.
pub fn all() -> impl Iterator<Item = String> {
    lines().map(|(name, _)| name.replace('/', "/srv/"))
}

/// The message of a service's part, `std_srvs/srv/SetBool_Request`, of a standard one.
pub fn part(name: &str) -> Option<Interface> {
    let (service, part) = name.rsplit_once('_')?;
    let number = PARTS.iter().position(|known| *known == part)?;
    let wanted = service.replace("/srv/", "/");
    let (_, parts) = lines().find(|(known, _)| *known == wanted)?;
    parse(name, &parts[number].trim().replace(", ", "\n")).ok()
}

/// The messages of a service, those of its request and of its response.
pub fn messages(type_name: &str) -> [String; 2] {
    PARTS.map(|part| format!("{type_name}_{part}"))
}

#[cfg(test)]
mod tests {
    use super::super::standard;
    use super::*;

    #[test]
    fn every_service_has_two_messages_that_are_complete() {
        assert!(all().count() > 10);
        for name in all() {
            for part in messages(&name) {
                standard::whole(&part).unwrap_or_else(|error| panic!("{part}: {error}"));
            }
        }
        assert!(
            standard::get("std_srvs/srv/SetBool").is_none() && standard::get("std_srvs/srv/SetBool_Goal").is_none()
        );
    }
}
