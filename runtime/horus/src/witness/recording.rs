//! What the flight recorder has of a node: its last cycles, and the last messages of the topics that it reads and writes.
//!
//! The messages are read here, by the thread beside the loops, as a stranger would who watches the topics: that takes no place in them
//! and disturbs no peer. Bounded in every direction, so that it always fits a packet.

use std::collections::VecDeque;

use horus_shm::ends::observe::{Observation, Start};
use horus_shm::ring::Received;

use super::protocol::{Missed, Recording, TailMessage, TopicTail};
use crate::graph::hexadecimal;
use crate::topic::Directory;

/// Messages that are kept of a topic, and bytes of each.
const MESSAGES: usize = 4;
const BYTES: usize = 256;
/// So far back in a topic the messages are looked for that were sent before the cycle's end: those since then are newer.
const BACK: u64 = 64;
/// Topics whose files are larger are left out: a second view of them would take this process's memory, all of which is locked.
const LARGEST_FILE: u64 = 1 << 20;
/// What all topics may take of a packet, in bytes of text; cycles take a third of one at most.
const ROOM: usize = 9 * 1024;

/// Reads what there is. A topic that cannot be read is left out.
pub(crate) fn of(missed: &Missed, cycles: Vec<[u64; 4]>, read: &[String], written: &[String]) -> Recording {
    let mut recording = Recording { cycle: missed.cycle, cycles, ..Recording::default() };
    let Ok(directory) = Directory::from_environment() else { return recording };
    let mut room = ROOM;
    for (topics, is_read) in [(read, true), (written, false)] {
        for topic in topics {
            match tail(&directory, topic, is_read, missed.completion_ns).filter(|tail| length(tail) <= room) {
                Some(tail) => {
                    room -= length(&tail);
                    recording.topics.push(tail);
                }
                None => recording.left_out += 1,
            }
        }
    }
    recording
}

/// How much of a packet it takes: its texts, which may hold line ends that become two characters, and the numbers.
fn length(tail: &TopicTail) -> usize {
    let texts = [&tail.topic, &tail.type_name, &tail.description];
    let texts: usize = texts.iter().map(|text| text.len() + text.matches('\n').count()).sum();
    160 + texts + tail.messages.iter().map(|message| 160 + message.hex.len()).sum::<usize>()
}

fn tail(directory: &Directory, topic: &str, is_read: bool, until_ns: u64) -> Option<TopicTail> {
    let path = directory.file(&topic.parse().ok()?);
    if std::fs::metadata(&path).ok()?.len() > LARGEST_FILE {
        return None;
    }
    let mut watched = Observation::open(&path, Start::Back(BACK)).ok()??;
    let (is_of_bytes, payload) = (watched.header().is_of_bytes(), watched.payload().bytes);
    let mut bytes = vec![0; if is_of_bytes { BYTES.min(payload) } else { payload }];
    let mut last = VecDeque::with_capacity(MESSAGES + 1);
    let lanes = watched.header().shape.lanes() as u64;
    for _ in 0..BACK * lanes {
        let Some(Received { message: length, sequence, sent_ns, publisher }) =
            next(&mut watched, is_of_bytes, &mut bytes)
        else {
            break;
        };
        if sent_ns > until_ns {
            continue;
        }
        let kept = length.min(bytes.len()).min(BYTES);
        last.push_back(TailMessage { publisher, sequence, sent_ns, bytes: length, hex: hexadecimal(&bytes[..kept]) });
        if last.len() > MESSAGES {
            last.pop_front();
        }
    }
    Some(TopicTail {
        topic: topic.to_owned(),
        is_read,
        type_name: watched.header().type_name.clone(),
        description: watched.header().description.clone(),
        payload_bytes: if is_of_bytes { 0 } else { payload },
        messages: last.into(),
    })
}

/// The next message, and how long it is.
fn next(watched: &mut Observation, is_of_bytes: bool, into: &mut [u8]) -> Option<Received<usize>> {
    if is_of_bytes {
        return watched.try_take_bytes(into);
    }
    let Received { sequence, sent_ns, publisher, .. } = watched.try_take(into)?;
    Some(Received { message: into.len(), sequence, sent_ns, publisher })
}
