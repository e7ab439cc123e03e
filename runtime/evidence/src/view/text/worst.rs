//! The worst response of a run: when it was, and how hot and how fast the machine was then.

use crate::record::interval::Interval;
use crate::record::schema::{Phase, Report};

use super::microseconds;

/// `31.0 us in second 8 of node-quiet, at 50 C and 2.80 GHz`; `None` for reports that do not tell the second.
pub fn worst_sentence(report: &Report) -> Option<String> {
    let rows = |phase: &Phase| {
        let intervals =
            phase.intervals.iter().flat_map(|intervals| intervals.rows.iter().map(|row| (intervals.width_ns, row)));
        intervals.enumerate().map(|(number, (width, row))| (number as u64 * width, *row)).collect::<Vec<_>>()
    };
    let all =
        report.phases.iter().flat_map(|phase| rows(phase).into_iter().map(move |(start, row)| (phase, start, row)));
    let (phase, start, row) =
        all.filter(|(_, _, row)| row.response_ns.is_some()).max_by_key(|(_, _, row)| row.response_ns)?;
    let second = start / 1_000_000_000 + 1;
    Some(format!("{} us in second {second} of {}{}", microseconds(row.response_ns), phase.name, state(&row)))
}

/// What the machine told of itself at the end of that second.
fn state(row: &Interval) -> String {
    let heat = row.temperature_mc.map(|mc| format!("{} C", mc / 1_000));
    let clock = row.frequency_khz.map(|khz| format!("{:.2} GHz", khz as f64 / 1e6));
    let found: Vec<String> = heat.into_iter().chain(clock).collect();
    let at = if found.is_empty() { String::new() } else { format!(", at {}", found.join(" and ")) };
    if row.is_throttled == Some(true) { at + ", throttled" } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn the_worst_second_is_told_with_what_the_machine_was_like() {
        let mut report = sample::report("b0");
        assert_eq!(worst_sentence(&report).unwrap(), "31.0 us in second 8 of node-quiet, at 50 C and 2.80 GHz");
        let row = &mut report.phases[0].intervals.as_mut().unwrap().rows[7];
        (row.temperature_mc, row.frequency_khz, row.is_throttled) = (None, None, Some(true));
        assert_eq!(worst_sentence(&report).unwrap(), "31.0 us in second 8 of node-quiet, throttled");
        report.phases[0].intervals = None;
        assert_eq!(worst_sentence(&report), None);
    }
}
