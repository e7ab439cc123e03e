//! `horus doctor` with bad input: every mistake is named with its place and remedy, and the rest still runs.

#[path = "fixtures/support.rs"]
mod support;

use std::fs;

use support::{audit, copy, copy_of, doctor, rules, tree};

/// The shipped rules and one more file.
fn rules_with(name: &str, text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    copy(&rules(), directory.path());
    fs::write(directory.path().join(name), text).unwrap();
    directory
}

fn record(changes: &[(&str, &str)]) -> String {
    let mut keys = vec![
        ("id", "\"X1\""),
        ("severity", "\"info\""),
        ("title", "\"A rule of this test\""),
        ("read", "\"file:/proc/version\""),
        ("expect", "\"present\""),
        ("why", "\"Because.\""),
        ("fix", "\"Do.\""),
    ];
    for (key, value) in changes {
        keys.retain(|(known, _)| known != key);
        keys.push((key, value));
    }
    let lines = keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
    format!("[[rule]]\n{}", lines.collect::<String>())
}

#[test]
fn a_mistake_in_a_rule_file_is_named_with_file_and_line_and_the_other_rules_still_run() {
    let tuned = tree("tuned-x86");
    let all = audit(&tuned, &rules()).1["rules"].as_array().unwrap().len();
    let good = record(&[]);
    let cases = [
        ("bad TOML", "[[rule]]\nid = \"X1\nseverity = 1\n".to_owned(), "x.toml:2: ", 0),
        ("no rule", "# nothing\n".to_owned(), "x.toml:1: no [[rule]]", 0),
        ("other table", format!("{good}[settings]\na = 1\n"), "x.toml:9: unknown key 'settings'", 1),
        (
            "unknown key",
            format!("{good}{}", record(&[("id", "\"X2\""), ("color", "1")])),
            "x.toml:17: unknown field `color`",
            1,
        ),
        ("missing key", good.replace("why = \"Because.\"\n", ""), "x.toml:1: missing field `why`", 0),
        ("empty text", record(&[("fix", "\" \"")]), "x.toml:1: 'fix' is empty", 0),
        ("unknown severity", record(&[("severity", "\"worst\"")]), "x.toml:8: unknown variant `worst`", 0),
        ("unknown reader", record(&[("read", "\"uname:-v\"")]), "x.toml:8: unknown reader 'uname:'", 0),
        ("unknown scan", record(&[("read", "\"scan:dust\"")]), "x.toml:8: unknown scan 'dust'", 0),
        ("unknown set", record(&[("read", "\"file:/x/{all}\"")]), "x.toml:8: '/x/{all}'", 0),
        ("unknown expectation", record(&[("expect", "{ like = 1 }")]), "x.toml:8: unknown variant `like`", 0),
        ("two expectations", record(&[("expect", "{ equals = 1, at-most = 2 }")]), "x.toml:8: ", 0),
        (
            "bad version",
            record(&[("applies", "{ kernel-since = \"new\" }")]),
            "x.toml:1: rule 'X1': kernel-since 'new'",
            0,
        ),
        ("same id", format!("{good}{good}"), "x.toml:9: rule 'X1' is already at", 1),
        ("id of another file", record(&[("id", "\"C1\"")]), "x.toml:1: rule 'C1' is already at", 0),
    ];
    for (what, text, place, usable) in cases {
        let rules = rules_with("x.toml", &text);
        let (status, audit) = audit(&tuned, rules.path());
        assert_eq!(status, 2, "{what}");
        let problems: Vec<&str> =
            audit["problems"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert_eq!(problems.len(), 1, "{what}: {problems:?}");
        assert!(problems[0].contains(place), "{what}: {place} is not in {}", problems[0]);
        assert!(problems[0].contains(';'), "{what}: no remedy in {}", problems[0]);
        assert_eq!(audit["rules"].as_array().unwrap().len(), all + usable, "{what}");
        assert_eq!(audit["score"], 100, "{what}");
    }
}

#[test]
fn a_problem_is_printed_for_people_too() {
    let rules = rules_with("x.toml", "[[rule]]\nid = 3\n");
    let output =
        doctor(&["--root".as_ref(), tree("tuned-x86").as_os_str(), "--rules".as_ref(), rules.path().as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("PROBLEM") && text.contains("x.toml:2"), "{text}");
    assert!(text.contains("audit FAIL"), "{text}");
}

#[test]
fn a_rule_directory_without_rules_and_a_root_without_a_machine_are_problems() {
    let empty = tempfile::tempdir_in("/dev/shm").unwrap();
    for (root, rules) in [
        (tree("tuned-x86"), empty.path().to_path_buf()),
        (tree("tuned-x86"), empty.path().join("missing")),
        (empty.path().to_path_buf(), rules()),
        (empty.path().join("missing"), rules()),
        (rules().join("kernel.toml"), rules()),
    ] {
        let (status, audit) = audit(&root, &rules);
        assert_eq!(status, 2, "{audit}");
        assert_eq!(audit["problems"].as_array().unwrap().len(), 1, "{audit}");
    }
    assert_eq!(doctor(&["--no-such-argument"]).status.code(), Some(2));
}

#[test]
fn files_full_of_rubbish_end_in_results_and_not_in_a_crash() {
    let copy = copy_of("tuned-x86");
    spoil(copy.path());
    let (status, audit) = audit(copy.path(), &rules());
    assert_eq!(status, 1);
    let passed = support::with_status(&audit, "PASS");
    assert_eq!(passed, ["C14"], "rubbish is not 'Vulnerable*'");
}

fn spoil(directory: &std::path::Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { spoil(&path) } else { fs::write(&path, b"\xff\x00[(:=-,\n\x80").unwrap() }
    }
}

#[test]
fn text_is_plain_when_it_is_not_for_a_terminal_and_failures_come_first_by_severity() {
    let root = tree("untuned-desktop");
    let output =
        doctor(&["--all".as_ref(), "--root".as_ref(), root.as_os_str(), "--rules".as_ref(), rules().as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\x1b'));
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is missing in {text}"));
    assert!(at("(fatal)") < at("(high)") && at("(high)") < at("(medium)") && at("(medium)") < at("NA  "));
    assert!(at("NA  ") < at("PASS  "));
    for part in ["observed: hpet", "expected: tsc or", "why: ", "fix: "] {
        at(part);
    }
    assert!(text.lines().last().unwrap().starts_with("audit FAIL 0/100: 3 fatal, "), "{text}");
}

#[test]
fn json_goes_to_a_file_while_people_read_the_table() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let file = directory.path().join("audit.json");
    let root = tree("tuned-x86");
    let arguments = ["--json".as_ref(), file.as_os_str(), "--root".as_ref(), root.as_os_str(), "--rules".as_ref()];
    let output = doctor(&[&arguments[..], &[rules().as_os_str()]].concat());
    assert!(String::from_utf8(output.stdout).unwrap().contains("audit PASS"));
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(json["score"], 100);
}

#[test]
fn explain_prints_every_rule_with_its_reason() {
    let output = doctor(&["--explain".as_ref(), "--rules".as_ref(), rules().as_os_str()]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for record in support::records() {
        assert!(text.contains(&format!("{} (", record.id)), "{}", record.id);
    }
    assert_eq!(text.matches("why: ").count(), support::records().len());
}

#[test]
fn rules_are_those_of_the_repository_above_the_program_and_without_any_there_is_no_verdict() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (program, conf) = (place.path().join("target/debug/horus"), place.path().join("conf/rt/audit"));
    for folder in [program.parent().unwrap(), &conf] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::hard_link(env!("CARGO_BIN_EXE_horus"), &program).unwrap();
    fs::write(conf.join("x.toml"), record(&[])).unwrap();
    let found = std::process::Command::new(&program).args(["doctor", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    // An appliance has rules of its own, which come first.
    if !std::path::Path::new("/usr/lib/horus/audit").is_dir() {
        assert_eq!(found["rules"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["rules"][0]["id"], "X1");
    }
    let none = doctor(&["--rules", "/nowhere"]);
    let said = String::from_utf8(none.stdout).unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(said.contains("/nowhere: ") && said.contains("audit not done: there are no rules"), "{said}");
    assert!(!said.contains("100/100"), "{said}");
}
