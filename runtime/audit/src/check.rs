//! Expectations: whether what was read is what a rule wants, and the words for both.

use crate::facts::Facts;
use crate::pattern;
use crate::rule::{Expect, Scalar};
use crate::tree::Unread;
use crate::value::{Found, Reading, Value, shortened};

/// Odd values that a result names; more are counted.
const MAX_NAMED: usize = 4;

/// What came of holding a reading against an expectation.
pub enum Verdict {
    /// As expected.
    Pass,
    /// Not as expected.
    Fail,
    /// Cannot be told, and why.
    Unknown(Unread),
}

impl Expect {
    /// Judges a reading, and says in short what was observed.
    pub fn judge(&self, reading: &Reading, facts: &Facts) -> (Verdict, String) {
        match (reading, self) {
            (Reading::Unknown(unread), _) => (Verdict::Unknown(unread.clone()), String::new()),
            // What is not there is none of the texts that must not be there.
            (Reading::Absent(what), Self::Absent | Self::NotMatches(_)) => (Verdict::Pass, what.clone()),
            (Reading::Absent(what), _) => (Verdict::Fail, what.clone()),
            (Reading::Found(found), Self::Absent | Self::Nothing) => {
                let clear = if found.values.is_empty() { Verdict::Pass } else { Verdict::Fail };
                let verdict = match (clear, found.gaps.first()) {
                    (Verdict::Pass, Some(gap)) => Verdict::Unknown(gap.clone()),
                    (verdict, _) => verdict,
                };
                (verdict, observed(&found.values, found))
            }
            (Reading::Found(found), _) => self.judge_values(found, facts),
        }
    }

    /// The values that are not as expected.
    ///
    /// # Errors
    /// When a CPU set that the expectation names is not known.
    pub fn odd(&self, found: &Found, facts: &Facts) -> Result<Vec<Value>, Unread> {
        let mut odd = Vec::new();
        for value in &found.values {
            if !self.holds(&value.text, facts)? {
                odd.push(value.clone());
            }
        }
        Ok(odd)
    }

    fn judge_values(&self, found: &Found, facts: &Facts) -> (Verdict, String) {
        let odd = match self.odd(found, facts) {
            Ok(odd) => odd,
            Err(unread) => return (Verdict::Unknown(unread), observed(&found.values, found)),
        };
        if !odd.is_empty() {
            return (Verdict::Fail, observed(&odd, found));
        }
        let verdict = match found.gaps.first() {
            Some(gap) => Verdict::Unknown(gap.clone()),
            None if found.values.is_empty() => Verdict::Unknown(Unread("there was no value to read".to_owned())),
            None => Verdict::Pass,
        };
        (verdict, observed(&found.values, found))
    }

    /// Whether one value is as expected.
    ///
    /// # Errors
    /// When a CPU set that the expectation names is not known.
    fn holds(&self, text: &str, facts: &Facts) -> Result<bool, Unread> {
        let number = || text.parse::<i64>();
        // The kernel's lists name CPUs that are switched off; what is said of them holds or not without consequence.
        let list = || facts.kernel_list(text).map(|list| facts.without_offline(&list));
        Ok(match self {
            Self::Equals(wanted) => same(wanted, text),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| same(wanted, text)),
            Self::AtLeast(least) => number().is_ok_and(|number| number >= *least),
            Self::AtMost(most) => number().is_ok_and(|number| number <= *most),
            Self::Between(least, most) => number().is_ok_and(|number| (*least..=*most).contains(&number)),
            Self::Matches(patterns) => patterns.iter().any(|pattern| pattern::matches(pattern, text)),
            Self::NotMatches(patterns) => !patterns.iter().any(|pattern| pattern::matches(pattern, text)),
            Self::Present => true,
            Self::Absent | Self::Nothing => false,
            Self::SomeCpus => list().is_ok_and(|list| !list.is_empty()),
            Self::NoCpus => facts.kernel_list(text).is_ok_and(|list| list.is_empty()),
            Self::CpusWithin(set) => {
                let set = facts.cpus(*set)?;
                list().is_ok_and(|list| list.is_subset(&set))
            }
            Self::CpusCover(set) => {
                let set = facts.cpus(*set)?;
                list().is_ok_and(|list| set.is_subset(&list))
            }
            Self::CpusEqual(set) => {
                let set = facts.cpus(*set)?;
                list().is_ok_and(|list| set == list)
            }
        })
    }

    /// What is expected, in words, with the CPU numbers of this machine where they are known.
    pub fn describe(&self, facts: &Facts) -> String {
        let any = |texts: &[String]| texts.join(" or ");
        let set = |set: &crate::facts::CpuSet| match facts.cpus(*set) {
            Ok(cpus) => format!("the {} CPUs ({cpus})", set.word()),
            Err(_) => format!("the {} CPUs", set.word()),
        };
        match self {
            Self::Equals(wanted) => wanted.to_string(),
            Self::OneOf(wanted) => any(&wanted.iter().map(Scalar::to_string).collect::<Vec<_>>()),
            Self::AtLeast(least) => format!("at least {least}"),
            Self::AtMost(most) => format!("at most {most}"),
            Self::Between(least, most) => format!("{least} to {most}"),
            Self::Matches(patterns) => any(patterns),
            Self::NotMatches(patterns) => format!("not {}", any(patterns)),
            Self::Present => "set".to_owned(),
            Self::Absent => "not set".to_owned(),
            Self::Nothing => "none".to_owned(),
            Self::SomeCpus => "at least one CPU".to_owned(),
            Self::NoCpus => "no CPU".to_owned(),
            Self::CpusWithin(cpus) => format!("only {}", set(cpus)),
            Self::CpusCover(cpus) => format!("all of {}", set(cpus)),
            Self::CpusEqual(cpus) => format!("exactly {}", set(cpus)),
        }
    }
}

/// Numbers compare as numbers, so that `0x0`-free spellings such as `00` and `+1` do not matter; all else as text.
fn same(wanted: &Scalar, text: &str) -> bool {
    match (wanted.to_string().parse::<i64>(), text.parse::<i64>()) {
        (Ok(wanted), Ok(number)) => wanted == number,
        _ => wanted.to_string() == text,
    }
}

/// What was observed, for people: one value, or each differing one with its place.
fn observed(values: &[Value], found: &Found) -> String {
    let mut text = match values {
        [] => "none".to_owned(),
        [value] if found.values.len() == 1 && !found.is_listing => shown(&value.text),
        [first, second, rest @ ..]
            if first.text == second.text
                && rest.iter().all(|value| value.text == first.text)
                && !first.text.is_empty() =>
        {
            let count = values.len();
            let total = found.values.len();
            let places = if count == total { format!("all {total}") } else { format!("{count} of {total}") };
            format!("{} ({places}, such as {})", shown(&first.text), first.place)
        }
        _ => {
            let mut named: Vec<String> = values.iter().take(MAX_NAMED).map(named).collect();
            if values.len() > MAX_NAMED {
                named.push(format!("and {} more", values.len() - MAX_NAMED));
            }
            named.join("; ")
        }
    };
    if let Some(note) = &found.note {
        text = format!("{text} ({note})");
    }
    text
}

fn named(value: &Value) -> String {
    match value.text.as_str() {
        "" => value.place.clone(),
        text => format!("{}: {}", value.place, shown(text)),
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() { "empty".to_owned() } else { shortened(text) }
}
