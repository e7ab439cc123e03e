//! The timed loops: the same code, compiled for each system.
//!
//! A round trip is timed from before the first copy into the system until after the last copy out of it. Numbering a
//! message happens before, verifying after: the clock sees neither.

use horus_sys::clock::monotonic_ns;

use crate::content::{Mark, Prepared, verify};
use crate::options::Effort;
use crate::patience::{Patience, Stuck};
use crate::samples::Samples;
use crate::tally::{Counts, Tally};
use crate::transport::{Content, Receiver, Sender};

/// Round trips without an answer before a run is given up.
const MAX_LOST: u64 = 10;

/// Sends and receives that one sample of [`alternate`] covers: a clock read costs as much as several of them.
pub const BATCH: u32 = 100;

/// Sends a message, waits for the answer, and so on; half of each round trip is a sample.
///
/// With a pause in the effort, that long passes busily before each message, so that a peer that sleeps does sleep.
#[inline(never)]
pub fn ping<M: Content>(
    sender: &mut impl Sender<M>,
    receiver: &mut impl Receiver<M>,
    effort: &Effort,
    patience: &Patience,
) -> Result<(Samples, Counts), Stuck> {
    let mut prepared = Prepared::default();
    let mut answers = inbox(receiver);
    let mut samples = Samples::new(2);
    let mut counts = Counts::default();
    let publishers = sender.publishers();
    let mut rounds = Rounds::new(effort);
    while let Some((round, warm)) = rounds.next() {
        let mark = Mark::nth(round, publishers);
        let message = prepared.number(mark);
        pause(effort.pause_ns);
        let start = monotonic_ns();
        send(sender, message, patience)?;
        match receive_all(receiver, &mut answers, patience) {
            Err(Stuck::TimedOut(limit)) => {
                counts.lost += 1;
                if counts.lost > MAX_LOST {
                    return Err(Stuck::TimedOut(limit));
                }
                continue;
            }
            other => other?,
        }
        let end = monotonic_ns();
        if warm {
            samples.record(end - start);
        }
        rounds.ended(end);
        for answer in &answers {
            match verify(answer) {
                Some(found) if found == mark => counts.received += 1,
                Some(_) => counts.repeated += 1,
                None => counts.corrupt += 1,
            }
        }
    }
    counts.sent = rounds.round;
    say_end(sender, &mut prepared, counts.sent, patience)?;
    Ok((samples, counts))
}

/// Counts rounds and minds the time: warm-up takes at most a quarter of the limit, what is timed at most the limit.
struct Rounds {
    round: u64,
    warm_from: u64,
    samples: u64,
    limit_ns: u64,
    /// When this phase must be over.
    deadline_ns: u64,
    warm: bool,
}

impl Rounds {
    fn new(effort: &Effort) -> Self {
        let limit_ns = effort.limit.as_nanos() as u64;
        let deadline_ns = monotonic_ns() + limit_ns / 4;
        Self { round: 0, warm_from: effort.warm_up, samples: effort.samples, limit_ns, deadline_ns, warm: false }
    }

    /// Number of the next round, and whether it counts.
    #[inline]
    fn next(&mut self) -> Option<(u64, bool)> {
        let round = self.round;
        if !self.warm && round >= self.warm_from {
            (self.warm, self.warm_from, self.deadline_ns) = (true, round, monotonic_ns() + self.limit_ns);
        }
        if self.warm && round - self.warm_from >= self.samples {
            return None;
        }
        self.round += 1;
        Some((round, self.warm))
    }

    /// What time it is at the end of a round.
    #[inline]
    fn ended(&mut self, now_ns: u64) {
        if now_ns > self.deadline_ns {
            if self.warm {
                self.samples = 0;
            } else {
                self.warm_from = self.round;
            }
        }
    }
}

fn pause(ns: u64) {
    if ns > 0 {
        let until = monotonic_ns() + ns;
        while monotonic_ns() < until {
            std::hint::spin_loop();
        }
    }
}

