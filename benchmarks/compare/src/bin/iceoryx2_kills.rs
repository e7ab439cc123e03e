//! Kills publishers and subscribers of iceoryx2 at random times, and looks at what the survivors and the files say.
//!
//! A publisher and a subscriber live through it all; the publisher is lossless and retries until delivered. Each victim
//! gets up to 30 ms from the start of its process to its `SIGKILL`: it dies while it loads, joins, or works. Afterwards
//! files are counted: as they are, after iceoryx2's own cleanup of dead nodes, and when the survivors have left and a new
//! node has cleaned up once more.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::stage::Scratch;
use horus_benchmarks::transport::Failure;
use horus_compare::iceoryx::{Marked, config, node, sweep};
use horus_compare::tasks::Medium;
use horus_compare::victims::{self, CAPACITY, COULD_NOT_JOIN, Publishing, Subscribing, Victim, files};
use iceoryx2::port::{BackpressureAction, BackpressureInfo};
use iceoryx2::prelude::BackpressureStrategy;
use serde_json::json;

/// The longest that a victim lives.
const LIFE: Duration = Duration::from_millis(30);
/// How long the survivors go on after each kill.
const AFTERMATH: Duration = Duration::from_millis(5);
/// A survivor that waits this long is blocked: it gives up on the message, which its handler is asked about.
const BLOCKED: Duration = Duration::from_millis(100);
/// Longer than iceoryx2 grants anybody to finish making a file (`creation_timeout`, 1 s), before it is swept for good.
const CREATION: Duration = Duration::from_millis(1200);
/// A survivor that is silent this long hangs: the program says so and ends with status 2.
const HUNG: Duration = Duration::from_secs(30);
/// The publisher number of the survivor; victims count below it.
const SURVIVOR: u64 = 127;

#[derive(Parser)]
#[command(about, long_about = None)]
struct Options {
    /// How many processes to kill, publishers and subscribers in turn
    #[arg(long, default_value_t = 200)]
    count: u64,
    /// Kill 40
    #[arg(long)]
    quick: bool,
    /// Start of the random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print only the JSON object
    #[arg(long)]
    json: bool,
}

/// The two that live on, and what they saw.
struct Survivors {
    publisher: Publishing,
    subscriber: Subscribing,
    prepared: Prepared<Medium>,
    sent: u64,
    own_received: u64,
    from_victims: u64,
    corrupt: u64,
    blocked: u64,
    errors: Vec<String>,
    longest_send: Duration,
    longest_receive: Duration,
}

impl Survivors {
    fn live_until(&mut self, end: Instant) {
        while Instant::now() < end {
            self.send();
            self.receive();
        }
    }

    fn send(&mut self) {
        let mark = Mark::Message { publisher: SURVIVOR, sequence: self.sent };
        let start = Instant::now();
        let sent = self.publisher.loan_uninit().map_err(|error| format!("loan: {error}")).and_then(|sample| {
            sample.write_payload(Marked(*self.prepared.number(mark))).send().map_err(|error| format!("send: {error}"))
        });
        let took = start.elapsed();
        self.longest_send = self.longest_send.max(took);
        self.blocked += u64::from(took >= BLOCKED);
        match sent {
            Ok(_) => self.sent += 1,
            Err(error) => note(&mut self.errors, error),
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
                    Some(Mark::Message { publisher: SURVIVOR, .. }) => self.own_received += 1,
                    Some(_) => self.from_victims += 1,
                    None => self.corrupt += 1,
                },
                Ok(None) => return,
                Err(error) => return note(&mut self.errors, format!("receive: {error}")),
            }
        }
    }
}

/// Keeps each error text once.
fn note(errors: &mut Vec<String>, error: String) {
    if !errors.contains(&error) {
        errors.push(error);
    }
}

