//! Services between two looks, seen in the topics that they are made of: who serves, who asks, how many calls a second, and what is unanswered.
//! Joins none.

use std::collections::BTreeMap;
use std::time::Duration;

use horus::outside::printable;
use horus::service::figures::{ClientFigures, ServerFigures};
use horus_shm::directory::Directory;
use horus_shm::ends::inspect::Inspection;
use serde::Serialize;

use super::topics::Topics;
use crate::topic::Process;

/// A service between two looks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Name of the requests' type.
    pub request: Option<String>,
    /// Name of the answers' type.
    pub answer: Option<String>,
    /// Who serves it; none when no living process does. Of several the first one.
    pub server: Option<Process>,
    /// All who serve it.
    pub servers: Vec<Process>,
    /// Whether several may: its servers and clients say `shared`.
    pub shared: bool,
    /// The living clients.
    pub clients: usize,
    /// How many clients can live at once.
    pub clients_limit: usize,
    /// Requests sent by all clients together.
    pub requests: u64,
    /// Requests a second; `null` where the service was not there at the look before.
    pub calls_per_second: Option<f64>,
    /// Requests that the living servers have yet to take or to answer; `null` where none lives.
    pub unanswered: Option<u64>,
    /// Messages for calls that the living clients had given up.
    pub late: u64,
    /// Messages that the living servers could not send, because their client did not look.
    pub undelivered: u64,
}

/// What a topic is to a service.
enum Part<'a> {
    Seat(&'a str),
    Answers(&'a str),
    Clients(&'a str),
    Register(&'a str),
}

impl<'a> Part<'a> {
    fn of(name: &'a str, type_name: &str) -> Option<Self> {
        let is_lane = |lane: &str| lane.parse::<usize>().is_ok();
        match type_name {
            "horus/Server" => name.strip_suffix(".server").map(Self::Seat),
            "horus/Client" => name.strip_suffix(".client").map(Self::Clients),
            "horus/SharedService" => Some(Self::Register(name)),
            _ => name
                .rsplit_once(".answer.")
                .filter(|(_, lane)| is_lane(lane))
                .map(|(service, _)| Self::Answers(service)),
        }
    }
}

/// The service that a server's place belongs to.
fn whole(service: &str) -> &str {
    match service.rsplit_once(".shared.") {
        Some((whole, server)) if server.parse::<usize>().is_ok() => whole,
        _ => service,
    }
}

/// The services of the look `now`, with their rates since the look `before`. One that no program serves is there as long as a client waits for
/// it.
pub fn services(now: &Topics, before: &Topics, directory: Option<&Directory>) -> Vec<Service> {
    let time = now.at.since(before.at);
    let mut services = BTreeMap::<&str, Service>::new();
    for (name, seen) in &now.seen {
        let Some(part) = Part::of(name, &seen.header.type_name) else { continue };
        let (Part::Seat(of) | Part::Answers(of) | Part::Clients(of) | Part::Register(of)) = part;
        let service = services.entry(whole(of)).or_default();
        let file = || Some(directory?.file(&name.parse().ok()?));
        match part {
            Part::Seat(of) => {
                let Some(living) = seen.lanes.iter().find_map(|lane| lane.publisher.as_ref()) else { continue };
                let figures = file().map(|file| ServerFigures::read(&file)).unwrap_or_default();
                let waits =
                    now.of(of).and_then(|requests| requests.subscribers.iter().map(|server| server.behind).max());
                service.servers.push(living.into());
                let open = waits.unwrap_or_default().saturating_add(figures.taken.saturating_sub(figures.ended));
                service.unanswered = Some(service.unanswered.unwrap_or_default().saturating_add(open));
                service.undelivered = service.undelivered.saturating_add(figures.undelivered);
            }
            Part::Answers(_) => service.answer = Some(printable(&seen.header.type_name)),
            Part::Clients(_) | Part::Register(_) => {
                service.shared = matches!(part, Part::Register(_));
                let counted = file().map(|file| ClientFigures::read(&file)).unwrap_or_default();
                let lives = |lane: usize| seen.lanes.iter().any(|one| one.number == lane && one.publisher.is_some());
                let late = counted.iter().filter(|(lane, _)| lives(*lane)).map(|(_, figures)| figures.late);
                service.late = late.fold(0, u64::saturating_add);
                service.clients = seen.lanes.iter().filter(|lane| lane.publisher.is_some()).count();
            }
        }
    }
    for (name, service) in &mut services {
        service.name = (*name).to_owned();
        service.server = service.servers.first().cloned();
        requests(service, now, before, time);
    }
    services.into_values().collect()
}

/// How many requests were sent: of a shared service, to all servers.
fn requests(service: &mut Service, now: &Topics, before: &Topics, time: Duration) {
    let is_of_it = |name: &str| match service.shared {
        true => name
            .strip_prefix(&*service.name)
            .and_then(|rest| rest.strip_prefix(".shared."))
            .is_some_and(|rest| !rest.contains('.')),
        false => name == service.name,
    };
    let sent = |topics: &Topics| {
        let own = topics.seen.iter().filter(|(name, _)| is_of_it(name));
        own.map(|(_, seen)| sent(seen)).reduce(u64::saturating_add)
    };
    let (after, earlier) = (sent(now), sent(before));
    let first = now.seen.iter().find(|(name, _)| is_of_it(name));
    let request = first.map(|(_, seen)| printable(&seen.header.type_name));
    service.clients_limit = first.map_or(0, |(_, seen)| seen.header.shape.publishers());
    // A count that went down is another service's of this name.
    let between = after.unwrap_or_default().checked_sub(earlier.unwrap_or(u64::MAX));
    service.calls_per_second = between.filter(|_| !time.is_zero()).map(|calls| calls as f64 / time.as_secs_f64());
    (service.request, service.requests) = (request, after.unwrap_or_default());
}

fn sent(seen: &Inspection) -> u64 {
    seen.lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.sent))
}
