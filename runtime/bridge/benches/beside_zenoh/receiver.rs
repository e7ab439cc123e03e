//! The receiver's process: it takes what comes, compares it with what was sent, and says how long it took.

use std::io::BufRead;
use std::sync::mpsc::channel;
use std::time::Instant;

use horus::topic::{Bytes, Options as Topic, Publisher, Subscriber, WaitStrategy};
use horus_bridge::zenoh::{Links, open};
use horus_sys::clock::monotonic_ns;
use zenoh::Wait;

use super::{BACK, CAPACITY, HEAD, KEY, Options, SAID_EVERY, SILENCE};

/// What a receiver says.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// Messages that came, but for those that only say that a sender is there.
    pub received: u64,
    pub wrong: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    pub per_second: f64,
}

pub fn number_at(message: &[u8], place: usize) -> u64 {
    message.get(place..).and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// What came, as a receiver sees it.
struct Taking {
    count: u64,
    times: Vec<u64>,
    wrong: u64,
    last: u64,
    begun: Option<Instant>,
    came: Instant,
    is_matched: bool,
    back: Publisher<[u8]>,
}

impl Taking {
    fn new(options: &Options) -> Result<Self, String> {
        let (count, times) = (options.count, Vec::with_capacity(options.count as usize));
        let back = Publisher::<[u8]>::open_as(
            BACK,
            Bytes::up_to(8),
            Topic::latest(2).directory(options.back.clone().unwrap_or_default()),
        );
        let back = back.map_err(|error| error.to_string())?;
        Ok(Self { count, times, wrong: 0, last: 0, begun: None, came: Instant::now(), is_matched: false, back })
    }

    fn take(&mut self, message: &[u8]) {
        let now = monotonic_ns();
        let (sequence, due) = (number_at(message, 0), number_at(message, 8));
        if !std::mem::replace(&mut self.is_matched, true) {
            println!("matched");
        }
        if sequence == 0 {
            return;
        }
        self.came = Instant::now();
        self.begun.get_or_insert(self.came);
        self.times.push(now.saturating_sub(due));
        let is_right = sequence > self.last && message[HEAD..].iter().all(|byte| *byte == sequence as u8);
        self.wrong += u64::from(!is_right);
        self.last = sequence;
        if sequence % SAID_EVERY == 0 {
            let _ = self.back.try_send(sequence.to_le_bytes());
        }
    }

    fn is_over(&self) -> bool {
        self.last >= self.count || (self.begun.is_some() && self.came.elapsed() > SILENCE)
    }

    fn say(mut self) {
        self.times.sort_unstable();
        let quantile = |of: usize| {
            self.times.get((self.times.len() * of / 100).min(self.times.len().saturating_sub(1))).copied().unwrap_or(0)
        };
        let seconds = self.begun.map_or(0.0, |begun| (self.came - begun).as_secs_f64());
        let received = self.times.len();
        let (p50, p99, max) = (quantile(50), quantile(99), quantile(100));
        println!(
            "result {received} {} {p50} {p99} {max} {}",
            self.wrong,
            (received.saturating_sub(1)) as f64 / seconds.max(1e-9)
        );
        // Its CPU time is read before it ends.
        let _ = std::io::stdin().lock().read_line(&mut String::new());
    }
}

impl Seen {
    /// From the line that it prints.
    pub fn read(line: &str) -> Option<Self> {
        let words: Vec<f64> = line.split(' ').map_while(|word| word.parse().ok()).collect();
        let [received, wrong, p50, p99, max, per_second] = words[..] else { return None };
        let [received, wrong, p50_ns, p99_ns, max_ns] = [received, wrong, p50, p99, max].map(|number| number as u64);
        Some(Self { received, wrong, p50_ns, p99_ns, max_ns, per_second })
    }
}

pub fn receive_by_zenoh(options: &Options) -> Result<(), String> {
    let session = open(&Links { connect: Vec::new(), listen: vec![options.place.clone()], is_client: false })?;
    let (over, is_over) = channel();
    let mut taking = Some(Taking::new(options)?);
    let come = move |sample: zenoh::sample::Sample| {
        let Some(now) = &mut taking else { return };
        now.take(&sample.payload().to_bytes());
        if now.is_over() {
            let _ = over.send(taking.take());
        }
    };
    let come = std::sync::Mutex::new(come);
    let callback = move |sample| (come.lock().unwrap_or_else(std::sync::PoisonError::into_inner))(sample);
    let subscriber = session.declare_subscriber(KEY).callback(callback).wait().map_err(|error| error.to_string())?;
    println!("ready");
    let taking = is_over.recv().ok().flatten().ok_or("nothing came")?;
    taking.say();
    drop(subscriber);
    Ok(())
}

pub fn receive_by_topic(options: &Options) -> Result<(), String> {
    let topic = Topic::reliable(CAPACITY).directory(&options.place).wait_strategy(WaitStrategy::Sleep);
    let mut subscriber = Subscriber::<[u8]>::open_as("benchmark", Bytes::up_to(options.bytes), &topic)
        .map_err(|error| error.to_string())?;
    println!("ready");
    let mut taking = Taking::new(options)?;
    while !taking.is_over() {
        if let Some(received) = subscriber.recv_timeout(SILENCE / 4) {
            taking.take(received.message);
        }
    }
    taking.say();
    Ok(())
}
