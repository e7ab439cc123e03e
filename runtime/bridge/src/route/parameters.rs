//! The parameters of a program here, as those of a node of ROS 2: six services, and a topic that says what changed.
//!
//! | service | what it does here |
//! |---|---|
//! | `list_parameters`, `get_parameters`, `get_parameter_types`, `describe_parameters` | reads one consistent set |
//! | `set_parameters` | sets each by itself |
//! | `set_parameters_atomically` | sets all of them or none |

use std::collections::VecDeque;
use std::time::Instant;

use horus::journal::Priority;
use horus::param::{Current, Params, SetError, Value};
use horus_shm::directory::Directory;

use super::{CallId, Delivery, Endpoint, Exchange, Sent, Served, ServiceEndpoint, Sink, Transport};
use crate::cdr::{Malformed, Writer};
use crate::clock::Offset;
use crate::config::ParametersRoute;
use crate::convert::parameters as cdr;
use crate::interface::{hash, standard};

/// What ROS 2 asks a node for.
const SERVICES: [(&str, &str); 6] = [
    ("list_parameters", "ListParameters"),
    ("get_parameters", "GetParameters"),
    ("get_parameter_types", "GetParameterTypes"),
    ("describe_parameters", "DescribeParameters"),
    ("set_parameters", "SetParameters"),
    ("set_parameters_atomically", "SetParametersAtomically"),
];
const EVENTS: (&str, &str) = ("/parameter_events", "rcl_interfaces/msg/ParameterEvent");
/// What a request or an answer takes, by and large: so many are kept as 64 MB hold.
const BYTES: usize = 64 << 10;
/// Answers that wait for their client, of a program.
const WAITING: usize = 256;

/// The parameters of a program.
pub struct Parameters {
    program: String,
    node: String,
    is_read_only: bool,
    open: Option<Open>,
    answered: u64,
    refused: u64,
    told: VecDeque<(Priority, String)>,
}

struct Open {
    params: Params,
    services: Vec<Box<dyn Served>>,
    /// Answers for clients that DDS has yet to bring together with us: service, client, since when, and the answer.
    waiting: VecDeque<(usize, CallId, Instant, Vec<u8>)>,
    events: Box<dyn Sink>,
    /// As ROS was told of them last.
    known: Option<Vec<Current>>,
}

impl Parameters {
    /// A program that was not looked for yet.
    pub fn new(program: String, route: ParametersRoute) -> Self {
        let (node, is_read_only) = (route.node(&program), route.read_only);
        Self { program, node, is_read_only, open: None, answered: 0, refused: 0, told: VecDeque::new() }
    }

    fn begin(&self, transport: &mut dyn Transport) -> Result<Open, (Priority, String)> {
        // A program that does not run yet is no reason for a warning.
        let params = Params::open(&self.program).map_err(|error| (Priority::Info, error.to_string()))?;
        let wrong = |reason: String| (Priority::Warning, reason);
        let mut services = Vec::new();
        for (service, type_name) in SERVICES {
            let endpoint = ServiceEndpoint {
                service: format!("/{}/{service}", self.node),
                messages: ["Request", "Response"].map(|part| format!("rcl_interfaces/srv/{type_name}_{part}")),
                node: Some(self.node.clone()),
                bytes: BYTES,
            };
            services.push(transport.serve(&endpoint).map_err(wrong)?);
        }
        let whole = standard::whole(EVENTS.1).map_err(|error| wrong(error.to_string()))?;
        let delivery = Delivery {
            is_reliable: true,
            is_transient_local: false,
            depth: 1000,
            is_said: true,
            may_wait: false,
            is_latched: false,
        };
        let endpoint = Endpoint {
            topic: EVENTS.0.to_owned(),
            type_name: EVENTS.1.to_owned(),
            hash: hash::rihs01(&whole),
            delivery,
            bytes: BYTES,
            layout: String::new(),
            file: String::new(),
        };
        let events = transport.advertise(&endpoint).map_err(wrong)?;
        Ok(Open { params, services, waiting: VecDeque::new(), events, known: None })
    }

    fn tell(&mut self, priority: Priority, text: String) {
        if self.told.len() < 8 {
            self.told.push_back((priority, text));
        }
    }
}

impl Exchange for Parameters {
    fn name(&self) -> String {
        format!("parameters of {}", self.program)
    }

