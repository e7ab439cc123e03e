//! What all kept runs of this system say together, as lines below the screen of the last one.

use std::fmt::Write;

use horus_measure::units::count;

use crate::record::history::{Merged, MergedPhase};
use crate::record::schema::Report;

use super::text::{self, bound_sentence, line, microseconds, rounded_up};

/// The screen of a report with these lines below.
pub fn screen(report: &Report, merged: Option<&Merged>) -> String {
    let lines = merged.map(render).filter(|lines| !lines.is_empty());
    [Some(text::render(report)), lines].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The lines, without a trailing newline; empty where no run counts.
pub fn render(merged: &Merged) -> String {
    let mut out = String::new();
    if let Some(phase) = merged.weakest() {
        line(&mut out, "all runs", &runs_sentence(merged, phase));
    }
    if merged.boots > 0 {
        line(&mut out, "all boots", &boots_sentence(merged));
    }
    let rest = rest_sentence(merged);
    if !rest.is_empty() {
        line(&mut out, "besides", &rest);
    }
    out.truncate(out.trim_end().len());
    out
}

/// `all 41 runs of this image on this machine, node-load: 0 misses in 1.1e8 releases …`
pub(crate) fn runs_sentence(merged: &Merged, phase: &MergedPhase) -> String {
    let runs = match merged.runs {
        0 => {
            return format!(
                "no run of this image on this machine is valid, so nothing is claimed; they missed {} times in {}, max {} us",
                phase.releases.misses,
                phase.name,
                microseconds(phase.max_ns)
            );
        }
        1 => "the only run".to_owned(),
        runs => format!("all {runs} runs"),
    };
    let mut text = format!(
        "{runs} of this image on this machine, {}: {} misses in {} releases, max {} us",
        phase.name,
        phase.releases.misses,
        count(phase.releases.judged),
        microseconds(phase.max_ns),
    );
    if let Some(most) = phase.max_misses_in_100.filter(|_| phase.releases.misses > 0) {
        let _ = write!(text, ", at most {most} in any 100 in a row");
    }
    if phase.is_clustered() {
        let _ = write!(text, "; they cluster ({}), so no bound a release holds", cluster_sentence(phase));
    } else {
        let _ = write!(text, " => {} if misses are independent", bound_sentence(phase.releases.bound_95()));
    }
    text
}

fn cluster_sentence(phase: &MergedPhase) -> String {
    let run = format!("longest run {}", phase.releases.longest_run);
    match phase.chance_of_spread {
        Some(chance) if chance < 0.01 => format!("{run}; chance spreads them over boots like this with p < 0.01"),
        Some(chance) => format!("{run}; chance spreads them over boots like this with p = {chance:.2}"),
        None => run,
    }
}

/// The claim that takes a boot as one observation.
pub(crate) fn boots_sentence(merged: &Merged) -> String {
    let counted = format!("{} of {} boots with a miss", merged.boots_with_miss, merged.boots);
    match merged.boot_bound_95() {
        1.0.. => format!("{counted} => no bound on P(boot with a miss)"),
        bound => format!(
            "{counted} => P(boot with a miss) < {} (95 %), however misses cluster within a boot",
            rounded_up(bound)
        ),
    }
}

/// What is not in the figures, or only in some of them.
pub(crate) fn rest_sentence(merged: &Merged) -> String {
    let parts = [
        (merged.unfinished, "began and left no report: each counts as a boot with a miss"),
        (merged.not_valid, "not valid: their misses count, their releases do not"),
        (merged.others, "of another image, board or configuration, left out"),
    ];
    let runs = parts.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = runs.map(|(count, what)| format!("{count} run(s) {what}")).collect();
    if merged.unreadable > 0 {
        parts.push(format!("{} file(s) are no whole report", merged.unreadable));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use horus_measure::merge::Releases;

    use super::*;

    fn merged(misses: u64, longest_run: u64) -> Merged {
        let phase = MergedPhase {
            name: "node-load".to_owned(),
            releases: Releases { judged: 210_000_000, misses, longest_run },
            max_ns: Some(17_900),
            max_misses_in_100: Some(longest_run),
            chance_of_spread: (misses > 0).then_some(0.5),
        };
        Merged { runs: 41, boots: 41, boots_with_miss: misses.min(1), phases: vec![phase], ..Merged::default() }
    }

    #[test]
    fn the_lines_of_a_machine_that_never_missed() {
        assert_eq!(
            render(&merged(0, 0)),
            " all runs   all 41 runs of this image on this machine, node-load: 0 misses in 2.1e8 releases, max 17.9 us \
             => P(miss) < 1.5e-8 (95 %) if misses are independent\n \
             all boots  0 of 41 boots with a miss => P(boot with a miss) < 7.1e-2 (95 %), however misses cluster within a boot"
        );
    }

    #[test]
    fn misses_in_a_burst_have_no_bound_a_release() {
        let text = render(&merged(40, 40));
        assert!(!text.contains("P(miss)") && text.contains("at most 40 in any 100"), "{text}");
        assert!(text.contains("they cluster (longest run 40; chance") && text.contains("1 of 41 boots"), "{text}");
    }

    #[test]
    fn where_no_run_is_valid_or_every_boot_missed_nothing_is_claimed() {
        let text = render(&Merged { runs: 0, not_valid: 2, boots: 2, boots_with_miss: 2, ..merged(7, 1) });
        assert!(
            text.contains("no run of this image on this machine is valid") && text.contains("missed 7 times"),
            "{text}"
        );
        assert!(text.contains("2 of 2 boots with a miss => no bound") && !text.contains("<"), "{text}");
    }

    #[test]
    fn what_does_not_count_is_told_and_without_any_run_nothing_is() {
        let text = render(&Merged { unfinished: 2, not_valid: 1, others: 3, unreadable: 1, ..merged(0, 0) });
        let rest = text.lines().last().unwrap();
        for part in
            ["besides", "2 run(s) began and left no report", "1 run(s) not valid", "3 run(s) of another", "1 file(s)"]
        {
            assert!(rest.contains(part), "{rest}");
        }
        assert_eq!(render(&Merged::default()), "");
    }
}
