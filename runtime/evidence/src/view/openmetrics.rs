//! A report in OpenMetrics' text format, for the textfile collector of a node exporter or any scraper that reads a file.
//!
//! All figures are gauges: they are of one run, and the next one starts anew. Times are in seconds, as the format wants them.

use std::fmt::{Display, Write};

use horus_audit::Status;

use crate::record::history::Merged;
use crate::record::schema::{Latency, Phase, Report, Verdict};

use super::escape::label;

/// Upper ends of the histogram's classes, in nanoseconds: 1, 2 and 5 of each decade from a microsecond to a second.
const ENDS_NS: [u64; 19] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
];

/// The whole exposition, with its end mark.
pub fn render(report: &Report, together: Option<&Merged>, watch: Option<&Merged>) -> String {
    let mut out = Exposition::default();
    let identity = report.identity.clone().unwrap_or_default();
    out.family("horus_run", "info", "The run that all figures are of.");
    let pairs = [
        ("run_id", report.run_id.as_str()),
        ("boot_id", &report.boot_id),
        ("image", &report.image),
        ("build_id", &identity.build_id),
        ("board", &identity.board),
        ("kernel", &report.kernel),
        ("virtual", report.hypervisor.as_deref().unwrap_or("none")),
    ];
    out.sample("horus_run_info", &pairs, 1);
    out.gauge("horus_run_valid", "1 when meter and conditions were sound.", u8::from(report.valid));
    out.family("horus_run_verdict", "stateset", "What the figures say about the machine.");
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::None] {
        out.sample(
            "horus_run_verdict",
            &[("horus_run_verdict", verdict.as_str())],
            u8::from(report.verdict == verdict),
        );
    }
    out.gauge("horus_audit_score", "Score of the audit, of 100.", report.audit.score);
    out.family("horus_audit_rules", "gauge", "Rules of the audit by their result.");
    for status in [Status::Pass, Status::Fail, Status::Na] {
        out.sample("horus_audit_rules", &[("status", status.word())], report.audit.count(status));
    }
    out.gauge("horus_units_failed", "Units in state failed.", report.failed_units.len());
    phases(&mut out, report);
    if let Some(merged) = together {
        all_runs(&mut out, merged);
    }
    if let Some(watch) = watch {
        watched(&mut out, watch);
    }
    out.0.push_str("# EOF\n");
    out.0
}

fn phases(out: &mut Exposition, report: &Report) {
    let measured: Vec<&Phase> = report.phases.iter().filter(|phase| phase.measured).collect();
    type Figure = fn(&Phase) -> Option<String>;
    let figures: [(&str, &str, Figure); 6] = [
        ("horus_phase_samples", "Releases, round trips or wake-ups of a phase.", |phase| {
            Some(phase.samples.to_string())
        }),
        ("horus_deadline_misses", "Late and skipped releases.", |phase| Some(phase.misses?.to_string())),
        ("horus_deadline_misses_in_a_row", "The longest run of misses.", |phase| {
            Some(phase.max_consecutive?.to_string())
        }),
        ("horus_deadline_misses_in_any_100", "The most misses in any 100 consecutive releases.", |phase| {
            Some(phase.max_misses_in_100?.to_string())
        }),
        (
            "horus_deadline_miss_bound",
            "Upper 95 % bound of the miss probability, if misses are independent.",
            |phase| Some(format!("{:e}", phase.miss_bound_95?)),
        ),
        ("horus_messages_lost", "Messages that never came back.", |phase| Some(phase.lost?.to_string())),
    ];
    for (name, help, figure) in figures {
        out.family(name, "gauge", help);
        for phase in &measured {
            figure(phase).into_iter().for_each(|value| out.sample(name, &[("phase", &phase.name)], value));
        }
    }
    for (name, help) in [
        (
            "horus_latency_seconds",
            "Response time, half round trip or wake-up latency of a phase, by quantile; 1 is the maximum.",
        ),
        ("horus_release_jitter_seconds", "Release jitter by quantile; 1 is the maximum."),
    ] {
        out.family(name, "gauge", help);
        for phase in &measured {
            let of_phase = if name.contains("jitter") { phase.release_jitter } else { Some(phase.latency) };
            for (quantile, ns) in of_phase.iter().flat_map(quantiles) {
                out.sample(name, &[("phase", &phase.name), ("quantile", quantile)], seconds(ns));
            }
        }
    }
    out.family("horus_response_seconds", "gaugehistogram", "Response times of the node.");
    for phase in measured.iter().filter(|phase| phase.is_node()) {
        for end in ENDS_NS {
            let below =
                phase.histogram.iter().take_while(|(value, _)| *value <= end).map(|(_, count)| count).sum::<u64>();
            out.sample("horus_response_seconds_bucket", &[("phase", &phase.name), ("le", &seconds(end))], below);
        }
        out.sample("horus_response_seconds_bucket", &[("phase", &phase.name), ("le", "+Inf")], phase.samples);
    }
}

