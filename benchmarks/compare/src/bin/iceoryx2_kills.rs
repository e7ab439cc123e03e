//! Kills publishers and subscribers of iceoryx2 at random times, and looks at what the survivors and the files say.
//!
//! A publisher and a subscriber live through it all; the publisher is lossless and retries until delivered. Each victim
//! gets up to 30 ms from the start of its process to its `SIGKILL`: it dies while it loads, joins, or works. Afterwards
//! files are counted: as they are, after iceoryx2's own cleanup of dead nodes, and when the survivors have left and a new
//! node has cleaned up once more.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::peer::{Peer, Role};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::{Failure, Medium};
use horus_compare::iceoryx::{Marked, config, files, node, sweep};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::{BackpressureAction, BackpressureInfo};
use iceoryx2::prelude::{BackpressureStrategy, Node, ServiceName, ipc};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

/// Processes that are killed, publishers and subscribers in turn; fewer with `--quick`.
const KILLS: u64 = 200;
const QUICK_KILLS: u64 = 40;
/// The longest that a victim lives.
const LIFE: Duration = Duration::from_millis(30);
/// How long the survivors go on after each kill.
const AFTERMATH: Duration = Duration::from_millis(5);
/// A survivor that waits this long is blocked: it gives up on the message, which its handler is asked about.
const BLOCKED: Duration = Duration::from_millis(100);
/// Longer than iceoryx2 grants anybody to finish making a file (`creation_timeout`, 1 s), before it is swept for good.
const CREATION: Duration = Duration::from_millis(1200);
/// The publisher number of the survivor; victims count below it.
const SURVIVOR: u64 = 127;
/// Messages that a subscriber's buffer holds.
const CAPACITY: usize = 16;
const PUBLISHER: &str = "publisher";
const SUBSCRIBER: &str = "subscriber";

type Service = PortFactory<ipc::Service, Marked<Medium>, ()>;

/// Opens the service, or makes it: lossless, with room for one victim of each kind and for several dead ones.
fn service(node: &Node<ipc::Service>) -> Result<Service, Failure> {
    let builder = node.service_builder(&ServiceName::new("kills")?).publish_subscribe::<Marked<Medium>>();
    Ok(builder
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(CAPACITY)
        .history_size(0)
        .max_publishers(16)
        .max_subscribers(16)
        .max_nodes(32)
        .open_or_create()?)
}

/// What a victim does, as fast as it can: publishes and drops what does not fit, or receives; ends when it cannot.
fn be_a_victim(role: &Role) -> Result<(), Failure> {
    let node = node(&config(&role.meeting.directory)?)?;
    let service = service(&node)?;
    if role.role == SUBSCRIBER {
        let port = service.subscriber_builder().buffer_size(CAPACITY).create()?;
        loop {
            drop(port.receive()?);
            std::thread::yield_now();
        }
    }
    let port = service.publisher_builder().backpressure_strategy(BackpressureStrategy::DiscardData).create()?;
    let (publisher, mut prepared) = (role.meeting.name.parse()?, Prepared::default());
    for sequence in 0.. {
        let sample = port.loan_uninit()?;
        sample.write_payload(Marked(*prepared.number(Mark::Message { publisher, sequence }))).send()?;
        std::thread::yield_now();
    }
    Ok(())
}

/// The two that live on, and what they saw.
struct Survivors {
    publisher: Publisher<ipc::Service, Marked<Medium>, ()>,
    subscriber: Subscriber<ipc::Service, Marked<Medium>, ()>,
    prepared: Prepared<Medium>,
    counts: Counts,
    from_victims: u64,
    blocked: u64,
    errors: Vec<String>,
    longest_send: Duration,
    longest_receive: Duration,
}

impl Survivors {
    fn join(service: &Service) -> Result<Self, Failure> {
        let give_up = |info: &BackpressureInfo| match info.elapsed_time {
            waited if waited >= BLOCKED => BackpressureAction::DiscardData,
            _ => BackpressureAction::Retry,
        };
        let builder = service.publisher_builder().backpressure_strategy(BackpressureStrategy::RetryUntilDelivered);
        Ok(Self {
            publisher: builder.set_backpressure_handler(give_up).create()?,
            subscriber: service.subscriber_builder().buffer_size(CAPACITY).create()?,
            prepared: Prepared::default(),
            counts: Counts::default(),
            from_victims: 0,
            blocked: 0,
            errors: Vec::new(),
            longest_send: Duration::ZERO,
            longest_receive: Duration::ZERO,
        })
    }

