//! The JSON Schema of `robot.toml`, for editors that complete and check it. The parser is `file.rs`; tests hold the two together.
//!
//! # What it does not do
//! Whether a name in `after` or in a group is one of a program, only the parser says.

use serde_json::{Value, json};

/// The schema, as JSON with sorted keys.
pub fn schema() -> String {
    horus::app::pretty(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "robot.toml of HORUS",
        "description": "The programs of a robot, which `horus run` starts and `horus deploy` ships. docs/robot.md explains every word.",
        "definitions": {
            "word": {
                "type": "string",
                "pattern": "^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,63}$",
                "description": "1 to 64 of A-Z a-z 0-9 . _ + ~ -, the first of which is a letter, a digit or _.",
            },
            "words": { "type": "array", "items": { "$ref": "#/definitions/word" } },
            "texts": { "type": "object", "additionalProperties": { "type": "string" } },
        },
        "type": "object",
        "required": ["programs"],
        "additionalProperties": false,
        "properties": {
            "version": {
                "allOf": [{ "$ref": "#/definitions/word" }],
                "description": "Which version of the robot this is, for people.",
                "examples": ["0.2.0"],
            },
            "programs": {
                "type": "object",
                "description": "Programs by their names.",
                "propertyNames": { "$ref": "#/definitions/word" },
                "additionalProperties": { "type": "object", "required": ["run"], "additionalProperties": false, "properties": program() },
            },
            "groups": {
                "type": "object",
                "description": "Programs that start and stop together, by the names of their groups.",
                "additionalProperties": { "$ref": "#/definitions/words" },
                "examples": [{ "bringup": ["nav"] }],
            },
        },
    }))
}

/// The words of a program.
fn program() -> Value {
    let list = |about: &str, example: &str| json!({ "allOf": [{ "$ref": "#/definitions/words" }], "description": about, "examples": [[example]] });
    let texts = |about: &str, example: [&str; 2]| {
        let [name, text] = example;
        json!({ "allOf": [{ "$ref": "#/definitions/texts" }], "description": about, "examples": [{ name: text }] })
    };
    json!({
        "run": {
            "type": "string",
            "description": "What runs: a program, a folder with node.toml, or a .py file; the path begins in the folder of robot.toml.",
            "examples": ["nav"],
        },
        "after": list("It starts when these programs are ready.", "sim"),
        "group": {
            "allOf": [{ "$ref": "#/definitions/word" }],
            "description": "The group that it starts and stops with.",
            "examples": ["drive"],
        },
        "restart": {
            "enum": ["no", "on-failure", "always"],
            "description": "When it is started again after its end.",
            "examples": ["on-failure"],
        },
        "rename": texts("Which of its topics has which other name.", ["odom", "wheels.odom"]),
        "namespace": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]{1,64}$",
            "description": "The namespace of its topics.",
            "examples": ["left"],
        },
        "env": texts("Variables of its environment.", ["SPEED", "0.5"]),
        "args": { "type": "array", "items": { "type": "string" }, "description": "The words of its command line.", "examples": [["--map", "hall"]] },
        "ready": {
            "enum": ["notify", "start"],
            "description": "What makes it ready: it says so, as programs of nodes do, or it was started.",
            "default": "notify",
            "examples": ["start"],
        },
        "ready_within": {
            "type": "string",
            "pattern": "^\\s*[0-9]+\\s*(ns|us|µs|ms|s|min)\\s*$",
            "description": "How long it may take until it is ready: at most an hour.",
            "examples": ["30 s"],
        },
        "optional": { "type": "boolean", "description": "Where it cannot start, the others run without it.", "default": false, "examples": [true] },
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::file::{KEYS, TABLES, read};
    use crate::reader::Source;

    fn refusal(text: &str) -> String {
        let source = Source { path: Path::new("robot.toml"), text };
        read(source).err().map_or_else(String::new, |mistake| mistake.to_string())
    }

    #[test]
    fn the_schema_in_the_repository_is_this_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/robot.toml.json");
        if std::env::var_os("HORUS_WRITE_SCHEMA").is_some() {
            std::fs::write(&path, schema()).unwrap();
        }
        let is_same = std::fs::read_to_string(&path).is_ok_and(|text| text == schema());
        assert!(is_same, "write it anew: HORUS_WRITE_SCHEMA=1 cargo test -p horus-launch --lib schema");
    }

    #[test]
    fn the_parser_and_the_schema_know_the_same_words_and_examples_are_read() {
        let words = |value: &Value| {
            let mut words: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
            words.sort_unstable();
            words
        };
        let sorted = |known: &[&str]| {
            let mut known: Vec<_> = known.iter().map(|word| (*word).to_owned()).collect();
            known.sort_unstable();
            known
        };
        let whole: Value = serde_json::from_str(&schema()).unwrap();
        assert_eq!(words(&program()), sorted(&KEYS));
        assert_eq!(words(&whole["properties"]), sorted(&TABLES));
        for (word, said) in program().as_object().unwrap() {
            let example = &said["examples"][0];
            // A table of one text is the only example that TOML writes in another way than JSON.
            let written = example.to_string().replace("\":\"", "\" = \"");
            let run = if word == "run" { "" } else { "run = \"nav\"\n" };
            assert_eq!(refusal(&format!("[programs.nav]\n{run}{word} = {written}")), "", "{word} = {written}");
        }
    }

    #[test]
    fn what_the_schema_refuses_the_parser_refuses() {
        let wrong = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_robots.txt");
        for text in std::fs::read_to_string(wrong).unwrap().split("\n---\n") {
            assert_ne!(refusal(text), "", "{text}");
        }
    }
}