fn all_runs(out: &mut Exposition, merged: &Merged) {
    out.gauge("horus_all_runs", "Valid runs of this system that are kept.", merged.runs);
    out.gauge("horus_all_boots", "Boots of this system that say something.", merged.boots);
    out.gauge("horus_all_boots_with_miss", "Boots with a miss or a run that did not end.", merged.boots_with_miss);
    out.gauge(
        "horus_all_boot_bound",
        "Upper 95 % bound of the probability of such a boot.",
        format!("{:e}", merged.boot_bound_95()),
    );
    let name = |suffix: &str| format!("horus_all_{suffix}");
    for (suffix, help) in [("releases", "Releases of all runs."), ("deadline_misses", "Misses of all runs.")] {
        out.family(&name(suffix), "gauge", help);
        for phase in &merged.phases {
            let value = if suffix == "releases" { phase.releases.judged } else { phase.releases.misses };
            out.sample(&name(suffix), &[("phase", &phase.name)], value);
        }
    }
}

/// The watch of all boots.
fn watched(out: &mut Exposition, watch: &Merged) {
    out.gauge("horus_watch_boots", "Boots of this system in which the watch says something.", watch.boots);
    out.gauge("horus_watch_boots_with_miss", "Boots in which the watch missed.", watch.boots_with_miss);
    if let Some(phase) = watch.weakest() {
        out.gauge("horus_watch_releases", "Releases of the watch in all boots.", phase.releases.judged);
        out.gauge("horus_watch_deadline_misses", "Misses of the watch in all boots.", phase.releases.misses);
        let longest = phase.max_ns.map_or_else(|| "NaN".to_owned(), seconds);
        out.gauge("horus_watch_response_max_seconds", "Longest response of the watch in all boots.", longest);
    }
}

fn quantiles(latency: &Latency) -> Vec<(&'static str, u64)> {
    let Latency { p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns } = *latency;
    let all =
        [("0.5", p50_ns), ("0.9", p90_ns), ("0.99", p99_ns), ("0.999", p999_ns), ("0.9999", p9999_ns), ("1", max_ns)];
    all.into_iter().filter_map(|(quantile, ns)| Some((quantile, ns?))).collect()
}

/// Exact: a nanosecond is never lost to rounding.
fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The text as it grows.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", label(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn the_figures_stand_in_seconds_and_what_was_not_measured_is_absent() {
        let text = render(&sample::report("b0"), None, None);
        for line in [
            "horus_run_verdict{horus_run_verdict=\"pass\"} 1",
            "horus_deadline_misses{phase=\"node-quiet\"} 0",
            "horus_latency_seconds{phase=\"node-quiet\",quantile=\"1\"} 0.000031",
            "horus_release_jitter_seconds{phase=\"node-quiet\",quantile=\"0.5\"} 0.0000021",
            "horus_response_seconds_bucket{phase=\"node-quiet\",le=\"0.00002\"} 17999",
            "horus_response_seconds_bucket{phase=\"node-quiet\",le=\"+Inf\"} 18000",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && !text.contains("cyclictest") && !text.contains("0.9999\""));
    }

    #[test]
    fn each_family_is_declared_once_before_its_samples_and_nothing_breaks_out_of_a_label() {
        let mut report = sample::report("b0");
        report.image = "evil\"} 1\n# EOF".to_owned();
        let text = render(&report, Some(&Merged::default()), Some(&Merged::default()));
        assert_eq!(text.lines().filter(|line| *line == "# EOF").count(), 1);
        let mut declared = Vec::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(!declared.contains(&name), "{name} is declared twice");
                declared.push(name);
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert!(name.starts_with(declared.last().unwrap()), "{line} stands below {:?}", declared.last());
            }
        }
    }
}