    fn live_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.send();
            self.receive();
        }
    }

    fn send(&mut self) {
        let mark = Mark::Message { publisher: SURVIVOR, sequence: self.counts.sent };
        let start = Instant::now();
        let sent = self.publisher.loan_uninit().map_err(|error| format!("loan: {error}")).and_then(|sample| {
            sample.write_payload(Marked(*self.prepared.number(mark))).send().map_err(|error| format!("send: {error}"))
        });
        let took = start.elapsed();
        self.longest_send = self.longest_send.max(took);
        self.blocked += u64::from(took >= BLOCKED);
        match sent {
            Ok(_) => self.counts.sent += 1,
            Err(error) => self.note(error),
        }
    }

    /// Takes what fits a buffer, and no more: a victim that is alive may send as fast as this receives.
    fn receive(&mut self) {
        for _ in 0..CAPACITY {
            let start = Instant::now();
            let received = self.subscriber.receive();
            self.longest_receive = self.longest_receive.max(start.elapsed());
            match received {
                Ok(Some(sample)) => match verify(&sample.payload().0) {
                    Some(Mark::Message { publisher: SURVIVOR, .. }) => self.counts.received += 1,
                    Some(_) => self.from_victims += 1,
                    None => self.counts.corrupt += 1,
                },
                Ok(None) => return,
                Err(error) => return self.note(format!("receive: {error}")),
            }
        }
    }

    /// Keeps each error text once.
    fn note(&mut self, error: String) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }
}

fn kill(stage: &Stage) -> Result<Measured, Failure> {
    let kills = if stage.effort.is_quick() { QUICK_KILLS } else { KILLS };
    let config = config(&stage.meeting.directory)?;
    let node = node(&config)?;
    let service = service(&node)?;
    let mut survivors = Survivors::join(&service)?;
    survivors.live_for(AFTERMATH);
    let before = files(&config).len();

    let (mut random, mut could_not_join) = (fastrand::Rng::with_seed(1), 0);
    for number in 0..kills {
        let mut meeting = stage.meeting.clone();
        meeting.name = (number % SURVIVOR).to_string();
        let role = if number.is_multiple_of(2) { PUBLISHER } else { SUBSCRIBER };
        let victim = Peer::start(stage, &meeting, role)?;
        survivors.live_for(LIFE.mul_f64(random.f64()));
        could_not_join += u64::from(!victim.lives());
        drop(victim); // kills it
        survivors.live_for(AFTERMATH);
    }
    let left = files(&config).len();
    let cleanup = node.blocking_cleanup_dead_nodes(Duration::from_secs(1));
    let after_cleanup = files(&config).len();
    let Survivors {
        publisher, subscriber, counts, from_victims, blocked, errors, longest_send, longest_receive, ..
    } = survivors;
    drop((publisher, subscriber, service, node));
    std::thread::sleep(CREATION);
    horus_compare::iceoryx::node(&config)?.blocking_cleanup_dead_nodes(Duration::from_secs(1));
    let in_the_end = files(&config);
    let Counts { sent, received, corrupt, .. } = counts;
    let note = format!(
        "{kills} processes killed; survivors sent {sent} and received {received} messages of their own and {from_victims} of the \
         victims', {corrupt} corrupt, were blocked for 100 ms {blocked} times, longest send {} µs, longest receive {} µs; \
         {could_not_join} victims could not join; {} files left, {} after its cleanup ({} done, {} failed), {} when the \
         survivors had left and a new node had swept once more, such as {:?}; errors {errors:?}",
        longest_send.as_micros(),
        longest_receive.as_micros(),
        left.saturating_sub(before),
        after_cleanup.saturating_sub(before),
        cleanup.cleanups,
        cleanup.failed_cleanups,
        in_the_end.len(),
        in_the_end.first(),
    );
    Ok(Measured { counts, note: Some(note), ..Measured::default() })
}

fn tasks() -> Vec<Task> {
    let heading = Heading::new(Path::ProcessNToN, "iceoryx2", size_of::<Medium>()).message("kills").unit("survivors");
    vec![Task::new(heading.ends(2, 2), kill).with_peer(be_a_victim)]
}

fn main() -> ExitCode {
    let status = Suite { name: "iceoryx2_kills", tasks, summary: |_: &[Cell]| Vec::new() }.main();
    sweep();
    status
}
