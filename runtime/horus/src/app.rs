//! A program of nodes: what it declares, and how it runs.
//!
//! ```no_run
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
//! horus::main!(balance);
//! ```
//!
//! Journal, SIGTERM, systemd's readiness and watchdog, locked memory, CPU, scheduling policy, admission and the account of every miss come by
//! themselves. `docs/nodes.md` is the guide.
//!
//! # Which ports are whose
//! The inputs and outputs that were opened since the last node belong to the next one, and so do the parameters that were declared since.
//!
//! # What it does not do
//! - A step that hangs holds up the other nodes of its thread: nodes of one CPU and priority share one.
//! - It does not look at the order of data: nodes of one thread run by release, and those of the same release as declared.

mod account;
mod action;
mod any_param;
mod build;
mod command_line;
mod conducted;
mod in_place;
mod run;
mod service;
mod settings;
mod vanished;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use account::NodeAccount;
pub(crate) use build::{Built, ThreadPlan, build, virtual_cpu};
pub use command_line::{complain, finish, main, start, start_with};
#[cfg(test)]
pub(crate) use in_place::executor;
pub(crate) use settings::Settings;
pub use settings::{GROUPS, Installation, Restart, SettingsError, pretty, schema};

use crate::conduct::Turns;
use crate::graph::ChainInfo;
use crate::message::Message;
use crate::node::{Node, Spec};
use crate::param::{self, Param, Slot};
use crate::port::{Input, MAX_OUTPUT_BYTES, OpenTrigger, Outlet, Output, Sight, Wanted, check_size, pair};
use crate::stop;
use crate::time::MonotonicTime;
use crate::topic::{Group, IntoTopicName, OpenError, Options, Payload, Publisher, Subscriber};
use crate::transform::{self, Broadcaster, Frames, StaticBroadcaster};
use service::Services;
use vanished::TopicFiles;

/// Makes `main` of a function that declares a program's nodes. The program is named as its file, so that the programs of one
/// package run side by side.
#[macro_export]
macro_rules! main {
    ($declare:path) => {
        fn main() -> ::std::process::ExitCode {
            // Cargo names the file for a binary and for an example, and for no other.
            $crate::app::main(option_env!("CARGO_BIN_NAME").unwrap_or(env!("CARGO_PKG_NAME")), $declare)
        }
    };
}

/// The stack of a loop. All of it is locked, so it is not generous.
const STACK_BYTES: usize = 512 * 1024;

/// A program of nodes.
pub struct App {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    place: Place,
    inputs: Vec<DeclaredInput>,
    outlets: Vec<Outlet>,
    params: Vec<Arc<Slot>>,
    services: Services,
    pub(crate) nodes: Vec<Declared>,
    pub(crate) chains: Vec<ChainInfo>,
    pub(crate) releases: Option<u64>,
    pub(crate) is_strict: bool,
    pub(crate) background: Vec<Box<dyn FnMut(MonotonicTime) + Send>>,
    stack_bytes: usize,
    grace: Duration,
    /// Who may set parameters; `None` for who may use its topics.
    setters: Option<Group>,
    topic_files: TopicFiles,
    /// Where its topics are, if it is only described.
    described_in: Option<crate::world::Scratch>,
    /// Whose time it has, if a conductor started it.
    turns: Option<Turns>,
}

/// Where its topics are, and whose time it has.
#[derive(Clone, Debug)]
enum Place {
    /// The machine's.
    Machine,
    /// Those that the environment names, and time that passes when a conductor says so.
    Conducted,
    /// A directory of its own, and time that passes when a test says so.
    Virtual(PathBuf),
}

/// A node, as it was declared.
pub(crate) struct Declared {
    pub spec: Spec,
    pub node: Box<dyn Node + Send>,
    pub inputs: Vec<DeclaredInput>,
    pub outlets: Vec<Outlet>,
    pub params: Vec<Arc<Slot>>,
    pub services: Services,
}

/// An input, as it was declared.
pub(crate) struct DeclaredInput {
    pub sight: Arc<Sight>,
    pub open_trigger: OpenTrigger,
}

impl App {
    /// A program without nodes. Its settings are those of `node.toml`: the file that `$HORUS_NODE_FILE` names, or the one in the
    /// current folder if it is for this program.
    ///
    /// With `--describe` on its command line the process does not run its nodes: its topics are elsewhere, and [`run`](Self::run) prints
    /// what its nodes are and ends it. So `horus node check` asks any program.
    ///
    /// # Errors
    /// When that file cannot be read, or says what makes no sense; the error names file, line and remedy. When a program of this
    /// name runs already.
    pub fn new(name: &str) -> crate::Result<Self> {
        if command_line::is_asked_to_describe() {
            return command_line::described(name);
        }
        run::refuse_second(name)?;
        let turns = Turns::from_environment()?;
        let place = if turns.is_some() { Place::Conducted } else { Place::Machine };
        Ok(Self { turns, ..Self::with(name, Settings::find(name)?, place) })
    }

