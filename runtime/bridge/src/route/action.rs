//! An action in one direction: a server here that ROS sends goals to, or a server of ROS that programs here send goals to.
//!
//! | in ROS | here |
//! |---|---|
//! | the services `send_goal` and `get_result` | the two parts of an answer to a goal |
//! | the service `cancel_goal` | the same |
//! | the topics `feedback` and `status` | the same |

mod given;
mod taken;

use std::path::Path;
use std::time::Duration;

use horus::message::layout::{Layout, MadeOf};
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::inspect::{Inspection, inspect};

pub use given::GivenAction;
pub use taken::TakenAction;

use super::outward::ours;
use super::service::{has_clients, is_served};
use super::{Delivery, Endpoint, ServiceEndpoint};
use crate::config::ActionRoute;
use crate::convert::Ours;
use crate::convert::action::Part;
use crate::interface::services;
use crate::names;

/// How long an answer may take, if not said otherwise. A result may take as long as it does.
const LIMIT: Duration = Duration::from_secs(10);
/// Answer topics that a service has at most.
const LANES: usize = 64;
/// Messages of feedback that are kept; ROS 2's default for it.
const DEPTH: usize = 10;

/// The three messages of an action, here and in ROS.
struct Types {
    /// `my_robot/action/DriveTo`.
    type_name: String,
    layouts: [Layout; 3],
    goal: Part,
    result: Part,
    feedback: Part,
}

impl Types {
    /// Of the action `name`, if a program here has made its topics.
    ///
    /// # Errors
    /// Why it cannot be bridged, in words.
    fn find(directory: &Directory, name: &TopicName, route: &ActionRoute) -> Result<Option<Self>, String> {
        let find = |part: String, field: &str| match look(&directory.file(&topic(name, &part)?))? {
            Some(found) => inner(&found, field).map(Some),
            None => Ok(None),
        };
        let Some(goal) = find("goal".into(), "goal")? else { return Ok(None) };
        let results = (0..LANES).map(|lane| find(format!("goal.answer.{lane}"), "result"));
        let Some(result) = results.filter_map(Result::transpose).next().transpose()? else { return Ok(None) };
        let Some(feedback) = find("feedback".into(), "feedback")? else { return Ok(None) };
        let type_name = match &route.type_name {
            Some(type_name) => names::action_type(type_name).map_err(|error| error.to_string())?,
            None => of_goal(goal.type_name())?,
        };
        let part = |layout: &Layout, part: &str| Part::new(layout, &format!("{type_name}_{part}"));
        Ok(Some(Self {
            goal: part(&goal, services::OF_ACTIONS[0])?,
            result: part(&result, services::OF_ACTIONS[1])?,
            feedback: part(&feedback, services::OF_ACTIONS[2])?,
            layouts: [goal, feedback, result],
            type_name,
        }))
    }

    fn bytes(&self) -> usize {
        self.layouts.iter().map(|layout| layout.payload().bytes).max().unwrap_or(1) + 64
    }

    fn service(&self, route: &ActionRoute, service: &str) -> ServiceEndpoint {
        let messages = match service {
            "send_goal" => format!("{}_SendGoal", self.type_name),
            "get_result" => format!("{}_GetResult", self.type_name),
            _ => "action_msgs/srv/CancelGoal".to_owned(),
        };
        ServiceEndpoint {
            service: format!("{}/_action/{service}", route.action),
            messages: services::messages(&messages),
            node: None,
            bytes: self.bytes(),
        }
    }

    /// The topic of feedbacks, or that of states.
    fn topic(&self, route: &ActionRoute, is_status: bool) -> Endpoint {
        let (topic, type_name) = match is_status {
            true => ("status", "action_msgs/msg/GoalStatusArray".to_owned()),
            false => ("feedback", format!("{}_FeedbackMessage", self.type_name)),
        };
        let delivery = Delivery {
            is_reliable: true,
            is_transient_local: is_status,
            depth: if is_status { 1 } else { DEPTH },
            is_said: true,
            may_wait: false,
            is_latched: is_status,
        };
        Endpoint {
            topic: format!("{}/_action/{topic}", route.action),
            type_name,
            // Whose hash would be known is not compared: ROS 2 does not need it.
            hash: String::new(),
            delivery,
            bytes: self.bytes(),
            layout: String::new(),
            file: String::new(),
        }
    }
}

fn limit(route: &ActionRoute) -> Duration {
    route.limit_ms.map_or(LIMIT, |limit| Duration::from_millis(limit.into()))
}

fn look(path: &Path) -> Result<Option<Inspection>, String> {
    inspect(path).map_err(|error| error.to_string())
}

/// A topic of the action.
fn topic(name: &TopicName, part: &str) -> Result<TopicName, String> {
    format!("{name}.{part}").parse().map_err(|_| format!("{name} is too long for the name of an action"))
}

/// The message that stands behind a head.
fn inner(found: &Inspection, field: &str) -> Result<Layout, String> {
    let bytes = || "goals, feedbacks and results of it are bytes: the bridge carries actions of messages".to_owned();
    let Some(Ours::Layout(layout)) = ours(&found.header) else { return Err(bytes()) };
    let found = layout.fields().iter().find(|known| known.name() == field);
    match found.map(|field| field.made_of()) {
        Some(MadeOf::Nested(inner)) => Ok(inner.clone()),
        _ => Err(bytes()),
    }
}

/// The type of an action by what its goal is called here: `my_robot/action/DriveTo` for `my_robot/DriveToGoal`.
fn of_goal(name: &str) -> Result<String, String> {
    let known = name.strip_suffix(services::OF_ACTIONS[0]).and_then(|name| names::action_type(name).ok());
    known.ok_or_else(|| {
        format!(
            "its goal is a {name}, which names no action of ROS: say its type, `type = \"package/action/Name\"`, or call the goal \
             package/NameGoal"
        )
    })
}

/// The service that its goals are of.
fn goals(name: &TopicName) -> Result<TopicName, String> {
    topic(name, "goal")
}

fn serves(directory: &Directory, name: &TopicName) -> bool {
    goals(name).is_ok_and(|goals| is_served(directory, &goals))
}

fn is_called(directory: &Directory, name: &TopicName) -> bool {
    goals(name).is_ok_and(|goals| has_clients(directory, &goals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_names_its_action() {
        assert_eq!(of_goal("my_robot/DriveToGoal").unwrap(), "my_robot/action/DriveTo");
        assert!(of_goal("my_robot/DriveTo").unwrap_err().contains("type = \"package/action/Name\""));
    }
}
