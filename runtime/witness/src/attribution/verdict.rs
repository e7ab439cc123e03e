//! From sums to a verdict: names, suspects, and how far to believe it.

use std::cmp::Reverse;

use horus::witness::protocol::{Confidence, Kind, Missed, Share, Verdict};

use super::Account;
use super::ledger::Sum;
use super::names;
use super::owner::{Owner, Why};

/// Finds the name of a function by its address.
pub type Names<'a> = &'a mut dyn FnMut(u64) -> Option<String>;

/// The signs beside the trace that this machine was not running.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Signs {
    /// What says so too: `CPU 2 was silent too`, `steal time grew by 200 ms`.
    pub seen: Vec<String>,
}

/// The most shares of one kind that keep their names; the others are one share.
const MOST_OF_A_KIND: usize = 8;
/// Parts of the window below this are not considerable: a fifth.
const CONSIDERABLE: u64 = 5;
/// Parts of the window below this do not shake a verdict: a hundredth.
const NEGLIGIBLE: u64 = 100;

impl Account {
    /// Who is to blame.
    pub fn verdict(&self, missed: &Missed, signs: &Signs, names: Names<'_>) -> Verdict {
        let window_ns = self.window.end - self.window.start;
        let mut shares: Vec<Share> = Vec::new();
        for (owner, sum) in self.ledger.sums.iter().filter(|(_, sum)| sum.ns > 0) {
            match owner {
                Owner::Fault(_) => {} // below, all at once
                _ => shares.push(self.share(owner, sum, missed, signs, names)),
            }
        }
        shares.extend(self.faults(false, missed));
        shares.extend(self.faults(true, missed));
        shares.sort_by_key(|share| Reverse(share.ns));
        let shares = self.suspected(fold(shares), missed);
        let of = |kind| shares.iter().filter(|share| share.kind == kind).map(|share| share.ns).sum::<u64>();
        let is_doubtful = of(Kind::Nobody).saturating_mul(CONSIDERABLE) >= window_ns && signs.seen.is_empty();
        let unseen = of(Kind::Unknown);
        let confidence = match () {
            () if window_ns == 0 || unseen > window_ns / 2 => Confidence::None,
            () if unseen > window_ns / NEGLIGIBLE || is_doubtful => Confidence::Low,
            () => Confidence::High,
        };
        Verdict { cycle: missed.cycle, window_ns, shares, confidence, trace: None }
    }

    fn share(&self, owner: &Owner, sum: &Sum, missed: &Missed, signs: &Signs, names: Names<'_>) -> Share {
        let task = |tid: u32| self.ledger.tasks.get(&tid);
        let policy = |tid: u32| task(tid).map(names::policy);
        let cpu = || format!("CPU {}", missed.cpu);
        let own = || missed.node.clone();
        let often = (sum.times > 1).then(|| format!("{} times", sum.times));
        let (kind, name, detail) = match owner {
            Owner::Task(tid) => {
                let serves = task(*tid).is_some_and(names::is_interrupt);
                let kind = if serves { Kind::Interrupt } else { Kind::Task };
                (kind, names::task(task(*tid), *tid), policy(*tid))
            }
            Owner::Interrupt(number, name) => (Kind::Interrupt, names::interrupt(*number, name), often),
            Owner::Timer => (Kind::Interrupt, "local timer".to_owned(), often),
            Owner::Softirq(number, tid) => {
                let name = match *tid {
                    0 => names::softirq(*number),
                    tid if tid == missed.tid => names::softirq(*number),
                    tid => format!("{} in {}", names::softirq(*number), names::task(task(tid), tid)),
                };
                (Kind::Softirq, name, often)
            }
            Owner::Work(function, tid) => {
                let function = names(*function).unwrap_or_else(|| format!("{function:#x}"));
                (Kind::WorkItem, format!("{function} in {}", names::worker(task(*tid), *tid)), policy(*tid))
            }
            Owner::OwnCode => {
                let faults = (sum.times > 0 && self.ledger.faults.is_empty())
                    .then(|| format!("{} page faults, of unknown length, in it", sum.times));
                (Kind::OwnCode, own(), faults)
            }
            Owner::OwnBefore => {
                let detail = "before its cycle began: the cycle before, or another node of its thread";
                (Kind::OwnCode, own(), Some(detail.to_owned()))
            }
            Owner::OwnWait => (Kind::OwnWait, own(), None),
            Owner::Frequency => (Kind::Frequency, cpu(), None),
            Owner::Nobody => {
                let sign = if signs.seen.is_empty() { "no second sign".to_owned() } else { signs.seen.join(", ") };
                (Kind::Nobody, cpu(), Some(format!("idle or silent though the node was due; {sign}")))
            }
            Owner::Unknown(why) => (Kind::Unknown, cpu(), Some(reason(*why).to_owned())),
            Owner::Fault(_) => (Kind::MinorFault, own(), None),
        };
        Share { kind, name, ns: sum.ns, is_suspect: *owner != Owner::OwnCode, detail }
    }