    /// One whose topics are in `directory`, for virtual time.
    pub(crate) fn in_virtual_time(directory: PathBuf, settings: Settings) -> Self {
        Self::with("virtual", settings, Place::Virtual(directory))
    }

    fn with(name: &str, settings: Settings, place: Place) -> Self {
        Self {
            name: name.to_owned(),
            is_strict: settings.is_strict(),
            grace: settings.grace().unwrap_or(stop::GRACE),
            setters: settings.setters(),
            settings,
            place,
            inputs: Vec::new(),
            outlets: Vec::new(),
            params: Vec::new(),
            services: Services::default(),
            nodes: Vec::new(),
            chains: Vec::new(),
            releases: None,
            background: Vec::new(),
            stack_bytes: STACK_BYTES,
            topic_files: TopicFiles::default(),
            described_in: None,
            turns: None,
        }
    }

    /// An input of the next node. It may be opened before anybody publishes the topic.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do.
    pub fn input<M: Message>(&mut self, topic: &str) -> crate::Result<Input<M>> {
        self.input_with(topic, Options::default())
    }

    /// As [`input`](Self::input), with what it asks of its topic.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn input_with<M: Message>(&mut self, topic: &str, options: Options) -> crate::Result<Input<M>> {
        self.input_as::<M>(topic, (), options)
    }

    /// As [`input_with`](Self::input_with), for every [kind](crate::topic::payload) of payload: `shape` is what both ends say of the
    /// messages, such as [`Bytes::up_to(256)`](crate::topic::Bytes::up_to).
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn input_as<P: Payload + ?Sized>(
        &mut self,
        topic: &str,
        shape: P::Shape<'_>,
        options: Options,
    ) -> crate::Result<Input<P>> {
        self.settings.allow_subscriber(topic)?;
        Ok(self.open_input(topic, shape, options)?)
    }

    /// As [`input_as`](Self::input_as), of a topic that the node may read.
    fn open_input<P: Payload + ?Sized>(
        &mut self,
        topic: impl IntoTopicName,
        shape: P::Shape<'_>,
        options: Options,
    ) -> Result<Input<P>, OpenError> {
        let name = topic.into_topic_name()?;
        let options = self.placed(options);
        let sight = Arc::new(Sight::new(name.as_str(), matches!(self.place, Place::Machine)));
        let wanted = P::with_kind(shape, |kind, size| Ok(Wanted::of(kind, size)))?;
        let input = Input::new(Subscriber::<P>::open_as(&name, shape, &options)?, Arc::clone(&sight));
        self.topic_files.note(&name, &options, false);
        // What comes between now and then releases the node, too.
        let begins = input.positions();
        self.inputs.push(DeclaredInput { sight, open_trigger: Box::new(move || wanted.open(&name, options, &begins)) });
        Ok(input)
    }

    /// An output of the next node: of a `latest` topic that holds 16 messages, where no peer made it otherwise.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do.
    pub fn output<M: Message>(&mut self, topic: &str) -> crate::Result<Output<M>> {
        self.output_with(topic, Options::default())
    }

    /// As [`output`](Self::output), with what it makes its topic like.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn output_with<M: Message>(&mut self, topic: &str, options: Options) -> crate::Result<Output<M>> {
        const { assert!(size_of::<M>() <= MAX_OUTPUT_BYTES, "too large for an output: let the node own a Publisher") };
        self.output_as::<M>(topic, (), options)
    }

    /// As [`output_with`](Self::output_with), for every [kind](crate::topic::payload) of payload: `shape` is what both ends say of the
    /// messages, such as [`Bytes::up_to(256)`](crate::topic::Bytes::up_to).
    ///
    /// # Errors
    /// As [`output`](Self::output), and when a message can have more than [`MAX_OUTPUT_BYTES`].
    pub fn output_as<P: Payload + ?Sized>(
        &mut self,
        topic: &str,
        shape: P::Shape<'_>,
        options: Options,
    ) -> crate::Result<Output<P>> {
        check_size(topic, P::with_kind(shape, |_, size| Ok(P::bytes(size)))?)?;
        let options = self.settings.allow_publisher(topic, self.placed(options))?;
        let name = topic.into_topic_name()?;
        let publisher = Publisher::<P>::open_as(&name, shape, &options)?;
        let (output, outlet) = pair(name.as_str(), publisher.into_publication());
        self.outlets.push(outlet);
        self.topic_files.note(&name, &options, true);
        Ok(output)
    }

    /// All frames of this namespace, to be looked up in the steps of a node. `node.toml` calls their topic `transforms`.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn transforms(&mut self) -> crate::Result<Frames> {
        self.settings.allow_subscriber(transform::TOPIC)?;
        Ok(Frames::open(&self.placed(Options::default()))?)
    }

    /// Where a moving frame is in its parent, to be sent by the steps of a node: by each with the time of its release, or of what it
    /// measured.
    ///
    /// A transform is known as soon as it is sent, and not first at the end of the step.
    ///
    /// # Errors
    /// As [`output`](Self::output), and when another program sends the frame or the tree would have a loop
    /// ([`SendError`](transform::SendError)).
    pub fn broadcaster(&mut self, parent: &str, child: &str) -> crate::Result<Broadcaster> {
        Ok(Broadcaster::open(parent, child, &self.of_frames()?)?)
    }

    /// Where static frames are, sent once. They are known as long as the node lives that keeps this.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn static_broadcaster(&mut self) -> crate::Result<StaticBroadcaster> {
        Ok(StaticBroadcaster::open(&self.of_frames()?)?)
    }

    fn of_frames(&self) -> crate::Result<Options> {
        Ok(self.settings.allow_publisher(transform::TOPIC, self.placed(Options::default()))?)
    }

    /// A parameter of the next node, with the value that it has where nothing else is said: a truth value, a whole number (`i64`), a
    /// number (`f64`) or a text. Other programs set it while this one runs, by `horus param set` or
    /// [`Params`](crate::param::Params).
    ///
    /// What is wrong with a declaration is told when the program starts.
    pub fn param<D: param::Default>(&mut self, name: &str, default: D) -> Param<D::Type> {
        let (param, slot) = Param::declare(name, &default.value());
        self.params.push(slot);
        param
    }

    /// Has the members of a group alone set the parameters, if `node.toml` names no other one; who may use the program's topics may read
    /// them. Otherwise who may use the topics may set them, too.
    pub fn param_group(&mut self, group: impl Into<Group>) -> &mut Self {
        self.setters = self.settings.setters().or_else(|| Some(group.into()));
        self
    }

    /// Adds a node; what it returns takes its period and its other wishes.
    pub fn node(&mut self, name: &str, node: impl Node + Send + 'static) -> &mut Spec {
        let declared = Declared {
            spec: Spec::new(name),
            node: Box::new(node),
            inputs: std::mem::take(&mut self.inputs),
            outlets: std::mem::take(&mut self.outlets),
            params: std::mem::take(&mut self.params),
            services: std::mem::take(&mut self.services),
        };
        self.nodes.push(declared);
        &mut self.nodes.last_mut().expect("it was just added").spec
    }

    /// Names nodes that hand data on to each other, the first one first; [`Chain::end_to_end`] says how long that may take.
    pub fn chain<const COUNT: usize>(&mut self, nodes: [&str; COUNT]) -> Chain<'_> {
        self.chain_of(&nodes)
    }

    /// As [`chain`](Self::chain), for who knows their number only at run time.
    pub fn chain_of(&mut self, nodes: &[&str]) -> Chain<'_> {
        self.chains.push(ChainInfo { nodes: nodes.iter().map(|&node| node.to_owned()).collect(), end_to_end_ns: 0 });
        Chain(self.chains.last_mut().expect("it was just added"))
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The wishes of the node that was added as number `index`, from 0: for who cannot keep what [`node`](Self::node) lends.
    pub fn spec(&mut self, index: usize) -> Option<&mut Spec> {
        Some(&mut self.nodes.get_mut(index)?.spec)
    }

    /// Ends the program after so many releases of each node.
    pub fn releases(&mut self, releases: u64) -> &mut Self {
        self.releases = Some(releases);
        self
    }

    /// Does not start unless the system grants everything that a node asks for. Otherwise the journal says what is missing.
    pub fn strict(&mut self) -> &mut Self {
        self.is_strict = true;
        self
    }

    /// Gives each thread of nodes a stack of so many bytes, all of which is locked; 512 KiB if not said otherwise.
    ///
    /// A step that needs more ends the program by a signal: `thread 'NAME' has overflowed its stack`. A large message is better off in a `Box`.
    pub fn stack(&mut self, bytes: usize) -> &mut Self {
        self.stack_bytes = bytes;
        self
    }

    /// Has a second SIGTERM or SIGINT within this time of the first one change nothing; 1 s if neither this nor `node.toml` says
    /// otherwise. A later one, or a third one, ends the program at once.
    pub fn grace(&mut self, grace: Duration) -> &mut Self {
        self.grace = self.settings.grace().unwrap_or(grace);
        self
    }

    /// Adds background work for the thread beside the loops, which has no deadline: it is called ten times a second, and a last time with
    /// [`MonotonicTime::MAX`].
    pub fn background(&mut self, work: impl FnMut(MonotonicTime) + Send + 'static) -> &mut Self {
        self.background.push(Box::new(work));
        self
    }

    /// What all inputs see by.
    pub(crate) fn sights(&self) -> Vec<Arc<Sight>> {
        self.nodes.iter().flat_map(|node| &node.inputs).map(|input| Arc::clone(&input.sight)).collect()
    }

    fn placed(&self, options: Options) -> Options {
        match &self.place {
            Place::Machine | Place::Conducted => options,
            Place::Virtual(directory) => options.directory(directory),
        }
    }
}

/// A chain of nodes; see [`App::chain`].
pub struct Chain<'a>(&'a mut ChainInfo);

impl Chain<'_> {
    /// The longest time from the first node's release to the last one's completion; a graph that may take longer is refused.
    pub fn end_to_end(self, limit: Duration) {
        self.0.end_to_end_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    }
}
