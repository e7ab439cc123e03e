//! A service in one direction: a server here that ROS calls, or a server of ROS that programs here call.
//!
//! Calls that are unanswered are kept in bounded places, each with its limit. ROS has no way to say that there will be no answer: so when
//! the server here ends, the service is taken back from ROS, whose clients see that. Clients here are told by the errors of
//! [`horus::service::CallError`].

mod given;
mod taken;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use horus::message::layout::Layout;
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::inspect::{Inspection, inspect};

pub use given::Given;
pub use taken::Taken;

use super::ServiceEndpoint;
use super::outward::ours;
use crate::clock::Offset;
use crate::config::ServiceRoute;
use crate::convert::{Context, Ours, Pairing};
use crate::interface::{import, services, standard};

/// How long an answer may take, if not said otherwise.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// Calls that are unanswered or wait, of a service: more are refused.
const CALLS: usize = 1024;
/// Answer topics that a service has at most.
const LANES: usize = 64;

/// What becomes of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    answered: u64,
    unanswered: u64,
    refused: u64,
    late: u64,
}

impl Calls {
    fn figures(&self) -> (String, u64) {
        let Self { answered, unanswered, refused, late } = self;
        let text =
            format!("{answered} calls answered, {unanswered} unanswered, {refused} refused, {late} answers too late");
        (text, unanswered + refused + late)
    }
}

/// Both messages of a service, here and in ROS.
struct Types {
    request: Arc<Pairing>,
    answer: Arc<Pairing>,
    layouts: [Layout; 2],
}

impl Types {
    /// Of the service `name`, if a program here has made its topics.
    ///
    /// # Errors
    /// Why it cannot be bridged, in words.
    fn find(
        directory: &Directory,
        name: &TopicName,
        route: &ServiceRoute,
        is_to_ros: bool,
    ) -> Result<Option<Self>, String> {
        let Some(request) = look(&directory.file(name))? else { return Ok(None) };
        let answers = (0..LANES).map(|lane| look(&directory.file(&part(name, &format!("answer.{lane}"))?)));
        let Some(answer) = answers.filter_map(Result::transpose).next().transpose()? else { return Ok(None) };
        let layouts = [layout(&request, "requests")?, layout(&answer, "answers")?];
        let type_name = match &route.type_name {
            Some(type_name) => standard::check_service(type_name)?,
            None => of_request(layouts[0].type_name())?,
        };
        let messages = services::messages(&type_name);
        let pair = |number: usize, is_to_ros: bool| {
            let (layout, ros) = (&layouts[number], &messages[number]);
            match standard::has_service(&type_name) {
                true => {
                    Pairing::new(&Ours::Layout(layout.clone()), Some(ros), is_to_ros).map_err(|error| error.to_string())
                }
                false => Pairing::own(layout, ros),
            }
        };
        let (request, answer) = (pair(0, !is_to_ros)?, pair(1, is_to_ros)?);
        Ok(Some(Self { request: Arc::new(request), answer: Arc::new(answer), layouts }))
    }

    fn endpoint(&self, route: &ServiceRoute) -> ServiceEndpoint {
        ServiceEndpoint {
            service: route.service.clone(),
            messages: [self.request.ros.top.name.clone(), self.answer.ros.top.name.clone()],
            node: None,
            bytes: self.layouts.iter().map(|layout| layout.payload().bytes).max().unwrap_or(1),
        }
    }

    fn begun(&self, route: &ServiceRoute, arrow: &str) -> String {
        let type_name = self.request.ros.top.name.trim_end_matches("_Request");
        format!("{arrow} {} as {type_name}", route.service)
    }
}

/// What a conversion needs: the frame of headers is named by no service.
fn context() -> Context {
    Context { offset: Offset::now(), frame: String::new() }
}

fn limit(route: &ServiceRoute) -> Duration {
    route.limit_ms.map_or(LIMIT, |limit| Duration::from_millis(limit.into()))
}

fn look(path: &Path) -> Result<Option<Inspection>, String> {
    inspect(path).map_err(|error| error.to_string())
}

/// A topic of the service.
fn part(name: &TopicName, part: &str) -> Result<TopicName, String> {
    format!("{name}.{part}").parse().map_err(|_| format!("{name} is too long for the name of a service"))
}

fn layout(found: &Inspection, which: &str) -> Result<Layout, String> {
    match ours(&found.header) {
        Some(Ours::Layout(layout)) => Ok(layout),
        _ => Err(format!("its {which} are bytes: the bridge carries services whose requests and answers are messages")),
    }
}

/// The type of a service by what its request is called here: `std_srvs/srv/SetBool` for `std_srvs/SetBoolRequest`.
fn of_request(name: &str) -> Result<String, String> {
    let known = name.strip_suffix(services::PARTS[0]).map(standard::check_service);
    known.unwrap_or_else(|| {
        Err(format!(
            "its request is a {name}, which names no service of ROS: say its type, `type = \"package/srv/Name\"`, or call the request \
             package/NameRequest"
        ))
    })
}

/// What `horus bridge import` calls the messages of a service, for errors.
fn names_here(type_name: &str) -> String {
    services::messages(type_name).map(|name| import::ours(&name)).join(" and ")
}

/// Whether a living program serves it.
pub(super) fn is_served(directory: &Directory, name: &TopicName) -> bool {
    let seat = part(name, "server").and_then(|seat| look(&directory.file(&seat)));
    seat.is_ok_and(|seat| seat.is_some_and(|seat| seat.lanes.iter().any(|lane| lane.publisher.is_some())))
}

/// Whether a living program may call it.
pub(super) fn has_clients(directory: &Directory, name: &TopicName) -> bool {
    let found = look(&directory.file(name));
    found.is_ok_and(|found| found.is_some_and(|found| found.lanes.iter().any(|lane| lane.publisher.is_some())))
}

/// A conversion that failed, as the journal tells it.
fn unlike(what: &str, types: &Types, error: &dyn std::fmt::Display) -> String {
    let type_name = types.request.ros.top.name.trim_end_matches("_Request");
    format!(
        "{what} was refused: {error} (the layouts that `horus bridge import {type_name}` prints are {})",
        names_here(type_name)
    )
}

/// Opens a service by its transport, or says why not.
fn opened<T: ?Sized>(made: Result<Box<T>, String>, trouble: &mut Option<String>) -> Option<Box<T>> {
    made.map_err(|reason| *trouble = Some(reason)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_service() {
        assert_eq!(of_request("std_srvs/SetBoolRequest").unwrap(), "std_srvs/srv/SetBool");
        assert_eq!(of_request("my_robot/FlyRequest").unwrap(), "my_robot/srv/Fly");
        assert!(of_request("my_robot/Fly").unwrap_err().contains("type = \"package/srv/Name\""));
        assert!(of_request("std_srvs/SetBolRequest").unwrap_err().contains("std_srvs/srv/SetBool"));
        assert_eq!(names_here("std_srvs/srv/SetBool"), "std_srvs/SetBoolRequest and std_srvs/SetBoolResponse");
    }
}
