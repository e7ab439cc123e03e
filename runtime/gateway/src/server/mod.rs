//! The gateway: serves topics to clients, by what its settings allow.
//!
//! One thread does everything. It reads what clients sent, looks at the topics, writes logs, and hands out what is new. No step waits
//! for a client or for a topic. With `durability = "each"` it waits for the disk, and no other program does: it takes no place in
//! a topic that it reads.
//!
//! | file | what is in it |
//! |---|---|
//! | `config.rs` | what is allowed, and what it may cost |
//! | `socket.rs`, `client.rs`, `queue.rs` | connections, and what waits for them |
//! | `topic.rs`, `arrivals.rs` | a topic: noticed, read, numbered, logged, published |
//! | `requests.rs` | what a client may ask, and the answer |
//! | `delivery.rs` | who gets what, and what comes from the log before it |
//! | `account.rs`, `trouble.rs` | what the journal is told |

mod account;
mod arrivals;
mod client;
pub mod config;
mod delivery;
mod queue;
mod requests;
mod socket;
mod topic;
mod trouble;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::observe::Start;
use horus_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use rustix::io::Errno;
use thiserror::Error;

use crate::log::{Log, LogError};
use account::Account;
use arrivals::Arrivals;
use client::{Client, Gone};
use config::Config;
use delivery::Acknowledgement;
pub use socket::Listener;
use socket::origin;
use topic::{Counts, Served};

/// How often it is looked which topics are there, and which clients are silent.
const LOOK_NS: u64 = 100_000_000;
/// Messages that are read of a topic before the next one has its turn.
const MESSAGES_A_TURN: usize = 1_024;
/// Events that are taken from the kernel at a time.
const EVENTS: usize = 64;
/// What marks an event as a listener's.
const LISTENER: u64 = 1 << 32;

/// The event that says that a topic may have come.
const ARRIVAL: u64 = 1 << 33;

/// Why a gateway cannot start, or go on.
#[derive(Debug, Error)]
pub enum ServerError {
    /// A place to listen cannot be had.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// Which.
        place: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A topic's log cannot be opened.
    #[error("topic {topic}: {source}")]
    Log {
        /// Which.
        topic: String,
        /// Why not.
        source: Box<LogError>,
    },
    /// The kernel does not say what happens.
    #[error("cannot wait for clients: {0}")]
    Wait(#[from] Errno),
}

/// A gateway.
pub struct Server {
    config: Config,
    directory: Directory,
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    clients: Vec<Option<Client>>,
    topics: Vec<Served>,
    arrivals: Option<Arrivals>,
    names: HashMap<String, usize>,
    /// Clients with something to be written.
    dirty: Vec<usize>,
    /// Channels that get something of a log.
    replaying: Vec<(usize, u32)>,
    acknowledgements: Vec<Acknowledgement>,
    instance: u64,
    looked_ns: u64,
    account: Account,
}

impl Server {
    /// Opens the logs and begins to listen; no client is served before [`run`](Self::run).
    ///
    /// # Errors
    /// [`ServerError`] names what cannot be had.
    pub fn open(config: Config, directory: Directory) -> Result<Self, ServerError> {
        let mut account = Account::default();
        let mut topics = Vec::new();
        for (name, topic) in &config.topics {
            let name: TopicName = name.parse().expect("checked with the settings");
            let opened = topic.log.as_ref().map(|log| {
                let path = config.log_directory.join(name.as_str());
                Log::open(&path, log.options(crate::log::Kind::default()))
            });
            let mut served = Served::new(name, topic.clone(), config.limits.payload_bytes);
            match opened.transpose() {
                Ok(opened) => {
                    served.log = opened.map(|(log, found)| {
                        account.recovered(&served.name, &log, &found);
                        log
                    });
                }
                // What is live does not need the disk.
                Err(error) if error.is_of_the_disk() => served.goes_without_log(&error),
                Err(source) => {
                    return Err(ServerError::Log { topic: served.name.to_string(), source: source.into() });
                }
            }
            topics.push(served);
        }
        let names = topics.iter().enumerate().map(|(index, topic)| (topic.name.to_string(), index)).collect();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut listeners = Vec::new();
        for listen in &config.listen {
            let listener =
                Listener::open(listen).map_err(|source| ServerError::Listen { place: listen.to_string(), source })?;
            let event = epoll::EventData::new_u64(LISTENER | listeners.len() as u64);
            epoll::add(&epoll, &listener, event, epoll::EventFlags::IN)?;
            listeners.push(listener);
        }
        let arrivals = Arrivals::watch(&directory);
        if let Some(arrivals) = &arrivals {
            epoll::add(&epoll, arrivals, epoll::EventData::new_u64(ARRIVAL), epoll::EventFlags::IN)?;
        }
        let instance = monotonic_ns() ^ u64::from(std::process::id()) << 40;
        let mut server = Self {
            config,
            directory,
            epoll,
            listeners,
            clients: Vec::new(),
            topics,
            arrivals,
            names,
            dirty: Vec::new(),
            replaying: Vec::new(),
            acknowledgements: Vec::new(),
            instance,
            looked_ns: monotonic_ns(),
            account,
        };
        // What lay in a topic before is not taken for new.
        server.look_at_topics(Start::Back(0));
        server.account.topics(&mut server.topics);
        Ok(server)
    }

