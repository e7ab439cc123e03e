//! The loop that serves all topics: on one thread, woken by what comes in, and by the clock for what goes out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use horus::journal::Priority;
use horus_shm::directory::Directory;
use horus_shm::ends::observe::Start;

use super::{
    Account, Called, Endpoint, Exchange, FramesIn, FramesOut, Given, GivenAction, Inward, OfRos, Outward, Parameters,
    Served, ServiceEndpoint, Shared, Sink, Source, Taken, TakenAction,
};
use crate::config::Config;
use crate::convert::{Ours, Pairing};

/// Messages of a topic in one turn, before the others have theirs.
const MESSAGES_A_TURN: usize = 64;
/// Messages of a topic that are carried when the bridge is told to end.
const LAST_MESSAGES: usize = 1 << 16;
/// How often the bridge looks for topics that came or went, and at the clocks.
const LOOK: Duration = Duration::from_millis(100);
/// How often losses are told, while there are new ones.
const TELL: Duration = Duration::from_secs(10);
/// How often topics are looked at, if not said otherwise.
const LOOK_EVERY_US: u32 = 1_000;
/// Messages seldom come alone: how soon topics are looked at again after one. While none comes, the next look takes twice as long, up to
/// what was said.
const SOON: Duration = Duration::from_micros(25);

/// What a wire without services says.
pub(crate) const OVER_DDS: &str =
    "services, actions, parameters and frames of ROS go over DDS: use --dds, or leave them out of the settings";

/// What carries messages beyond this machine.
pub trait Transport {
    /// Announces a topic that goes out.
    ///
    /// # Errors
    /// Why not, in words.
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String>;

    /// Asks for a topic that comes in. What arrives is put into `place` at once, or waits and unparks the thread that asked. Without a
    /// place it waits, on a wire that can have it wait.
    ///
    /// # Errors
    /// Why not, in words.
    fn subscribe(&mut self, endpoint: &Endpoint, place: Option<&Shared>) -> Result<Box<dyn Source>, String>;

    /// Announces a service that those out there may call.
    ///
    /// # Errors
    /// Why not, in words.
    fn serve(&mut self, _endpoint: &ServiceEndpoint) -> Result<Box<dyn Served>, String> {
        Err(OVER_DDS.to_owned())
    }

    /// Looks for a service of those out there.
    ///
    /// # Errors
    /// Why not, in words.
    fn call(&mut self, _endpoint: &ServiceEndpoint) -> Result<Box<dyn Called>, String> {
        Err(OVER_DDS.to_owned())
    }

    /// Asked now and then, before its topics are.
    fn look(&mut self) {}

    /// Whether the others are ROS 2. If not they are appliances, which know our messages.
    fn is_ros(&self) -> bool {
        true
    }

    /// What messages of a topic are, if a program out there says so. Asked again until it is known.
    fn describe(&mut self, _topic: &str) -> Option<Ours> {
        None
    }

    /// What happened out there since this was asked last: topic, how serious it is, and what.
    fn events(&mut self, tell: &mut dyn FnMut(&str, Priority, String));
}

/// What is looked after beside topics, and what was told of it.
struct Beside {
    exchange: Box<dyn Exchange>,
    said: Option<String>,
    told: u64,
}

/// All topics, and what carries them.
pub struct Server {
    directory: Directory,
    transport: Box<dyn Transport>,
    outward: Vec<Outward>,
    inward: Vec<Inward>,
    exchanges: Vec<Beside>,
    account: Account,
    look_every: Duration,
    /// What was said of each topic last, so that it is not said again.
    said: Vec<Option<String>>,
    told: Vec<u64>,
    /// What the service manager was told last.
    status: String,
}

