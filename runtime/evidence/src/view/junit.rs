//! A report as JUnit XML, which every CI shows: the run's conditions, each phase and each audit rule is a test case.

use std::fmt::Write;

use horus_audit::{Outcome, RuleResult, Severity, Status};

use crate::record::schema::{Phase, Report, Verdict};

use super::escape::markup;
use super::text;

/// How a test case ended.
enum Ended {
    Well,
    /// Not a failure: nothing can be said, and why.
    Skipped(String),
    Failed(String),
}

/// One test case.
struct Case {
    class: String,
    name: String,
    seconds: f64,
    ended: Ended,
}

/// The whole document.
pub fn render(report: &Report) -> String {
    let mut run = vec![verdict(report), valid(report), self_test(report)];
    run.extend(report.phases.iter().map(phase));
    let audit: Vec<Case> = report.audit.rules.iter().map(rule).collect();
    let host = report.identity.as_ref().map_or("", |identity| &identity.board);
    document(&report.time, host, &[("horus.determinism", &run), ("horus.audit", &audit)])
}

/// A document of an audit alone, done at `time` on the machine called `host`.
pub fn render_audit(audit: &Outcome, time: &str, host: &str) -> String {
    let problems = audit.problems.iter().map(|problem| case("audit", "rule files", Ended::Failed(problem.clone())));
    let cases: Vec<Case> = problems.chain(audit.rules.iter().map(rule)).collect();
    document(time, host, &[("horus.audit", &cases)])
}

fn document(time: &str, host: &str, suites: &[(&str, &[Case])]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"horus\">\n");
    for (name, cases) in suites {
        suite(&mut out, name, (time, host), cases);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, name: &str, (time, host): (&str, &str), cases: &[Case]) {
    let count = |ended: fn(&Ended) -> bool| cases.iter().filter(|case| ended(&case.ended)).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" timestamp=\"{}\" hostname=\"{}\">",
        cases.len(),
        count(|ended| matches!(ended, Ended::Failed(_))),
        count(|ended| matches!(ended, Ended::Skipped(_))),
        markup(time.trim_end_matches('Z')),
        markup(host),
    );
    for Case { class, name, seconds, ended } in cases {
        let _ = write!(
            out,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
            markup(class),
            markup(name)
        );
        let _ = match ended {
            Ended::Well => writeln!(out, "/>"),
            Ended::Skipped(why) => writeln!(out, "><skipped message=\"{}\"/></testcase>", markup(why)),
            Ended::Failed(why) => {
                let first = why.lines().next().unwrap_or_default();
                writeln!(out, "><failure message=\"{}\">{}</failure></testcase>", markup(first), markup(why))
            }
        };
    }
    out.push_str("  </testsuite>\n");
}

fn case(class: &str, name: impl Into<String>, ended: Ended) -> Case {
    Case { class: format!("horus.{class}"), name: name.into(), seconds: 0.0, ended }
}

fn verdict(report: &Report) -> Case {
    let ended = match report.verdict {
        Verdict::Pass => Ended::Well,
        Verdict::Fail => Ended::Failed(report.verdict_reason.clone()),
        Verdict::None => Ended::Skipped(report.verdict_reason.clone()),
    };
    Case { seconds: report.duration_s, ..case("determinism", "verdict", ended) }
}

fn valid(report: &Report) -> Case {
    let ended = if report.valid { Ended::Well } else { Ended::Failed(report.invalid_reasons.join("\n")) };
    case("determinism", "valid", ended)
}

fn self_test(report: &Report) -> Case {
    let sentence = text::self_test_sentence(&report.self_test);
    case("determinism", "self-test", if report.self_test.passed { Ended::Well } else { Ended::Failed(sentence) })
}

fn phase(phase: &Phase) -> Case {
    let bad = phase.misses.unwrap_or(0) + phase.lost.unwrap_or(0);
    let ended = match (phase.measured, bad) {
        (false, _) => Ended::Skipped(phase.reason.clone().unwrap_or_default()),
        (true, 0) => Ended::Well,
        (true, _) => Ended::Failed(text::phase_sentence(phase)),
    };
    let length_ns = phase.period_ns.unwrap_or(0) as f64 * phase.samples as f64;
    Case { seconds: length_ns / 1e9, ..case("determinism.phase", &*phase.name, ended) }
}

fn rule(rule: &RuleResult) -> Case {
    let found = || {
        let part = |head: &str, text: &Option<String>| text.as_ref().map(|text| format!("{head}: {text}"));
        let first = format!("observed {}, expected {}", rule.observed, rule.expected);
        [Some(first), part("why", &rule.why), part("fix", &rule.fix)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n")
    };
    let ended = match (rule.status, rule.severity) {
        (Status::Pass, _) => Ended::Well,
        (Status::Na, _) => Ended::Skipped(rule.reason.clone().unwrap_or_default()),
        (Status::Fail, Severity::Info) => Ended::Skipped(format!("for information: {}", found())),
        (Status::Fail, severity) => Ended::Failed(format!("{}: {}", severity.word(), found())),
    };
    case(&format!("audit.{}", rule.id), &*rule.title, ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn rules_and_phases_are_test_cases_and_their_counts_are_right() {
        let text = render(&sample::report("b0"));
        for part in [
            "<testsuite name=\"horus.determinism\" tests=\"6\" failures=\"0\" errors=\"0\" skipped=\"1\"",
            "<testcase classname=\"horus.determinism.phase\" name=\"node-quiet\" time=\"18.000\"/>",
            "name=\"cyclictest-load\" time=\"0.000\"><skipped message=\"cyclictest is not installed\"/>",
            "<testsuite name=\"horus.audit\" tests=\"2\" failures=\"1\"",
            "<testcase classname=\"horus.audit.C9\" name=\"NMI watchdog off\" time=\"0.000\"><failure message=\"high: observed 1, expected 0\">",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_miss_fails_and_no_text_breaks_out_of_the_document() {
        let mut report = sample::report("b0");
        report.phases[0].misses = Some(1);
        report.valid = false;
        report.invalid_reasons = vec!["]]></failure><x a=\"\u{1}".to_owned()];
        let text = render(&report);
        assert!(text.contains("name=\"horus.determinism\" tests=\"6\" failures=\"2\""), "{text}");
        assert!(text.contains("]]&gt;&lt;/failure&gt;&lt;x a=&quot;\u{fffd}") && !text.contains("<x"), "{text}");
    }
}
