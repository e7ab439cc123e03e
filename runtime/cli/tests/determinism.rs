//! Whole runs of the real program: short ones, on whatever machine this is, with nothing granted that it does not
//! grant.
//!
//! No figure is compared with a time: what must hold on every machine is that the report is whole, adds up and says
//! what was not as it should be.

mod measuring;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use measuring::{Scene, phase, text};
use serde_json::Value;

/// Whether any process of this machine was started with `word` among its arguments.
fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|command| command.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

#[test]
fn a_short_run_leaves_a_whole_report_and_shows_it() {
    let scene = Scene::new();
    let output = scene.run(&["--duration", "3s"]);
    let report = scene.report();
    assert_eq!(report["schema"], "horus-report/2");
    assert_eq!(report["boot_id"].as_str().unwrap().len(), 32);
    let names: Vec<_> =
        report["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["node-quiet", "message-quiet", "cyclictest-quiet", "node-load", "message-load", "cyclictest-load"]
    );
    for phase in report["phases"].as_array().unwrap() {
        let reason = phase["reason"].as_str();
        assert_eq!(phase["measured"].as_bool().unwrap(), reason.is_none(), "measured or a reason: {phase}");
        assert!(!phase["measured"].as_bool().unwrap() || phase["max_ns"].as_u64().unwrap() > 0, "{phase}");
    }
    let message = phase(&report, "message-quiet");
    let starved = message["reason"].as_str().is_some_and(|reason| reason.starts_with("not one round trip"));
    let two_cpus = std::thread::available_parallelism().unwrap().get() > 1;
    assert!(message["measured"] == two_cpus || starved, "{message}");
    let node = phase(&report, "node-quiet");
    assert_eq!(node["samples"], 810, "27 % of 3 s at 1 kHz, skipped releases included");
    let counted: u64 = node["histogram"].as_array().unwrap().iter().map(|class| class[1].as_u64().unwrap()).sum();
    assert_eq!(counted, 810, "every release is in the histogram");
    assert_eq!(report["audit"]["rules"][0]["status"], "PASS");
    let nodes = [node, phase(&report, "node-load")]; // without a load program the second is not measured
    for phase in nodes.into_iter().filter(|phase| phase["measured"] == true) {
        let of = |histogram: &str| -> u64 {
            phase[histogram].as_array().unwrap().iter().map(|class| class[1].as_u64().unwrap()).sum()
        };
        assert_eq!(of("jitter_histogram"), phase["release_jitter_samples"].as_u64().unwrap());
        let rows = phase["intervals"]["rows"].as_array().unwrap();
        assert_eq!(rows.iter().map(|row| row["misses"].as_u64().unwrap()).sum::<u64>(), phase["misses"]);
        assert_eq!(rows.iter().filter_map(|row| row["response_ns"].as_u64()).max(), phase["max_ns"].as_u64());
        assert!(phase["max_misses_in_100"].as_u64().unwrap() <= phase["misses"].as_u64().unwrap());
    }
    let identity = &report["identity"];
    assert_eq!(identity["rules_hash"].as_str().unwrap().len(), 64);
    assert!(!identity["build_id"].as_str().unwrap().is_empty() && identity["configuration"]["period_ns"] == 1_000_000);
    assert!(report["is_traced"].is_boolean() || report["is_traced"].is_null());
    let [boot, run] = ["boot_id", "run_id"].map(|key| report[key].as_str().unwrap());
    assert_eq!(run.len(), 32);
    let own = scene.path("reports").join(format!("00000001-{boot}-{run}.json"));
    assert_eq!(std::fs::read(own).unwrap(), std::fs::read(scene.path("reports/latest.json")).unwrap());
    let shown = Command::new(env!("CARGO_BIN_EXE_horus"))
        .arg("report")
        .arg(scene.path("reports/latest.json"))
        .output()
        .unwrap();
    let screen = text(&output.stdout);
    assert_eq!(screen.lines().next(), text(&shown.stdout).lines().next());
    assert!(screen.contains("node-quiet") && screen.contains("P(miss) <"), "{screen}");

    // A second run replaces nothing, and both are told of together. A third one is killed, which must not be forgotten.
    scene.run(&["--duration", "2s"]);
    let mut killed = scene.command(&["--duration", "60s"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = || files(&scene.path("reports")).iter().any(|name| name.ends_with(".started"));
    let deadline = Instant::now() + Duration::from_secs(20);
    while !started() && Instant::now() < deadline {
        wait_a_little();
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let is_run = |name: &String| name.starts_with("0000000") && !name.ends_with(".part");
    assert!(started(), "{:?}", files(&scene.path("reports")));
    let mut shown = Command::new(env!("CARGO_BIN_EXE_horus"));
    let screen = text(&shown.arg("report").arg("--from").arg(scene.path("reports")).output().unwrap().stdout);
    assert!(screen.contains(" besides    1 run(s) began and left no report"), "{screen}");
    assert_eq!(files(&scene.path("reports")).iter().filter(|name| is_run(name)).count(), 3);
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_run_that_may_do_nothing_says_what_it_was_not_granted() {
    if !rustix::process::geteuid().is_root() {
        return; // every run of this file is then one without rights
    }
    let scene = Scene::new();
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::create_dir(scene.path("reports")).unwrap();
    for name in ["", "reports", "topics"] {
        std::fs::set_permissions(scene.path(name), everybody.clone()).unwrap();
    }
    // The program has to be where an ordinary user can start it.
    let program = scene.path("horus");
    std::fs::copy(env!("CARGO_BIN_EXE_horus"), &program).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "prlimit"])
        .args(["--memlock=65536:65536", "--rtprio=0:0"])
        .arg(&program)
        .args(["determinism", "--duration", "2s"])
        .args(["--output".into(), scene.path("reports"), "--lock".into(), scene.path("lock")])
        .args(["--rules".into(), scene.path("rules"), "--release-jitter".into(), scene.path("release-jitter")])
        .env("HORUS_SHM_DIR", scene.path("own-topics"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = scene.report();
    assert_eq!(report["valid"], false);
    assert_eq!(report["verdict"], "none");
    let reasons = report["invalid_reasons"].to_string();
    for named in ["SCHED_FIFO priority 80", "all memory locked"] {
        assert!(reasons.contains(&format!("not granted: {named}")), "{named}: {reasons}");
    }
    assert_eq!(phase(&report, "node-quiet")["policy"], "OTHER");
}

#[test]
fn a_blind_meter_makes_the_run_invalid() {
    // On a busy machine a stall of its own may hit the very cycle in which the meter looks for one: then the test found
    // what was there, and is made again. Five such chances in a row would be no chance.
    let run = || {
        let scene = Scene::new();
        let output = scene.run(&["--duration", "2s", "--inject-stall", "1ns"]);
        (output, scene.report())
    };
    let mut runs = std::iter::repeat_with(run).take(5);
    let found_out = |(_, report): &(_, Value)| report["self_test"]["passed"] == false;
    let (output, report) = runs.find(found_out).expect("in five runs the meter was never found blind");
    assert_eq!((&report["valid"], &report["verdict"]), (&Value::Bool(false), &Value::from("none")));
    let screen = text(&output.stdout);
    assert!(screen.starts_with("HORUS NOT VALID") && screen.contains("self-test"), "{screen}");
}

#[test]
fn a_wrong_configuration_is_named_and_the_run_goes_on_with_built_in_values() {
    let scene = Scene::new();
    std::fs::write(scene.path("c.toml"), "priority = 50\nperiod = \"soon\"\n").unwrap();
    let config = scene.path("c.toml");
    let output = scene.run(&["--duration", "2s", "--config", config.to_str().unwrap()]);
    let report = scene.report();
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.contains("c.toml:2: ") && problem.contains("correct the line"), "{problem}");
    assert_eq!(phase(&report, "node-quiet")["period_ns"], 1_000_000);
    assert_eq!(report["valid"], false);
    assert!(text(&output.stdout).contains("c.toml:2: "));
}

#[test]
fn a_wrong_duration_in_the_environment_is_a_problem_and_not_the_end() {
    let scene = Scene::new();
    std::fs::write(scene.path("c.toml"), "duration = \"2s\"\n").unwrap();
    let mut command = scene.command(&["--config", scene.path("c.toml").to_str().unwrap()]);
    assert!(command.env("HORUS_DETERMINISM_DURATION", "10").output().unwrap().status.success());
    let report = scene.report();
    assert_eq!(report["duration_s"], 2.0);
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.contains("HORUS_DETERMINISM_DURATION: '10' is not a length of time"), "{problem}");
}

#[test]
fn a_load_that_cannot_start_leaves_its_phases_unmeasured_and_the_run_invalid() {
    let scene = Scene::new();
    let config = scene.path("c.toml");
    std::fs::write(&config, "load = [\"no-such-load\", \"{cpus}\"]\n").unwrap();
    scene.run(&["--duration", "2s", "--config", config.to_str().unwrap()]);
    let report = scene.report();
    assert_eq!(phase(&report, "node-quiet")["measured"], true);
    let reason = phase(&report, "node-load")["reason"].as_str().unwrap();
    assert!(reason.contains("no-such-load is not installed"), "{reason}");
    assert!(report["invalid_reasons"].to_string().contains("no-such-load"));
}

#[test]
fn a_second_run_at_once_is_refused_and_the_first_is_not_disturbed() {
    let scene = Scene::new();
    let mut first = scene.command(&["--duration", "3s"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = scene.path("lock");
    let end = Instant::now() + Duration::from_secs(10);
    while std::fs::read_to_string(&lock).is_ok_and(|holder| holder.is_empty()) || !lock.exists() {
        assert!(Instant::now() < end, "the first run never took its lock");
        std::thread::yield_now();
    }
    let second = scene.command(&["--duration", "2s"]).output().unwrap();
    assert_eq!(second.status.code(), Some(3), "{second:?}");
    let said = text(&second.stderr);
    assert!(said.contains(&format!("process {}", first.id())) && said.contains("systemctl stop"), "{said}");
    assert!(first.wait().unwrap().success());
    assert_eq!(scene.report()["duration_s"], 3.0);
}

#[test]
fn the_load_does_not_outlive_a_killed_run() {
    let scene = Scene::new();
    let config = scene.path("c.toml");
    let mark = format!("86{}", std::process::id());
    std::fs::write(&config, format!("load = [\"sh\", \"-c\", \"while :; do :; done\", \"{mark}\"]\n")).unwrap();
    let mut run = scene.command(&["--duration", "20s", "--config", config.to_str().unwrap()]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while !is_running(&mark) {
        assert!(Instant::now() < end, "the load never started");
        wait_a_little();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while is_running(&mark) {
        assert!(Instant::now() < end, "the load outlived the run");
        wait_a_little();
    }
}

fn wait_a_little() {
    let until = horus::time::MonotonicTime::now().plus(Duration::from_millis(20));
    horus::time::Clock::sleep_until(&horus::time::SystemClock, until);
}

#[test]
fn a_report_that_can_be_stored_nowhere_is_a_failure_and_is_still_shown() {
    let scene = Scene::new();
    ["reports", "ram"]
        .into_iter()
        .for_each(|name| std::fs::write(scene.path(name), "a file, and no directory").unwrap());
    let output = scene.command(&["--duration", "2s"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("cannot store the report"));
    assert!(text(&output.stdout).contains("node-quiet"));
    assert!(Path::new(&scene.path("reports")).is_file(), "nothing was overwritten");
}

/// Whether this user may mount a file system in a namespace of its own.
fn can_mount() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn a_full_disk_is_told_before_the_run_measures_and_the_report_is_in_ram() {
    if !can_mount() {
        eprintln!("skipped: this user may not mount a small file system");
        return;
    }
    let scene = Scene::new();
    std::fs::create_dir(scene.path("reports")).unwrap();
    let run = scene.command(&["--duration", "2s"]);
    let mount = "mount -t tmpfs -o size=64k none \"$0\" && ! cat /dev/zero > \"$0/full\" 2> /dev/null";
    let script = format!("{mount} && \"$@\"; status=$?; ls -A \"$0\"; exit $status");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]).arg(scene.path("reports"));
    command.arg(run.get_program()).args(run.get_args()).env("HORUS_SHM_DIR", scene.path("topics"));
    let output = command.env_remove("HORUS_DETERMINISM_DURATION").output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let said = text(&output.stderr);
    assert!(said.contains("No space left on device") && said.contains("journalctl --vacuum-size=64M"), "{said}");
    let screen = text(&output.stdout);
    assert!(screen.contains(" stored     this report is in RAM and gone after a restart: cannot store"), "{screen}");
    let end: Vec<_> = screen.lines().skip_while(|line| !line.starts_with(" file ")).collect();
    let path = PathBuf::from(end[0].strip_prefix(" file       ").unwrap());
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(path.starts_with(scene.path("ram")) && name.contains(&boot_id()), "{}", path.display());
    assert_eq!(end[1..], ["full"], "nothing is left on the full disk");
    let report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(phase(&report, "node-quiet")["measured"], true);
    assert!(report["stored_in_ram"].as_str().unwrap().contains("No space left"), "{}", report["stored_in_ram"]);
    assert!(!report["invalid_reasons"].to_string().contains("configuration problem"), "a full disk spoils no figure");
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().replace('-', "")
}

#[test]
fn a_witness_that_fails_is_named_with_its_own_words_and_one_that_works_needs_no_disk() {
    let scene = Scene::new();
    let programs = scene.path("programs");
    std::fs::create_dir(&programs).unwrap();
    let path = std::env::join_paths(
        [programs.clone()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let run = |script: &str| {
        let program = programs.join("cyclictest");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = scene.command(&["--duration", "2s"]).env("PATH", path.as_ref().unwrap()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        phase(&scene.report(), "cyclictest-quiet").clone()
    };
    let failed = run("echo 'FATAL: could not open the timer' >&2; exit 1");
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("(FATAL: could not open the timer)") && !reason.contains("EOF"), "{reason}");

    let silent = run("exit 0");
    assert_eq!(silent["reason"], "cyclictest wrote no result");

    let result = r#"{"thread": {"0": {"histogram": {"9": 1000}, "cycles": 1000, "max": 9, "cpu": 0}}}"#;
    let named = "for word; do case $word in --json=*) file=${word#--json=} ;; esac; done";
    let measured = run(&format!("{named}\ncase $file in /proc/self/fd/*) echo '{result}' > \"$file\" ;; esac"));
    assert_eq!((&measured["measured"], &measured["max_ns"]), (&Value::Bool(true), &Value::from(9_000)), "{measured}");
}
