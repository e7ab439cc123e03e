//! A server of an action here that ROS sends goals to.

mod goals;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use horus::action::{ActionClient, CancelRequest, GoalId, GoalStatusArray, Options, SentGoal};
use horus::journal::Priority;
use horus::message::Message;
use horus::topic::Raw;
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::observe::{Observation, Start};

use super::{Types, limit, serves, topic};
use crate::clock::Offset;
use crate::config::ActionRoute;
use crate::convert::Context;
use crate::route::{CallId, Exchange, Served, Sink, Transport};

/// Goals that are known, of those that have ended, too: more are rejected.
const GOALS: usize = 256;
/// Who may ask for the result of one goal.
const WAITERS: usize = 16;
/// Requests to cancel that have no answer yet.
const CANCELS: usize = 64;
/// How long a result is kept for who asks for it; rcl_action's default is ten seconds.
const KEEP: Duration = Duration::from_secs(60);
/// How long the services stay when the server has ended, so that the last answers arrive.
const LINGER: Duration = Duration::from_millis(500);

/// An action of ours that ROS may send goals to.
pub struct GivenAction {
    name: TopicName,
    route: ActionRoute,
    limit: Duration,
    open: Option<Open>,
    counts: Counts,
    told: VecDeque<(Priority, String)>,
}

#[derive(Default)]
struct Counts {
    ended: u64,
    rejected: u64,
    refused: u64,
    late: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    SendGoal,
    GetResult,
    CancelGoal,
}

const WHICH: [(Which, &str); 3] =
    [(Which::SendGoal, "send_goal"), (Which::GetResult, "get_result"), (Which::CancelGoal, "cancel_goal")];

struct Open {
    client: ActionClient<Raw, Raw, Raw>,
    types: Types,
    services: Vec<Box<dyn Served>>,
    feedback: Box<dyn Sink>,
    status: Box<dyn Sink>,
    states: Option<Observation>,
    /// What ROS was told of them last: number, when it was accepted, and status.
    states_told: Vec<(GoalId, u64, u8)>,
    /// There was no room for that.
    are_states_due: bool,
    context: Context,
    goals: BTreeMap<GoalId, Known>,
    cancels: Vec<(CallId, Instant, CancelRequest)>,
    answers: VecDeque<(Which, CallId, Instant, Vec<u8>)>,
    /// Since when the server is gone.
    ended: Option<Instant>,
}

struct Known {
    sent: Option<SentGoal<Raw>>,
    /// Who waits to hear that it was accepted.
    asked: Option<CallId>,
    /// Who waits for its result.
    waiters: Vec<CallId>,
    /// Its result, CDR, and since when.
    result: Option<(Instant, Vec<u8>)>,
}

impl GivenAction {
    /// An action that was not looked at yet.
    pub fn new(name: TopicName, route: ActionRoute) -> Self {
        let limit = limit(&route);
        Self { name, route, limit, open: None, counts: Counts::default(), told: VecDeque::new() }
    }

    fn tell(&mut self, priority: Priority, text: String) {
        if self.told.len() < 8 {
            self.told.push_back((priority, text));
        }
    }

    fn begin(&self, directory: &Directory, transport: &mut dyn Transport) -> Result<Option<Open>, String> {
        if !serves(directory, &self.name) {
            return Ok(None);
        }
        let Some(types) = Types::find(directory, &self.name, &self.route)? else { return Ok(None) };
        let [goal, feedback, result] = &types.layouts;
        let client =
            ActionClient::<Raw, Raw, Raw>::open_as(self.name.as_str(), goal, feedback, result, Options::default());
        let client = client.map_err(|error| error.to_string())?;
        let services = WHICH.iter().map(|(_, service)| transport.serve(&types.service(&self.route, service)));
        let services = services.collect::<Result<Vec<_>, _>>()?;
        let feedback = transport.advertise(&types.topic(&self.route, false))?;
        let status = transport.advertise(&types.topic(&self.route, true))?;
        let states = Observation::open(&directory.file(&topic(&self.name, "status")?), Start::Back(1));
        let states = states.map_err(|error| error.to_string())?;
        let states = states.filter(|states| states.header().layout_hash == GoalStatusArray::LAYOUT_HASH);
        Ok(Some(Open {
            client,
            types,
            services,
            feedback,
            status,
            states,
            states_told: Vec::new(),
            are_states_due: false,
            context: context(),
            goals: BTreeMap::new(),
            cancels: Vec::new(),
            answers: VecDeque::new(),
            ended: None,
        }))
    }
}

fn context() -> Context {
    Context { offset: Offset::now(), frame: String::new() }
}

impl Exchange for GivenAction {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        if let Some(open) = &mut self.open {
            open.context = context();
            let are_kept = open.services.iter_mut().fold(true, |are, service| service.look() && are);
            if !are_kept {
                open.answers.clear();
            }
            open.feedback.look();
            open.status.look();
            match (open.ended, open.client.check_server()) {
                (Some(since), _) if since.elapsed() < LINGER => return,
                (Some(_), _) => {}
                (None, Ok(true)) => return,
                (None, Ok(false) | Err(_)) => {
                    open.ended = Some(Instant::now());
                    open.abort_all();
                    self.tell(Priority::Warning, "its server has ended: ROS sees the action no more".to_owned());
                    return;
                }
            }
            self.open = None;
        }
        match self.begin(directory, transport) {
            Ok(None) => {}
            Ok(Some(open)) => {
                self.tell(
                    Priority::Info,
                    format!("is served to ROS at {} as {}", self.route.action, open.types.type_name),
                );
                self.open = Some(open);
            }
            Err(reason) => self.tell(Priority::Warning, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(open) = &mut self.open else { return true };
        let mut texts = Vec::new();
        let mut is_idle = true;
        for (number, (which, _)) in WHICH.iter().enumerate() {
            for _ in 0..most {
                if !open.take(number, *which, &mut self.counts, &mut texts) {
                    break;
                }
                is_idle = false;
            }
        }
        is_idle &= !open.follow(&mut self.counts, &mut texts);
        open.look_at_cancels(self.limit);
        open.tell_states();
        open.give(self.limit, &mut self.counts);
        open.forget();
        for text in texts.into_iter().take(2) {
            self.tell(Priority::Warning, text);
        }
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        self.open.is_some()
    }

    fn is_there(&self) -> bool {
        self.open.is_some()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        let Counts { ended, rejected, refused, late } = self.counts;
        let text =
            format!("{ended} goals ended, {rejected} rejected, {refused} messages refused, {late} answers too late");
        (text, refused + late)
    }
}
