//! A server of an action here that ROS sends goals to.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use horus::action::{
    ActionClient, ActionError, CancelRequest, GoalId, GoalStatus, GoalStatusArray, Options, Progress, SentGoal,
};
use horus::journal::Priority;
use horus::message::Message;
use horus::time::MonotonicTime;
use horus::topic::Raw;
use horus::zerocopy::{FromZeros, IntoBytes};
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::observe::{Observation, Start};

use super::{Types, limit, serves, topic};
use crate::cdr::{Reader, Writer};
use crate::clock::Offset;
use crate::config::ActionRoute;
use crate::convert::Context;
use crate::convert::action as cdr;
use crate::route::{CallId, Exchange, Sent, Served, Sink, Transport};

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

/// What there is to tell of a goal, or why nothing will come of it.
type Looked = Result<Progress<Vec<u8>, Vec<u8>>, ActionError>;

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

impl Open {
    fn answer(&mut self, which: Which, to: CallId, write: impl FnOnce(&mut Writer<'_>)) {
        let mut cdr = Vec::new();
        write(&mut Writer::new(&mut cdr));
        self.answers.push_back((which, to, Instant::now(), cdr));
    }

    /// Takes a request of a service; false if there is none.
    fn take(&mut self, number: usize, which: Which, counts: &mut Counts, texts: &mut Vec<String>) -> bool {
        let mut came = None;
        if !self.services[number].take(&mut |id, _, message| came = Some((id, message.map(<[u8]>::to_vec)))) {
            return false;
        }
        let Some((to, Some(message))) = came else {
            counts.refused += 1;
            return true;
        };
        let mut reader = Reader::new(&message);
        let done = match which {
            Which::SendGoal => self.send_goal(to, &mut reader, counts, texts),
            Which::GetResult => self.get_result(to, &mut reader),
            Which::CancelGoal => self.cancel_goal(to, &mut reader),
        };
        if let Err(error) = done {
            counts.refused += 1;
            texts.push(format!("a request of ROS was refused: {error}"));
        }
        true
    }

    fn send_goal(
        &mut self,
        to: CallId,
        reader: &mut Reader<'_>,
        counts: &mut Counts,
        texts: &mut Vec<String>,
    ) -> Result<(), crate::cdr::Malformed> {
        let id = cdr::read_id(reader)?;
        let goal = self.types.goal.read(reader, &self.context);
        let sent = match goal {
            Ok(goal) if self.goals.len() < GOALS && !self.goals.contains_key(&id) => {
                self.client.send_as(id, &goal).map_err(|error| error.to_string())
            }
            Ok(_) => Err("there are too many goals, or one of this number".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        match sent {
            Ok(sent) => {
                let known = Known { sent: Some(sent), asked: Some(to), waiters: Vec::new(), result: None };
                self.goals.insert(id, known);
            }
            Err(reason) => {
                counts.rejected += 1;
                texts.push(format!("a goal of ROS was rejected: {reason}"));
                self.accepted(to, None);
            }
        }
        Ok(())
    }

    /// Says whether a goal was accepted, and when.
    fn accepted(&mut self, to: CallId, when: Option<MonotonicTime>) {
        let offset = self.context.offset;
        self.answer(Which::SendGoal, to, |writer| {
            writer.u8(when.is_some().into());
            cdr::write_time(when.map_or(0, MonotonicTime::as_nanos), offset, writer);
        });
    }

    fn get_result(&mut self, to: CallId, reader: &mut Reader<'_>) -> Result<(), crate::cdr::Malformed> {
        let id = cdr::read_id(reader)?;
        match self.goals.get_mut(&id) {
            Some(Known { result: Some((_, result)), .. }) => {
                let result = result.clone();
                self.answers.push_back((Which::GetResult, to, Instant::now(), result));
            }
            Some(known) if known.waiters.len() < WAITERS => known.waiters.push(to),
            _ => {
                let unknown = self.result(0, None);
                self.answers.push_back((Which::GetResult, to, Instant::now(), unknown));
            }
        }
        Ok(())
    }

    /// A result as ROS has it; one that does not convert says nothing.
    fn result(&self, status: u32, result: Option<&[u8]>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let write = |bytes: &mut Vec<u8>, result: Option<&[u8]>| {
            let mut writer = Writer::new(bytes);
            writer.u8(status as u8);
            match result {
                Some(result) => self.types.result.write(result, &mut writer, &self.context),
                None => {
                    self.types.result.write_nothing(&mut writer, &self.context);
                    Ok(())
                }
            }
        };
        if write(&mut bytes, result).is_err() {
            let _ = write(&mut bytes, None);
        }
        bytes
    }

    fn cancel_goal(&mut self, to: CallId, reader: &mut Reader<'_>) -> Result<(), crate::cdr::Malformed> {
        let (id, until_ns) = cdr::read_info(reader, self.context.offset)?;
        let one = Some(id).filter(|id| *id != GoalId::ZERO);
        let asked = match (one, until_ns) {
            _ if self.cancels.len() >= CANCELS => None,
            (None, 0) => self.client.cancel_all().ok(),
            (Some(id), 0) => self.client.cancel(id).ok(),
            (one, until_ns) => self.client.cancel_until(MonotonicTime::from_nanos(until_ns), one).ok(),
        };
        match asked {
            Some(asked) => self.cancels.push((to, Instant::now(), asked)),
            None => self.answer(Which::CancelGoal, to, |writer| cdr::write_canceled(1, &[], writer)),
        }
        Ok(())
    }

    /// Follows the goals; whether there was something.
    fn follow(&mut self, counts: &mut Counts, texts: &mut Vec<String>) -> bool {
        let mut is_any = false;
        let ids: Vec<_> = self.goals.iter().filter(|(_, known)| known.sent.is_some()).map(|(id, _)| *id).collect();
        for id in ids {
            while let Some(progress) = self.look_at(id) {
                is_any = true;
                let (status, result, reason) = match progress {
                    Ok(Progress::Nothing) => break,
                    Ok(Progress::Accepted) => {
                        self.is_accepted(id);
                        continue;
                    }
                    Ok(Progress::Feedback(feedback)) => {
                        self.tell_feedback(id, &feedback, counts);
                        continue;
                    }
                    Ok(Progress::Ended(outcome)) => (outcome.status.code(), outcome.result, None),
                    Err(ActionError::Rejected { .. }) => {
                        counts.rejected += 1;
                        if let Some(to) = self.goals.remove(&id).and_then(|known| known.asked) {
                            self.accepted(to, None);
                        }
                        break;
                    }
                    Err(error) => (GoalStatus::Aborted.code(), None, Some(error.to_string())),
                };
                counts.ended += 1;
                texts.extend(reason);
                self.end(id, status, result.as_deref());
                break;
            }
        }
        is_any
    }

    fn look_at(&mut self, id: GoalId) -> Option<Looked> {
        let sent = self.goals.get_mut(&id)?.sent.as_mut()?;
        let progress = sent.look(&mut self.client);
        (!matches!(progress, Ok(Progress::Nothing))).then_some(progress)
    }

    fn is_accepted(&mut self, id: GoalId) {
        let Some(known) = self.goals.get_mut(&id) else { return };
        let when = known.sent.as_ref().and_then(SentGoal::accepted);
        if let Some(to) = known.asked.take() {
            self.accepted(to, when.or(Some(MonotonicTime::now())));
        }
    }

    fn tell_feedback(&mut self, id: GoalId, feedback: &[u8], counts: &mut Counts) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        cdr::write_id(id, &mut writer);
        match self.types.feedback.write(feedback, &mut writer, &self.context) {
            Ok(()) => drop(self.feedback.send(&bytes, 0, 0)),
            Err(_) => counts.refused += 1,
        }
    }

    fn end(&mut self, id: GoalId, status: u32, result: Option<&[u8]>) {
        let bytes = self.result(status, result);
        let Some(known) = self.goals.get_mut(&id) else { return };
        let (asked, waiters) = (known.asked.take(), std::mem::take(&mut known.waiters));
        known.sent = None;
        known.result = Some((Instant::now(), bytes.clone()));
        if let Some(to) = asked {
            self.accepted(to, None); // its server went before it said anything
        }
        self.answers.extend(waiters.into_iter().map(|to| (Which::GetResult, to, Instant::now(), bytes.clone())));
    }

    fn look_at_cancels(&mut self, limit: Duration) {
        let Self { client, cancels, answers, .. } = self;
        cancels.retain_mut(|(to, since, asked)| {
            let (code, goals) = match asked.look(client) {
                Ok(None) if since.elapsed() < limit => return true,
                Ok(Some(answer)) => (answer.return_code as u8, answer.goals().collect()),
                Ok(None) | Err(_) => (1, Vec::new()),
            };
            let mut bytes = Vec::new();
            cdr::write_canceled(code, &goals, &mut Writer::new(&mut bytes));
            answers.push_back((Which::CancelGoal, *to, Instant::now(), bytes));
            false
        });
    }

    /// Tells where the goals stand, the newest of what the server says.
    fn tell_states(&mut self) {
        let Some(states) = &mut self.states else { return };
        let mut array = GoalStatusArray::new_zeroed();
        let mut is_any = false;
        while states.try_take(array.as_mut_bytes()).is_some() {
            is_any = true;
        }
        if !is_any {
            if self.are_states_due {
                self.send_states();
            }
            return;
        }
        let all: Vec<_> =
            array.goals().iter().map(|goal| (GoalId(goal.goal_id), goal.accepted_ns, goal.status as u8)).collect();
        self.states_told = all;
        self.send_states();
    }

    fn send_states(&mut self) {
        let mut bytes = Vec::new();
        cdr::write_states(&self.states_told, self.context.offset, &mut Writer::new(&mut bytes));
        self.are_states_due = self.status.send(&bytes, 0, 0) == Sent::Full;
    }

    /// The server has ended without a word: its goals are aborted.
    fn abort_all(&mut self) {
        self.tell_states();
        let is_over = |status: u8| GoalStatus::of_code(status.into()).is_none_or(GoalStatus::is_over);
        for (_, _, status) in self.states_told.iter_mut().filter(|(_, _, status)| !is_over(*status)) {
            *status = GoalStatus::Aborted as u8;
        }
        self.send_states();
    }

    /// Gives answers to ROS. One whose client is not known yet waits, and holds up no other.
    fn give(&mut self, limit: Duration, counts: &mut Counts) {
        let Self { services, answers, .. } = self;
        answers.retain(|(which, to, since, bytes)| {
            let number = WHICH.iter().position(|(known, _)| known == which).unwrap_or_default();
            match services[number].answer(*to, bytes) {
                Sent::Taken => false,
                Sent::Full if since.elapsed() < limit => true,
                Sent::Full | Sent::Lost => {
                    counts.late += 1;
                    false
                }
            }
        });
    }

    /// Results are kept for a while.
    fn forget(&mut self) {
        self.goals.retain(|_, known| known.result.as_ref().is_none_or(|(since, _)| since.elapsed() < KEEP));
    }
}
