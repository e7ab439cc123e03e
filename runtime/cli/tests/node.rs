//! `horus node` and `horus top` beside real programs, and `horus node check` of programs that say what a test wants them to.
//!
//! Nothing here asserts how fast anything is.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use horus::prelude::*;
use horus::topic::Directory;
use serde_json::Value;

/// How long a program may take to do what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

fn horus(topics: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(arguments).env("HORUS_SHM_DIR", topics).env_remove("HORUS_NAMESPACE").stdin(Stdio::null());
    command.env(horus::journal::VARIABLE, horus::journal::PRINT); // also on a machine that has a journal
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the command prints when it succeeds.
fn said(topics: &Path, arguments: &[&str]) -> String {
    let output = horus(topics, arguments);
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

fn json(topics: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&said(topics, &[arguments, &["--json"]].concat())).unwrap()
}

/// A program of `runtime/nodes`, in the folder above that of this test.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let above = test.parent().and_then(Path::parent).unwrap();
    let path = [above.join(name), above.join("nodes").join(name)].into_iter().find(|path| path.is_file());
    path.unwrap_or_else(|| panic!("no {name} in {}: `cargo build --package horus-nodes` builds it", above.display()))
}

/// A program that a failing test does not leave behind.
struct Running(Child);

impl Running {
    fn start(name: &str, topics: &Path) -> Self {
        let mut command = Command::new(built(name));
        command.env("HORUS_SHM_DIR", topics).env_remove("HORUS_NAMESPACE").env_remove("HORUS_NODE_FILE");
        command.env_remove("NOTIFY_SOCKET").current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ping_and_pong_are_seen_by_every_command_while_they_live_and_by_none_after() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path().join("topics");
    assert!(said(&topics, &["node", "list"]).starts_with("no living program runs nodes on the topics of "));
    assert!(!topics.exists(), "looking makes no directory");
    let (ping, pong) = (Running::start("ping", &topics), Running::start("pong", &topics));
    let started = Instant::now();
    let has_run = |list: &Value| {
        let nodes = list["nodes"].as_array().unwrap();
        nodes.len() == 2 && nodes.iter().all(|node| node["figures"]["cycles"].as_u64().unwrap() > 20)
    };
    let list = loop {
        let list = json(&topics, &["node", "list"]);
        if has_run(&list) {
            break list;
        }
        assert!(started.elapsed() < PATIENCE, "{list}");
    };
    assert_eq!(list["schema"], "horus-nodes/1");
    let node = &list["nodes"][0];
    assert_eq!((&node["program"], &node["process"]), (&"ping".into(), &ping.0.id().into()));
    let asked = &node["asked"];
    assert_eq!((&asked["name"], &asked["period_ns"]), (&"ping".into(), &10_000_000.into()));
    assert_eq!((&asked["inputs"][0], &asked["outputs"][0]["topic"]), (&"pong".into(), &"ping".into()));
    let figures = &node["figures"];
    assert_eq!(figures["state"], "running");
    assert_eq!(
        figures["releases"].as_u64().unwrap(),
        figures["cycles"].as_u64().unwrap() + figures["skipped"].as_u64().unwrap()
    );

    let screen = said(&topics, &["node", "list"]);
    let line = screen.lines().find(|line| line.starts_with("pong/pong ")).unwrap();
    assert!(line.contains("OTHER") && line.contains("10 ms") && line.ends_with("running"), "{screen}");
    assert!(screen.contains("2 nodes of 2 programs in "), "{screen}");
    for name in ["ping", "ping/ping"] {
        let info = said(&topics, &["node", "info", name]);
        for part in ["ping/ping\n", "every 10 ms, deadline 8 ms, cpu = any", "reads       pong", "writes      ping"] {
            assert!(info.contains(part), "{info}");
        }
    }
    assert_eq!(json(&topics, &["node", "info", "pong"])["nodes"][0]["program"], "pong");
    let output = horus(&topics, &["node", "info", "ping/pong"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(text(&output.stderr).contains("see `horus node list`"), "{output:?}");

    let top = json(&topics, &["top", "--interval", "0.1"]);
    assert_eq!((&top["schema"], top["nodes"].as_array().unwrap().len()), (&"horus-top/1".into(), 2));
    let topic = top["topics"].as_array().unwrap().iter().find(|topic| topic["name"] == "ping").unwrap();
    assert_eq!(
        (&topic["type"], &topic["publishers"], &topic["subscribers"]),
        (&"horus/Stamp".into(), &1.into(), &1.into())
    );
    assert_eq!(topic["slowest"]["program"], "pong", "by the name that its figures have");
    assert!(topic["rate"].as_f64().is_some() && top["misses"]["releases"].as_u64() > Some(40));
    let screen = said(&topics, &["top", "--once", "--interval", "100ms"]);
    for start in ["NODE ", "ping/ping ", "pong/pong ", "TOPIC ", "ping ", "pong "] {
        assert!(screen.lines().any(|line| line.starts_with(start)), "{screen}");
    }

    drop((ping, pong));
    assert_eq!(json(&topics, &["node", "list"])["nodes"], serde_json::json!([]));
    let lab = json(&topics, &["node", "list", "--namespace", "lab"]);
    assert!(lab["directory"].as_str().unwrap().ends_with("/lab"), "{lab}");
}

#[test]
fn the_live_page_wants_a_terminal_and_an_interval_that_makes_sense() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = horus(scratch.path(), &["top"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("use --once or --json"), "{output:?}");
    for wrong in ["0", "0.01", "-1", "1h", "inf"] {
        let output = horus(scratch.path(), &["top", "--once", &format!("--interval={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

/// A machine with two isolated CPUs, and a folder with a program that describes itself as a test wants it.
struct Scene {
    scratch: tempfile::TempDir,
}

const NODE_FILE: &str = "program = \"balance\"\n";

impl Scene {
    fn new(jitters: &str) -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let scene = Self { scratch };
        for (name, content) in [
            ("root/sys/devices/system/cpu/online", "0-3\n"),
            ("root/sys/devices/system/cpu/isolated", "2-3\n"),
            ("root/run/horus/release-jitter", jitters),
            ("node.toml", NODE_FILE),
        ] {
            std::fs::create_dir_all(scene.path(name).parent().unwrap()).unwrap();
            std::fs::write(scene.path(name), content).unwrap();
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Writes a program. Another process does: what this one has open for writing, a child of another test may have too, and
    /// then no process can start it.
    fn program(&self, name: &str, script: &str) {
        let write = "printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let written = Command::new("sh").args(["-c", write, "sh", script]).arg(self.path(name)).status().unwrap();
        assert!(written.success());
    }

    fn describes(&self, nodes: &[Value]) {
        let info = serde_json::json!({"name": "balance", "nodes": nodes});
        self.program("balance", &format!("[ \"$1\" = --describe ] && cat <<'END'\n{info}\nEND"));
    }

    fn check(&self, arguments: &[&str]) -> Output {
        let (file, root) = (self.path("node.toml"), self.path("root"));
        let fixed = ["node", "check", file.to_str().unwrap(), "--root", root.to_str().unwrap()];
        horus(&self.path("topics"), &[&fixed, arguments].concat())
    }

    /// Checks; the exit status and what is said to both streams.
    fn screen(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.check(arguments);
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    }
}

fn node(name: &str, policy: &str, thread: u32, times: [u64; 3]) -> Value {
    let [period, budget, deadline] = times.map(|micros| micros * 1_000);
    serde_json::json!({"name": name, "cpu": "3", "scheduling_policy": policy, "thread": thread, "period_ns": period,
        "budget_ns": budget, "deadline_ns": deadline, "inputs": [], "outputs": []})
}

fn control() -> Value {
    node("control", "fifo:80", 0, [1_000, 150, 800])
}

fn vision() -> Value {
    node("vision", "fifo:85", 1, [10_000, 643, 10_000])
}

#[test]
fn a_graph_that_does_not_fit_is_refused_on_the_screen_of_the_documentation() {
    let scene = Scene::new("3 120000 2026-11-22\n");
    scene.describes(&[control(), vision()]);
    let expected = "\
refused: control may take 913 us after its release, its deadline is 800 us
  150 us its own budget
  120 us release jitter of CPU 3 (report of 2026-11-22)
  643 us vision (fifo:85, budget 643 us every 10 ms) runs before it on CPU 3
  try: move vision to CPU 2, or give control a priority above 85
";
    assert_eq!(scene.screen(&[]), (Some(1), expected.to_owned()));
    let output = scene.check(&["--json"]);
    let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &checked["admitted"], &checked["program"]),
        (Some(1), &false.into(), &"balance".into())
    );
    let node = &checked["nodes"][0];
    assert_eq!((&node["verdict"], &node["worst_response_ns"]), (&"refused".into(), &913_000.into()));
    assert_eq!(node["remedies"][0], "move vision to CPU 2");
    assert_eq!(checked["nodes"][1]["verdict"], "admitted");
}

#[test]
fn a_graph_that_fits_is_admitted_and_what_is_not_known_is_said() {
    let scene = Scene::new("3 62000 2026-11-22\n");
    scene.describes(&[control()]);
    let expected =
        "admitted: control R = 212 us <= D = 800 us on CPU 3 (budget declared, jitter of the report of 2026-11-22)\n";
    assert_eq!(scene.screen(&[]), (Some(0), expected.to_owned()));
    let scene = Scene::new("");
    scene.describes(&[control(), node("log", "other", 1, [1_000, 0, 1_000])]);
    let (status, screen) = scene.screen(&[]);
    assert_eq!(status, Some(2), "a node was not analysed");
    assert!(
        screen.contains("control R = 150 us") && screen.contains("not analysed: log: scheduling policy other\n"),
        "{screen}"
    );
    assert!(screen.ends_with("no determinism report of this boot: release jitter is taken as 0\n"), "{screen}");
}

#[test]
fn the_program_hears_which_file_has_its_settings_and_may_be_elsewhere() {
    let scene = Scene::new("");
    let info = serde_json::json!({"name": "balance", "nodes": [control()]});
    let script = "[ \"$HORUS_NODE_FILE\" = \"${0%/*}/node.toml\" ] || { echo \"it is $HORUS_NODE_FILE\" >&2; exit 3; }";
    scene.program("elsewhere", &format!("{script}\necho '{info}'"));
    let (status, screen) = scene.screen(&[]);
    assert_eq!(status, Some(2));
    assert!(screen.contains("/balance: put it there, or give --program PATH"), "{screen}");
    let (status, screen) = scene.screen(&["--program", scene.path("elsewhere").to_str().unwrap()]);
    assert_eq!(status, Some(0), "{screen}");
}

#[test]
fn what_cannot_be_checked_says_why_and_has_a_status_of_its_own() {
    let scene = Scene::new("");
    for (script, words) in [
        (
            "echo 'topic imu carries Imu of 304 bytes' >&2; exit 1",
            "exit status: 1 (topic imu carries Imu of 304 bytes)",
        ),
        ("echo hello", "does not describe nodes"),
        ("echo hello", "'hello'"),
        ("true", "it printed nothing"),
        ("echo '{\"name\": \"balance\", \"nodes\": []}'", "names no node"),
        ("sleep 600", "did not end within"),
        ("yes", "--describe: exit status"),
    ] {
        scene.program("balance", script);
        let (status, screen) = scene.screen(&["--time-limit", "300ms"]);
        // A machine that cannot start a shell in this time says so, and that is another failure than the one meant.
        let is_slow = screen.contains("did not end within");
        assert!(status == Some(2) && (screen.contains(words) || is_slow), "{script}: {screen}");
    }
    scene.describes(&[
        serde_json::json!({"name": "control", "cpu": "third", "scheduling_policy": "fifo:80", "thread": 0, "period_ns": 1,
        "deadline_ns": 1, "inputs": [], "outputs": []}),
    ]);
    let (status, screen) = scene.screen(&[]);
    assert!(status == Some(2) && screen.contains("node control: 'third' is not a CPU"), "{screen}");
    for (file, words) in
        [("[node.control]\n", "add the line program"), ("program = ", "node.toml: TOML parse error at line 1")]
    {
        std::fs::write(scene.path("node.toml"), file).unwrap();
        let (status, screen) = scene.screen(&[]);
        assert!(status == Some(2) && screen.contains(words), "{screen}");
    }
    std::fs::remove_file(scene.path("node.toml")).unwrap();
    let (status, screen) = scene.screen(&[]);
    assert!(status == Some(2) && screen.contains("cannot read"), "{screen}");
}

#[test]
fn what_a_program_says_of_itself_moves_no_cursor() {
    let scene = Scene::new("");
    let mut evil = control();
    evil["name"] = "\u{1b}[2Jcontrol".into();
    scene.describes(&[evil]);
    let (_, screen) = scene.screen(&[]);
    assert!(screen.contains("[2Jcontrol") && !screen.contains('\u{1b}'), "{screen:?}");
}

#[test]
fn real_programs_are_checked_beside_those_that_run() {
    let scene = Scene::new("");
    let _pong = Running::start("pong", &scene.path("topics"));
    let started = Instant::now();
    while json(&scene.path("topics"), &["node", "list"])["nodes"] == serde_json::json!([]) {
        assert!(started.elapsed() < PATIENCE);
    }
    let settings =
        "program = \"ping\"\n[node.ping]\ncpu = \"isolated\"\nscheduling_policy = \"fifo:80\"\nbudget = \"1 ms\"\n";
    std::fs::write(scene.path("node.toml"), settings).unwrap();
    let ping = built("ping");
    let (status, screen) = scene.screen(&["--program", ping.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.starts_with("admitted: ping R = 1 ms <= D = 8 ms on CPU 2 (budget declared"), "{screen}");
    let (status, screen) = scene.screen(&["--program", ping.to_str().unwrap(), "--with-running"]);
    assert_eq!(status, Some(0), "{screen}");
    assert!(screen.starts_with("admitted: ping/ping R = 1 ms"), "{screen}");
    assert!(screen.contains("not analysed: pong/pong: scheduling policy other"), "{screen}");
}

/// A program of one node in a directory, which has figures and does not run.
fn imitation(topics: &Path, node: Value) -> horus::figures::imitation::Imitation {
    let info = serde_json::from_value(serde_json::json!({"name": "balance", "nodes": [node]})).unwrap();
    horus::figures::imitation::Imitation::begin(&Directory::at(topics).unwrap(), &info).unwrap()
}

#[test]
fn nodes_of_all_namespaces_are_counted_because_their_cpus_are_the_same() {
    let scene = Scene::new("3 120000 2026-11-22\n");
    scene.describes(&[control()]);
    let topics = scene.path("topics");
    Directory::at(&topics).unwrap();
    assert_eq!(scene.screen(&["--with-running"]).0, Some(0));
    // A simulation of the same program, beside the robot.
    let there = imitation(&topics.join("lab"), vision());
    let (status, screen) = scene.screen(&["--with-running"]);
    assert_eq!(status, Some(1), "{screen}");
    assert!(screen.starts_with("refused: balance/control may take 913 us"), "{screen}");
    assert!(
        screen.contains("643 us lab:balance/vision (fifo:85, budget 643 us every 10 ms) runs before it"),
        "{screen}"
    );
    assert_eq!(scene.screen(&[]).0, Some(0), "alone it fits");

    // Of this one, which is to be replaced, nothing is counted.
    let _here = imitation(&topics, vision());
    drop(there);
    assert_eq!(scene.screen(&["--with-running"]).0, Some(0));

    std::fs::create_dir(topics.join("open")).unwrap();
    std::fs::set_permissions(topics.join("open"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let (status, screen) = scene.screen(&["--with-running"]);
    assert!(
        status == Some(0) && screen.contains("not counted: nodes of the namespaces open, which may run on"),
        "{screen}"
    );
}

#[test]
fn a_program_that_does_not_fit_beside_one_of_another_namespace_does_not_start_and_the_list_shows_both() {
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    let on_cpu_0 = |name: &str, budget: u64| {
        let mut info = node(name, "fifo:90", 0, [1_000, budget, 1_000]);
        info["cpu"] = "0".into();
        info
    };
    let _there = imitation(&topics.path().join("lab"), on_cpu_0("vision", 900));
    let start = || {
        let _here = horus_shm::directory::Scope::enter(topics.path());
        let mut app = App::new("robot").unwrap();
        app.node("arm", |_: &Cycle| panic!("it runs"))
            .period(ms(1))
            .budget(us(200))
            .cpu(CpuChoice::Number(0))
            .scheduling_policy("fifo:80".parse().unwrap());
        app.run().unwrap_err().to_string()
    };
    let refused = start();
    assert!(refused.contains("refused: robot/arm") && refused.contains("900 us lab:balance/vision"), "{refused}");

    let _here = imitation(topics.path(), on_cpu_0("control", 100));
    let screen = said(topics.path(), &["node", "list"]);
    assert!(
        screen.contains("on the same CPUs, in other namespaces:\n  lab:balance/vision (cpu = 0, FIFO/90)\n"),
        "{screen}"
    );
    let list = json(topics.path(), &["node", "list"]);
    assert_eq!((list["nodes"].as_array().unwrap().len(), &list["nodes"][0]["asked"]["name"]), (1, &"control".into()));
    let other = &list["elsewhere"][0];
    assert_eq!((&other["namespace"], &other["shares_cpu"]), (&"lab".into(), &true.into()));
    assert_eq!(other["node"]["asked"]["name"], "vision");
}

/// A motor whose step is late in cycle 5, and which is in its safe state after that. It ends when the flag is set.
fn run_motor(topics: &Path, ends: &Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let (topics, ends) = (topics.to_owned(), Arc::clone(ends));
    std::thread::spawn(move || {
        let _here = horus_shm::directory::Scope::enter(&topics);
        let mut app = App::new("motor").unwrap();
        let motor = Motor { cmd: app.output("motor.cmd").unwrap(), ends };
        app.node("wheel", motor).period(ms(50)).on_miss(SafeState::after(1));
        assert!(app.run().unwrap_err().to_string().contains("that is all"));
    })
}

struct Motor {
    cmd: horus::port::Output<CmdVel>,
    ends: Arc<AtomicBool>,
}

impl Node for Motor {
    fn step(&mut self, cycle: &Cycle) {
        self.cmd.set(CmdVel { forward: 1.0, turn: 0.0 });
        if cycle.number == 5 {
            horus::time::sleep(ms(120));
        }
        assert!(!self.ends.load(Ordering::Relaxed), "that is all");
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.cmd.set(CmdVel::STOP);
        assert!(!self.ends.load(Ordering::Relaxed), "that is all");
    }
}

#[test]
fn a_node_in_its_safe_state_is_armed_by_a_command_with_a_reason() {
    let topics = tempfile::tempdir_in("/dev/shm").unwrap();
    let ends = Arc::new(AtomicBool::new(false));
    let motor = run_motor(topics.path(), &ends);
    let started = Instant::now();
    let state = || json(topics.path(), &["node", "list"])["nodes"][0]["figures"]["state"].clone();
    while state() != "safe state" {
        assert!(started.elapsed() < PATIENCE && !motor.is_finished());
        std::thread::yield_now();
    }
    let list = json(topics.path(), &["node", "list"]);
    assert_eq!(list["is_watched"], false);
    for screen in
        [said(topics.path(), &["node", "list"]), said(topics.path(), &["top", "--once", "--interval", "100ms"])]
    {
        assert!(screen.contains("no monitor runs: no process publishes what is safe for motor/wheel when"), "{screen}");
    }
    let mut monitor = horus::monitor::Monitor::new(Directory::at(topics.path()).unwrap());
    monitor.look(MonotonicTime::now()).unwrap();
    assert!(!said(topics.path(), &["node", "list"]).contains("no monitor"));
    drop(monitor);

    let rearm = |name: &str, reason: &str| horus(topics.path(), &["node", "rearm", name, "--reason", reason]);
    for (name, reason, words) in [
        ("arm/wheel", "checked", "no living program is named arm"),
        ("motor/arm", "checked", "there is motor/wheel"),
        ("motor", "", "write a line"),
    ] {
        let output = rearm(name, reason);
        assert!(!output.status.success() && text(&output.stderr).contains(words), "{output:?}");
    }
    let output = rearm("motor", "gearbox checked");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "motor/wheel runs its steps again\n");
    assert!(text(&output.stderr).contains("armed again by user") && text(&output.stderr).contains(": gearbox checked"));
    ends.store(true, Ordering::Relaxed);
    motor.join().unwrap();
}

#[test]
fn a_circle_of_calls_is_told_by_the_check_and_refused_where_a_node_of_it_is_real_time() {
    let scene = Scene::new("");
    let asks = |name: &str, policy: &str, other: &str| {
        let mut node = node(name, policy, 0, [10_000, 100, 10_000]);
        (node["asks"], node["serves"]) = (serde_json::json!([other]), serde_json::json!([name]));
        node
    };
    scene.describes(&[asks("plan", "other", "map"), asks("map", "other", "plan")]);
    let (status, screen) = scene.screen(&[]);
    assert!(
        status == Some(2) && screen.contains("no bound: plan asks map (map), map asks plan (plan): a circle, so an"),
        "{status:?} {screen}"
    );
    scene.describes(&[asks("plan", "other", "map"), asks("map", "fifo:80", "plan")]);
    let (status, screen) = scene.screen(&[]);
    let told =
        "refused: map asks plan (plan), plan asks map (map): a circle with a real-time node (map, fifo:80), so an";
    assert!(status == Some(1) && screen.contains(told), "{status:?} {screen}");
    let checked: Value = serde_json::from_slice(&scene.check(&["--json"]).stdout).unwrap();
    assert_eq!((&checked["admitted"], &checked["circles"][0]["refused"]), (&false.into(), &true.into()), "{checked}");
    assert_eq!(
        checked["circles"][0]["calls"],
        serde_json::json!([{"node": "map", "service": "plan"}, {"node": "plan", "service": "map"}])
    );
    let topics = scene.path("topics");
    let _lives = imitation(&topics, asks("plan", "other", "map"));
    let told = said(&topics, &["node", "info", "balance/plan"]);
    assert!(told.contains("serves      plan\n") && told.contains("asks        map\n"), "{told}");
}
