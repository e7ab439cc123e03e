//! What `horus tap` says at its end: how many messages came, how fast, how late, and what is missing.

use std::fmt;
use std::time::Duration;

use horus_gateway::client::Address;
use horus_gateway::frame::words::Heartbeat;
use horus_measure::meter::Meter;

use horus_measure::units::{rate, time};

/// Quantiles that are stated where enough messages lie beyond them.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// What came within a shorter time came together, and has no rate: a millisecond, in which the gateway looks for messages once.
const SHORTEST_NS: u64 = 1_000_000;

/// What came so far.
pub struct Tally {
    pub messages: u64,
    pub bytes: u64,
    pub lost: u64,
    /// What the gateway said last.
    pub told: Heartbeat,
    gaps: u64,
    longest_gap: u64,
    last: Option<u64>,
    /// When the first message came and when the last one did, in nanoseconds on this machine's monotonic clock.
    came_ns: Option<(u64, u64)>,
    ages: Option<Ages>,
}

/// How old messages are when they come.
struct Ages {
    /// Messages from this number on were sent while a client listened.
    live_from: u64,
    meter: Meter,
    /// Live messages with a stamp that is still to come: their clock is another one.
    of_another_clock: u64,
}

impl Tally {
    /// `last` is the number before the first one that is expected; from `live_from` on, messages are sent while this one listens.
    pub fn new(last: Option<u64>, live_from: u64, address: &Address) -> Self {
        let ages = has_one_clock(address).then(|| Ages { live_from, meter: Meter::new(), of_another_clock: 0 });
        Self {
            messages: 0,
            bytes: 0,
            lost: 0,
            told: Heartbeat::default(),
            gaps: 0,
            longest_gap: 0,
            last,
            came_ns: None,
            ages,
        }
    }

    /// A message came, at `now_ns` of this machine's monotonic clock.
    pub fn take(&mut self, sequence: u64, stamp_ns: u64, bytes: usize, now_ns: u64) {
        // A gap in the numbers is a loss, and nothing else is.
        let gap = self.last.map_or(0, |last| sequence.saturating_sub(last + 1));
        self.lost += gap;
        self.gaps += u64::from(gap > 0);
        self.longest_gap = self.longest_gap.max(gap);
        self.last = Some(sequence);
        self.messages += 1;
        self.bytes += bytes as u64;
        self.came_ns = Some((self.came_ns.map_or(now_ns, |(first, _)| first), now_ns));
        if let Some(ages) = &mut self.ages
            && sequence >= ages.live_from
        {
            match now_ns.checked_sub(stamp_ns) {
                Some(age) => ages.meter.record(age, sequence),
                None => ages.of_another_clock += 1,
            }
        }
    }
}

/// Whether the gateway's monotonic clock is this machine's; of a port that SSH forwards nothing tells.
fn has_one_clock(address: &Address) -> bool {
    match address {
        Address::Unix(_) => true,
        Address::Tcp(place) => ["127.", "localhost:", "[::1]:"].iter().any(|begin| place.starts_with(begin)),
        Address::Tls(_) => false,
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((first, last)) = self.came_ns
            && last - first >= SHORTEST_NS
        {
            writeln!(
                out,
                "  {} from the first to the last",
                rate((self.messages - 1) as f64 / ((last - first) as f64 / 1e9))
            )?;
        }
        match &self.ages {
            None => writeln!(out, "  latency is not told: the send stamps are of another machine's clock")?,
            Some(Ages { of_another_clock: 1.., .. }) => {
                writeln!(
                    out,
                    "  latency is not told: there are send stamps that are still to come, so they are of another clock"
                )?;
            }
            Some(Ages { meter, .. }) if meter.samples() > 0 => {
                let stated = QUANTILES.iter().filter_map(|(quantile, name)| Some((*name, meter.quantile(*quantile)?)));
                let stated = stated.chain(meter.max_ns().map(|max| ("max", max)));
                let stated: Vec<_> =
                    stated.map(|(name, ns)| format!("{name} {}", time(Duration::from_nanos(ns)))).collect();
                writeln!(out, "  from the send stamp to here: {} of {} messages", stated.join(", "), meter.samples())?;
            }
            Some(_) => {}
        }
        match self.gaps {
            0 => writeln!(out, "  no gap")?,
            gaps => writeln!(out, "  gaps: {gaps}, the longest of {} messages", self.longest_gap)?,
        }
        match self.told {
            Heartbeat { unlogged: 0, disk_failures: 0, .. } => Ok(()),
            Heartbeat { unlogged, disk_failures, .. } => writeln!(
                out,
                "  the gateway's log has lost {unlogged} messages, and its disk failed {disk_failures} times: its journal says why"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(address: &str) -> Tally {
        Tally::new(Some(0), 1, &address.parse().unwrap())
    }

    #[test]
    fn gaps_rate_and_quantiles_are_those_of_what_came() {
        let mut tally = tally("unix:/socket");
        // A hundred a second, each 1 ms old, the last one 7 ms; 10 and then 5 are missing.
        for number in 1..=100 {
            let sequence = if number <= 50 {
                number
            } else if number <= 80 {
                number + 10
            } else {
                number + 15
            };
            let now = number * 10_000_000;
            tally.take(sequence, now - if number == 100 { 7_000_000 } else { 1_000_000 }, 16, now);
        }
        assert_eq!((tally.messages, tally.bytes, tally.lost), (100, 1_600, 15));
        let text = tally.to_string();
        assert!(text.contains("  100 /s from"), "{text}");
        assert!(text.contains("p50 1") && text.contains("max 7 ms of 100 messages"), "{text}");
        assert!(!text.contains("p99 "), "one of a hundred lies beyond it: {text}");
        assert!(text.contains("gaps: 2, the longest of 10 messages"), "{text}");
    }

    #[test]
    fn what_came_at_once_has_no_rate() {
        let mut tally = tally("unix:/socket");
        (1..=2).for_each(|sequence| tally.take(sequence, 5, 16, 10));
        assert!(!tally.to_string().contains("/s"), "{tally}");
        tally.take(3, 5, 16, 10 + SHORTEST_NS);
        assert!(tally.to_string().contains("2000 /s from the first"), "{tally}");
    }

    #[test]
    fn what_a_log_has_lost_is_told_where_it_has() {
        let mut tally = tally("unix:/socket");
        assert!(!tally.to_string().contains("log"), "{tally}");
        tally.told = Heartbeat { unlogged: 3, disk_failures: 1, ..Heartbeat::default() };
        assert!(tally.to_string().contains("lost 3 messages, and its disk failed 1 times"), "{tally}");
    }

    #[test]
    fn no_latency_is_told_of_another_clock_or_of_old_messages() {
        for (address, stamp) in [("tls:robot.local:7447", 5), ("tcp:10.0.0.1:7447", 5), ("tcp:127.0.0.1:7447", 50)] {
            let mut tally = tally(address);
            (1..=30).for_each(|sequence| tally.take(sequence, stamp, 1, 10));
            assert!(tally.to_string().contains("latency is not told"), "{address}: {tally}");
        }
        let mut replayed = Tally::new(None, 100, &"unix:/socket".parse().unwrap());
        (1..=30).for_each(|sequence| replayed.take(sequence, 5, 1, 10));
        assert!(!replayed.to_string().contains("stamp"), "{replayed}");
    }
}
