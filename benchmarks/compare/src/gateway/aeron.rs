//! Aeron by IPC and by UDP on this machine, with the media driver as the process in the middle.
//!
//! By IPC the driver only arranges the meeting: messages go from end to end through shared memory. By UDP it sends and receives them. The
//! receiver never sleeps, it gives its CPU away between two looks: that is how Aeron is used. The driver sleeps up to a millisecond when
//! it has nothing to do, which is its usual setting.

use std::ffi::CString;
use std::net::UdpSocket;

use horus_benchmarks::transport::Failure;
use tempfile::TempDir;

use super::child::Child;
use super::plan::Plan;
use super::way::{Receiving, Sending, System, Way};
use crate::aeron::{Offering, Polling, ends, launch, session};

/// Through shared memory.
pub const IPC: System = System { name: "aeron-ipc", open: |plan| open(plan, "aeron:ipc?term-length=16m".to_owned()) };
/// Through UDP.
pub const UDP: System = System { name: "aeron-udp", open: udp };
const STREAM: i32 = 1001;
/// Messages that are taken by one look.
const FRAGMENTS: usize = 256;
/// Looks of one call of the receiver: what they take together is bounded.
const LOOKS: usize = 1_000;

/// What the process in the middle does, in a directory that is there.
///
/// # Errors
/// When the driver does not start.
pub fn driver(directory: &str) -> Result<(), Failure> {
    let stop = horus::stop::on_termination()?;
    let _driver = launch(&CString::new(directory)?)?;
    println!("{directory}");
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        std::thread::sleep(super::bare::LOOK);
    }
    Ok(())
}

fn udp(plan: &Plan) -> Result<Way, Failure> {
    // A port that was free a moment ago.
    let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
    open(plan, format!("aeron:udp?endpoint={address}|term-length=16m"))
}

fn open(plan: &Plan, channel: String) -> Result<Way, Failure> {
    let directory = tempfile::tempdir_in("/dev/shm")?;
    let place = directory.path().join("aeron");
    let place = place.to_str().ok_or("the directory's name is not UTF-8")?;
    let (middle, [_]) = Child::role("driver", place)?;
    let (sending, receiving) = ends(session(&CString::new(place)?, None)?, &channel, STREAM, STREAM)?;
    let middle: (Child, TempDir) = (middle, directory);
    Ok(Way {
        sending: Box::new(Sender { publication: sending, bytes: plan.bytes }),
        receiving: Box::new(Receiver(receiving)),
        middle: Box::new(middle),
    })
}

struct Sender {
    publication: Offering,
    bytes: usize,
}

impl Sending for Sender {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        for message in messages.chunks_exact(self.bytes) {
            while !self.publication.offer(message) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}

struct Receiver(Polling);

impl Receiving for Receiver {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        for _ in 0..LOOKS {
            if self.0.poll(&mut *each, FRAGMENTS) > 0 {
                break;
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}
