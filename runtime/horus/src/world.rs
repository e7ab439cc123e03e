//! A program's nodes in virtual time: the same graph as on the machine, step by step, faster than real time, the same each time.
//!
//! ```
//! use horus::prelude::*;
//!
//! fn balance(app: &mut App) -> horus::Result {
//!     let mut imu = app.input::<Imu>("imu")?;
//!     let mut cmd = app.output::<CmdVel>("base.cmd")?;
//!     let control = move |_: &Cycle| {
//!         if let Some(imu) = imu.latest() {
//!             cmd.set(CmdVel { forward: 0.8 * imu.angular_velocity.y, turn: 0.0 });
//!         }
//!     };
//!     app.node("control", control).period(ms(1)).deadline(us(800));
//!     Ok(())
//! }
//!
//! let mut world = VirtualWorld::new(balance)?;
//! let mut tilted = Imu::zeroed();
//! tilted.angular_velocity.y = 0.5;
//! world.publish("imu", &tilted);
//! world.run_for(ms(10));
//! assert_eq!(world.last::<CmdVel>("base.cmd").unwrap().forward, 0.4);
//!
//! world.takes("control", us(900)).for_cycles(2); // longer than its deadline
//! world.run_for(ms(10));
//! assert_eq!(world.tally("control").misses, 2);
//! # Ok::<(), horus::Error>(())
//! ```
//!
//! # How time passes
//! By simulation: CPUs with threads of fixed priority that interrupt each other. A step reads its inputs when it gets the CPU, and what
//! it sets is published when its execution time is over. That is nothing at all unless a test says otherwise, by
//! [`takes`](VirtualWorld::takes).
//!
//! It starts a week after zero, as a machine's clock has no time of its own to start at: a message that is published first is stamped like any other.
//!
//! # Whose topics
//! All topics are the world's, those that a node opens by itself too: a test touches nothing of a robot that runs beside it. What was opened
//! with a directory of its own is there.
//!
//! # What it does not do
//! - A thread that a node starts by itself is outside: its topics are the machine's. So are those that the test opens by itself; with
//!   [`directory`](VirtualWorld::directory) they are the world's.
//! - It knows the nodes of one program. What others publish, a test publishes. `horus run robot.toml --virtual` runs all programs of a robot.
//! - Clocks that a step reads by itself are the machine's. Control laws use [`Cycle::release`](crate::node::Cycle::release).
//! - A step that never ends hangs the test: nothing interrupts it.

mod fault;
mod jobs;
mod scratch;
mod topics;
mod unbuilt;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fault::Faults;
pub use fault::{Event, Scripted};
use horus_shm::directory::Scope;
pub(crate) use jobs::Running;
#[doc(hidden)] // for `horus run --virtual`
pub use scratch::Scratch;
pub use scratch::sweep;

use crate::app::{App, Settings, build};
use crate::conduct::BEGINNING;
use crate::deadline::Tally;
use crate::figures::{Sheet, State};
use crate::journal::Entry;
use crate::message::Message;
use crate::message::layout::Layout;
use crate::param::{Assembled, Value};
use crate::port::Sight;
use crate::simulation::{self, Simulation};
use crate::supervise::Watched;
use crate::time::MonotonicTime;
use crate::topic::{Options, Raw};

pub use unbuilt::Unbuilt;

/// Messages that the topics of a test's own publishers hold at least.
const CAPACITY: usize = 64;

/// A world with the nodes of a program.
pub struct VirtualWorld {
    simulation: Simulation,
    running: Running,
    watched: Vec<Watched>,
    sights: Vec<Arc<Sight>>,
    params: Assembled,
    entries: Vec<Entry>,
    publishers: BTreeMap<String, topics::Used>,
    subscribers: BTreeMap<String, topics::Used>,
    // Dropped last: the topics of all of the above are in it.
    directory: Scratch,
}

impl VirtualWorld {
    /// Builds the nodes that `declare` declares. No time has passed.
    ///
    /// # Errors
    /// Those of the program: what is wrong with its graph.
    pub fn new(declare: impl FnOnce(&mut App) -> crate::Result) -> crate::Result<Self> {
        Self::build(Settings::default(), declare)
    }

    /// As [`new`](Self::new), with the settings of a `node.toml`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and what is wrong with the file.
    pub fn with_settings(
        file: impl AsRef<Path>,
        declare: impl FnOnce(&mut App) -> crate::Result,
    ) -> crate::Result<Self> {
        Self::build(Settings::read(file.as_ref())?, declare)
    }

    fn build(settings: Settings, declare: impl FnOnce(&mut App) -> crate::Result) -> crate::Result<Self> {
        let mut declared = Unbuilt::with(settings)?;
        let inside = declared.inside();
        declare(declared.app())?;
        drop(inside);
        declared.build()
    }

    fn of(declared: Unbuilt) -> crate::Result<Self> {
        let Unbuilt { app, directory } = declared;
        let _inside = Scope::enter(directory.path());
        let sights = app.sights();
        let built = build(app)?;
        let sheet = Sheet::own(built.info.nodes.len(), "");
        let (simulation, running) = Running::arrange(built.threads, &built.info.nodes, &sheet)?;
        Ok(Self {
            simulation,
            running,
            watched: built.watched,
            sights,
            params: built.params,
            entries: Vec::new(),
            publishers: BTreeMap::new(),
            subscribers: BTreeMap::new(),
            directory,
        })
    }

