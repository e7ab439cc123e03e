//! Nodes as text for people.

use std::fmt::Write;
use std::time::Duration;

use horus::graph::NodeInfo;
use horus::outside::printable;
use horus_evidence::view::text::bound_sentence;
use horus_measure::units::{count, time};

use super::running::{Elsewhere, Everywhere, Node};
use crate::table::{Head, table};

/// Columns of nodes.
pub const HEADS: [Head; 12] = [
    ("NODE", false),
    ("CPU", true),
    ("SCHEDULING", false),
    ("PERIOD", true),
    ("DEADLINE", true),
    ("RESPONSE p50", true),
    ("p99.9", true),
    ("max", true),
    ("PREDICTED", true),
    ("BUDGET", true),
    ("MISSES", true),
    ("STATE", false),
];

/// All nodes, a line each.
pub fn list(nodes: &[Node], directory: &str) -> String {
    if nodes.is_empty() {
        return format!("no living program runs nodes on the topics of {directory}\n");
    }
    let rows: Vec<_> = nodes.iter().map(row).collect();
    let mut programs: Vec<_> = nodes.iter().map(|node| &node.program).collect();
    programs.dedup();
    let text = table(&HEADS, &rows);
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!("{text}\n{} of {} in {directory}\n", plural(nodes.len(), "node"), plural(programs.len(), "program"))
}

/// What runs in other namespaces, a line each of those that share a CPU with the nodes of this one.
pub fn elsewhere(everywhere: &Everywhere) -> String {
    let mut text = String::new();
    let (beside, apart): (Vec<_>, Vec<_>) = everywhere.others.iter().partition(|other| other.shares_cpu);
    if !beside.is_empty() {
        text += "\non the same CPUs, in other namespaces:\n";
    }
    for Elsewhere { namespace, node, .. } in beside.iter().take(MOST_ELSEWHERE) {
        let policy = node.asked.scheduling_policy.to_uppercase().replace(':', "/");
        let _ = writeln!(
            text,
            "  {namespace}:{} (cpu = {}, {})",
            printable(&node.name()),
            printable(&node.asked.cpu),
            printable(&policy)
        );
    }
    let more = beside.len().saturating_sub(MOST_ELSEWHERE);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more: --json has all");
    }
    if !apart.is_empty() {
        let mut names: Vec<_> = apart.iter().map(|other| &*other.namespace).collect();
        names.dedup();
        let count = if apart.len() == 1 { "1 node".to_owned() } else { format!("{} nodes", apart.len()) };
        let _ = writeln!(text, "{count} in other namespaces, on none of these CPUs: {}", names.join(", "));
    }
    if let Some(unseen) = &everywhere.unseen {
        text += unseen;
        text.push('\n');
    }
    text
}

/// Nodes of other namespaces that are shown.
const MOST_ELSEWHERE: usize = 20;

/// That no monitor runs, where nodes rely on one.
pub fn unwatched(nodes: &[Node], is_watched: Option<bool>) -> String {
    let relying: Vec<_> =
        nodes.iter().filter(|node| node.asked.relies_on_monitor()).map(|node| printable(&node.name())).collect();
    if is_watched != Some(false) || relying.is_empty() {
        return String::new();
    }
    format!(
        "no monitor runs: no process publishes what is safe for {} when a step hangs or a process is stopped or killed. Start horus-monitor.service, or the \
         program `monitor`\n",
        relying.join(", ")
    )
}

/// The cells of a node.
pub fn row(node: &Node) -> [String; 12] {
    let Node { asked, figures, .. } = node;
    [
        printable(&node.name()),
        figures.cpu.map_or_else(unknown, |cpu| cpu.to_string()),
        printable(&asked.scheduling_policy.to_uppercase().replace(':', "/")),
        printable(&arrival(asked)),
        nanos(Some(asked.deadline_ns)),
        nanos(figures.response_p50_ns),
        nanos(figures.response_p999_ns),
        nanos(figures.response_max_ns),
        nanos(Some(asked.predicted_ns).filter(|nanos| *nanos > 0)),
        node.budget_percent().map_or_else(unknown, |percent| format!("{} %", percent.ceil())),
        count(figures.misses),
        node.state(),
    ]
}

