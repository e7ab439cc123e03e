//! The JSON Schema of `node.toml`, for editors that complete and check it: every word with its values, its default and a sentence.
//!
//! The parser is `file.rs`. Tests hold the two together: they know the same words, what is an example here is read there, and what one
//! refuses of `tests/wrong_settings.txt`, the other refuses, too.
//!
//! # What it does not do
//! What needs the program or the machine is not in it: whether there is a node of a name, whether a device is a disk.

use serde_json::{Map, Value, json};

use super::installation::GROUPS;
use crate::param::MAX_TEXT_BYTES;

/// A word of a table: its name, its values, and what it means.
struct Key {
    name: &'static str,
    values: Value,
    about: &'static str,
}

fn key(name: &'static str, values: Value, about: &'static str) -> Key {
    Key { name, values, about }
}

/// The schema, as JSON with sorted keys.
///
/// ```
/// assert!(horus::app::schema().contains("min_inter_arrival"));
/// ```
pub fn schema() -> String {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "node.toml of HORUS",
        "description": "When and where the nodes of a program run, what they may open, and how the program is installed. \
            docs/nodes.md explains every word.",
        "definitions": {
            "duration": {
                "type": "string",
                "pattern": "^\\s*[0-9]+\\s*(ns|us|µs|ms|s|min)\\s*$",
                "description": "A whole number with its unit: ns, us, ms, s or min.",
                "examples": ["1 ms", "800us"],
            },
            "word": {
                "type": "string",
                "pattern": "^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,63}$",
                "description": "1 to 64 of A-Z a-z 0-9 . _ + ~ -, the first of which is a letter, a digit or _.",
            },
            "group": { "allOf": [{ "$ref": "#/definitions/word" }], "examples": GROUPS },
            "misses": condition(false),
            "fewer_releases": condition(true),
        },
    });
    let Value::Object(mut schema) = schema else { unreachable!("it is written as an object") };
    schema.extend(table(&top()));
    pretty(Value::Object(schema))
}

/// A schema as text with sorted keys, whatever order the maps of this build keep; for the schema of `robot.toml`, too.
#[doc(hidden)]
pub fn pretty(schema: Value) -> String {
    format!("{:#}\n", sorted(schema))
}

/// The words of the file.
fn top() -> Vec<Key> {
    let nodes = json!({
        "type": "object",
        "propertyNames": { "$ref": "#/definitions/word" },
        "additionalProperties": table(&node()),
    });
    let topics = json!({ "type": "object", "additionalProperties": topic() });
    let program = json!({ "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$", "examples": ["balance"] });
    let device = json!({ "type": "string", "pattern": "^/dev/[^\\s\"'\\\\%]+$", "maxLength": 128 });
    let devices = json!({ "type": "array", "items": device, "examples": [["/dev/ttyACM0"]], "default": [] });
    vec![
        key("program", program, "The program that this is for, which is named as its package."),
        key("version", word(&["0.2.0"]), "Which version this is, for people; `horus deploy` takes it from Cargo.toml."),
        key(
            "restart",
            json!({ "enum": ["on-failure", "always", "no"], "default": "on-failure" }),
            "When an installed program is started again, a second after its end.",
        ),
        key(
            "network",
            boolean(),
            "Whether an installed program has IP and CAN sockets; without it, it has no network.",
        ),
        key("devices", devices, "The device files that an installed program may open. Disks are given to no program."),
        key("strict", boolean(), "Does not start unless the system grants everything that the nodes ask for."),
        key(
            "grace",
            duration(&["500 ms"]),
            "For how long a second SIGTERM or SIGINT changes nothing: at most 60 s; 1 s if not said.",
        ),
        key("node", nodes, "Nodes by their names. What stands here has the last word over the program."),
        key("params", Value::Object(table(&params())), "All parameters of the program."),
        key("topics", topics, "What the program may open, if this table is there; no other topic then."),
    ]
}

