//! The far end of a message phase: a process of its own that throws back what it gets, `horus determinism-echo`.
//!
//! It plays three parts in a fixed order, the same as the near end: floor, messages, floor. For messages with a deadline it plays the
//! second alone.

use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus::message::Stamp;
use horus::topic::{Directory, NameError, OpenError, Options, Publisher, Subscriber, TopicName, WaitStrategy};
use horus_measure::floor::Ponger;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use horus::time::pause;

use super::grants::not_granted;
use super::metered::Place;

/// How long each end waits for the other to appear.
pub(crate) const MEETING: Duration = Duration::from_secs(5);

/// The longest that one floor may take, whatever the peer does.
pub(crate) const FLOOR_LIMIT: Duration = Duration::from_millis(500);

/// Each end spins at most this long before it sleeps: a spinning real-time thread owes its CPU's kernel threads some
/// time.
pub(crate) const LONGEST_SPIN: Duration = Duration::from_secs(2);

/// The sequence number that says that there are no more messages.
pub(crate) const END: u64 = u64::MAX;

/// What the echo prints when it is ready to play a floor; every line before it is something that it was not granted.
pub(crate) const READY: &str = "ready";

/// How long a spinning echo sleeps when no message came.
const NAP: Duration = Duration::from_micros(200);

/// What an echo is told.
pub struct Part {
    /// First part of the topics' names.
    pub base: String,
    /// The CPU to run on.
    pub cpu: u32,
    /// `SCHED_FIFO` priority; without one, the ordinary policy.
    pub priority: Option<u8>,
    /// How it waits, and whether it plays floors.
    pub style: Style,
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

/// How both ends wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Busily, and between two floors: the fastest that the path can be.
    Spinning,
    /// Asleep, as nodes with a period do, and without floors.
    Paced,
}

impl Style {
    /// How the topics are made.
    pub fn options(self) -> Options {
        let wait_strategy = match self {
            Self::Spinning => WaitStrategy::Spin,
            Self::Paced => WaitStrategy::Sleep,
        };
        Options::reliable(64).wait_strategy(wait_strategy)
    }

    /// How long the echo waits for a message before it looks whether the near end is still there.
    fn patience(self) -> Duration {
        match self {
            Self::Spinning => Duration::from_millis(1),
            Self::Paced => Duration::from_millis(500),
        }
    }
}

/// The command that becomes the echo on `cpu`.
pub fn command(base: &str, cpu: u32, priority: Option<u8>, style: Style) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["determinism-echo", "--base", base, "--cpu", &cpu.to_string()]);
    if let Some(priority) = priority {
        command.args(["--priority", &priority.to_string()]);
    }
    if style == Style::Paced {
        command.arg("--paced");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Is the echo, until the near end is gone.
pub fn run(part: &Part) -> ExitCode {
    // Should the near end die, so does this process; a near end that is gone already has no topic to find.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none() {
        return ExitCode::FAILURE;
    }
    match play(part) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(part: &Part) -> Result<(), String> {
    let names = Names::new(&part.base).map_err(|error| error.to_string())?;
    let text = |error: OpenError| error.to_string();
    let style = part.style;
    // Everything is opened before the CPU and the policy are taken: opening makes system calls and locks memory.
    let mut floors = Vec::new();
    if style == Style::Spinning {
        let directory = Directory::from_environment().map_err(text)?;
        for name in &names.floors {
            floors.push(Ponger::open(&directory, name).map_err(text)?);
        }
    }
    let ping = Subscriber::<Stamp>::open(&names.ping, style.options()).map_err(text)?;
    let pong = Publisher::<Stamp>::open(&names.pong, style.options()).map_err(text)?;
    let place = Place { cpu: Some(part.cpu), priority: part.priority, longest_computation: LONGEST_SPIN };
    place.take().refused().for_each(|refused| println!("{}", not_granted(refused).replace('\n', ", ")));
    let [before, after] = floors.as_mut_slice() else {
        println!("{READY}");
        return echo(ping, pong, style).map_err(text);
    };
    floor(before);
    echo(ping, pong, style).map_err(text)?;
    floor(after);
    Ok(())
}

fn floor(ponger: &mut Ponger) {
    // The near end throws only now: until a process has started, a slow machine needs longer than a floor may take.
    println!("{READY}");
    // The near end's limit ends the game. This one is for a near end that is gone, and the next part finds that out.
    let _ = ponger.pong(2 * FLOOR_LIMIT, &AtomicBool::new(false));
}

fn echo(mut ping: Subscriber<Stamp>, mut pong: Publisher<Stamp>, style: Style) -> Result<(), OpenError> {
    loop {
        match ping.recv_timeout(style.patience()) {
            Some(received) if received.message.sequence == END => return Ok(()),
            // Never full: the near end has one message under way at a time, and a lost answer is what it counts.
            Some(received) => drop(pong.try_send_stamped(received.message, received.message.sent_ns)),
            None if ping.is_published()? => pause(NAP),
            None => return Ok(()),
        }
    }
}