fn unknown() -> String {
    "-".to_owned()
}

fn nanos(nanos: Option<u64>) -> String {
    nanos.map_or_else(unknown, |nanos| time(Duration::from_nanos(nanos)))
}

fn arrival(asked: &NodeInfo) -> String {
    match (&asked.on, asked.period_ns) {
        (Some(topic), 0) => format!("on {topic}"),
        (_, period) => nanos(Some(period)),
    }
}

/// One node in full.
pub fn info(node: &Node, all: &[Node]) -> String {
    let Node { asked, figures, .. } = node;
    let mut text = format!("{}\n", printable(&node.name()));
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "  {label:<12}{}", printable(value));
    };
    let cpu = figures.cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
    line("state", &format!("{}{cpu}, thread {} of process {}", node.state(), figures.tid, node.process));
    if figures.is_taken_over {
        line("monitor", "published what is safe in its place");
    }
    line("asked for", &wishes(asked));
    if let Some(sharing) = shares_thread(node, all) {
        line("thread", &sharing);
    }
    line("releases", &format!("{}, of them {} skipped", count(figures.releases), figures.skipped));
    let bound = bound_sentence(figures.miss_bound_95);
    line("misses", &format!("{}, the longest run {}; {bound}", figures.misses, figures.max_consecutive));
    let [p50, p999, max] = [figures.response_p50_ns, figures.response_p999_ns, figures.response_max_ns].map(nanos);
    let predicted = match asked.predicted_ns {
        0 => "no prediction".to_owned(),
        predicted => format!("predicted at most {}", nanos(Some(predicted))),
    };
    line("response", &format!("p50 {p50}, p99.9 {p999}, max {max}; {predicted}"));
    if (figures.lost, figures.missed) != (0, 0) {
        let (lost, missed) = (count(figures.lost), count(figures.missed));
        line("messages", &format!("{lost} set and not published, {missed} overwritten before they were read"));
    }
    line("jitter", &format!("max {}", nanos(figures.jitter_max_ns)));
    line("budget", &budget(node));
    asked.inputs.iter().for_each(|topic| line("reads", topic));
    for output in &asked.outputs {
        let safe = if output.safe_bytes().is_some() { ", with a message that is safe" } else { "" };
        line("writes", &format!("{}{safe}", output.topic));
    }
    asked.serves.iter().for_each(|service| line("serves", service));
    asked.asks.iter().for_each(|service| line("asks", service));
    text
}

fn wishes(asked: &NodeInfo) -> String {
    let mut wishes = Vec::new();
    if asked.period_ns > 0 {
        wishes.push(format!("every {}", nanos(Some(asked.period_ns))));
    }
    wishes.extend(asked.on.as_ref().map(|topic| format!("on topic {topic}")));
    if asked.min_inter_arrival_ns > 0 {
        wishes.push(format!("at most every {}", nanos(Some(asked.min_inter_arrival_ns))));
    }
    wishes.push(format!("deadline {}", nanos(Some(asked.deadline_ns))));
    wishes.push(format!("cpu = {}, scheduling_policy = {}", asked.cpu, asked.scheduling_policy));
    wishes.join(", ")
}

fn shares_thread(node: &Node, all: &[Node]) -> Option<String> {
    let is_other = |other: &&Node| {
        (other.process, &other.program, other.asked.thread) == (node.process, &node.program, node.asked.thread)
            && other.asked.name != node.asked.name
    };
    let others: Vec<_> = all.iter().filter(is_other).map(|other| other.asked.name.as_str()).collect();
    (!others.is_empty()).then(|| format!("shared with {}: one runs after the other", others.join(", ")))
}

fn budget(node: &Node) -> String {
    let Some(percent) = node.budget_percent() else {
        return match node.asked.budget_ns {
            0 => "none declared".to_owned(),
            declared => format!("{}; no cycle yet", nanos(Some(declared))),
        };
    };
    let declared = nanos(Some(node.asked.budget_ns));
    format!(
        "{declared} of CPU time, at most {} % of it used, exceeded in {} cycles",
        percent.ceil(),
        node.figures.over_budget
    )
}
