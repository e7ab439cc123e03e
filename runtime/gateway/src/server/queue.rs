//! What waits for a client: frames up to so many bytes, whole ones always.
//!
//! A frame that is partly written is never dropped: what follows it would be garbage. Answers are never dropped either. A client that
//! asks and does not read is disconnected when its answers fill the queue.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Write};
use std::rc::Rc;

use crate::frame::words::WhenFull;
use crate::frame::{HEAD_BYTES, Head, head};

/// Pieces that the kernel is given at a time.
const PIECES: usize = 64;

/// A frame that waits.
struct Waiting {
    head: [u8; HEAD_BYTES],
    payload: Rc<[u8]>,
    /// Messages in it; 0 for an answer.
    messages: u64,
}

impl Waiting {
    fn bytes(&self) -> usize {
        HEAD_BYTES + self.payload.len()
    }
}

/// The client cannot be served any longer: what must not be dropped has no room.
#[derive(Debug, PartialEq, Eq)]
pub struct Overflow;

/// The queue of one client.
pub struct Queue {
    frames: VecDeque<Waiting>,
    bytes: usize,
    limit: usize,
    /// Bytes of the first frame that are written.
    written: usize,
    sent: u64,
    dropped: u64,
}

impl Queue {
    /// A queue of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { frames: VecDeque::new(), bytes: 0, limit, written: 0, sent: 0, dropped: 0 }
    }

    /// Appends an answer, for which messages give way.
    ///
    /// # Errors
    /// When answers alone fill the queue.
    pub fn answer(&mut self, answer: &Head, payload: &[u8]) -> Result<(), Overflow> {
        let frame = Waiting { head: head(answer, payload), payload: payload.into(), messages: 0 };
        if !self.make_room(frame.bytes()) {
            return Err(Overflow);
        }
        self.append(frame);
        Ok(())
    }

    /// Appends a frame of so many messages.
    ///
    /// # Errors
    /// When there is no room and `when_full` says so.
    pub fn push(
        &mut self,
        head: [u8; HEAD_BYTES],
        payload: &Rc<[u8]>,
        messages: u64,
        when_full: WhenFull,
    ) -> Result<(), Overflow> {
        let frame = Waiting { head, payload: Rc::clone(payload), messages };
        if self.bytes + frame.bytes() > self.limit {
            match when_full {
                WhenFull::Disconnect => return Err(Overflow),
                WhenFull::DropOldest if self.make_room(frame.bytes()) => {}
                WhenFull::DropOldest | WhenFull::DropNewest => {
                    self.dropped += messages;
                    return Ok(());
                }
            }
        }
        self.append(frame);
        Ok(())
    }

    fn append(&mut self, frame: Waiting) {
        self.bytes += frame.bytes();
        self.frames.push_back(frame);
    }

    /// Drops the oldest messages until there is room for so many bytes; false if there is not enough to drop.
    fn make_room(&mut self, bytes: usize) -> bool {
        let mut at = usize::from(self.written > 0);
        while self.bytes + bytes > self.limit {
            let Some(oldest) = self.frames.get(at) else { return false };
            if oldest.messages == 0 {
                at += 1;
                continue;
            }
            self.dropped += oldest.messages;
            self.bytes -= oldest.bytes();
            self.frames.remove(at);
        }
        true
    }

    /// Whether at least half of it is free: what is replayed waits for this.
    pub fn has_room(&self) -> bool {
        self.bytes <= self.limit / 2
    }

    /// Messages that were written whole, and messages that were dropped.
    pub fn counts(&self) -> (u64, u64) {
        (self.sent, self.dropped)
    }

    /// Writes as much as `to` takes; true when nothing is left.
    ///
    /// # Errors
    /// When the connection is at its end.
    pub fn write(&mut self, to: &mut impl Write) -> io::Result<bool> {
        while !self.frames.is_empty() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let mut count = 0;
            for (frame, pieces) in self.frames.iter().zip(pieces.chunks_exact_mut(2)) {
                let skip = if count == 0 { self.written } else { 0 };
                pieces[0] = IoSlice::new(&frame.head[skip.min(HEAD_BYTES)..]);
                pieces[1] = IoSlice::new(&frame.payload[skip.saturating_sub(HEAD_BYTES)..]);
                count += 2;
            }
            match to.write_vectored(&pieces[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => self.written_more(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn written_more(&mut self, bytes: usize) {
        self.written += bytes;
        while let Some(first) = self.frames.front()
            && self.written >= first.bytes()
        {
            self.written -= first.bytes();
            self.bytes -= first.bytes();
            self.sent += first.messages;
            self.frames.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Decoder, Type};

    /// Takes so many bytes, and no more.
    struct Pipe {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let taken = self.room.min(bytes.len());
            self.taken.extend(&bytes[..taken]);
            self.room -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn push(queue: &mut Queue, number: u64, when_full: WhenFull) -> Result<(), Overflow> {
        let payload: Rc<[u8]> = vec![number as u8; 60].into();
        queue.push(head(&Head { sequence: number, ..Head::new(Type::Message, 1) }, &payload), &payload, 1, when_full)
    }

    /// The numbers of what arrives when the pipe takes `step` bytes at a time.
    fn read(queue: &mut Queue, pipe: &mut Pipe, step: usize) -> Vec<u64> {
        loop {
            pipe.room = step;
            if queue.write(pipe).unwrap() {
                break;
            }
        }
        let mut decoder = Decoder::new(1_000);
        let mut rest = &pipe.taken[..];
        let mut found = Vec::new();
        while !rest.is_empty() {
            rest = &rest[decoder.take(rest)..];
            while let Some(frame) = decoder.next() {
                assert!(frame.payload.iter().all(|byte| *byte == frame.head.sequence as u8));
                found.push(frame.head.sequence);
            }
        }
        assert_eq!(decoder.damage().total(), 0, "whole frames always");
        found
    }

    #[test]
    fn what_is_dropped_is_whole_frames_at_the_named_end_and_counted() {
        for begun in 0..200 {
            for (when_full, kept) in [(WhenFull::DropOldest, 0..0), (WhenFull::DropNewest, 0..10)] {
                let mut queue = Queue::new(1_000);
                let mut pipe = Pipe { taken: Vec::new(), room: begun };
                push(&mut queue, 0, when_full).unwrap();
                queue.write(&mut pipe).unwrap();
                (1..100).for_each(|number| push(&mut queue, number, when_full).unwrap());
                let found = read(&mut queue, &mut pipe, 33);
                let (sent, dropped) = queue.counts();
                assert_eq!((sent, sent + dropped), (found.len() as u64, 100));
                assert!(found.is_sorted());
                match when_full {
                    WhenFull::DropOldest => assert!(found.ends_with(&[97, 98, 99]), "{begun}: {found:?}"),
                    _ => assert!(found.starts_with(&kept.clone().collect::<Vec<_>>()), "{begun}: {found:?}"),
                }
                if begun > 0 {
                    assert_eq!(found[0], 0, "what was begun is ended");
                }
            }
        }
    }

    #[test]
    fn a_client_that_is_to_be_disconnected_is_and_answers_take_the_place_of_messages() {
        let mut queue = Queue::new(1_000);
        (0..10).for_each(|number| push(&mut queue, number, WhenFull::Disconnect).unwrap());
        assert_eq!(push(&mut queue, 10, WhenFull::Disconnect), Err(Overflow));
        let answers = (0..).take_while(|_| queue.answer(&Head::new(Type::Ack, 0), &[0; 60]).is_ok()).count();
        assert_eq!((answers, queue.counts()), (10, (0, 10)));
    }
}