    /// What time it is: on the clock of [`Cycle::release`](crate::node::Cycle::release), which does not begin at zero.
    pub fn now(&self) -> MonotonicTime {
        self.simulation.now()
    }

    /// How much time has passed.
    pub fn elapsed(&self) -> Duration {
        self.now().since(BEGINNING)
    }

    /// Where its topics are, for what a test opens by itself: `Options::default().directory(world.directory())`.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Lets time pass, and the nodes run.
    pub fn run_for(&mut self, span: Duration) {
        let _inside = Scope::enter(self.directory.path());
        let end = self.now().plus(span);
        loop {
            let now = self.simulation.now();
            self.running.release_by_events(&mut self.simulation, now);
            let Some(event) = self.simulation.next_event(end, &mut self.running) else { break };
            self.running.take(&event);
            if let simulation::Event::Complete { at, .. } = event {
                self.collect(at);
            }
            if self.running.has_stopped() {
                break;
            }
        }
        self.collect(self.now());
    }

    fn collect(&mut self, now: MonotonicTime) {
        for node in &mut self.watched {
            node.collect(now, |entry| self.entries.push(entry));
        }
    }

    /// Publishes a message, as another program would: on a topic as the nodes ask for, and of the last 64 messages where they do not.
    ///
    /// # Panics
    /// When the topic cannot be opened, or when a program of this world publishes it: then the test has not what it wants. When a
    /// reliable topic is full: its nodes read when time passes.
    pub fn publish<M: Message>(&mut self, topic: &str, message: &M) {
        self.publish_as::<Raw>(topic, &Layout::of::<M>(), message.as_bytes())
            .unwrap_or_else(|error| panic!("cannot publish topic {topic}: {error}"));
    }

    /// As [`publish`](Self::publish), on a topic that the first call makes so.
    ///
    /// # Panics
    /// As there.
    pub fn publish_with<M: Message>(&mut self, topic: &str, options: Options, message: &M) {
        self.publish_as_with::<Raw>(topic, options, &Layout::of::<M>(), message.as_bytes())
            .unwrap_or_else(|error| panic!("cannot publish topic {topic}: {error}"));
    }

    /// The newest message of a topic by now; `None` while there is none. A large one, such as an image, is easier on the stack of a test
    /// by [`last_boxed`](Self::last_boxed).
    ///
    /// # Panics
    /// When the topic cannot be opened, or has another type of message.
    pub fn last<M: Message>(&mut self, topic: &str) -> Option<M> {
        self.last_boxed(topic).map(|message| *message)
    }

    /// As [`last`](Self::last), on the heap.
    ///
    /// # Panics
    /// As there.
    pub fn last_boxed<M: Message>(&mut self, topic: &str) -> Option<Box<M>> {
        let found = self.last_as::<Raw>(topic, &Layout::of::<M>());
        let bytes = found.unwrap_or_else(|error| panic!("cannot look at topic {topic}: {error}"))?;
        let mut message = M::new_box_zeroed().expect("there is memory for a message");
        message.as_mut_bytes().copy_from_slice(bytes);
        Some(message)
    }

    /// Has the node wake up so much after its releases.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn delay(&mut self, node: &str, lateness: Duration) -> Scripted<'_> {
        self.faults(node).delay(lateness)
    }

    /// Has the node's steps take so long.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn takes(&mut self, node: &str, execution_time: Duration) -> Scripted<'_> {
        self.faults(node).takes(execution_time)
    }

    /// Has a node in its safe state run its steps again, as `horus node rearm` does.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn rearm(&mut self, node: &str) {
        self.running.of(node).rearm();
    }

    /// Sets a parameter of a node, as `horus param set` does; the node has it from its next step on.
    ///
    /// # Errors
    /// When there is none of this name, or it may not have this value. Nothing changes then.
    pub fn set_param(&mut self, node: &str, name: &str, value: impl Into<Value>) -> crate::Result {
        self.params.set(node, name, &value.into()).map_err(crate::Error::new)
    }

    /// Has the next messages of a topic never come to the inputs of the program.
    pub fn lose(&mut self, topic: &str, messages: u64) {
        for sight in self.sights.iter().filter(|sight| sight.topic() == topic) {
            sight.lose(messages);
        }
    }

    /// Whether a node reads this topic.
    pub fn has_input(&self, topic: &str) -> bool {
        self.sights.iter().any(|sight| sight.topic() == topic)
    }

    /// Whether there is a node of this name.
    pub fn has_node(&self, node: &str) -> bool {
        self.running.names().any(|name| name == node)
    }

    /// The account of a node by now: a step that runs beyond its deadline is a miss already, and so are the releases that have passed meanwhile.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn tally(&self, node: &str) -> Tally {
        self.running.of(node).tally_by(self.now())
    }

    /// What a node does.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn state(&self, node: &str) -> State {
        self.running.of(node).state()
    }

    /// What the journal would say, in the order in which it came.
    pub fn journal(&self) -> &[Entry] {
        &self.entries
    }

    /// Everything that happened, in order. Two worlds that were told the same have the same.
    pub fn events(&self) -> &[Event] {
        self.running.events()
    }

    fn faults(&mut self, node: &str) -> &mut Faults {
        self.running.faults(node)
    }
}
