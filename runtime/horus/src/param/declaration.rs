//! What a program says of a parameter, and whether a value is one that it may have.

use serde::{Deserialize, Serialize};

use super::value::{Kind, Value, is_value};
use crate::near::nearest;
use crate::outside::{Word, printable, shown};

/// Most bytes of a unit, and of the sentence about a parameter.
const MAX_UNIT_BYTES: usize = 16;
const MAX_ABOUT_BYTES: usize = 200;

/// A parameter, as it was declared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Declaration {
    /// The node that it belongs to.
    #[serde(default)]
    pub node: String,
    /// Its name.
    pub name: String,
    /// What it can be.
    pub kind: Kind,
    /// Its unit; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What it is for; empty where the program does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The words of the least and the greatest value: JSON does not keep every number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<[u64; 2]>,
    /// Whether it changes at start alone.
    #[serde(default)]
    pub read_only: bool,
    /// The words of the program's own value.
    pub(super) default: Vec<u64>,
}

impl Declaration {
    pub(super) fn new(name: &str, kind: Kind, default: &Value) -> Self {
        let mut words = Vec::new();
        // What is none of its values has no words, and is refused when the program starts: a text that is too long would be cut.
        if let Some(default) = default.as_kind(kind) {
            default.write(&mut words);
        }
        Self {
            node: String::new(),
            name: name.to_owned(),
            kind,
            unit: String::new(),
            about: String::new(),
            limits: None,
            read_only: false,
            default: words,
        }
    }

    /// The least and the greatest value.
    pub fn range(&self) -> Option<[Value; 2]> {
        let [least, greatest] = self.limits?;
        Some([Value::read(self.kind, &[least])?, Value::read(self.kind, &[greatest])?])
    }

    /// The program's own value.
    pub fn default(&self) -> Option<Value> {
        Value::read(self.kind, &self.default)
    }

    /// Whether it is one that a program can declare.
    pub(super) fn check(&self) -> Result<(), String> {
        self.name.parse::<Word>().map_err(|error| format!("the name of a parameter: {error}"))?;
        let wrong = |text: &str| Err(format!("parameter {} {text}", self.name));
        if self.unit.len() > MAX_UNIT_BYTES || self.about.len() > MAX_ABOUT_BYTES {
            return wrong("has at most 16 bytes of unit and 200 bytes of text");
        }
        if let Some([least, greatest]) = self.limits
            && !(is_value(self.kind, &[least]) && is_value(self.kind, &[greatest]) && !self.is_below(greatest, least))
        {
            return wrong("has a range without a value: write .range(0.0..=4.0), from the least to the greatest");
        }
        match self.allows(&self.default) {
            true => Ok(()),
            false if self.kind == Kind::Text => {
                wrong("has a default that it may not have: a text has at most 64 bytes, and none that steer a terminal")
            }
            false => wrong("has a default that it may not have: change it, or its range"),
        }
    }

    fn is_below(&self, one: u64, other: u64) -> bool {
        match self.kind {
            Kind::F64 => f64::from_bits(one) < f64::from_bits(other),
            _ => one.cast_signed() < other.cast_signed(),
        }
    }

    /// Whether it may have the value in these words. Neither allocates nor fails, whatever they are.
    pub(super) fn allows(&self, words: &[u64]) -> bool {
        is_value(self.kind, words)
            && self.limits.is_none_or(|[least, greatest]| {
                words.first().is_some_and(|&word| !self.is_below(word, least) && !self.is_below(greatest, word))
            })
    }

    /// The words of a value that it may have; else what it may be, as a sentence without its end.
    pub(super) fn words_of(&self, value: &Value) -> Result<Vec<u64>, String> {
        let mut words = Vec::new();
        if let Some(value) = value.as_kind(self.kind) {
            value.write(&mut words);
        }
        if self.allows(&words) { Ok(words) } else { Err(self.refusal()) }
    }

    /// The words of what a person wrote.
    pub(super) fn words_of_text(&self, text: &str) -> Result<Vec<u64>, String> {
        Value::parse(self.kind, text).ok_or_else(|| self.refusal()).and_then(|value| self.words_of(&value))
    }

    /// `gain may be 0 to 4 1/s (speed for a metre of distance)`.
    fn refusal(&self) -> String {
        let may = match self.range() {
            Some([least, greatest]) if self.kind == Kind::I64 => format!("a whole number from {least} to {greatest}"),
            Some([least, greatest]) => format!("{least} to {greatest}"),
            None => self.kind.noun().to_owned(),
        };
        format!("{} may be {may}{}{}", self.name, self.unit_behind(), self.about_in_brackets())
    }

    /// Its unit behind a number, with a space.
    pub fn unit_behind(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", printable(&self.unit)) }
    }

    pub(super) fn about_in_brackets(&self) -> String {
        if self.about.is_empty() { String::new() } else { format!(" ({})", printable(&self.about)) }
    }
}

/// `frame changes at the program's start alone (…)`.
pub(super) fn starts_only(known: &Declaration) -> String {
    let (name, about) = (&known.name, known.about_in_brackets());
    format!("{name} changes at the program's start alone{about}: [node.{}.params] of node.toml sets it", known.node)
}

/// That there is no such parameter, with those that may be meant.
pub(super) fn unknown(node: &str, name: &str, known: &[Declaration]) -> String {
    let names: Vec<_> = known.iter().filter(|known| known.node == node).map(|known| known.name.as_str()).collect();
    let shown = shown(name, 64);
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("node {node} has no parameter {shown}: did you mean {near}?"),
        None if names.is_empty() => format!("node {node} has no parameter {shown}: it has none"),
        None => format!("node {node} has no parameter {shown}: it has {}", names.join(", ")),
    }
}
