//! What was sent in windows of time, on an even grid, and in all of them together.

use std::time::Duration;

use horus::time::{MonotonicTime, parse_duration};
use horus_shm::directory::Location;
use horus_shm::ends::observe::{Count, Start};
use serde::Serialize;

use super::lengths::Lengths;
use super::{Ending, LOOK, Target, Watch};

/// Which topic, and in what windows.
#[derive(clap::Args)]
pub struct Windows {
    #[command(flatten)]
    target: Target,
    /// Length of a window, for which a line is printed
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    window: Duration,
    /// End after so many windows
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

/// What was sent in a window, or in several.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sent {
    /// How long it was.
    pub seconds: f64,
    /// Messages of all publishers.
    pub messages: u64,
    /// How many of them may have been numbers without a message (`horus_shm::ends::observe::Count`).
    #[serde(skip_serializing_if = "is_zero")]
    pub unsure: u64,
    /// Their bytes, if asked for.
    #[serde(skip)]
    pub lengths: Lengths,
    /// Each publisher's share.
    pub publishers: Vec<Share>,
}

/// What a publisher sent.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    pub lane: usize,
    /// The living publisher's process; 0 when no process has the lane, or has not said.
    pub pid: u32,
    pub messages: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Sent {
    /// Messages a second; none when no time passed.
    pub fn rate(&self) -> f64 {
        self.per_second(self.messages as f64)
    }

    pub fn per_second(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 { amount / self.seconds } else { 0.0 }
    }

    fn add(&mut self, window: &Self) {
        self.seconds += window.seconds;
        self.messages += window.messages;
        self.unsure += window.unsure;
        self.lengths.add(&window.lengths);
        for share in &window.publishers {
            match self.publishers.iter_mut().find(|known| known.lane == share.lane) {
                Some(known) => {
                    known.messages += share.messages;
                    known.pid = share.pid;
                }
                None => self.publishers.push(share.clone()),
            }
        }
    }
}

/// Which of two windows sent less, or more, a second.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Range {
    pub min: f64,
    pub max: f64,
}

/// All windows together, and the slowest and the fastest whole window by what `amount` says a second.
pub struct Total {
    pub name: String,
    pub sent: Sent,
    pub windows: u64,
    pub range: Option<Range>,
}

/// Watches the topic in windows, hands each to `tell`, and says what there was in all. `None` when the user stopped it before
/// the topic was there.
pub fn watch(
    location: Location,
    windows: Windows,
    with_lengths: bool,
    amount: impl Fn(&Sent) -> f64,
    mut tell: impl FnMut(&str, &Sent) -> Result<(), Ending>,
) -> Result<Option<Total>, Ending> {
    let Windows { target, window, count } = windows;
    if window < LOOK {
        return Err(Ending::Failed(format!("a window of {window:?} is too short: it has at least {LOOK:?}")));
    }
    let Some(mut watch) = Watch::begin(location, target, Start::Back(0))? else { return Ok(None) };
    let mut total = Total { name: watch.name().to_owned(), sent: Sent::default(), windows: 0, range: None };
    let mut tally = Tally::new(&mut watch, with_lengths);
    let mut end = tally.since.plus(window);
    while count.is_none_or(|count| total.windows < count) {
        let is_whole = tally.collect_until(&mut watch, end)?;
        let sent = tally.close(&mut watch)?;
        total.sent.add(&sent);
        if !is_whole {
            break; // stopped by the user in the middle of it
        }
        let amount = amount(&sent);
        let range = total.range.get_or_insert(Range { min: amount, max: amount });
        *range = Range { min: range.min.min(amount), max: range.max.max(amount) };
        total.windows += 1;
        end = end.plus(window).max(tally.since.plus(LOOK)); // after a long pause of this process, at once
        match tell(&total.name, &sent) {
            Err(Ending::Closed) => break,
            told => told?,
        }
    }
    watch.end_line();
    Ok(Some(total))
}

/// A window that is being counted.
struct Tally {
    since: MonotonicTime,
    /// What each lane had sent when the window began.
    before: Vec<Count>,
    /// What was sent within this window before the topic was made anew.
    earlier: Vec<Count>,
    lengths: Option<Lengths>,
}

impl Tally {
    fn new(watch: &mut Watch, with_lengths: bool) -> Self {
        let lengths = with_lengths.then(|| Lengths::of(watch.topic()));
        Self { since: MonotonicTime::now(), before: Vec::new(), earlier: Vec::new(), lengths }
    }

    /// Counts until `end`; false if the user stopped it before.
    fn collect_until(&mut self, watch: &mut Watch, end: MonotonicTime) -> Result<bool, Ending> {
        while MonotonicTime::now() < end {
            // At every look: numbers without a message are told only as long as their slots are not used again.
            watch.topic().count();
            if let Some(lengths) = &mut self.lengths {
                lengths.look(watch.topic());
            }
            if watch.is_stopped() {
                return Ok(false);
            }
            if let Some(mut before) = watch.rest(end.min(MonotonicTime::now().plus(LOOK)))? {
                self.earlier.extend(grown(&before.count(), &self.before));
                self.before.clear();
                if let Some(lengths) = &mut self.lengths {
                    lengths.look(&mut before);
                    lengths.follow(watch.topic());
                }
            }
        }
        Ok(true)
    }

    /// Ends the window and begins the next.
    fn close(&mut self, watch: &mut Watch) -> Result<Sent, Ending> {
        let living = watch.topic().publishers()?;
        let now = MonotonicTime::now();
        let counted = watch.topic().count();
        if let Some(lengths) = &mut self.lengths {
            lengths.look(watch.topic());
        }
        let mut sent = Sent { seconds: now.since(self.since).as_secs_f64(), ..Sent::default() };
        for Count { lane, sent: messages, unsure } in self.earlier.drain(..).chain(grown(&counted, &self.before)) {
            sent.messages += messages;
            sent.unsure += unsure;
            let pid = living.iter().find(|(owned, _)| *owned == lane).map_or(0, |(_, identity)| identity.pid);
            match sent.publishers.iter_mut().find(|share| share.lane == lane) {
                Some(share) => share.messages += messages,
                None => sent.publishers.push(Share { lane, pid, messages }),
            }
        }
        if let Some(lengths) = &mut self.lengths {
            sent.lengths = lengths.close(sent.messages);
        }
        if sent.messages > 0 {
            watch.came();
        }
        (self.since, self.before) = (now, counted);
        Ok(sent)
    }
}

/// What was counted since `before`.
fn grown(now: &[Count], before: &[Count]) -> Vec<Count> {
    let of = |lane| before.iter().find(|count| count.lane == lane).map_or((0, 0), |count| (count.sent, count.unsure));
    let since = now.iter().map(|&Count { lane, sent, unsure }| {
        let (sent_before, unsure_before) = of(lane);
        Count { lane, sent: sent - sent_before, unsure: unsure - unsure_before }
    });
    since.collect()
}