/// Answers every message with what came, at once, and looks at it afterwards; until the end is announced.
#[inline(never)]
pub fn pong<M: Content>(
    receiver: &mut impl Receiver<M>,
    sender: &mut impl Sender<M>,
    patience: &Patience,
) -> Result<Counts, Stuck> {
    let mut messages = inbox(receiver);
    let mut tallies: Vec<_> = messages.iter().map(|_| Tally::new(sender.publishers())).collect();
    let mut sent = 0;
    loop {
        receive_all(receiver, &mut messages, patience)?;
        send(sender, &messages[0], patience)?;
        sent += 1;
        for (tally, message) in tallies.iter_mut().zip(&messages) {
            let mark = verify(message);
            if let Some(Mark::End { .. }) = mark {
                return Ok(Counts { sent: sent - 1, ..total(&tallies) });
            }
            tally.note(mark);
        }
    }
}

/// Sends as fast as the system takes messages; returns how many it took.
#[inline(never)]
pub fn flood<M: Content>(sender: &mut impl Sender<M>, effort: &Effort, patience: &Patience) -> Result<u64, Stuck> {
    let mut prepared = Prepared::default();
    let publishers = sender.publishers();
    let limit = effort.limit.as_nanos() as u64;
    let began = monotonic_ns();
    let mut sent = 0;
    while sent < effort.messages {
        send(sender, prepared.number(Mark::nth(sent, publishers)), patience)?;
        sent += 1;
        if sent.is_multiple_of(1024) && monotonic_ns() - began > limit {
            break;
        }
    }
    say_end(sender, &mut prepared, sent, patience)?;
    Ok(sent)
}

/// What a receiver made of a flood.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Drained {
    /// At all subscribers together; `sent` is left 0.
    pub counts: Counts,
    /// Messages a second at each subscriber, from the first to the last received.
    pub per_second: Option<f64>,
    /// Whether the end was announced; otherwise nothing came any more, and the rest is lost.
    pub over: bool,
}

impl Drained {
    /// The counts, with what the sender knows.
    pub fn with_sent(self, sent: u64, subscribers: u64) -> Counts {
        let mut counts = Counts { sent, ..self.counts };
        if !self.over {
            counts.lost = (sent * subscribers).saturating_sub(counts.received);
        }
        counts
    }
}

/// Receives until the end is announced or nothing comes any more, and verifies every message.
#[inline(never)]
pub fn drain<M: Content>(
    receiver: &mut impl Receiver<M>,
    publishers: u64,
    patience: &Patience,
) -> Result<Drained, Stuck> {
    let mut messages = inbox(receiver);
    let mut tallies: Vec<_> = messages.iter().map(|_| Tally::new(publishers)).collect();
    let mut first = None;
    let mut last = 0;
    let mut rounds: u64 = 0;
    let over = loop {
        match receive_all(receiver, &mut messages, patience) {
            Err(Stuck::TimedOut(_)) if first.is_some() => break false,
            other => other?,
        }
        let first = first.get_or_insert_with(monotonic_ns);
        rounds += 1;
        let mut ended = false;
        for (tally, message) in tallies.iter_mut().zip(&messages) {
            let mark = verify(message);
            ended |= matches!(mark, Some(Mark::End { .. }));
            tally.note(mark);
        }
        if rounds.is_multiple_of(1024) || ended {
            last = monotonic_ns().max(*first + 1);
        }
        if ended && tallies.iter().all(Tally::is_over) {
            break true;
        }
    };
    let counts = total(&tallies);
    let each = counts.received / tallies.len() as u64;
    let time = first.map(|first| last.saturating_sub(first)).filter(|ns| *ns > 0);
    Ok(Drained { counts, per_second: time.map(|ns| each.saturating_sub(1) as f64 * 1e9 / ns as f64), over })
}

