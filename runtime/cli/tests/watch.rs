//! The watch as a process: it keeps its record, stands aside for a determinism run, ends in order, and goes on where it was.
//!
//! No CPU has to be isolated here, so its records are not valid; counts are what must hold on every machine.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A directory in RAM with everything that a watch and a run need.
struct Scene(tempfile::TempDir);

/// A watch that is killed when the test fails before it has ended.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir_in("/dev/shm").unwrap());
        ["rules", "topics"].iter().for_each(|name| std::fs::create_dir(scene.path(name)).unwrap());
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn watch(&self) -> Watch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
        command.args(["watch", "--anywhere", "--period", "10ms", "--keep-every", "200ms", "--directory"]);
        command.arg(self.path("watch")).arg("--rules").arg(self.path("rules")).arg("--lock").arg(self.path("lock"));
        Watch(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// The only record, once there is one.
    fn record(&self) -> Option<Value> {
        let files: Vec<PathBuf> =
            std::fs::read_dir(self.path("watch")).ok()?.map(|entry| entry.unwrap().path()).collect();
        let records: Vec<&PathBuf> =
            files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
        assert!(records.len() <= 1, "one record a boot: {records:?}");
        Some(serde_json::from_slice(&std::fs::read(records.first()?).unwrap()).unwrap())
    }

    fn samples(&self) -> u64 {
        self.record().map_or(0, |record| record["phases"][0]["samples"].as_u64().unwrap())
    }

    fn wait_for_more_than(&self, samples: u64) -> u64 {
        let end = Instant::now() + Duration::from_secs(30);
        while self.samples() <= samples {
            assert!(Instant::now() < end, "the record does not grow beyond {samples}");
            wait_a_little();
        }
        self.samples()
    }
}

fn wait_a_little() {
    let until = horus::time::MonotonicTime::now().plus(Duration::from_millis(20));
    horus::time::Clock::sleep_until(&horus::time::SystemClock, until);
}

fn ends_in_order(mut watch: Watch) {
    kill_process(Pid::from_child(&watch.0), Signal::TERM).unwrap();
    assert!(watch.0.wait().unwrap().success());
}

#[test]
fn a_record_grows_survives_a_kill_and_goes_on_in_the_same_boot() {
    let scene = Scene::new();
    let mut watch = scene.watch();
    let before = scene.wait_for_more_than(30);
    watch.0.kill().unwrap(); // a power cut takes what was not written yet, and nothing else
    watch.0.wait().unwrap();
    assert!(scene.samples() >= before);

    let kept = scene.samples();
    let watch = scene.watch();
    scene.wait_for_more_than(kept);
    ends_in_order(watch);
    let record = scene.record().unwrap();
    let phase = &record["phases"][0];
    assert_eq!((&record["schema"], &record["valid"]), (&Value::from("horus-watch/1"), &Value::Bool(false)));
    assert!(record["invalid_reasons"].to_string().contains("not isolated"), "{record}");
    let counted: u64 = phase["histogram"].as_array().unwrap().iter().map(|class| class[1].as_u64().unwrap()).sum();
    assert_eq!(counted, phase["samples"].as_u64().unwrap(), "every release is in the histogram");
    assert!(phase["misses"].as_u64().unwrap() <= counted);
}

#[test]
fn the_watch_stands_aside_while_a_determinism_run_measures_and_comes_back() {
    let scene = Scene::new();
    let watch = scene.watch();
    scene.wait_for_more_than(0);
    let mut run = Command::new(env!("CARGO_BIN_EXE_horus"));
    run.args(["determinism", "--duration", "2s"]).env("HORUS_SHM_DIR", scene.path("topics"));
    for (option, name) in [("--output", "reports"), ("--fallback", "ram"), ("--lock", "lock"), ("--rules", "rules")] {
        run.arg(option).arg(scene.path(name));
    }
    run.arg("--release-jitter").arg(scene.path("jitter"));
    let output = run.env_remove("HORUS_DETERMINISM_DURATION").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(scene.path("reports/latest.json")).unwrap()).unwrap();
    assert!(!report["problems"].to_string().contains("stand aside"), "{}", report["problems"]);
    scene.wait_for_more_than(scene.samples());
    ends_in_order(watch);
}

#[test]
fn a_machine_without_an_isolated_cpu_has_nothing_to_watch() {
    if !horus::cpus::isolated(Path::new("/")).is_empty() {
        return; // then there is something
    }
    let scene = Scene::new();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_horus"));
    let output = watch.args(["watch", "--directory"]).arg(scene.path("watch")).output().unwrap();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("no CPU is isolated"),
        "{output:?}"
    );
    assert!(!scene.path("watch").exists());
}