    /// Where it listens, as clients name it.
    pub fn addresses(&self) -> Vec<String> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// When the kernel does not say any more what happens.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), ServerError> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        let mut is_more = false;
        while !stop.load(Ordering::Relaxed) {
            events.clear();
            match self.wait(is_more, &mut events) {
                Ok(()) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            is_more = self.turn(&events);
        }
        self.end();
        Ok(())
    }

    /// One turn: everything that happened is taken up once. True if there is more to do.
    fn turn(&mut self, events: &[epoll::Event]) -> bool {
        if let Some(arrivals) = &self.arrivals
            && events.iter().any(|event| event.data.u64() == ARRIVAL)
        {
            arrivals.clear();
            self.look_at_topics(Start::First);
        }
        // A client's place may go to another one when listeners accept: they come last.
        let is_listener = |event: &epoll::Event| event.data.u64() & LISTENER != 0;
        for event in events.iter().filter(|event| event.data.u64() < LISTENER) {
            let id = event.data.u64() as usize;
            let flags = event.flags;
            if flags.contains(epoll::EventFlags::OUT) {
                self.dirty.push(id);
            }
            if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
                self.serve(id);
            }
        }
        let mut is_more = false;
        for topic in &mut self.topics {
            is_more |= !topic.collect(MESSAGES_A_TURN, None).0;
        }
        self.deliver();
        is_more |= self.replay();
        self.write();
        for event in events.iter().filter(|event| is_listener(event)) {
            self.accept((event.data.u64() & !LISTENER) as usize);
        }
        let now = monotonic_ns();
        if now.saturating_sub(self.looked_ns) >= LOOK_NS {
            self.looked_ns = now;
            self.look_at_topics(Start::First);
            self.look_at_clients(now);
            self.account.topics(&mut self.topics);
        }
        is_more
    }

