//! A report as one page of HTML: self-contained, so that it can be mailed, opened without a network and kept for years.
//!
//! No script and no request: style and charts are in the file. Colours follow the reader's choice of light or dark. Each table and
//! chart can be reached and scrolled by keyboard. Every text of the report is escaped, whatever it came from.

mod axis;
mod charts;
mod culprits;
mod tables;

use std::fmt::Write;

use crate::blame::Blame;
use crate::record::history::{History, Merged};
use crate::record::schema::{Report, Verdict};

use super::escape::markup;
use super::{history, standing, text};

use charts::Figure;

/// The page's style.
const STYLE: &str = include_str!("html/style.css");

/// The whole page. `kept` are the runs that are kept beside this one, `together` what those of this system say, `watch` what its watch says,
/// `blame` who broke deadlines in the boot of this run.
pub fn render(
    report: &Report,
    kept: &History,
    together: Option<&Merged>,
    watch: Option<&Merged>,
    blame: &Result<Blame, String>,
) -> String {
    let title = format!("HORUS report, {}", report.time);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#figures\">Skip to the figures</a>\n",
        markup(&title)
    );
    header(&mut out, report);
    out.push_str("<main>\n");
    section(&mut out, "evidence", "What is known about misses", &evidence(report, together, watch));
    section(&mut out, "figures", "Figures", &tables::phases(report));
    let legend =
        "<p class=\"legend\"><span class=\"key quiet\"></span>quiet <span class=\"key load\"></span>under load</p>";
    let charts = [
        ("response", "Response time", charts::histograms(report, Figure::Response)),
        ("jitter", "Release jitter", charts::histograms(report, Figure::Jitter)),
        ("seconds", "Worst of each second", charts::seconds(report)),
    ];
    for (id, name, chart) in charts.into_iter().filter(|(_, _, chart)| !chart.is_empty()) {
        section(&mut out, &format!("chart-{id}"), name, &format!("{legend}{chart}"));
    }
    section(&mut out, "culprits", "Who broke deadlines", &culprits::section(blame));
    section(&mut out, "earlier", "Earlier boots", &tables::earlier(report, kept));
    section(&mut out, "audit", "Audit", &tables::audit(report));
    section(&mut out, "inventory", "Inventory", &tables::inventory(report));
    out.push_str(
        "</main>\n<footer><p>Made by <code>horus report --html</code>. All times are measured on the machine itself; ",
    );
    out.push_str("docs/measuring.md of HORUS defines every figure.</p></footer>\n</body>\n</html>\n");
    out
}

fn header(out: &mut String, report: &Report) {
    let class = match report.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::None => "none",
    };
    let _ = write!(
        out,
        "<header class=\"{class}\">\n<p class=\"product\">HORUS determinism report</p>\n<h1>{}</h1>\n",
        markup(&text::verdict_sentence(report))
    );
    let mut notes: Vec<String> = report.invalid_reasons.iter().map(|reason| format!("Not valid: {reason}")).collect();
    if let Some(hypervisor) = &report.hypervisor {
        notes.push(format!("Measured in a virtual machine ({hypervisor}): its latencies are no verdict on any board"));
    }
    if report.is_traced == Some(true) {
        notes.push("The kernel was traced during this run, which costs every cycle something".to_owned());
    }
    if !notes.is_empty() {
        let items: String = notes.iter().map(|note| format!("<li>{}</li>", markup(note))).collect();
        let _ = writeln!(out, "<ul class=\"notes\">{items}</ul>");
    }
    let board = report.identity.as_ref().map_or("unknown board", |identity| &identity.board);
    let _ = writeln!(
        out,
        "<p>{} · {} · {} · {} s, boot <code>{}</code></p>\n</header>",
        markup(board),
        markup(&report.image),
        markup(&report.time),
        report.duration_s,
        markup(&report.boot_id)
    );
}

fn section(out: &mut String, id: &str, name: &str, content: &str) {
    let _ = write!(
        out,
        "<section aria-labelledby=\"{id}-h\" id=\"{id}\">\n<h2 id=\"{id}-h\">{name}</h2>\n{content}\n</section>\n"
    );
}

/// The claims, each as a sentence with its assumption.
fn evidence(report: &Report, together: Option<&Merged>, watch: Option<&Merged>) -> String {
    let mut sentences = vec![format!("This run: {}.", text::claim_sentence(report))];
    if let Some(merged) = together {
        sentences.extend(merged.weakest().map(|phase| capital(&history::runs_sentence(merged, phase))));
        sentences.extend((merged.boots > 0).then(|| capital(&history::boots_sentence(merged))));
        sentences.extend(
            Some(history::rest_sentence(merged))
                .filter(|rest| !rest.is_empty())
                .map(|rest| format!("Besides: {rest}.")),
        );
    }
    sentences.extend(watch.map(|watch| format!("The watch, a node without work: {}.", standing::sentence(watch))));
    sentences.extend(text::worst::worst_sentence(report).map(|worst| format!("Worst response of this run: {worst}.")));
    sentences.push(format!("Self-test of the meter: {}.", text::self_test_sentence(&report.self_test)));
    sentences.iter().map(|sentence| format!("<p>{}</p>", markup(sentence))).collect()
}

fn capital(sentence: &str) -> String {
    let mut characters = sentence.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

#[cfg(test)]
mod tests;