    fn look(&mut self, _: &Directory, transport: &mut dyn Transport) {
        if let Some(open) = &mut self.open {
            open.services.iter_mut().for_each(|service| {
                let _answers_wait_for_their_limit = service.look();
            });
            open.events.look();
            match open.params.list() {
                Ok(now) => return open.tell_changes(now, &self.node),
                Err(error) => {
                    self.open = None;
                    self.tell(Priority::Warning, format!("{error}; ROS sees the node {} no more", self.node));
                }
            }
        }
        match self.begin(transport) {
            Ok(open) => {
                self.open = Some(open);
                self.tell(Priority::Info, format!("are those of the node /{} in ROS", self.node));
            }
            Err((priority, reason)) => self.tell(priority, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(open) = &mut self.open else { return true };
        let mut is_idle = true;
        for number in 0..open.services.len() {
            for _ in 0..most {
                match open.serve(number, self.is_read_only) {
                    None => break,
                    Some(true) => self.answered += 1,
                    Some(false) => self.refused += 1,
                }
                is_idle = false;
            }
        }
        self.refused += open.give();
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.waiting.is_empty())
    }

    fn is_there(&self) -> bool {
        self.open.is_some()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        (format!("{} requests answered, {} refused", self.answered, self.refused), self.refused)
    }
}

impl Open {
    /// Answers a request of a service; `None` if there is none, and whether there is an answer.
    fn serve(&mut self, number: usize, is_read_only: bool) -> Option<bool> {
        let Self { params, services, waiting, .. } = self;
        let mut answered = None;
        services[number].take(&mut |id, when, request| {
            let mut bytes = Vec::new();
            let done =
                request.map(|request| answer(params, number, request, is_read_only, &mut Writer::new(&mut bytes)));
            answered = Some(matches!(done, Some(Ok(()))) && waiting.len() < WAITING);
            if answered == Some(true) {
                waiting.push_back((number, id, when, bytes));
            }
        });
        answered
    }

    /// Gives the answers that wait; how many were given up.
    fn give(&mut self) -> u64 {
        let Self { services, waiting, .. } = self;
        let mut given_up = 0;
        waiting.retain(|(number, id, when, answer)| match services[*number].answer(*id, answer) {
            Sent::Taken => false,
            Sent::Full if when.elapsed() < super::service::LIMIT => true,
            Sent::Full | Sent::Lost => {
                given_up += 1;
                false
            }
        });
        given_up
    }

    /// Tells ROS what changed, by this bridge or by another program.
    fn tell_changes(&mut self, now: Vec<Current>, node: &str) {
        let is_new = self.known.is_none();
        let before = self.known.as_deref().unwrap_or_default();
        let is_other =
            |(number, current): &(usize, &Current)| before.get(*number).is_none_or(|one| one.value != current.value);
        let changed: Vec<_> = now.iter().enumerate().filter(is_other).map(|(_, current)| current).collect();
        if !changed.is_empty() {
            let mut bytes = Vec::new();
            let stamp = Offset::now().to_ros(horus_sys::clock::monotonic_ns());
            cdr::write_event(stamp, &format!("/{node}"), is_new, &changed, &mut Writer::new(&mut bytes));
            // One that finds no room is lost: who looks at the values finds them.
            self.events.send(&bytes, 0, 0);
        }
        self.known = Some(now);
    }
}

/// Answers request number `number` of [`SERVICES`].
fn answer(
    params: &Params,
    number: usize,
    request: &[u8],
    is_read_only: bool,
    writer: &mut Writer<'_>,
) -> Result<(), Malformed> {
    // A program that has just ended has none: the services go with the next look.
    let all = params.list().unwrap_or_default();
    match number {
        0 => {
            let (prefixes, depth) = cdr::read_list(request)?;
            cdr::write_list(&all, &prefixes, depth, writer);
        }
        1 => cdr::write_values(&all, &cdr::read_names(request)?, writer),
        2 => cdr::write_types(&all, &cdr::read_names(request)?, writer),
        3 => cdr::write_descriptions(&all, &cdr::read_names(request)?, is_read_only, writer),
        4 => {
            let wanted = cdr::read_wanted(request)?;
            writer.count(wanted.len());
            for one in &wanted {
                let refused = set(params, std::slice::from_ref(one), is_read_only).err();
                cdr::write_result(refused.as_deref(), writer);
            }
        }
        _ => {
            let wanted = cdr::read_wanted(request)?;
            cdr::write_result(set(params, &wanted, is_read_only).err().as_deref(), writer);
        }
    }
    Ok(())
}

/// Sets all of them or none.
fn set(params: &Params, wanted: &[cdr::Wanted], is_read_only: bool) -> Result<(), String> {
    if is_read_only {
        return Err("the bridge lets ROS look at these parameters alone: its settings say read_only = true".to_owned());
    }
    let values: Result<Vec<(&str, Value)>, String> = wanted
        .iter()
        .map(|(name, value)| match value {
            Some(value) => Ok((name.as_str(), value.clone())),
            None => Err(format!(
                "{name} is a truth value, a whole number, a number or a text: it can be no list, and cannot be removed"
            )),
        })
        .collect();
    params.set(&values?).map(drop).map_err(|error: SetError| error.to_string())
}