impl Server {
    /// Opens what is there already. `config` was checked.
    pub fn new(config: Config, directory: Directory, transport: Box<dyn Transport>) -> Self {
        let name = |name: String| name.parse().expect("the settings were checked");
        let whole = |name: &mut Option<String>| *name = name.take().and_then(|name| crate::names::message(&name).ok());
        let outward = config.to_ros.into_iter().map(|(topic, mut route)| {
            whole(&mut route.type_name);
            Outward::new(name(topic), route)
        });
        let inward = config.from_ros.into_iter().map(|(topic, mut route)| {
            whole(&mut route.type_name);
            Inward::new(name(topic), route)
        });
        let (outward, inward): (Vec<_>, Vec<_>) = (outward.collect(), inward.collect());
        let given = config.service_to_ros.into_iter();
        let given = given.map(|(service, route)| Box::new(Given::new(name(service), route)) as Box<dyn Exchange>);
        let taken = config.service_from_ros.into_iter();
        let taken = taken.map(|(service, route)| Box::new(Taken::new(name(service), route)) as Box<dyn Exchange>);
        let beside = |exchange| Beside { exchange, said: None, told: 0 };
        let actions = config.action_to_ros.into_iter();
        let actions =
            actions.map(|(action, route)| Box::new(GivenAction::new(name(action), route)) as Box<dyn Exchange>);
        let of_ros = config.action_from_ros.into_iter();
        let of_ros = of_ros.map(|(action, route)| Box::new(TakenAction::new(name(action), route)) as Box<dyn Exchange>);
        let calls = given.chain(taken).chain(actions).chain(of_ros);
        let parameters = config.parameters.into_iter();
        let parameters = parameters.map(|(name, route)| Box::new(Parameters::new(name, route)) as Box<dyn Exchange>);
        let frames = config.transforms.unwrap_or_default();
        let of_ros = OfRos::default();
        let to_ros = frames.to_ros.then(|| Box::new(FramesOut::new(&frames, &of_ros)) as Box<dyn Exchange>);
        let from_ros = frames.from_ros.then(|| Box::new(FramesIn::new(&of_ros)) as Box<dyn Exchange>);
        let exchanges = calls.chain(parameters).chain(to_ros).chain(from_ros).map(beside).collect();
        let topics = outward.len() + inward.len();
        let look_every = Duration::from_micros(config.look_every_us.unwrap_or(LOOK_EVERY_US).into());
        let mut server = Self {
            directory,
            transport,
            outward,
            inward,
            exchanges,
            account: Account::default(),
            look_every,
            said: vec![None; topics],
            told: vec![0; topics],
            status: String::new(),
        };
        // What lay in a topic before is not taken for new.
        server.look(Start::Back(0));
        server
    }

    /// Serves until `stop` is set. `who` is what the service manager is told of this bridge.
    pub fn run(&mut self, stop: &AtomicBool, who: &str) {
        self.tell_status(who);
        let (mut looked, mut told) = (Instant::now(), Instant::now());
        let (mut carried, mut wait) = (0, SOON);
        while !stop.load(Ordering::Relaxed) {
            let mut is_idle = true;
            for topic in &mut self.outward {
                is_idle &= topic.carry(MESSAGES_A_TURN);
            }
            for topic in &mut self.inward {
                is_idle &= topic.carry(MESSAGES_A_TURN);
            }
            for Beside { exchange, .. } in &mut self.exchanges {
                if !exchange.carry(MESSAGES_A_TURN) {
                    (is_idle, wait) = (false, SOON);
                }
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look(Start::First);
                self.tell_status(who);
                if told.elapsed() >= TELL {
                    told = Instant::now();
                    self.tell(false);
                }
            }
            let went = self.outward.iter().map(|topic| topic.counts.carried).sum();
            if carried != went {
                (carried, wait) = (went, SOON);
            }
            if is_idle {
                let is_looked_for = self.exchanges.iter().any(|beside| beside.exchange.is_looked_for());
                let is_woken = self.outward.is_empty() && !is_looked_for && !self.inward.iter().any(Inward::is_full);
                let longest = if is_woken { LOOK } else { self.look_every.min(LOOK) };
                std::thread::park_timeout(wait.min(longest));
                wait = (2 * wait).min(longest);
            }
        }
        // What lies in the topics now; a publisher that goes on does not hold up the end.
        for topic in &mut self.outward {
            topic.carry(LAST_MESSAGES);
        }
        self.tell(true);
    }

