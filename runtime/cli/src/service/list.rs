//! What services there are, as text.

use horus_measure::units::{count, rate};
use horus_shm::directory::Location;

use crate::table::{Head, table};
use crate::top::services::Service;
use crate::topic::process;

const HEADS: [Head; 9] = [
    ("SERVICE", false),
    ("REQUEST", false),
    ("ANSWER", false),
    ("SERVER", false),
    ("CLIENTS", true),
    ("REQUESTS", true),
    ("CALLS/s", true),
    ("UNANSWERED", true),
    ("LATE", true),
];

/// A line each.
pub fn text(services: &[Service], location: &Location) -> String {
    if services.is_empty() {
        return format!("no services in {}\n", location.path().display());
    }
    let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let dash = || "-".to_owned();
    let rows: Vec<_> = services
        .iter()
        .map(|service| {
            let servers: Vec<_> = service.servers.iter().map(process).collect();
            [
                service.name.clone(),
                known(&service.request),
                known(&service.answer),
                if servers.is_empty() { "none".to_owned() } else { servers.join(", ") },
                format!("{}/{}", service.clients, service.clients_limit),
                service.requests.to_string(),
                service.calls_per_second.map_or_else(dash, rate),
                service.unanswered.map_or_else(dash, count),
                count(service.late),
            ]
        })
        .collect();
    table(&HEADS, &rows)
}
