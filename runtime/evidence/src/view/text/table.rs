//! The figures of all phases as a table.

use std::fmt::Write;

use crate::record::schema::{Latency, Report};

use super::microseconds;

/// Characters of a phase's name in the table; longer names make the column wider.
const NAME: usize = 18;

/// Of a name that is longer than this, the line is out of step: no phase of ours has it.
const MOST: usize = 80;

/// Characters of what its times are of.
const FIGURE: usize = 12;

/// The table, phase by phase; what was not measured says why.
pub fn table(out: &mut String, report: &Report) {
    let wide = report.phases.iter().map(|phase| phase.name.len() + 1).fold(NAME, usize::max).min(MOST);
    let heads = ["samples", "p50", "p99", "p99.9", "p99.99", "max", "misses"];
    let _ = write!(out, " {:<1$}", "figures in us", wide + FIGURE);
    for head in heads {
        let _ = write!(out, "{head:>9}");
    }
    out.push('\n');
    for phase in &report.phases {
        if !phase.measured {
            let reason = phase.reason.as_deref().unwrap_or("no reason was recorded");
            let _ = writeln!(out, " {:<wide$}not measured: {reason}", phase.name);
            continue;
        }
        let misses = phase.misses.map(|misses| misses.to_string());
        let misses = misses.or(phase.lost.map(|lost| format!("{lost} lost"))).unwrap_or_default();
        row(out, wide, [&phase.name, phase.figure()], Some(phase.samples), &phase.latency, &misses);
        if let Some(jitter) = &phase.release_jitter {
            row(out, wide, ["", "jitter"], phase.release_jitter_samples, jitter, "");
        }
        if let (Some(floor), Some(ratio)) = (phase.floor_p50_ns, phase.floor_ratio) {
            let _ = writeln!(out, " {:<wide$}floor p50 {} us, ratio {ratio:.1}", "", microseconds(Some(floor)));
        }
        for note in &phase.notes {
            let _ = writeln!(out, " {:<wide$}note: {note}", "");
        }
    }
}

fn row(
    out: &mut String,
    wide: usize,
    [name, figure]: [&str; 2],
    samples: Option<u64>,
    latency: &Latency,
    misses: &str,
) {
    let quantiles = [latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.p9999_ns, latency.max_ns];
    let _ = write!(
        out,
        " {name:<wide$}{figure:<FIGURE$}{:>9}",
        samples.map_or_else(|| "n/a".to_owned(), |samples| samples.to_string())
    );
    for quantile in quantiles {
        let _ = write!(out, "{:>9}", microseconds(quantile));
    }
    let _ = writeln!(out, "{}", if misses.is_empty() { String::new() } else { format!("{misses:>9}") });
}