    fn look(&mut self, start: Start) {
        let Self { transport, directory, account, outward, inward, exchanges, said, .. } = self;
        transport.look();
        let mut said = said.iter_mut();
        for topic in outward.iter_mut() {
            let was_there = topic.pairing().is_some();
            topic.look(directory, &mut **transport, start);
            let way = Way { name: topic.name.to_string(), ros: topic.ros_topic().to_owned(), arrow: "goes to" };
            let begun = topic.pairing().filter(|_| !was_there).map(|pairing| way.begun(pairing));
            say(account, &way.name, said.next(), begun, topic.trouble());
        }
        for topic in inward.iter_mut() {
            let was_there = topic.pairing().is_some();
            topic.look(directory, &mut **transport);
            let way = Way { name: topic.name.to_string(), ros: topic.ros_topic().to_owned(), arrow: "comes from" };
            let begun = topic.pairing().filter(|_| !was_there).map(|pairing| way.begun(pairing));
            say(account, &way.name, said.next(), begun, topic.trouble());
        }
        for Beside { exchange, said, .. } in exchanges {
            exchange.look(directory, &mut **transport);
            while let Some((priority, text)) = exchange.told() {
                if said.as_ref() != Some(&text) {
                    account.say(priority, &exchange.name(), &text);
                    *said = Some(text);
                }
            }
        }
        transport.events(&mut |topic, priority, text| account.say(priority, topic, text));
    }

    /// Tells the service manager how many topics there are, and which are not bridged although they could be.
    fn tell_status(&mut self, who: &str) {
        let outward = self.outward.iter().map(|topic| (topic.name.to_string(), topic.pairing().is_some()));
        let inward = self.inward.iter().map(|topic| (topic.name.to_string(), topic.pairing().is_some()));
        let held = outward.chain(inward).zip(&self.said).filter(|((_, is_there), said)| !is_there && said.is_some());
        let mut held: Vec<_> = held.map(|((name, _), _)| name).collect();
        let beside = self.exchanges.iter().filter(|beside| !beside.exchange.is_there() && beside.said.is_some());
        held.extend(beside.map(|beside| beside.exchange.name()));
        let mut status = match self.exchanges.len() {
            0 => format!("{} topics, {who}", self.said.len()),
            more => format!("{} topics and {more} more, {who}", self.said.len()),
        };
        if !held.is_empty() {
            status += &format!("; not bridged, the journal says why: {}", held.join(", "));
        }
        if status != self.status {
            horus::supervise::notify_ready(&status);
            self.status = status;
        }
    }

    /// Tells the figures: all at the end, before that where messages were lost since.
    fn tell(&mut self, is_last: bool) {
        self.inward.iter_mut().for_each(Inward::count);
        let outward = self.outward.iter().map(|topic| (topic.name.to_string(), topic.counts));
        let inward = self.inward.iter().map(|topic| (topic.name.to_string(), topic.counts));
        for ((name, counts), told) in outward.chain(inward).zip(&mut self.told) {
            if is_last || counts.gone() > *told {
                *told = counts.gone();
                self.account.counts(&name, counts, is_last);
            }
        }
        for Beside { exchange, told, .. } in &mut self.exchanges {
            let (text, gone) = exchange.figures();
            if is_last || gone > *told {
                *told = gone;
                self.account.figures(&exchange.name(), &text, gone, is_last);
            }
        }
    }
}

/// How a topic's route is told.
struct Way {
    name: String,
    ros: String,
    arrow: &'static str,
}

impl Way {
    fn begun(&self, pairing: &Pairing) -> String {
        format!("{} {} as {} ({})", self.arrow, self.ros, pairing.ros.top.name, pairing.hash)
    }
}

fn say(
    account: &mut Account,
    name: &str,
    said: Option<&mut Option<String>>,
    begun: Option<String>,
    trouble: Option<String>,
) {
    let Some(said) = said else { return };
    if let Some(text) = begun {
        account.say(Priority::Info, name, text);
        *said = None;
    }
    if let Some(text) = trouble.filter(|text| said.as_ref() != Some(text)) {
        account.say(Priority::Warning, name, &text);
        *said = Some(text);
    }
}
