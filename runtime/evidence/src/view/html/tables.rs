//! The tables: phases, audit, inventory, and earlier boots.

use std::collections::BTreeMap;

use horus_audit::{Severity, Status};
use horus_measure::units::count;

use crate::record::history::{History, Run};
use crate::record::schema::{Latency, Phase, Report};
use crate::view::escape::markup;
use crate::view::text::microseconds;

/// The last runs that are shown one by one.
const SHOWN: usize = 30;

/// A table that scrolls by itself on a narrow screen; columns after the first `left` hold numbers. Cells are escaped here.
pub fn table(name: &str, left: usize, heads: &[&str], rows: &[Vec<String>]) -> String {
    let class = |column: usize| if column < left { "" } else { " class=\"number\"" };
    let heads: String = heads
        .iter()
        .enumerate()
        .map(|(column, head)| format!("<th scope=\"col\"{}>{}</th>", class(column), markup(head)))
        .collect();
    let row = |cells: &Vec<String>| {
        let cells: String =
            cells.iter().enumerate().map(|(column, cell)| cell_of(column, class(column), cell)).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.iter().map(row).collect();
    let name = markup(name);
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\n<table>\n<caption>{name}</caption>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>"
    )
}

fn cell_of(column: usize, class: &str, cell: &str) -> String {
    let cell = markup(cell);
    if column == 0 { format!("<th scope=\"row\">{cell}</th>") } else { format!("<td{class}>{cell}</td>") }
}

/// The phases with their quantiles.
pub fn phases(report: &Report) -> String {
    let mut rows = Vec::new();
    for phase in report.phases.iter().filter(|phase| phase.measured) {
        let misses = phase.misses.map(|misses| misses.to_string());
        let misses = misses.or(phase.lost.map(|lost| format!("{lost} lost"))).unwrap_or_default();
        rows.push(row([&phase.name, phase.figure()], Some(phase.samples), &phase.latency, misses));
        let jitter = phase.release_jitter.as_ref();
        rows.extend(
            jitter.map(|jitter| row([&phase.name, "jitter"], phase.release_jitter_samples, jitter, String::new())),
        );
    }
    let heads = ["Phase", "Figure", "Samples", "p50", "p99", "p99.9", "p99.99", "Max", "Misses"];
    let notes = |phase: &Phase| {
        let missing =
            (!phase.measured).then(|| format!("not measured: {}", phase.reason.as_deref().unwrap_or_default()));
        missing.into_iter().chain(phase.notes.iter().cloned()).collect::<Vec<_>>()
    };
    let notes =
        report.phases.iter().flat_map(|phase| notes(phase).into_iter().map(|note| format!("{}: {note}", phase.name)));
    let notes: String = notes.map(|note| format!("<li>{}</li>", markup(&note))).collect();
    let notes = if notes.is_empty() { notes } else { format!("<ul>{notes}</ul>") };
    table("Latencies in µs; a quantile is stated only with ten samples beyond it", 2, &heads, &rows) + &notes
}

fn row(names: [&str; 2], samples: Option<u64>, latency: &Latency, misses: String) -> Vec<String> {
    let quantiles =
        [latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.p9999_ns, latency.max_ns].map(microseconds);
    let samples = samples.map_or_else(|| "n/a".to_owned(), |samples| samples.to_string());
    names.into_iter().map(str::to_owned).chain([samples]).chain(quantiles).chain([misses]).collect()
}