fn node() -> Vec<Key> {
    let value = json!({ "anyOf": [
        { "type": "boolean" },
        { "type": "number" },
        { "type": "string", "maxLength": MAX_TEXT_BYTES },
    ] });
    let values = json!({
        "type": "object",
        "propertyNames": { "$ref": "#/definitions/word" },
        "additionalProperties": value,
        "examples": [{ "gain": 1.2 }],
    });
    let cpu = json!({ "anyOf": [
        { "type": "integer", "minimum": 0, "maximum": 8191 },
        { "type": "string", "pattern": "^\\s*(any|isolated|isolated-last|housekeeping|isolated:[0-9]+|[0-9]+(-[0-9]+)?)\\s*$" },
    ], "examples": ["isolated", "isolated:1", "isolated-last", "housekeeping", "2-3", "any", 2] });
    let policy = json!({
        "type": "string",
        "pattern": "^\\s*((fifo|rr):\\s*([1-9]|[1-8][0-9]|9[0-8])|deadline|other)\\s*$",
        "examples": ["fifo:80", "rr:70", "deadline", "other"],
    });
    let stale = json!({ "anyOf": [
        { "$ref": "#/definitions/duration" },
        { "type": "object", "additionalProperties": { "$ref": "#/definitions/duration" } },
    ], "examples": ["1 s", { "imu": "50 ms" }] });
    vec![
        key(
            "period",
            duration(&["1 ms"]),
            "It is released on a grid that all nodes of the machine with this period share.",
        ),
        key("phase", duration(&["500 us"]), "Moves the grid by so much."),
        key("min_inter_arrival", duration(&["20 ms"]), "The shortest time between two releases by events."),
        key("deadline", duration(&["800 us"]), "From release to completion; the period if not said."),
        key("budget", duration(&["150 us"]), "CPU time of a cycle, on which the analysis and the monitor rest."),
        key("stale_after", stale, "An input without a message for so long is stale: of all inputs, or by topic."),
        key("monitor_limit", duration(&["50 ms"]), "When the monitor makes it safe, counted from its release."),
        key("cpu", cpu, "Where it runs: by role, by number, or in a range of numbers."),
        key("scheduling_policy", policy, "The kernel's scheduling policy, with its priority from 1 to 98."),
        key("on_miss", on_miss(), "What misses lead to."),
        key("params", values, "Values of its parameters at the program's start."),
    ]
}

fn params() -> Vec<Key> {
    vec![key(
        "group",
        json!({ "$ref": "#/definitions/group", "examples": ["robots"] }),
        "The group whose members may set parameters. Who may use the program's topics may read them.",
    )]
}

fn topic() -> Value {
    let words = [
        key("publish", boolean(), "It may publish the topic."),
        key("subscribe", boolean(), "It may subscribe to the topic."),
        key(
            "group",
            json!({ "$ref": "#/definitions/group" }),
            "The group that shares the topic when the program makes it.",
        ),
    ];
    let examples = json!(["subscribe", "publish", { "publish": true, "group": "robots" }]);
    json!({ "anyOf": [{ "enum": ["publish", "subscribe"] }, table(&words)], "examples": examples })
}

fn on_miss() -> Value {
    let reaction = |name: &str| {
        let condition = if name == "degrade" { "fewer_releases" } else { "misses" };
        let only = json!({ name: { "$ref": format!("#/definitions/{condition}") } });
        json!({ "type": "object", "properties": only, "required": [name], "additionalProperties": false })
    };
    let words = ["count", "warn", "skip", "safe_state", "stop"];
    let mut of: Vec<_> = vec![json!({ "enum": words })];
    of.extend(words.into_iter().chain(["degrade"]).map(reaction));
    let examples = json!(["warn", { "safe_state": { "after": 3, "within": 100 } }, { "degrade": { "every": 2 } }]);
    json!({ "anyOf": of, "examples": examples })
}

/// After how many misses a reaction comes.
fn condition(is_degrading: bool) -> Value {
    let count = || json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    let mut keys = vec![
        key("after", count(), "After so many misses; 1 if not said."),
        key("within", count(), "Among so many releases; as many as `after` if not said."),
    ];
    if is_degrading {
        keys.push(key("every", count(), "It is released every so many periods from then on."));
    }
    let mut table = table(&keys);
    if is_degrading {
        table.insert("required".to_owned(), json!(["every"]));
    }
    Value::Object(table)
}

