//! The gate: whether a version on trial stays, is taken back, or has to be looked at longer. A pure function of what was seen.
//!
//! A version is on trial until [`BOOTS`] of its boots have a valid determinism report.
//!
//! **Faults.** A unit that failed, a node that did not become ready or a rule of the audit that no longer passes takes the version back at once, unless
//! it has an [`Excuse`](crate::boot::Excuse). These need no statistics, and a robot that does not start has no patience for two more boots.
//!
//! **Tails.** A boot is *worse* when the p99.9 of its phase `node-load` exceeds each of the old version's last [`REPORTS`] reports `o` by more than
//! `max(10 % of o, 2 µs)`. The version is taken back when all [`BOOTS`] boots are worse. The boot is the unit: samples of one boot are alike, and misses
//! cluster, so tests on pooled samples are wrong. If the new version is as good as the old one, all boots are exchangeable, and each set of `m` of
//! the `K + m` boots is equally likely to have the `m` longest tails, for any distribution. So a good version is taken back by its tails with
//! a probability of at most `1 / C(K + m, m)`, which is [`FALSE_ROLLBACK`] (Gumbel and von Schelling, "The distribution of the number of exceedances",
//! Annals of Mathematical Statistics 21, 1950). The margin only makes it smaller.
//!
//! # Trade-offs
//! With fewer than [`REPORTS`] reports of the old version no tails are compared, because the promise would not hold. A tail that is half as long
//! again is rarely found: `docs/update.md` has the table. A boot that ends before its report counts neither way, so a version that never lives until
//! its report is not taken back here: counting starts is the boot loader's work.

use std::fmt;
use std::time::Duration;

use horus_measure::units::time;

use crate::boot::{Boot, Fault, Report};

/// Boots with a valid report that decide: `m`.
pub const BOOTS: usize = 3;

/// Reports of the old version that tails are compared with, one a boot, the newest ones: `K`.
pub const REPORTS: usize = 20;

/// The probability that a version as good as the old one is taken back by its tails is at most this: `m! K! / (K + m)!`, one in 1771.
pub const FALSE_ROLLBACK: f64 = {
    let (mut share, mut i) = (1.0, 1);
    while i <= BOOTS {
        share *= i as f64 / (REPORTS + i) as f64;
        i += 1;
    }
    share
};

/// By how much a tail may be longer, as a part of the old one: a tenth.
const MARGIN_PART: u64 = 10;

/// By how much it may be longer at least, in nanoseconds: less is in no control loop's interest.
const MARGIN_NS: u64 = 2_000;

/// So many boots in a row without a report are told, so that a version that ends the machine each time does not wait unseen.
const CUT_IN_A_ROW: usize = 3;

/// Where a version on trial stands. Its text is one sentence that says why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Standing {
    /// More boots have to be measured.
    OnTrial {
        /// The number of the boot that is measured next, from 1.
        boot: usize,
        /// [`BOOTS`].
        of: usize,
        /// Whether that boot has begun.
        has_begun: bool,
        /// Measured boots whose tail was worse.
        worse: usize,
        /// Boots that ended before their report.
        cut: usize,
    },
    /// What was seen says nothing: measure again.
    Hold {
        /// Why it does not.
        why: Unclear,
    },
    /// The version stays.
    Good {
        /// Boots whose tail was worse; fewer than all.
        worse: usize,
        /// Reports of the old version: fewer than [`REPORTS`] are not compared with.
        reports: usize,
    },
    /// The old version comes back.
    Back {
        /// What speaks against the version.
        why: Against,
    },
}

/// Why a boot says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// The report of this boot is not valid.
    Invalid {
        /// The number of the boot, from 1.
        boot: usize,
        /// Why it is not.
        reason: String,
    },
    /// Several boots in a row ended before their report.
    Cut {
        /// How many.
        boots: usize,
    },
}

/// What speaks against a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Something failed.
    Fault {
        /// The number of the boot, from 1.
        boot: usize,
        /// The first fault that counts.
        fault: Fault,
        /// How many more there are in this boot.
        more: usize,
    },
    /// The tail of each boot was worse.
    Tails {
        /// The least p99.9 of the boots, in nanoseconds.
        least_ns: u64,
        /// What it exceeds: the old version's longest with the margin, in nanoseconds.
        limit_ns: u64,
        /// The old version's longest, in nanoseconds.
        old_ns: u64,
    },
}

/// The p99.9 in nanoseconds that a boot has to exceed to be worse; `None` with fewer than [`REPORTS`] reports in `old`.
///
/// `o + max(o / 10, 2000)` grows with `o`, so who exceeds that of the longest exceeds all of them.
/// A tenth is rounded down: a whole number exceeds it just where it exceeds the part that is cut off too.
pub fn limit_ns(old: &[u64]) -> Option<u64> {
    longest(old).map(|longest| longest.saturating_add((longest / MARGIN_PART).max(MARGIN_NS)))
}

