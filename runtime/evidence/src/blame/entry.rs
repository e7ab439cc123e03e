//! One entry of the journal about missed deadlines.

use std::collections::HashMap;

use horus::witness::protocol::{Kind, Share};
use horus::witness::words;
use serde_json::Value;

/// What an entry says. Fields of other programs' making are nonsense at worst: they are shown as they are, without what steers a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Microseconds since 1970.
    pub when_us: u64,
    /// With its program: `balance/control`.
    pub node: String,
    /// How many deadlines.
    pub misses: u64,
    /// By how much the cycle was late that the witness saw, or else the worst one.
    pub late_ns: u64,
    /// Who it was.
    pub culprit: Result<Named, String>,
}

/// Who it was, as the witness said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The kind, as the protocol has it.
    pub kind: String,
    /// `task hog/137, FIFO 90, CPU 3`.
    pub text: String,
    /// The same whenever it comes back, in another process too: `task hog`.
    pub who: String,
    /// Its part of the cycle.
    pub ns: u64,
    /// In percent.
    pub share: u64,
    /// `high`, `low`, `none`.
    pub confidence: String,
    /// What prevents it.
    pub remedy: String,
    /// The file of the frozen trace.
    pub trace: Option<String>,
}

/// The node that an entry is about.
pub fn node(line: &str) -> Option<String> {
    let fields: HashMap<String, Value> = serde_json::from_str(line).ok()?;
    fields.get("HORUS_NODE").and_then(Value::as_str).map(str::to_owned)
}

impl Missed {
    /// Reads a line of `journalctl -o json`; nothing of a line that is none.
    pub fn parse(line: &str) -> Option<Self> {
        let fields: HashMap<String, Value> = serde_json::from_str(line).ok()?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(plain).filter(|text| !text.is_empty());
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        let node = text("HORUS_NODE")?;
        let worst = number("HORUS_WORST_RESPONSE_NS").unwrap_or(0);
        let late = worst.saturating_sub(number("HORUS_DEADLINE_NS").unwrap_or(0));
        let named = text("HORUS_CULPRIT_KIND").map(|kind| {
            let detail = text("HORUS_CULPRIT_DETAIL");
            let name = text("HORUS_CULPRIT").unwrap_or_default();
            let lasting = without_process(&name).to_owned();
            let cpu = text("HORUS_CULPRIT_CPU").map(|cpu| format!("CPU {cpu}"));
            let parts = [Some(who(&kind, name)), detail, cpu];
            Named {
                text: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
                who: who(&kind, lasting),
                kind,
                ns: number("HORUS_CULPRIT_NS").unwrap_or(0),
                share: number("HORUS_CULPRIT_SHARE").unwrap_or(0),
                confidence: text("HORUS_CULPRIT_CONFIDENCE").unwrap_or_default(),
                remedy: text("HORUS_CULPRIT_REMEDY").unwrap_or_default(),
                trace: text("HORUS_TRACE"),
            }
        });
        Some(Self {
            when_us: number("__REALTIME_TIMESTAMP")?,
            node: text("HORUS_PROGRAM").map_or_else(|| node.clone(), |program| format!("{program}/{node}")),
            misses: number("HORUS_MISSES").unwrap_or(1),
            late_ns: number("HORUS_CULPRIT_LATE_NS").unwrap_or(late),
            culprit: named
                .ok_or_else(|| text("HORUS_CULPRIT_MISSING").unwrap_or_else(|| "no witness was asked".to_owned())),
        })
    }
}

/// As the sentences of journal entries have it; a kind that this program does not know stands for itself.
fn who(kind: &str, name: String) -> String {
    match serde_json::from_value::<Kind>(Value::from(kind)) {
        Ok(kind) => words::who(&Share { kind, name, ns: 0, is_suspect: true, detail: None }),
        Err(_) => format!("{kind} {name}"),
    }
}

/// The name of a thread whose number follows, as in `hog/137`.
fn without_process(name: &str) -> &str {
    match name.rsplit_once('/') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

/// The most characters of a field: remedies have some hundreds.
const MOST_CHARACTERS: usize = 600;

/// Without what steers a terminal, and no longer than a few lines: names of threads come from anybody.
fn plain(text: &str) -> String {
    let text: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    horus::outside::shown(text.trim(), MOST_CHARACTERS)
}
