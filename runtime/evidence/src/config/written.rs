//! Phases and loads as they are written in a file, and what is wrong with them.

use std::collections::BTreeMap;
use std::ops::Range;

use horus::deadline::{MIN_PERIOD, Timing};
use serde::Deserialize;
use toml::Spanned;

use super::phases::{IDLE, LEAST_BUSY_PERCENT, Load, Measure, PhasePlan};
use super::{Complaint, Length, MAX_PERIOD, within};

/// More phases are refused: each takes a second or two besides its share.
const MOST_PHASES: usize = 100;

/// The longest name of a phase or a load.
const LONGEST_NAME: usize = 32;

/// The largest share.
const MAX_SHARE: u32 = 1_000;

/// A `[loads.NAME]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadText {
    command: Spanned<Vec<String>>,
    least_busy_percent: Option<Spanned<u8>>,
}

impl LoadText {
    /// The load called `name`, checked.
    pub fn checked(self, name: &str) -> Result<Load, Complaint> {
        let span = self.command.span();
        let command = self.command.into_inner();
        check_name(name, &span)?;
        if name == IDLE {
            return Err((Some(span), format!("'{IDLE}' is the load that does nothing: choose another name")));
        }
        check_command(&command).map_err(|error| (Some(span), error))?;
        let least_busy_percent = match self.least_busy_percent {
            Some(percent) if *percent.get_ref() > 100 => {
                return Err((Some(percent.span()), "least-busy-percent is out of range: choose 0 to 100".to_owned()));
            }
            percent => percent.map_or(LEAST_BUSY_PERCENT, Spanned::into_inner),
        };
        Ok(Load { command, least_busy_percent })
    }
}

/// A load needs a program.
pub fn check_command(command: &[String]) -> Result<(), String> {
    if command.first().is_none_or(String::is_empty) {
        return Err("load names no program: write [\"program\", \"argument\"]".to_owned());
    }
    Ok(())
}

/// A `[[phase]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PhaseText {
    measure: Spanned<Word>,
    name: Option<Spanned<String>>,
    load: Option<Spanned<String>>,
    share: Option<Spanned<u32>>,
    period: Option<Spanned<Length>>,
    deadline: Option<Spanned<Length>>,
    default_system: Option<Spanned<bool>>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Node,
    Message,
    Cyclictest,
    Hwlat,
    Control,
}

impl PhaseText {
    /// The phase, checked; `loads` are those that there are.
    fn checked(self, loads: &BTreeMap<String, Load>) -> Result<PhasePlan, Complaint> {
        let at = self.measure.span();
        let load = self.load.as_ref().map_or(IDLE, |load| load.get_ref());
        if load != IDLE && !loads.contains_key(load) {
            let known: Vec<&str> = [IDLE].into_iter().chain(loads.keys().map(String::as_str)).collect();
            let span = self.load.as_ref().map_or(at, Spanned::span);
            return Err((Some(span), format!("there is no load '{load}': choose one of {}", known.join(", "))));
        }
        let load = load.to_owned();
        let share = self.share.as_ref().map_or(1, |share| *share.get_ref());
        if !(1..=MAX_SHARE).contains(&share) {
            let span = self.share.as_ref().map(Spanned::span);
            return Err((span, format!("share {share} is out of range: choose 1 to {MAX_SHARE}")));
        }
        let given_name = self.name.clone();
        let measure = self.measure(at.clone())?;
        let prefix = measure.kind().name();
        let (name, span) = match given_name {
            Some(name) => (name.get_ref().clone(), name.span()),
            None => (format!("{prefix}-{load}"), at),
        };
        check_name(&name, &span)?;
        if !name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-')) {
            return Err((
                Some(span),
                format!("name '{name}' does not say what is measured: begin it with '{prefix}-'"),
            ));
        }
        Ok(PhasePlan { name, measure, load, share })
    }

    fn measure(self, at: Range<usize>) -> Result<Measure, Complaint> {
        let word = *self.measure.get_ref();
        let useless = |span: Option<Range<usize>>, key: &str| match span {
            Some(span) => Err((Some(span), format!("{key} has no meaning for what this phase measures"))),
            None => Ok(()),
        };
        if word != Word::Cyclictest {
            useless(self.default_system.as_ref().map(Spanned::span), "default-system")?;
        }
        if !matches!(word, Word::Node | Word::Message) {
            useless(self.deadline.as_ref().map(Spanned::span), "deadline")?;
        }
        match word {
            Word::Node => timing(self.period, self.deadline, at).map(Measure::Node),
            Word::Message => timing(self.period, self.deadline, at).map(Measure::Message),
            Word::Cyclictest => {
                let interval = self.period.map(|period| super::cyclictest_interval("period", &period)).transpose()?;
                let default_system = self.default_system.is_some_and(Spanned::into_inner);
                Ok(Measure::Cyclictest { interval, default_system })
            }
            Word::Hwlat | Word::Control => {
                useless(self.period.as_ref().map(Spanned::span), "period")?;
                Ok(if word == Word::Hwlat { Measure::Hwlat } else { Measure::Control })
            }
        }
    }
}

/// A period with its deadline: both or none.
fn timing(
    period: Option<Spanned<Length>>,
    deadline: Option<Spanned<Length>>,
    at: Range<usize>,
) -> Result<Option<Timing>, Complaint> {
    let (period, deadline) = match (period, deadline) {
        (Some(period), Some(deadline)) => (period, deadline),
        (None, None) => return Ok(None),
        _ => {
            return Err((
                Some(at),
                "a phase with a period of its own needs a deadline, and the other way round".to_owned(),
            ));
        }
    };
    let checked = within(period.get_ref().0, MIN_PERIOD, MAX_PERIOD)
        .map_err(|error| format!("period {error}"))
        .and_then(|period| Timing::new(period, deadline.get_ref().0).map_err(|error| error.to_string()));
    checked.map(Some).map_err(|error| (Some(deadline.span()), error))
}

/// All phases of a file, checked together.
pub fn checked(texts: Vec<PhaseText>, loads: &BTreeMap<String, Load>) -> Result<Vec<PhasePlan>, Complaint> {
    if texts.len() > MOST_PHASES {
        return Err((None, format!("{} phases are too many: at most {MOST_PHASES}", texts.len())));
    }
    let mut phases: Vec<PhasePlan> = Vec::with_capacity(texts.len());
    for text in texts {
        let span = text.name.as_ref().map_or(text.measure.span(), Spanned::span);
        let phase = text.checked(loads)?;
        if phases.iter().any(|other| other.name == phase.name) {
            return Err((Some(span), format!("there are two phases '{}': give one another name", phase.name)));
        }
        phases.push(phase);
    }
    if phases.is_empty() {
        return Err((None, "there is no phase: write a [[phase]] table".to_owned()));
    }
    Ok(phases)
}

/// A name goes into reports, file formats and screens of 80 columns.
fn check_name(name: &str, span: &Range<usize>) -> Result<(), Complaint> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err((Some(span.clone()), format!("name '{name}': write up to {LONGEST_NAME} of a to z, 0 to 9 and '-'")))
}