fn run(options: &Options) -> Result<serde_json::Value, Failure> {
    let count = if options.quick { 40 } else { options.count };
    let scratch = Scratch::new()?;
    let config = config(scratch.path())?;
    let node = node(&config)?;
    let service = victims::service(&node)?;
    let give_up = |info: &BackpressureInfo| match info.elapsed_time {
        waited if waited >= BLOCKED => BackpressureAction::DiscardData,
        _ => BackpressureAction::Retry,
    };
    let mut survivors = Survivors {
        publisher: service
            .publisher_builder()
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .set_backpressure_handler(give_up)
            .create()?,
        subscriber: service.subscriber_builder().buffer_size(CAPACITY).create()?,
        prepared: Prepared::new(),
        sent: 0,
        own_received: 0,
        from_victims: 0,
        corrupt: 0,
        blocked: 0,
        errors: Vec::new(),
        longest_send: Duration::ZERO,
        longest_receive: Duration::ZERO,
    };
    survivors.live_until(Instant::now() + AFTERMATH);
    let before = files(&config).len();

    let kills = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&kills));
    let mut random = options.seed | 1;
    let mut could_not_join = 0;
    for number in 0..count {
        let kind = if number.is_multiple_of(2) { Victim::Publisher } else { Victim::Subscriber };
        let mut victim = kind.start(scratch.path(), number % SURVIVOR)?;
        survivors.live_until(Instant::now() + LIFE.mul_f64(next(&mut random)));
        if victim.try_wait()?.is_some_and(|status| status.code() == Some(COULD_NOT_JOIN)) {
            could_not_join += 1;
        }
        victim.kill()?;
        kills.fetch_add(1, Ordering::Relaxed);
        victim.wait()?;
        survivors.live_until(Instant::now() + AFTERMATH);
        let mut said = String::new();
        victim.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said)).transpose()?;
        if let Some(line) = said.lines().find(|line| line.starts_with("victim:")) {
            note(&mut survivors.errors, line.to_owned());
        }
    }
    let left = files(&config).len();
    let cleanup = node.blocking_cleanup_dead_nodes(Duration::from_secs(1));
    let after_cleanup = files(&config).len();
    let Survivors { publisher, subscriber, sent, own_received, from_victims, corrupt, blocked, errors, .. } = survivors;
    drop((publisher, subscriber, service, node));
    std::thread::sleep(CREATION);
    horus_compare::iceoryx::node(&config)?.blocking_cleanup_dead_nodes(Duration::from_secs(1));
    let in_the_end = files(&config);
    Ok(json!({
        "schema": "horus-kills/1", "system": "iceoryx2", "seed": options.seed, "kills": count,
        "sent": sent, "received": own_received, "from_victims": from_victims, "corrupt": corrupt,
        "blocked_100_ms": blocked,
        "longest_send_us": survivors.longest_send.as_micros() as u64,
        "longest_receive_us": survivors.longest_receive.as_micros() as u64,
        "could_not_join": could_not_join, "errors": errors,
        "files_before": before, "files_left": left.saturating_sub(before),
        "cleanups": cleanup.cleanups, "failed_cleanups": cleanup.failed_cleanups,
        "files_left_after_cleanup": after_cleanup.saturating_sub(before),
        "files_left_in_the_end": in_the_end.len(), "examples": in_the_end.iter().take(3).collect::<Vec<_>>(),
    }))
}

/// Ends the program when no kill follows for [`HUNG`]: then a survivor hangs in a call that should have returned.
fn watch(kills: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut last = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = kills.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > HUNG {
                eprintln!("iceoryx2_kills: a survivor hangs in a call of iceoryx2 since kill {now}");
                sweep();
                std::process::exit(2);
            }
        }
    });
}

/// A number from 0 to 1 (xorshift64, G. Marsaglia 2003).
fn next(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

fn sentence(found: &serde_json::Value) -> String {
    format!(
        "iceoryx2: {} processes killed; survivors sent {} and received {} messages, {} corrupt, were blocked for \
         100 ms {} times, longest send {} µs, longest receive {} µs; {} victims could not join; {} files left, {} after \
         its cleanup, {} when the survivors had left and a new node had swept once more.",
        found["kills"],
        found["sent"],
        found["received"],
        found["corrupt"],
        found["blocked_100_ms"],
        found["longest_send_us"],
        found["longest_receive_us"],
        found["could_not_join"],
        found["files_left"],
        found["files_left_after_cleanup"],
        found["files_left_in_the_end"],
    )
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == victims::ARGUMENT) {
        if let Err(error) = Victim::be(&arguments[2..]) {
            eprintln!("victim: {error}");
        }
        return ExitCode::from(COULD_NOT_JOIN as u8);
    }
    let options = Options::parse();
    let outcome = run(&options);
    sweep();
    match outcome {
        Ok(found) => {
            println!("{found:#}");
            if !options.json {
                println!("{}", sentence(&found));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("iceoryx2_kills: {error}");
            ExitCode::FAILURE
        }
    }
}