fn duration(examples: &[&str]) -> Value {
    json!({ "$ref": "#/definitions/duration", "examples": examples })
}

fn word(examples: &[&str]) -> Value {
    json!({ "$ref": "#/definitions/word", "examples": examples })
}

fn boolean() -> Value {
    json!({ "type": "boolean", "default": false })
}

/// A table with these words and no others.
fn table(keys: &[Key]) -> Map<String, Value> {
    let word = |Key { name, values, about }: &Key| {
        // In draft 7 what stands beside `$ref` is not looked at.
        let mut values = values.clone();
        if let Some(reference) = values.as_object_mut().and_then(|values| values.remove("$ref")) {
            values["allOf"] = json!([{ "$ref": reference }]);
        }
        values["description"] = json!(about);
        ((*name).to_owned(), values)
    };
    let properties: Map<_, _> = keys.iter().map(word).collect();
    let Value::Object(table) = json!({ "type": "object", "properties": properties, "additionalProperties": false })
    else {
        unreachable!("it is written as an object")
    };
    table
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::super::Settings;
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn refusal(text: &str) -> String {
        Settings::parse(Path::new("node.toml"), text).err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn the_schema_in_the_repository_is_this_one() {
        let path = root().join("docs/schema/node.toml.json");
        if std::env::var_os("HORUS_WRITE_SCHEMA").is_some() {
            std::fs::write(&path, schema()).unwrap();
        }
        let is_same = std::fs::read_to_string(&path).is_ok_and(|text| text == schema());
        assert!(is_same, "write it anew: HORUS_WRITE_SCHEMA=1 cargo test -p horus --lib schema");
    }

    #[test]
    fn the_parser_and_the_schema_know_the_same_words() {
        for (table, before, behind) in [
            (top(), "", " = 1"),
            (node(), "[node.n]\n", " = 1"),
            (params(), "[params]\n", " = 1"),
            (vec![], "[topics]\nt = { publish = true, ", " = 1 }"),
            (vec![], "[node.n]\non_miss = { degrade = { every = 2, ", " = 1 } }"),
        ] {
            let said = refusal(&format!("{before}no_such_word{behind}"));
            let listed = said.split_once("expected ").unwrap_or_else(|| panic!("{said}")).1;
            let listed: BTreeSet<_> = listed.lines().next().unwrap().split('`').skip(1).step_by(2).collect();
            let known: BTreeSet<_> = match before {
                _ if !table.is_empty() => table.iter().map(|key| key.name).collect(),
                topics if topics.contains("topics") => ["publish", "subscribe", "group"].into(),
                _ => ["after", "within", "every"].into(),
            };
            assert_eq!(listed, known, "{before}");
        }
    }

    /// As TOML that stands in one line.
    fn written(value: &Value) -> String {
        match value {
            Value::Object(map) => {
                let all: Vec<_> = map.iter().map(|(key, value)| format!("{key} = {}", written(value))).collect();
                format!("{{ {} }}", all.join(", "))
            }
            other => other.to_string(),
        }
    }

    #[test]
    fn what_the_schema_has_as_examples_is_read() {
        let mut count = 0;
        for (keys, before) in [(top(), ""), (node(), "[node.n]\n"), (params(), "[params]\n")] {
            for key in keys {
                for example in key.values["examples"].as_array().into_iter().flatten() {
                    let text = format!("{before}{} = {}", key.name, written(example));
                    assert_eq!(refusal(&text), "", "{text}");
                    count += 1;
                }
            }
        }
        for example in topic()["examples"].as_array().unwrap() {
            assert_eq!(refusal(&format!("[topics]\nt = {}", written(example))), "");
            count += 1;
        }
        for group in GROUPS {
            assert_eq!(refusal(&format!("[params]\ngroup = \"{group}\"")), "");
        }
        assert!(count > 20, "{count} examples");
    }

    #[test]
    fn what_the_schema_refuses_the_parser_refuses() {
        let wrong = std::fs::read_to_string(root().join("runtime/horus/tests/wrong_settings.txt")).unwrap();
        for text in wrong.split("\n---\n") {
            assert_ne!(refusal(text), "", "{text}");
        }
    }
}
