//! The other end for the checks of docs/ros2.md: sends messages that can be computed from their number, or checks those that come.
//!
//! Number `i` of message `n` is `1000 n + i`, and its stamp is not known. A picture has 1024 rows of 1024 bytes: its number, and then
//! the lowest byte of that. Message 0 says only that a sender is there.
//!
//! ```text
//! peer send TOPIC MESSAGE COUNT EVERY_US [CAPACITY]       sends message 0 until a line comes, then the others, or until another line; says
//!                                                         `sent`, and stays until stdin ends
//! peer receive TOPIC MESSAGE COUNT SECONDS [CAPACITY]     ends at a line, too; says `matched`, `begun` at message 1 or a later one, `gap`, then
//!                                                         `result first 1, last 10000, wrong 0, gaps 0, absent 0, missed 0, received 10000, highest 10000`
//! ```
//! MESSAGE is one of horus/Imu, horus/Vector3, horus/CmdVel, horus/ImageHd and bytes. The topic is reliable, unless `latest` is said last.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use horus::message::Message;
use horus::messages::{CmdVel, Encoding, FrameShape, ImageHd, Imu, Vector3};
use horus::topic::{Bytes, Options, Publisher, SendError, Subscriber};

/// Bytes of a message in a topic of bytes, at most.
const BYTES: usize = 256;
/// How often message 0 is sent.
const KNOCK: Duration = Duration::from_millis(50);
/// How long a look for a message, or for room, is put off.
const LOOK: Duration = Duration::from_micros(200);

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    let (Some(verb), Some(topic), Some(message), Some(count), Some(time)) =
        (words.first(), words.get(1), words.get(2), number(3), number(4))
    else {
        eprintln!("peer send|receive TOPIC MESSAGE COUNT EVERY_US|SECONDS [CAPACITY] [latest]");
        std::process::exit(2);
    };
    let capacity = number(5).unwrap_or(1024) as usize;
    let is_latest = words.last().is_some_and(|word| word == "latest");
    let options = if is_latest { Options::latest(capacity) } else { Options::reliable(capacity) };
    let run = Run { topic, count, time, options };
    match (verb.as_str(), message.as_str()) {
        ("send", "horus/Imu") => run.send::<Imu>(),
        ("send", "horus/Vector3") => run.send::<Vector3>(),
        ("send", "horus/ImageHd") => run.send::<ImageHd>(),
        ("send", "horus/CmdVel") => run.send::<CmdVel>(),
        ("send", "bytes") => run.send_bytes(),
        ("receive", "horus/Imu") => run.receive::<Imu>(),
        ("receive", "horus/Vector3") => run.receive::<Vector3>(),
        ("receive", "horus/ImageHd") => run.receive::<ImageHd>(),
        ("receive", "horus/CmdVel") => run.receive::<CmdVel>(),
        ("receive", "bytes") => run.receive_bytes(),
        _ => panic!("{verb} {message}: this program does not know how"),
    }
}

/// A message that follows from its number, which can be read from it.
trait Pattern: Message {
    fn set(&mut self, number: u64);
    fn number(&self) -> u64;
}

impl Pattern for Imu {
    fn set(&mut self, number: u64) {
        let mut next = (0_u64..).map(|index| (number * 1000 + index) as f64);
        let mut take = || next.next().unwrap_or(0.0);
        for value in
            [&mut self.orientation.x, &mut self.orientation.y, &mut self.orientation.z, &mut self.orientation.w]
        {
            *value = take();
        }
        self.orientation_covariance.iter_mut().for_each(|value| *value = take());
        vector(&mut self.angular_velocity, &mut take);
        self.angular_velocity_covariance.iter_mut().for_each(|value| *value = take());
        vector(&mut self.linear_acceleration, &mut take);
        self.linear_acceleration_covariance.iter_mut().for_each(|value| *value = take());
    }

    fn number(&self) -> u64 {
        self.orientation.x as u64 / 1000
    }
}

impl Pattern for Vector3 {
    fn set(&mut self, number: u64) {
        let mut next = (0_u64..).map(|index| (number * 1000 + index) as f64);
        vector(self, &mut || next.next().unwrap_or(0.0));
    }

    fn number(&self) -> u64 {
        self.x as u64 / 1000
    }
}

impl Pattern for CmdVel {
    fn set(&mut self, number: u64) {
        (self.forward, self.turn) = ((number * 1000) as f64, (number * 1000 + 1) as f64);
    }

    fn number(&self) -> u64 {
        self.forward as u64 / 1000
    }
}

impl Pattern for ImageHd {
    fn set(&mut self, number: u64) {
        let picture = self.begin(FrameShape::packed(1024, 1024, Encoding::Mono8)).expect("it fits");
        picture.fill(number as u8);
        picture[..8].copy_from_slice(&number.to_le_bytes());
    }

