//! Other programs that have to be told: GRUB and systemd. None is run for a directory that stands for `/`.

use std::process::{Command, Stdio};

use super::report::Report;
use crate::root::Root;

/// Has GRUB's menu made anew from its settings.
pub fn update_grub(root: &Root, report: &Report) {
    let remedy = "run 'update-grub', or 'grub-mkconfig -o /boot/grub/grub.cfg'";
    if !root.is_live() {
        report.say("GRUB's menu: not made anew, this is not the running machine");
    } else if root.exists("/usr/sbin/update-grub") {
        run(report, "GRUB's menu", "update-grub", &[], remedy);
    } else {
        run(report, "GRUB's menu", "grub-mkconfig", &["-o", "/boot/grub/grub.cfg"], remedy);
    }
}

/// Has systemd read its units anew, where it runs.
pub fn reload_units(root: &Root, report: &Report) {
    if has_systemd(root) {
        run(report, "units", "systemctl", &["daemon-reload"], "run 'systemctl daemon-reload'");
    }
}

/// Those of `units` that run now.
pub fn running(root: &Root, units: &[String]) -> Vec<String> {
    let is_active = |unit: &&String| {
        let status = Command::new("systemctl").args(["--quiet", "is-active", unit]).stderr(Stdio::null()).status();
        has_systemd(root) && status.is_ok_and(|status| status.success())
    };
    units.iter().filter(is_active).cloned().collect()
}

/// Starts or stops units.
pub fn switch(root: &Root, verb: &str, units: &[String], report: &Report) {
    for unit in units.iter().filter(|_| has_systemd(root)) {
        run(report, unit, "systemctl", &[verb, unit], &format!("run 'systemctl {verb} {unit}'"));
    }
}

fn has_systemd(root: &Root) -> bool {
    root.is_live() && root.exists("/run/systemd/system")
}

fn run(report: &Report, what: &str, program: &str, arguments: &[&str], remedy: &str) {
    match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => report.say(&format!("{what}: {program} {}", arguments.join(" "))),
        Ok(output) => report.cannot(what, String::from_utf8_lossy(&output.stderr), remedy),
        Err(error) => report.cannot(what, format!("{program}: {error}"), remedy),
    }
}
