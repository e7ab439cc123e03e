//! A whole night of the real program, in 20 s: every phase of the file that the image has.

mod measuring;

use std::path::Path;

use measuring::{Scene, install, phase, text};
use serde_json::Value;

#[test]
fn a_night_has_every_phase_of_its_file_measured_or_says_why_not_and_tells_how_far_it_is() {
    let scene = Scene::new();
    let programs = scene.path("programs");
    // One process that computes is load enough here, and others work on this machine too.
    install(&programs, "stress-ng", "while :; do :; done");
    install(&programs, "cyclictest", "echo 'no timer' >&2; exit 1");
    let path = std::env::join_paths(
        [programs.clone()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let night = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs/usr/lib/horus/night.toml");
    let planned = std::fs::read_to_string(&night).unwrap();
    let mut command = scene.command(&["--night", "--duration", "20s", "--config", night.to_str().unwrap()]);
    let output = command.env("PATH", path.as_ref().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let report = scene.report();
    assert_eq!((&report["schema"], &report["duration_s"]), (&Value::from("horus-report/2"), &Value::from(20.0)));
    let phases = report["phases"].as_array().unwrap();
    assert_eq!(phases.len(), planned.matches("[[phase]]").count());
    for phase in phases {
        let reason = phase["reason"].as_str();
        assert_eq!(phase["measured"] == true, reason.is_none(), "measured or a reason: {phase}");
    }
    let node = phase(&report, "node-10khz-idle");
    assert_eq!((&node["period_ns"], &node["deadline_ns"]), (&Value::from(100_000), &Value::from(80_000)));
    assert!(node["samples"].as_u64().unwrap() > phase(&report, "node-idle")["samples"].as_u64().unwrap());
    assert_eq!(phase(&report, "control-idle")["measured"], true);
    assert!(phase(&report, "cyclictest-cpu")["reason"].as_str().unwrap().contains("(no timer)"));
    let answer = phase(&report, "message-1khz-idle");
    if std::thread::available_parallelism().unwrap().get() > 1 {
        assert_eq!(answer["measured"], true, "{answer}");
        let counted: u64 = answer["histogram"].as_array().unwrap().iter().map(|class| class[1].as_u64().unwrap()).sum();
        assert_eq!(counted, answer["samples"].as_u64().unwrap(), "every release is a sample, answered or not");
    }
    assert_eq!(phase(&report, "node-cpu")["load"], "cpu");
    assert!(phase(&report, "node-idle")["load"].is_null());
    assert!(
        report["identity"]["configuration"]["phases"].as_str().unwrap().contains("node-10khz-irq 100000/80000 irq 5")
    );
    assert!(!scene.path("reports/load").exists(), "a load that writes leaves nothing");

    let said = text(&output.stderr);
    let count = phases.len();
    assert!(said.contains(&format!("phase 1 of {count}, control-idle; 18 s left")), "{said}");
    assert!(said.contains(&format!("phase {count} of {count}, ")), "{said}");
}