    /// All faults with a sleep inside, or all without, as one share.
    fn faults(&self, slept: bool, missed: &Missed) -> Option<Share> {
        let mut total = Share {
            kind: if slept { Kind::MajorFault } else { Kind::MinorFault },
            name: missed.node.clone(),
            ns: 0,
            is_suspect: true,
            detail: None,
        };
        let (mut count, mut first) = (0_u64, None);
        for (owner, sum) in &self.ledger.sums {
            let Owner::Fault(index) = owner else { continue };
            let Some(fault) = self.ledger.faults.get(*index).filter(|fault| fault.slept == slept) else { continue };
            total.ns += sum.ns;
            count += 1;
            first = first.or(fault.address);
        }
        let faults = if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") };
        total.detail = Some(match (first, count) {
            (Some(address), 1) => format!("{faults}, at {address:#x}"),
            (Some(address), _) => format!("{faults}, first at {address:#x}"),
            (None, _) => faults,
        });
        (total.ns > 0).then_some(total)
    }

    /// Own code is to blame beyond its budget. Without a budget it is when it is the longest part, and no other part is
    /// considerable.
    fn suspected(&self, mut shares: Vec<Share>, missed: &Missed) -> Vec<Share> {
        let window_ns = self.window.end - self.window.start;
        let computed = [Kind::OwnCode, Kind::MinorFault, Kind::Frequency];
        let used: u64 = shares.iter().filter(|share| computed.contains(&share.kind)).map(|share| share.ns).sum();
        let is_considerable = |share: &Share| share.is_suspect && share.ns.saturating_mul(CONSIDERABLE) >= window_ns;
        let others = shares.iter().any(is_considerable);
        let is_to_blame = match missed.budget_ns {
            Some(budget) => used > budget,
            None => !others && shares.first().is_some_and(|share| share.kind == Kind::OwnCode),
        };
        for share in shares.iter_mut().filter(|share| share.kind == Kind::OwnCode) {
            share.is_suspect |= is_to_blame;
        }
        shares
    }
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Empty => "the trace holds no event",
        Why::Before => "it is older than the trace",
        Why::Lost => "events were lost",
        Why::Frozen | Why::After => "the trace was frozen by a miss before",
    }
}

/// Makes one share of those of a kind that are too many, so that an answer always fits its packet. They come longest first.
fn fold(shares: Vec<Share>) -> Vec<Share> {
    let mut folded: Vec<Share> = Vec::new();
    let mut rest: Vec<(Share, usize)> = Vec::new();
    for share in shares {
        if folded.iter().filter(|other| other.kind == share.kind).count() < MOST_OF_A_KIND {
            folded.push(share);
        } else if let Some((sum, count)) = rest.iter_mut().find(|(sum, _)| sum.kind == share.kind) {
            sum.ns += share.ns;
            *count += 1;
        } else {
            rest.push((share, 1));
        }
    }
    for (share, count) in rest {
        folded.push(Share { name: format!("{count} others"), detail: None, ..share });
    }
    folded.sort_by_key(|share| Reverse(share.ns));
    folded
}