/// Sends a message and receives it in the same thread; a sample covers [`BATCH`] of them.
#[inline(never)]
pub fn alternate<M: Content>(
    sender: &mut impl Sender<M>,
    receiver: &mut impl Receiver<M>,
    effort: &Effort,
    patience: &Patience,
) -> Result<(Samples, Counts), Stuck> {
    let mut prepared = Prepared::default();
    let mut samples = Samples::new(BATCH);
    let mut tally = Tally::new(1);
    let blank = *prepared.number(Mark::nth(0, 1));
    let (mut outbox, mut inbox) = (vec![blank; BATCH as usize], vec![blank; BATCH as usize]);
    // A tenth of the samples is plenty: each is the mean of a hundred.
    let batches = |count: u64| count.div_ceil(10).max(20);
    let effort = Effort { warm_up: batches(effort.warm_up), samples: batches(effort.samples), ..*effort };
    let mut rounds = Rounds::new(&effort);
    let mut sent = 0;
    while let Some((_batch, warm)) = rounds.next() {
        for message in &mut outbox {
            *message = *prepared.number(Mark::nth(sent, 1));
            sent += 1;
        }
        let start = monotonic_ns();
        for (message, into) in outbox.iter().zip(&mut inbox) {
            send(sender, message, patience)?;
            receive(receiver, into, patience)?;
        }
        let end = monotonic_ns();
        if warm {
            samples.record(end - start);
        }
        rounds.ended(end);
        inbox.iter().for_each(|message| tally.note(verify(message)));
    }
    Ok((samples, Counts { sent, ..tally.counts() }))
}

/// Sends, trying until there is room.
#[inline]
pub fn send<M: Content>(sender: &mut impl Sender<M>, message: &M, patience: &Patience) -> Result<(), Stuck> {
    while !sender.try_send(message) {
        patience.turn()?;
    }
    patience.progress();
    Ok(())
}

/// Receives, trying until there is a message.
#[inline]
pub fn receive<M: Content>(receiver: &mut impl Receiver<M>, into: &mut M, patience: &Patience) -> Result<(), Stuck> {
    while !receiver.try_recv(into) {
        patience.turn()?;
    }
    patience.progress();
    Ok(())
}

/// One copy of the message from each of the receiver's subscribers.
#[inline]
fn receive_all<M: Content>(
    receiver: &mut impl Receiver<M>,
    messages: &mut [M],
    patience: &Patience,
) -> Result<(), Stuck> {
    for message in messages {
        receive(receiver, message, patience)?;
    }
    Ok(())
}

fn inbox<M: Content>(receiver: &impl Receiver<M>) -> Vec<M> {
    vec![M::new_zeroed(); receiver.subscribers() as usize]
}

/// Each publisher announces its end, in the order in which it is their turn.
fn say_end<M: Content>(
    sender: &mut impl Sender<M>,
    prepared: &mut Prepared<M>,
    sent: u64,
    patience: &Patience,
) -> Result<(), Stuck> {
    let publishers = sender.publishers();
    for publisher in (sent..sent + publishers).map(|turn| turn % publishers) {
        let sent = sent / publishers + u64::from(publisher < sent % publishers);
        send(sender, prepared.number(Mark::End { publisher, sent }), patience)?;
    }
    Ok(())
}

fn total(tallies: &[Tally]) -> Counts {
    tallies.iter().fold(Counts::default(), |mut total, tally| {
        total.add(&tally.counts());
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_by_number_or_by_time_and_warm_up_never_eats_the_samples() {
        let mut rounds = Rounds::new(&Effort::TEST);
        let all: Vec<_> = std::iter::from_fn(|| rounds.next()).collect();
        let warm = all.iter().filter(|(_, warm)| *warm).count() as u64;
        assert_eq!((all.len() as u64, warm), (Effort::TEST.warm_up + Effort::TEST.samples, Effort::TEST.samples));

        let mut rounds = Rounds::new(&Effort::TEST);
        let late = |rounds: &mut Rounds| rounds.next().inspect(|_| rounds.ended(u64::MAX));
        assert_eq!(
            (late(&mut rounds), late(&mut rounds), late(&mut rounds)),
            (Some((0, false)), Some((1, true)), None)
        );
    }
}
