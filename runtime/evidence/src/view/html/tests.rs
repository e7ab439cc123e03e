//! The page is whole, needs nothing from elsewhere, and no text of a report becomes part of its code.

use crate::blame;
use crate::record::{sample, store};

use super::*;

/// A miss as the journal has it, by a task of this name.
fn missed(by: &str) -> Result<Blame, String> {
    let fields = [
        ("__REALTIME_TIMESTAMP", "1795349051000000"),
        ("HORUS_PROGRAM", "balance"),
        ("HORUS_NODE", "control"),
        ("HORUS_MISSES", "3"),
        ("HORUS_CULPRIT", by),
        ("HORUS_CULPRIT_KIND", "task"),
        ("HORUS_CULPRIT_NS", "4990000"),
        ("HORUS_CULPRIT_LATE_NS", "4200000"),
        ("HORUS_CULPRIT_SHARE", "99"),
        ("HORUS_CULPRIT_CONFIDENCE", "high"),
        ("HORUS_CULPRIT_REMEDY", "give it a lower priority"),
    ];
    let fields: std::collections::BTreeMap<_, _> = fields.into_iter().collect();
    Ok(Blame::of(&blame::parse(serde_json::to_string(&fields).unwrap().as_bytes())))
}

fn page(report: &Report) -> String {
    page_blaming(report, "hog/137")
}

fn page_blaming(report: &Report, by: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    store::store(directory.path(), &sample::report("b-earlier")).unwrap();
    store::store(directory.path(), report).unwrap();
    let kept = History::read(&[directory.path()], "");
    render(report, &kept, kept.of_report(report).as_ref(), None, &missed(by))
}

#[test]
fn everything_that_was_promised_is_on_the_page() {
    let page = page(&sample::report("b0"));
    for part in [
        "<h1>PASS: no deadline was missed</h1>",
        "<title id=\"histogram-response-0-t\">Response time of the node",
        "<title id=\"histogram-release-0-t\">Release jitter of the node",
        "<title id=\"seconds-0-t\">Longest response time in each second",
        "All 2 runs of this image on this machine",
        "<th scope=\"row\">C9</th><td>FAIL</td>",
        "<dt>Build</dt><dd>cafe",
        "(this run)",
        "<th scope=\"row\">task hog</th><td class=\"number\">1</td><td class=\"number\">3</td>",
        "<td>give it a lower priority</td>",
        "not measured: cyclictest is not installed",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    for open in ["section", "table", "figure", "svg", "main", "tr", "td", "th", "div", "p", "ul", "li", "dl"] {
        let (opened, closed) = (count_tags(&page, open), page.matches(&format!("</{open}>")).count());
        assert_eq!(opened, closed, "<{open}>");
    }
}

fn count_tags(page: &str, name: &str) -> usize {
    page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count()
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere_and_runs_nothing() {
    let page = page(&sample::report("b0"));
    for forbidden in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let mut ids: Vec<_> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is given twice");
}

#[test]
fn each_load_of_a_night_has_its_charts_beside_the_quiet_phase_of_its_period() {
    let mut report = sample::report("b0");
    let quiet = report.phases.iter().find(|phase| phase.name == "node-quiet").unwrap().clone();
    for (name, period_ns, max_ns) in [
        ("node-load", quiet.period_ns.unwrap(), 50_000),
        ("node-10khz-cpu", 100_000, 60_000),
        ("node-10khz-net", 100_000, 70_000),
    ] {
        let mut phase = quiet.clone();
        (phase.name, phase.load, phase.period_ns) = (name.to_owned(), Some("cpu".to_owned()), Some(period_ns));
        phase.latency.max_ns = Some(max_ns);
        report.phases.push(phase);
    }
    let page = page(&report);
    assert_eq!(count_tags(&page, "svg"), 9, "three loads, three charts each");
    for name in ["node-load", "node-10khz-cpu", "node-10khz-net"] {
        assert_eq!(page.matches(&format!("<summary>{name}</summary>")).count(), 3, "{name}");
    }
    assert_eq!(page.matches("<details open>").count(), 3, "that with the longest response");
    assert!(page.contains("<details open><summary>node-10khz-net</summary>"), "{page}");
    let svg = |name: &str| page.split("<svg ").find(|svg| svg.contains(&format!("{name}: "))).unwrap().to_owned();
    assert!(svg("node-load").contains("node-quiet: ") && !svg("node-10khz-cpu").contains("node-quiet: "));
}

#[test]
fn no_text_of_a_report_becomes_markup() {
    let evil = "\"><img src=x onerror=alert(1)>'";
    let mut value = serde_json::to_value(sample::report("b0")).unwrap();
    let identity = value["identity"].as_object_mut().unwrap();
    identity.iter_mut().filter(|(key, _)| *key != "configuration").for_each(|(_, value)| *value = evil.into());
    for key in ["time", "image", "kernel", "cmdline", "virtual", "verdict_reason", "load_command", "run_id"] {
        value[key] = evil.into();
    }
    value["invalid_reasons"] = [evil].as_slice().into();
    value["phases"][0]["notes"] = [evil].as_slice().into();
    for phase in value["phases"].as_array_mut().unwrap() {
        phase["name"] = format!("node-{evil}").into();
    }
    value["audit"]["rules"][1]["observed"] = evil.into();
    value["tools"][0]["version"] = evil.into();
    let page = page_blaming(&serde_json::from_value(value).unwrap(), evil);
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"), "the text is there, and is text");
}

#[test]
fn a_report_without_figures_is_still_a_page() {
    let mut report = sample::report("b0");
    report.identity = None;
    report.phases.iter_mut().for_each(|phase| phase.measured = false);
    let page = render(&report, &History::default(), None, None, &Err("no such <boot>".to_owned()));
    assert!(page.contains("No other run of this image") && !page.contains("<svg"), "{page}");
    assert!(page.contains("the journal of that boot cannot be read (no such &lt;boot&gt;)"), "{page}");
    let quiet = render(&report, &History::default(), None, None, &Ok(Blame::of(&[])));
    assert!(quiet.contains("No deadline was missed in that boot"), "{quiet}");
}