    fn number(&self) -> u64 {
        self.picture().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

fn vector(vector: &mut Vector3, take: &mut impl FnMut() -> f64) {
    (vector.x, vector.y, vector.z) = (take(), take(), take());
}

fn text(number: u64) -> String {
    format!("message {number} {}", "ä".repeat((number % 50) as usize))
}

struct Run<'a> {
    topic: &'a str,
    count: u64,
    time: u64,
    options: Options,
}

impl Run<'_> {
    /// Sends all by `send`, at their times. One that finds no room is sent again: a reader that is held up delays them, and loses none.
    fn send_by(&self, mut try_send: impl FnMut(u64) -> bool) {
        let mut send = |number| {
            while !try_send(number) {
                std::thread::park_timeout(LOOK);
            }
        };
        println!("ready");
        let lines = lines();
        loop {
            match lines.recv_timeout(KNOCK) {
                Ok(()) => break,
                Err(RecvTimeoutError::Timeout) => send(0),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        let start = Instant::now();
        for number in 1..=self.count {
            if lines.try_recv().is_ok() {
                break;
            }
            let due = start + Duration::from_micros(self.time * number);
            std::thread::park_timeout(due.saturating_duration_since(Instant::now()));
            send(number);
        }
        println!("sent {:.2}", start.elapsed().as_secs_f64());
        while lines.recv().is_ok() {}
    }

    fn send<M: Pattern>(&self) {
        let mut publisher = Publisher::<M>::open(self.topic, &self.options).expect("the topic");
        let mut message = boxed::<M>();
        self.send_by(|number| {
            message.set(number);
            let Ok(mut loan) = publisher.loan() else { return false };
            loan.as_mut_bytes().copy_from_slice(message.as_bytes());
            loan.publish();
            true
        });
    }

    fn send_bytes(&self) {
        let mut publisher =
            Publisher::<[u8]>::open_as(self.topic, Bytes::up_to(BYTES), &self.options).expect("the topic");
        self.send_by(|number| match publisher.try_send(text(number).as_bytes()) {
            Ok(()) => true,
            Err(SendError::Full) => false,
            Err(error) => panic!("{error}"),
        });
    }

    /// Takes the numbers of what comes, and whether it is what they stand for; `None` where nothing comes.
    fn receive_by(&self, mut receive: impl FnMut() -> Option<(u64, bool)>, missed: impl FnOnce() -> u64) {
        println!("ready");
        let end = Instant::now() + Duration::from_secs(self.time);
        let lines = lines();
        let (mut first, mut last, mut wrong, mut gaps, mut absent, mut is_matched) = (0, 0, 0, 0, 0_u64, false);
        let (mut came, mut highest) = (0_u64, 0);
        while last < self.count && Instant::now() < end && lines.try_recv().is_err() {
            let Some((number, is_right)) = receive() else {
                std::thread::park_timeout(LOOK);
                continue;
            };
            if !std::mem::replace(&mut is_matched, true) {
                println!("matched");
            }
            if number == 0 {
                continue;
            }
            if first == 0 {
                println!("begun");
            }
            wrong += u64::from(!is_right);
            (came, highest) = (came + 1, number.max(highest));
            if first != 0 && number != last + 1 {
                gaps += 1;
                println!("gap");
            }
            absent += if first == 0 { 0 } else { number.saturating_sub(last + 1) };
            (first, last) = (if first == 0 { number } else { first }, number);
        }
        let missed = missed();
        println!(
            "result first {first}, last {last}, wrong {wrong}, gaps {gaps}, absent {absent}, missed {missed}, received {came}, \
             highest {highest}"
        );
    }

    fn receive<M: Pattern>(&self) {
        let subscriber = std::cell::RefCell::new(Subscriber::<M>::open(self.topic, &self.options).expect("the topic"));
        let (mut expected, mut received) = (boxed::<M>(), boxed::<M>());
        let receive = || {
            subscriber.borrow_mut().try_recv_into(&mut received)?;
            expected.set(received.number());
            // What a picture does not use is bytes without meaning; here they are zero on both sides.
            Some((received.number(), received.as_bytes() == expected.as_bytes()))
        };
        self.receive_by(receive, || subscriber.borrow().missed());
    }

    fn receive_bytes(&self) {
        let subscriber = std::cell::RefCell::new(
            Subscriber::<[u8]>::open_as(self.topic, Bytes::up_to(BYTES), &self.options).expect("the topic"),
        );
        let receive = || {
            let mut subscriber = subscriber.borrow_mut();
            let received = subscriber.try_recv()?.message;
            let number = std::str::from_utf8(received).ok()?.split(' ').nth(1)?.parse().ok()?;
            Some((number, received == text(number).as_bytes()))
        };
        self.receive_by(receive, || subscriber.borrow().missed());
    }
}

fn boxed<M: Message>() -> Box<M> {
    M::new_box_zeroed().expect("there is memory")
}

/// The lines of standard input, until it ends.
fn lines() -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        while std::io::stdin().read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            let _ = sender.send(());
        }
    });
    receiver
}