/// The longest of the newest [`REPORTS`].
fn longest(old: &[u64]) -> Option<u64> {
    old.last_chunk::<REPORTS>()?.iter().copied().max()
}

/// Decides on a version.
///
/// `old` is the p99.9 of `node-load` in nanoseconds of the old version's reports: valid ones, one a boot, the newest last. `boots` are those of the
/// version on trial in their order. Later boots do not change a decision.
pub fn decide(old: &[u64], boots: &[Boot]) -> Standing {
    let limit = limit_ns(old);
    let mut tails = Vec::with_capacity(BOOTS);
    for boot in boots.iter().filter(|boot| boot.report != Report::Cut) {
        let mut counted = boot.counted();
        if let Some(fault) = counted.next() {
            let why = Against::Fault { boot: tails.len() + 1, fault: fault.clone(), more: counted.count() };
            return Standing::Back { why };
        }
        if let Report::Valid { p999_ns } = boot.report {
            tails.push(p999_ns);
        }
        if tails.len() == BOOTS {
            return by_tails(old, limit, &tails);
        }
    }
    undecided(boots, tails.len(), worse(limit, &tails))
}

fn worse(limit: Option<u64>, tails: &[u64]) -> usize {
    tails.iter().filter(|tail| limit.is_some_and(|limit| **tail > limit)).count()
}

fn by_tails(old: &[u64], limit: Option<u64>, tails: &[u64]) -> Standing {
    let worse = worse(limit, tails);
    match (limit, longest(old), tails.iter().min()) {
        (Some(limit_ns), Some(old_ns), Some(&least_ns)) if worse == tails.len() => {
            Standing::Back { why: Against::Tails { least_ns, limit_ns, old_ns } }
        }
        _ => Standing::Good { worse, reports: old.len() },
    }
}

fn undecided(boots: &[Boot], measured: usize, worse: usize) -> Standing {
    let last = boots.last().map(|boot| &boot.report);
    if let Some(Report::Invalid { reason }) = last {
        return Standing::Hold { why: Unclear::Invalid { boot: measured + 1, reason: reason.clone() } };
    }
    // The boot that goes on now has not ended.
    let ended = boots.iter().rev().skip_while(|boot| boot.report == Report::Awaited);
    let in_a_row = ended.take_while(|boot| boot.report == Report::Cut).count();
    if in_a_row >= CUT_IN_A_ROW {
        return Standing::Hold { why: Unclear::Cut { boots: in_a_row } };
    }
    let cut = boots.iter().filter(|boot| boot.report == Report::Cut).count();
    let has_begun = last == Some(&Report::Awaited);
    Standing::OnTrial { boot: measured + 1, of: BOOTS, has_begun, worse, cut }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnTrial { boot, of, has_begun, worse, cut } => {
                let when = if *has_begun { "is not measured yet" } else { "comes with the next start" };
                write!(f, "on trial: boot {boot} of {of} {when}")?;
                match worse {
                    0 => {}
                    worse => write!(f, ", the tail was worse in {worse} of {} before it", boot - 1)?,
                }
                match cut {
                    0 => Ok(()),
                    1 => f.write_str(", and a boot that ended before its report does not count"),
                    cut => write!(f, ", and {cut} boots that ended before their reports do not count"),
                }
            }
            Self::Hold { why: Unclear::Invalid { boot, reason } } => write!(
                f,
                "held: the report of boot {boot} of {BOOTS} is not valid ({reason}), so the boot is measured again and counts neither way"
            ),
            Self::Hold { why: Unclear::Cut { boots } } => write!(
                f,
                "held: {boots} boots in a row ended before their reports, by power cuts or by crashes that look the same, and count neither way"
            ),
            Self::Good { worse, reports } => {
                write!(f, "good: {BOOTS} boots had no fault, and ")?;
                match (reports, worse) {
                    (..REPORTS, _) => {
                        write!(
                            f,
                            "tails were not compared, for which {REPORTS} reports of the old version are needed and {reports} are there"
                        )
                    }
                    (_, 0) => f.write_str("none had a worse tail than the old version"),
                    (_, worse) => write!(
                        f,
                        "only {worse} of them had a worse tail than the old version, which {BOOTS} would have to"
                    ),
                }
            }
            Self::Back { why: Against::Fault { boot, fault, more } } => {
                write!(f, "back: {fault} in boot {boot} of {BOOTS}")?;
                if *more > 0 { write!(f, ", and {more} more with it") } else { Ok(()) }
            }
            Self::Back { why: Against::Tails { least_ns, limit_ns, old_ns } } => {
                let [least, limit, old] = [least_ns, limit_ns, old_ns].map(|nanos| time(Duration::from_nanos(*nanos)));
                write!(
                    f,
                    "back: p99.9 of node-load was {least} or more in all {BOOTS} boots, where {limit} are allowed and the old version had {old} at most"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;
