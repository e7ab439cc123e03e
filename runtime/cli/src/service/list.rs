//! What services there are: seen in the topics that they are made of.

use std::collections::BTreeMap;

use horus_shm::directory::Location;
use serde::Serialize;

use crate::table::{Head, table};
use crate::topic::{Process, Topic, process};

/// A service at some moment.
#[derive(Debug, Serialize)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Name of the requests' type.
    pub request: Option<String>,
    /// Name of the answers' type.
    pub answer: Option<String>,
    /// Who serves it; none when no living process does.
    pub server: Option<Process>,
    /// The living clients.
    pub clients: usize,
    /// How many clients can live at once.
    pub clients_limit: usize,
    /// Requests sent by all clients together.
    pub requests: u64,
}

/// What a topic is to a service: the service's name, and whether it is the server's seat.
fn part_of(topic: &Topic) -> Option<(&str, bool)> {
    if let Some(service) = topic.name.strip_suffix(".server").filter(|_| topic.type_name == "horus/Server") {
        return Some((service, true));
    }
    let (service, lane) = topic.name.rsplit_once(".answer.")?;
    lane.parse::<usize>().ok().map(|_| (service, false))
}

/// The services that `topics` are of, by name. One that no program serves is there as long as a client waits for it.
pub fn services(topics: &[Topic]) -> Vec<Service> {
    let by_name: BTreeMap<&str, &Topic> = topics.iter().map(|topic| (topic.name.as_str(), topic)).collect();
    let mut services = BTreeMap::<&str, Service>::new();
    for topic in topics {
        let Some((name, is_seat)) = part_of(topic) else { continue };
        let service = services.entry(name).or_insert_with(|| service(name, by_name.get(name).copied()));
        if is_seat {
            let living = topic.publishers.iter().find_map(|publisher| publisher.process.as_ref());
            service.server = living.map(|process| Process { pid: process.pid, elsewhere: process.elsewhere });
        } else {
            service.answer = Some(topic.type_name.clone());
        }
    }
    services.into_values().collect()
}

fn service(name: &str, requests: Option<&Topic>) -> Service {
    Service {
        name: name.to_owned(),
        request: requests.map(|topic| topic.type_name.clone()),
        answer: None,
        server: None,
        clients: requests.map_or(0, |topic| topic.publishers.iter().filter(|lane| lane.process.is_some()).count()),
        clients_limit: requests.map_or(0, |topic| topic.publishers_limit),
        requests: requests.map_or(0, |topic| topic.sent),
    }
}

const HEADS: [Head; 6] = [
    ("SERVICE", false),
    ("REQUEST", false),
    ("ANSWER", false),
    ("SERVER", false),
    ("CLIENTS", true),
    ("REQUESTS", true),
];

/// A line each.
pub fn text(services: &[Service], location: &Location) -> String {
    if services.is_empty() {
        return format!("no services in {}\n", location.path().display());
    }
    let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let rows: Vec<_> = services
        .iter()
        .map(|service| {
            let server = service.server.as_ref().map_or_else(|| "none".to_owned(), process);
            [
                service.name.clone(),
                known(&service.request),
                known(&service.answer),
                server,
                format!("{}/{}", service.clients, service.clients_limit),
                service.requests.to_string(),
            ]
        })
        .collect();
    table(&HEADS, &rows)
}