    /// Waits for what happens next. `epoll_wait` counts in milliseconds; what is no whole number of them is waited for by `ppoll`.
    fn wait(&self, is_more: bool, events: &mut Vec<epoll::Event>) -> Result<(), Errno> {
        let mut timeout = self.timeout(is_more);
        if timeout.tv_nsec % 1_000_000 != 0 {
            rustix::event::poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timeout))?;
            timeout.tv_nsec = 0;
        }
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)).map(|_| ())
    }

    fn timeout(&self, is_more: bool) -> Timespec {
        let is_looking = self.topics.iter().any(Served::is_read);
        let nanoseconds = match is_more {
            true => 0,
            false if is_looking => (u64::from(self.config.look_every_us) * 1_000).min(LOOK_NS),
            false => LOOK_NS,
        };
        Timespec { tv_sec: 0, tv_nsec: nanoseconds as i64 }
    }

    fn look_at_topics(&mut self, start: Start) {
        for index in 0..self.topics.len() {
            if self.topics[index].look(&self.directory, start) {
                self.describe(index);
            }
        }
    }

    /// Takes all clients that wait at a listener.
    fn accept(&mut self, listener: usize) {
        for _ in 0..EVENTS {
            let (socket, name) = match self.listeners[listener].accept() {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return,
                Err(error) => return self.account.not_accepted(&error),
            };
            let Some(free) = self.place() else {
                self.account.turned_away(&name, self.config.limits.clients);
                continue; // dropped, which closes it
            };
            let event = epoll::EventData::new_u64(free as u64);
            if let Err(error) = epoll::add(&self.epoll, &socket, event, epoll::EventFlags::IN) {
                self.account.not_accepted(&error.into());
                continue;
            }
            let client = Client::new(socket, name, &self.config.limits);
            self.account.came(&client);
            if free == self.clients.len() {
                self.clients.push(None);
            }
            self.clients[free] = Some(client);
        }
    }

    /// A place for one more client. Where none is left, one of those who never said hello makes room: it may have no right to be here.
    fn place(&mut self) -> Option<usize> {
        loop {
            let free = self.clients.iter().position(Option::is_none).unwrap_or(self.clients.len());
            if free < self.config.limits.clients {
                return Some(free);
            }
            let id = self.stranger()?;
            self.serve(id); // its hello may have come in this turn
            if self.clients[id].as_ref().is_some_and(|client| !client.is_greeted) {
                self.remove(id, &Gone::Displaced);
            }
        }
    }

    /// Who has said nothing for longest of those who never said hello, among the strangers of the user or the address that has most of
    /// them: who connects again and again displaces himself.
    fn stranger(&self) -> Option<usize> {
        let strangers = self.clients.iter().enumerate().filter_map(|(id, client)| Some((id, client.as_ref()?)));
        let strangers: Vec<_> = strangers.filter(|(_, client)| !client.is_greeted).collect();
        let mut of_each = HashMap::new();
        strangers.iter().for_each(|(_, client)| *of_each.entry(origin(&client.name)).or_insert(0) += 1);
        let most = of_each.values().max().copied()?;
        let candidates = strangers.iter().filter(|(_, client)| of_each[origin(&client.name)] == most);
        candidates.min_by_key(|(_, client)| client.heard_ns).map(|(id, _)| *id)
    }

    /// Takes a client off.
    fn remove(&mut self, id: usize, why: &Gone) {
        let Some(client) = self.clients.get_mut(id).and_then(Option::take) else { return };
        let _ = epoll::delete(&self.epoll, &client.socket); // closing it does the same
        self.topics.iter_mut().for_each(|topic| topic.subscribers.retain(|(subscriber, _)| *subscriber != id));
        self.replaying.retain(|(replaying, _)| *replaying != id);
        self.acknowledgements.retain(|acknowledgement| acknowledgement.client != id);
        self.account.went(&client, why);
    }

    /// Tells every client that the gateway is there, and takes off who is silent.
    fn look_at_clients(&mut self, now: u64) {
        let heartbeat_ns = u64::from(self.config.limits.heartbeat_ms) * 1_000_000;
        let is_silent = |client: &Client| now.saturating_sub(client.heard_ns) > 3 * heartbeat_ns;
        for id in 0..self.clients.len() {
            if self.clients[id].as_ref().is_some_and(is_silent) {
                // What it said lies unread where this thread was held up, by the machine or by the disk: that is heard first.
                self.serve(id);
                if self.clients[id].as_ref().is_some_and(is_silent) {
                    self.remove(id, &Gone::Silent);
                }
            }
            let Some(client) = &mut self.clients[id] else { continue };
            if client.is_greeted && now.saturating_sub(client.told_ns) >= heartbeat_ns {
                client.told_ns = now;
                let mut counts = client.counts();
                for topic in client.topics() {
                    let Counts { unlogged, disk_failures, .. } = self.topics[topic].counts;
                    (counts.unlogged, counts.disk_failures) =
                        (counts.unlogged + unlogged, counts.disk_failures + disk_failures);
                }
                let counts = counts.payload();
                // One that has no room for it is busy enough.
                let _ = client.answer(crate::frame::Type::Heartbeat, 0, 0, &counts);
                self.dirty.push(id);
            }
        }
        self.write();
    }

    /// The end: what is in the topics is logged, and what waits for clients is offered once more.
    fn end(&mut self) {
        self.topics.iter_mut().for_each(Served::collect_held);
        self.deliver();
        self.topics.iter_mut().for_each(Served::end);
        self.write();
        (0..self.clients.len()).for_each(|id| self.remove(id, &Gone::Ended));
        self.account.topics(&mut self.topics);
        self.account.ended(&self.topics);
    }
}
