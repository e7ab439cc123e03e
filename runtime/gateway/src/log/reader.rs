//! Reading a log: from a number or a time on, up to what was appended last, and on when more comes.

use std::sync::Arc;

use super::record::{self, Head};
use super::recover::{Step, step};
use super::segment::{HEADER_WORDS, Header, Segment};
use super::{Active, Index, Log};

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// With the oldest message.
    First,
    /// With the message of this number, or the next one that is there.
    Sequence(u64),
    /// With the first message that was sent at this time or later, in nanoseconds since 1970.
    Unix(u64),
    /// With the next message.
    Now,
}

/// A message of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed<'a> {
    /// Its number.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on the CLOCK_MONOTONIC of its boot.
    pub stamp_ns: u64,
    /// When it was sent, in nanoseconds since 1970, by the clock of the day as its segment was begun.
    pub unix_ns: u64,
    /// Lane of the publisher that it came by.
    pub publisher: u16,
    /// Its bytes.
    pub message: &'a [u8],
}

/// A place in a log. Segments that it reads stay until it is through with them.
pub struct Reader {
    segment: Arc<Segment>,
    at: usize,
    /// The last record's number.
    last: u64,
    /// What is before this is left out.
    from: From,
    damaged: u64,
    message: Vec<u8>,
}

impl Reader {
    pub(super) fn new(log: &mut Log, from: From) -> Self {
        let sealed = &log.sealed;
        // The last segment that begins at or before what is looked for.
        let first = match from {
            From::First => 0,
            From::Now => sealed.len(),
            From::Sequence(sequence) => {
                let bases = sealed.iter().map(|one| one.header.base).chain([log.active.segment.header().base]);
                bases.take_while(|base| *base <= sequence).count().saturating_sub(1)
            }
            From::Unix(time) => {
                let headers = sealed.iter().map(|one| &one.header).chain([log.active.segment.header()]);
                headers.clone().zip(headers.skip(1)).take_while(|(one, next)| ended_before(one, next, time)).count()
            }
        };
        let (segment, mut at) = log.segment(first, from);
        if from == From::Now {
            at = log.active.at;
        }
        let last = segment.header().base.saturating_sub(1);
        Self { segment, at, last, from, damaged: 0, message: Vec::new() }
    }

    /// The next message, or `None` when all that were appended are read.
    pub fn next(&mut self, log: &mut Log) -> Option<Replayed<'_>> {
        let Head { sequence, stamp_ns, publisher, .. } = loop {
            let is_active = Arc::ptr_eq(&self.segment, &log.active.segment);
            let words = self.segment.words();
            let words = if is_active { &words[..log.active.at] } else { words };
            match step(words, self.segment.header().salt, self.at, self.last, &mut self.message) {
                Step::Record { head, at } => {
                    self.at = at + record::words(head.bytes);
                    self.last = head.sequence;
                    if self.from == From::First || self.is_wanted(&head) {
                        break head;
                    }
                }
                other => self.go_on(other, log, is_active)?,
            }
        };
        let unix_ns = stamp_ns.wrapping_add(self.segment.header().unix_offset_ns);
        Some(Replayed { sequence, stamp_ns, unix_ns, publisher, message: &self.message })
    }

    /// Behind what is no record: on behind a damaged place, or in the next segment. `None` at the end of all that was appended.
    #[cold]
    fn go_on(&mut self, what: Step, log: &mut Log, is_active: bool) -> Option<()> {
        match what {
            Step::Damage { resume: Some(resume) } => {
                self.damaged += 1;
                self.at = resume;
            }
            _ if is_active => return None,
            end => {
                self.damaged += u64::from(end != Step::End);
                self.segment = log.segment_after(self.segment.header().number);
                self.at = HEADER_WORDS;
            }
        }
        Some(())
    }

    /// Whether a record is not before what was asked for; from the first such on, all are wanted.
    #[cold]
    fn is_wanted(&mut self, head: &Head) -> bool {
        let is_wanted = match self.from {
            From::First | From::Now => true,
            From::Sequence(sequence) => head.sequence >= sequence,
            From::Unix(time) => head.stamp_ns.wrapping_add(self.segment.header().unix_offset_ns) >= time,
        };
        if is_wanted {
            self.from = From::First;
        }
        is_wanted
    }

    /// How many places it met that were damaged; what stood there is missing in the numbers.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }
}

/// Whether all of a segment was sent before `time`, by its own clock of the day: a user may have set it since.
fn ended_before(segment: &Header, next: &Header, time: u64) -> bool {
    let end = if segment.boot == next.boot {
        let monotonic = next.begun_ns.wrapping_sub(next.unix_offset_ns);
        monotonic.wrapping_add(segment.unix_offset_ns)
    } else if next.begun_ns < segment.begun_ns {
        return false; // the clock stood in the past at the next boot: nothing says when this one ended
    } else {
        next.begun_ns
    };
    end < time
}

impl Log {
    /// Segment `index`, and a place in it that is not behind what is looked for. One that cannot be read any more gives way to the next.
    fn segment(&mut self, index: usize, from: From) -> (Arc<Segment>, usize) {
        let place = |index: Option<&Index>, offset_ns: u64| {
            let index = index?;
            match from {
                From::Sequence(sequence) => index.before_sequence(sequence),
                From::Unix(time) => index.before_stamp(time.saturating_sub(offset_ns)),
                From::First | From::Now => None,
            }
        };
        for one in self.sealed.iter_mut().skip(index) {
            if let Some(segment) = one.map() {
                let at = place(one.index.as_ref(), one.header.unix_offset_ns).unwrap_or(HEADER_WORDS);
                return (segment, at);
            }
        }
        let Active { segment, index, .. } = &self.active;
        let at = place(Some(index), segment.header().unix_offset_ns).unwrap_or(HEADER_WORDS);
        (Arc::clone(segment), at)
    }

    fn segment_after(&mut self, number: u64) -> Arc<Segment> {
        let index = self.sealed.partition_point(|one| one.header.number <= number);
        self.segment(index, From::First).0
    }
}
