//! A server of an action in ROS that programs here send goals to.
//!
//! A goal is accepted here when it comes, and ROS decides then: one that ROS rejects is aborted with that reason.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use horus::action::{ActionServer, GoalId, GoalStatus, MAX_GOALS, Options, Reason};
use horus::journal::Priority;
use horus::topic::Raw;
use horus_shm::directory::{Directory, TopicName};

use super::{Types, is_called, limit};
use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::Offset;
use crate::config::ActionRoute;
use crate::convert::Context;
use crate::convert::action as cdr;
use crate::route::{Called, Exchange, Source, Took, Transport};

type Goals = ActionServer<Raw, Raw, Raw>;

/// An action of ROS that programs here may send goals to. The bridge is its server here as long as ROS has one.
pub struct TakenAction {
    name: TopicName,
    route: ActionRoute,
    limit: Duration,
    open: Option<Open>,
    ended: u64,
    rejected: u64,
    refused: u64,
    told: VecDeque<(Priority, String)>,
}

struct Open {
    types: Types,
    send_goal: Box<dyn Called>,
    get_result: Box<dyn Called>,
    cancel_goal: Box<dyn Called>,
    feedback: Box<dyn Source>,
    server: Option<Goals>,
    context: Context,
    goals: BTreeMap<GoalId, Known>,
    /// Calls that ROS has not answered.
    sent: BTreeMap<i64, (GoalId, Instant)>,
    results: BTreeMap<i64, GoalId>,
}

#[derive(Default)]
struct Known {
    is_accepted: bool,
    is_result_asked: bool,
    is_cancel_asked: bool,
}

impl TakenAction {
    /// An action that was not looked at yet.
    pub fn new(name: TopicName, route: ActionRoute) -> Self {
        let limit = limit(&route);
        Self { name, route, limit, open: None, ended: 0, rejected: 0, refused: 0, told: VecDeque::new() }
    }

    fn tell(&mut self, priority: Priority, text: String) {
        if self.told.len() < 8 {
            self.told.push_back((priority, text));
        }
    }

    fn begin(&self, directory: &Directory, transport: &mut dyn Transport) -> Result<Option<Open>, String> {
        if !is_called(directory, &self.name) {
            return Ok(None);
        }
        let Some(types) = Types::find(directory, &self.name, &self.route)? else { return Ok(None) };
        let mut call = |service| transport.call(&types.service(&self.route, service));
        let (send_goal, get_result, cancel_goal) = (call("send_goal")?, call("get_result")?, call("cancel_goal")?);
        let feedback = transport.subscribe(&types.topic(&self.route, false), None)?;
        Ok(Some(Open {
            types,
            send_goal,
            get_result,
            cancel_goal,
            feedback,
            server: None,
            context: context(),
            goals: BTreeMap::new(),
            sent: BTreeMap::new(),
            results: BTreeMap::new(),
        }))
    }

    /// Follows whether ROS has a server.
    fn follow(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.context = context();
        open.feedback.look();
        let are_kept = [&mut open.send_goal, &mut open.get_result, &mut open.cancel_goal].map(|called| called.look());
        if are_kept.contains(&false) {
            open.abort_all("DDS was joined anew, and what ROS says of the goal is lost");
        }
        let is_served = open.send_goal.is_served() && open.get_result.is_served() && open.cancel_goal.is_served();
        match (is_served, open.server.is_some()) {
            (true, false) => {
                let [goal, feedback, result] = &open.types.layouts;
                let options = Options::default().at_once(MAX_GOALS);
                match Goals::open_as(self.name.as_str(), goal, feedback, result, options) {
                    Ok(server) => {
                        open.server = Some(server);
                        let text = format!("is served by ROS at {} as {}", self.route.action, open.types.type_name);
                        self.tell(Priority::Info, text);
                    }
                    Err(error) => self.tell(Priority::Warning, error.to_string()),
                }
            }
            (false, true) => {
                open.abort_all("its server in ROS is gone");
                open.server = None;
                self.tell(Priority::Warning, format!("{} has no server in ROS any more", self.route.action));
            }
            _ => {}
        }
    }
}

fn context() -> Context {
    Context { offset: Offset::now(), frame: String::new() }
}

impl Exchange for TakenAction {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        if self.open.is_some() {
            self.follow();
            // Without a client the topics go, so that programs with other messages may come.
            if !is_called(directory, &self.name) {
                self.open = None;
            }
            return;
        }
        match self.begin(directory, transport) {
            Ok(None) => {}
            Ok(Some(open)) => self.open = Some(open),
            Err(reason) => self.tell(Priority::Warning, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(open) = &mut self.open else { return true };
        let (mut texts, mut is_idle) = (Vec::new(), true);
        open.ask(&mut texts);
        for _ in 0..most {
            let came = [
                open.take_accepted(&mut self.rejected),
                open.take_feedback(&mut self.refused),
                open.take_result(&mut self.ended, &mut self.refused),
                open.cancel_goal.take(&mut |_, _| {}),
            ];
            if !came.contains(&true) {
                break;
            }
            is_idle = false;
        }
        open.expire(self.limit);
        for text in texts.into_iter().take(2) {
            self.tell(Priority::Warning, text);
        }
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.server.is_some())
    }

    fn is_there(&self) -> bool {
        self.is_looked_for()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        let Self { ended, rejected, refused, .. } = self;
        (format!("{ended} goals ended, {rejected} rejected, {refused} messages refused"), *refused)
    }
}

