//! `horus greeting` as a program, on whatever machine this is.

use std::process::Command;

#[test]
fn the_greeting_fits_on_a_console_and_names_what_to_type() {
    let output = Command::new(env!("CARGO_BIN_EXE_horus")).arg("greeting").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!((7..=10).contains(&text.lines().count()), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80 && !line.contains(char::is_control), "{line:?}");
    }
    for part in [
        " kernel     ",
        " network    ",
        " verdict    ",
        "journalctl -u horus-determinism",
        "horus doctor",
        "horus report",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
