//! The other end for the checks of docs/ros2.md: sends messages that can be computed from their number, or checks those that come.
//!
//! Number `i` of message `n` is `1000 n + i`, and its stamp is not known. A picture has 1024 rows of 1024 bytes: its number, and then
//! the lowest byte of that.
//!
//! ```text
//! peer send TOPIC MESSAGE COUNT EVERY_US [CAPACITY]         horus/Imu, horus/Vector3, horus/ImageHd, horus/CmdVel, bytes
//! peer receive TOPIC MESSAGE COUNT SECONDS [CAPACITY]       prints `received 10000, missed 0, wrong 0`
//! ```

use std::time::{Duration, Instant};

use horus::bytes::{BytesPublisher, BytesSubscriber};
use horus::message::Message;
use horus::messages::{CmdVel, Encoding, FrameShape, ImageHd, Imu, Vector3};
use horus::topic::{Options, Publisher, Subscriber};

/// Bytes of a message in a topic of bytes, at most.
const BYTES: usize = 256;

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    let (Some(verb), Some(topic), Some(message)) = (words.first(), words.get(1), words.get(2)) else {
        eprintln!("peer send|receive TOPIC MESSAGE COUNT EVERY_US|SECONDS [CAPACITY]");
        std::process::exit(2);
    };
    let count = number(3).expect("how many");
    let time = number(4).expect("how long");
    let options = Options::reliable(number(5).unwrap_or(1024) as usize);
    let options = if std::env::var_os("PEER_LATEST").is_some() { Options::latest(number(5).unwrap_or(16) as usize) } else { options };
    match (verb.as_str(), message.as_str()) {
        ("send", "horus/Imu") => send::<Imu>(topic, count, time, &options),
        ("send", "horus/Vector3") => send::<Vector3>(topic, count, time, &options),
        ("send", "horus/ImageHd") => send::<ImageHd>(topic, count, time, &options),
        ("send", "horus/CmdVel") => send::<CmdVel>(topic, count, time, &options),
        ("send", "bytes") => send_bytes(topic, count, time, &options),
        ("receive", "horus/Imu") => receive::<Imu>(topic, count, time, &options),
        ("receive", "horus/Vector3") => receive::<Vector3>(topic, count, time, &options),
        ("receive", "horus/ImageHd") => receive::<ImageHd>(topic, count, time, &options),
        ("receive", "horus/CmdVel") => receive::<CmdVel>(topic, count, time, &options),
        ("receive", "bytes") => receive_bytes(topic, count, time, &options),
        _ => panic!("{verb} {message}: nobody knows how"),
    }
}

/// A message that follows from its number.
trait Pattern: Message {
    fn set(&mut self, number: u64);
}

impl Pattern for Imu {
    fn set(&mut self, number: u64) {
        let mut next = (0_u64..).map(|index| (number * 1000 + index) as f64);
        let mut take = || next.next().unwrap_or(0.0);
        for value in [&mut self.orientation.x, &mut self.orientation.y, &mut self.orientation.z, &mut self.orientation.w] {
            *value = take();
        }
        self.orientation_covariance.iter_mut().for_each(|value| *value = take());
        vector(&mut self.angular_velocity, &mut take);
        self.angular_velocity_covariance.iter_mut().for_each(|value| *value = take());
        vector(&mut self.linear_acceleration, &mut take);
        self.linear_acceleration_covariance.iter_mut().for_each(|value| *value = take());
    }
}

impl Pattern for Vector3 {
    fn set(&mut self, number: u64) {
        let mut index = number * 1000;
        vector(self, &mut || {
            index += 1;
            (index - 1) as f64
        });
    }
}

impl Pattern for CmdVel {
    fn set(&mut self, number: u64) {
        (self.forward, self.turn) = ((number * 1000) as f64, (number * 1000 + 1) as f64);
    }
}

impl Pattern for ImageHd {
    fn set(&mut self, number: u64) {
        let shape = FrameShape::packed(1024, 1024, Encoding::Mono8);
        let picture = self.begin(shape).expect("it fits");
        // Two numbers say which picture it is; the rest costs no more than it must.
        picture.fill(number as u8);
        picture[..8].copy_from_slice(&number.to_le_bytes());
    }
}

fn vector(vector: &mut Vector3, take: &mut impl FnMut() -> f64) {
    (vector.x, vector.y, vector.z) = (take(), take(), take());
}

fn text(number: u64) -> String {
    format!("message {number} {}", "ä".repeat((number % 50) as usize))
}

/// Waits on a grid, so that what is sent late is made up for.
fn pace(start: Instant, number: u64, every_us: u64) {
    let due = start + Duration::from_micros(every_us * number);
    std::thread::park_timeout(due.saturating_duration_since(Instant::now()));
}

fn boxed<M: Message>() -> Box<M> {
    M::new_box_zeroed().expect("there is memory")
}

fn send<M: Pattern>(topic: &str, count: u64, every_us: u64, options: &Options) {
    let mut publisher = Publisher::<M>::open(topic, options).expect("the topic");
    let (start, mut message) = (Instant::now(), boxed::<M>());
    for number in 1..=count {
        pace(start, number, every_us);
        message.set(number);
        let mut loan = publisher.loan().expect("room");
        loan.as_mut_bytes().copy_from_slice(message.as_bytes());
        loan.publish();
    }
    println!("sent {count}");
    linger();
}

fn receive<M: Pattern>(topic: &str, count: u64, seconds: u64, options: &Options) {
    let mut subscriber = Subscriber::<M>::open(topic, options).expect("the topic");
    println!("ready");
    let (end, mut expected, mut received) = (Instant::now() + Duration::from_secs(seconds), boxed::<M>(), boxed::<M>());
    let (mut number, mut wrong) = (0, 0);
    while number < count && Instant::now() < end {
        if subscriber.try_recv_into(&mut received).is_none() {
            std::thread::park_timeout(Duration::from_micros(200));
            continue;
        }
        number += 1;
        expected.set(number);
        wrong += u64::from(received.as_bytes() != expected.as_bytes());
    }
    println!("received {number}, missed {}, wrong {wrong}", subscriber.missed());
}

fn send_bytes(topic: &str, count: u64, every_us: u64, options: &Options) {
    let mut publisher = BytesPublisher::open(topic, BYTES, options).expect("the topic");
    let start = Instant::now();
    for number in 1..=count {
        pace(start, number, every_us);
        publisher.try_send(text(number).as_bytes()).expect("room");
    }
    println!("sent {count}");
    linger();
}

fn receive_bytes(topic: &str, count: u64, seconds: u64, options: &Options) {
    let mut subscriber = BytesSubscriber::open(topic, BYTES, options).expect("the topic");
    println!("ready");
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut number, mut wrong) = (0, 0);
    while number < count && Instant::now() < end {
        if let Some(received) = subscriber.recv_timeout(Duration::from_millis(50)) {
            number += 1;
            wrong += u64::from(&*received != text(number).as_bytes());
        }
    }
    println!("received {number}, missed {}, wrong {wrong}", subscriber.missed());
}

/// The topic stays until standard input ends, so that its last messages are read.
fn linger() {
    let _ = std::io::read_to_string(std::io::stdin());
}