/// Every rule, those that failed first.
pub fn audit(report: &Report) -> String {
    let audit = &report.audit;
    let mut rules: Vec<_> = audit.rules.iter().collect();
    let place = |status| [Status::Fail, Status::Pass, Status::Na].iter().position(|other| *other == status);
    rules.sort_by_key(|rule| (place(rule.status), rule.severity));
    let rows: Vec<Vec<String>> = rules
        .iter()
        .map(|rule| {
            let status = match (rule.status, rule.severity) {
                (Status::Fail, Severity::Info) => "INFO".to_owned(),
                (status, _) => status.word().to_owned(),
            };
            let observed =
                if rule.observed.is_empty() { rule.reason.clone().unwrap_or_default() } else { rule.observed.clone() };
            let fix = rule.fix.clone().filter(|_| rule.status == Status::Fail).unwrap_or_default();
            vec![
                rule.id.clone(),
                status,
                rule.severity.word().to_owned(),
                rule.title.clone(),
                observed,
                rule.expected.clone(),
                fix,
            ]
        })
        .collect();
    let heads = ["Rule", "Result", "Severity", "What", "Found", "Expected", "Remedy"];
    let problems: String = audit.problems.iter().map(|problem| format!("<li>{}</li>", markup(problem))).collect();
    let problems = if problems.is_empty() { problems } else { format!("<ul>{problems}</ul>") };
    format!("<p>{}</p>{problems}", markup(&audit.sentence())) + &table("Rules, failed ones first", 7, &heads, &rows)
}

/// What the run was made on and with.
pub fn inventory(report: &Report) -> String {
    let identity = report.identity.clone().unwrap_or_default();
    let configuration = &identity.configuration;
    let isolated = if configuration.isolated.is_empty() { "none" } else { &configuration.isolated };
    let microseconds = |ns: u64| format!("{} µs", microseconds(Some(ns)));
    let rows = [
        ("Board", identity.board.clone()),
        ("Image", report.image.clone()),
        ("Build", format!("{} ({})", identity.build_id, identity.build_id_from)),
        ("Audit rules", identity.rules_hash.clone()),
        ("Kernel", report.kernel.clone()),
        ("Command line", report.cmdline.clone()),
        ("CPUs", format!("{}; isolated {}", configuration.cpus, isolated)),
        (
            "Node",
            format!(
                "period {}, deadline {}, priority {}",
                microseconds(configuration.period_ns),
                microseconds(configuration.deadline_ns),
                configuration.priority
            ),
        ),
        ("Load", report.load_command.clone()),
        ("Traced", report.is_traced.map_or("unknown", |traced| if traced { "yes" } else { "no" }).to_owned()),
        ("Run", report.run_id.clone()),
    ];
    let rows = rows.into_iter().map(|(name, value)| (name.to_owned(), value));
    let tools = report.tools.iter().map(|tool| (tool.name.clone(), tool.version.clone()));
    let items: String = rows
        .chain(tools)
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", markup(&name), markup(&value)))
        .collect();
    format!("<dl>\n{items}</dl>")
}

/// The last runs of this system, oldest first, with the shown one among them.
pub fn earlier(report: &Report, kept: &History) -> String {
    let is_same =
        |run: &&Run| report.identity.is_some() && run.identity == report.identity && run.is_traced == report.is_traced;
    let runs: Vec<&Run> = kept.runs.iter().filter(is_same).collect();
    if runs.is_empty() {
        return "<p>No other run of this image with this configuration is kept.</p>".to_owned();
    }
    let mut boots: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for run in &runs {
        let next = boots.len() + 1;
        let boot = *boots.entry(&run.boot_id).or_insert(next);
        let this = if run.run_id == report.run_id { " (this run)" } else { "" };
        for (phase, releases) in run.judged() {
            let valid = if run.valid { "yes" } else { "no" };
            let mut row = vec![format!("{boot}{this}"), run.time.clone(), phase.name.clone(), valid.to_owned()];
            row.extend([
                count(releases.judged),
                releases.misses.to_string(),
                microseconds(phase.p999_ns),
                microseconds(phase.max_ns),
            ]);
            rows.push(row);
        }
    }
    let hidden = rows.len().saturating_sub(2 * SHOWN);
    let heads = ["Boot", "Time", "Phase", "Valid", "Releases", "Misses", "p99.9", "Max"];
    let note = if hidden > 0 {
        format!("<p>{hidden} earlier lines are left out here, and counted above.</p>")
    } else {
        String::new()
    };
    note + &table("Runs of this image with this configuration; times in µs", 4, &heads, &rows[hidden..])
}