impl Open {
    /// Hands goals that came to ROS, asks for their results, and asks to cancel those that are to be canceled.
    fn ask(&mut self, texts: &mut Vec<String>) {
        let Self { types, send_goal, get_result, cancel_goal, server, context, goals, sent, results, .. } = self;
        let Some(server) = server else { return };
        let mut failed = None;
        server.each(|goal| {
            let id = goal.id();
            let mut bytes = Vec::new();
            let Some(known) = goals.get_mut(&id) else {
                let Some(value) = goal.try_value() else { return };
                let mut writer = Writer::new(&mut bytes);
                cdr::write_id(id, &mut writer);
                match types.goal.write(value, &mut writer, context) {
                    Ok(()) => {
                        if let Some(number) = send_goal.ask(&bytes) {
                            goals.insert(id, Known::default());
                            sent.insert(number, (id, Instant::now()));
                        }
                    }
                    Err(error) => {
                        failed = Some(error.to_string());
                        let _ended = goal.abort(Reason::of(format_args!("ROS cannot be told of it: {error}")));
                    }
                }
                return;
            };
            if known.is_accepted && !known.is_result_asked {
                cdr::write_id(id, &mut Writer::new(&mut bytes));
                if let Some(number) = get_result.ask(&bytes) {
                    known.is_result_asked = true;
                    results.insert(number, id);
                }
            }
            if known.is_accepted && goal.is_canceling() && !known.is_cancel_asked {
                cdr::write_info(id, 0, context.offset, &mut Writer::new(&mut bytes));
                known.is_cancel_asked = cancel_goal.ask(&bytes).is_some();
            }
        });
        texts.extend(failed);
    }

    /// Ends a goal as aborted, with this reason.
    fn abort(&mut self, id: GoalId, reason: &str) {
        self.goals.remove(&id);
        if let Some(goal) = self.server.as_mut().and_then(|server| server.goal_of(id)) {
            let _told = goal.abort(Reason::of(format_args!("{reason}")));
        }
    }

    fn abort_all(&mut self, reason: &str) {
        for id in self.goals.keys().copied().collect::<Vec<_>>() {
            self.abort(id, reason);
        }
        (self.sent, self.results) = Default::default();
    }

    /// Takes what ROS says to a goal; false if there is nothing.
    fn take_accepted(&mut self, rejected: &mut u64) -> bool {
        let mut came = None;
        if !self
            .send_goal
            .take(&mut |number, message| came = Some((number, message.and_then(|bytes| bytes.first().copied()))))
        {
            return false;
        }
        if let Some((number, accepted)) = came
            && let Some((id, _)) = self.sent.remove(&number)
        {
            match (accepted, self.goals.get_mut(&id)) {
                (Some(1), Some(known)) => known.is_accepted = true,
                _ => {
                    *rejected += 1;
                    self.abort(id, "the server in ROS rejected the goal");
                }
            }
        }
        true
    }

    fn take_feedback(&mut self, refused: &mut u64) -> bool {
        let Self { types, feedback, server, context, goals, .. } = self;
        let mut came = None;
        let took = feedback.take(&mut |message| {
            came = message.map(|bytes| {
                let mut reader = Reader::new(bytes);
                Ok::<_, Malformed>((cdr::read_id(&mut reader)?, types.feedback.read(&mut reader, context)?))
            });
        });
        match (took, came) {
            (Took::Nothing, _) => return false,
            (_, Some(Ok((id, feedback)))) if goals.contains_key(&id) => {
                if let Some(mut goal) = server.as_mut().and_then(|server| server.goal_of(id)) {
                    *refused += u64::from(goal.feedback(&feedback).is_err());
                }
            }
            (_, Some(Ok(_))) => {} // of another client's goal
            (_, Some(Err(_)) | None) => *refused += 1,
        }
        true
    }

    fn take_result(&mut self, ended: &mut u64, refused: &mut u64) -> bool {
        let Self { types, get_result, context, .. } = self;
        let mut came = None;
        let is_one = get_result.take(&mut |number, message| {
            let read = message.map(|bytes| {
                let mut reader = Reader::new(bytes);
                Ok::<_, Malformed>((reader.u8()?, types.result.read(&mut reader, context)?))
            });
            came = Some((number, read));
        });
        if !is_one {
            return false;
        }
        let Some((number, read)) = came else { return true };
        let Some(id) = self.results.remove(&number) else { return true };
        let Some(Ok((status, result))) = read else {
            *refused += 1;
            self.abort(id, "the result of ROS cannot be read, or has no room here");
            return true;
        };
        *ended += 1;
        self.goals.remove(&id);
        let Some(goal) = self.server.as_mut().and_then(|server| server.goal_of(id)) else { return true };
        let is_canceling = goal.is_canceling();
        // What the client has no room for, the server counts.
        let _told = match GoalStatus::of_code(status.into()) {
            Some(GoalStatus::Succeeded) => goal.succeed(&result),
            Some(GoalStatus::Canceled) if is_canceling => goal.canceled_with(&result),
            Some(GoalStatus::Canceled) => goal.abort_with(&result, Reason::of(format_args!("it was canceled in ROS"))),
            Some(GoalStatus::Aborted) => {
                goal.abort_with(&result, Reason::of(format_args!("the server in ROS gave it up")))
            }
            _ => goal.abort(Reason::of(format_args!("the server in ROS does not know the goal"))),
        };
        true
    }

    /// Aborts goals to which ROS says nothing. Numbers grow with the time.
    fn expire(&mut self, limit: Duration) {
        while let Some(entry) = self.sent.first_entry() {
            if entry.get().1.elapsed() < limit {
                break;
            }
            let (id, _) = entry.remove();
            self.abort(id, "the server in ROS did not say in time whether it takes the goal");
        }
    }
}
