//! The far end of a message phase: a process of its own that throws back what it gets, `horus determinism-echo`.
//!
//! It plays three parts in a fixed order, the same as the near end: floor, messages, floor.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus::message::Stamp;
use horus::topic::{Directory, NameError, OpenError, Options, Publisher, Subscriber, TopicName, Waiting};
use horus_measure::floor::Ponger;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::determinism::child::pause;

use super::grants::not_granted;
use super::metered::Place;

/// How long each end waits for the other to appear.
pub const MEETING: Duration = Duration::from_secs(5);

/// The longest that one floor may take, whatever the peer does.
pub const FLOOR_LIMIT: Duration = Duration::from_millis(500);

/// Each end spins at most this long before it sleeps: a spinning real-time thread owes its CPU's kernel threads some
/// time.
pub const LONGEST_SPIN: Duration = Duration::from_secs(2);

/// The sequence number that says that there are no more messages.
pub const END: u64 = u64::MAX;

/// What the echo prints when it is ready to play a floor; every line before it is something that it was not granted.
pub const READY: &str = "ready";

/// How long the echo spins without a message before it sleeps a little.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long it sleeps then.
const NAP: Duration = Duration::from_micros(200);

/// Command line of the hidden `horus determinism-echo`.
#[derive(clap::Args)]
pub struct Args {
    /// First part of the topics' names
    #[arg(long)]
    base: String,
    /// CPU to run on
    #[arg(long)]
    cpu: u32,
    /// SCHED_FIFO priority; without one, the ordinary policy
    #[arg(long)]
    priority: Option<u8>,
}

/// The names that both ends meet under.
pub struct Names {
    /// The two floors.
    pub floors: [TopicName; 2],
    /// From the near end to the echo.
    pub ping: TopicName,
    /// Back.
    pub pong: TopicName,
}

impl Names {
    /// Names that start with `base`.
    pub fn new(base: &str) -> Result<Self, NameError> {
        let name = |part: &str| format!("{base}-{part}").parse();
        Ok(Self { floors: [name("floor-before")?, name("floor-after")?], ping: name("ping")?, pong: name("pong")? })
    }
}

/// How the topics of both ends are made.
pub fn options() -> Options {
    Options::reliable(64).waiting(Waiting::Spin)
}

/// Runs `horus determinism-echo`.
pub fn run(args: &Args) -> ExitCode {
    // Should the near end die, so does this process; a near end that is gone already has no topic to find.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none() {
        return ExitCode::FAILURE;
    }
    match play(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(args: &Args) -> Result<(), String> {
    let names = Names::new(&args.base).map_err(|error| error.to_string())?;
    let text = |error: OpenError| error.to_string();
    // Everything is opened before the CPU and the policy are taken: opening makes system calls and locks memory.
    let directory = Directory::from_environment().map_err(text)?;
    let [before, after] = &names.floors;
    let mut floors = [Ponger::open(&directory, before).map_err(text)?, Ponger::open(&directory, after).map_err(text)?];
    let ping = Subscriber::<Stamp>::open(&names.ping, options()).map_err(text)?;
    let pong = Publisher::<Stamp>::open(&names.pong, options()).map_err(text)?;
    let place = Place { cpu: Some(args.cpu), priority: args.priority, longest_computation: LONGEST_SPIN };
    place.take().refused().for_each(|refused| println!("{}", not_granted(refused).replace('\n', ", ")));
    floor(&mut floors[0]);
    echo(ping, pong).map_err(text)?;
    floor(&mut floors[1]);
    Ok(())
}

fn floor(ponger: &mut Ponger) {
    // The near end throws only now: until a process has started, a slow machine needs longer than a floor may take.
    println!("{READY}");
    // The near end's limit ends the game. This one is for a near end that is gone, and the next part finds that out.
    let _ = ponger.pong(2 * FLOOR_LIMIT, &AtomicBool::new(false));
}

fn echo(mut ping: Subscriber<Stamp>, mut pong: Publisher<Stamp>) -> Result<(), OpenError> {
    loop {
        match ping.recv_timeout(PATIENCE) {
            Some(received) if received.message.sequence == END => return Ok(()),
            // Never full: the near end has one message under way at a time, and a lost answer is what it counts.
            Some(received) => drop(pong.try_send_stamped(received.message, received.message.sent_ns)),
            None if ping.is_published()? => pause(NAP),
            None => return Ok(()),
        }
    }
}
