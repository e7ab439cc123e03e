//! Runs of `horus determinism`, started and read by tests.
#![allow(dead_code)] // each test file uses a part of it

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A directory for reports and lock, and rule files as small as can be.
pub struct Scene {
    directory: tempfile::TempDir,
}

const RULES: &str = r#"
[[rule]]
id = "T1"
severity = "info"
title = "The kernel has a version"
read = "file:/proc/version"
expect = { matches = ["*Linux*"] }
why = "The test needs a rule."
fix = "None."
"#;

impl Scene {
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        std::fs::create_dir(directory.path().join("rules")).unwrap();
        std::fs::write(directory.path().join("rules/test.toml"), RULES).unwrap();
        // Topics must not meet those of other tests, nor the machine's own.
        std::fs::create_dir(directory.path().join("topics")).unwrap();
        Self { directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.arg("determinism").arg("--print");
        for (option, name) in [
            ("--output", "reports"),
            ("--fallback", "ram"),
            ("--lock", "lock"),
            ("--rules", "rules"),
            ("--release-jitter", "release-jitter"),
        ] {
            command.arg(option).arg(self.path(name));
        }
        command.args(arguments).env("HORUS_SHM_DIR", self.path("topics")).env_remove("HORUS_DETERMINISM_DURATION");
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    }

    pub fn report(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("reports/latest.json")).unwrap()).unwrap()
    }
}

pub fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

pub fn phase<'a>(report: &'a Value, name: &str) -> &'a Value {
    let phases = report["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["name"] == name).unwrap_or_else(|| panic!("no phase {name}"))
}

/// A program of this name that the run finds first.
pub fn install(programs: &Path, name: &str, script: &str) {
    std::fs::create_dir_all(programs).unwrap();
    let program = programs.join(name);
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}
