//! All programs as one graph: admitted before they start, apart in namespaces, together by renamed topics, and drawn.

use crate::running::{PING_AND_PONG, Scene, is_gone, pause_until};

/// A program that describes itself so; when it is run for real, it leaves the file `started`.
fn described(scene: &Scene, name: &str, nodes: &str) {
    let info = format!("{{\"name\": \"{name}\", \"nodes\": [{nodes}]}}");
    let text = format!("# HORUS_NODE_FILE\nif [ \"$1\" = --describe ]; then echo '{info}'; exit; fi\ntouch started\n");
    scene.script(&format!("{name}.sh"), &text);
}

/// A node of CPU 1 with a budget of so many microseconds a millisecond.
fn node(name: &str, budget: u32) -> String {
    format!(
        "{{\"name\": \"{name}\", \"period_ns\": 1000000, \"deadline_ns\": 1000000, \"budget_ns\": {budget}000, \"cpu\": \"1\", \
         \"scheduling_policy\": \"fifo:80\", \"thread\": 0, \"inputs\": [], \"outputs\": []}}"
    )
}

/// A machine with two CPUs, of which one is isolated.
fn machine(scene: &Scene) -> String {
    let cpus = scene.path("machine/sys/devices/system/cpu");
    std::fs::create_dir_all(&cpus).unwrap();
    for (file, text) in [("isolated", "1"), ("online", "0-1"), ("possible", "0-1"), ("present", "0-1")] {
        std::fs::write(cpus.join(file), format!("{text}\n")).unwrap();
    }
    format!("--root={}", scene.path("machine").display())
}

const TWO: &str = "[programs.a]\nrun = \"a.sh\"\nready = \"start\"\n[programs.b]\nrun = \"b.sh\"\nready = \"start\"\n";

#[test]
fn all_programs_are_admitted_together_before_one_starts() {
    let scene = Scene::new(TWO);
    described(&scene, "a", &node("drive", 300));
    described(&scene, "b", &format!("{},{}", node("lift", 200), node("blink", 1).replace("fifo:80", "other")));
    let mut check = scene.start(&[&machine(&scene), "--check"]);
    check.waits_for("3 nodes of 2 programs admitted: ");
    assert_eq!((check.status(), scene.path("started").exists()), (0, false));
    let mut robot = scene.start(&[&machine(&scene)]);
    robot.waits_for("3 nodes of 2 programs admitted: the fullest CPU is 1 with 50 %; 1 node without a promise");
    assert_eq!(robot.status(), 0);
    assert!(scene.path("started").exists());
}

#[test]
fn programs_that_fit_alone_and_not_together_are_refused_and_none_is_started() {
    let scene = Scene::new(TWO);
    described(&scene, "a", &node("drive", 600));
    described(&scene, "b", &node("lift", 600));
    let refused = scene.refused(&[&machine(&scene)]);
    assert!(refused.contains("refused: a/drive may take ") && refused.contains("b/lift"), "{refused}");
    assert!(!scene.path("started").exists());
}

#[test]
fn a_circle_of_calls_through_two_programs_is_told_before_one_starts_and_a_namespace_breaks_it() {
    let asks = |name: &str, serves: &str, asks: &str, policy: &str| {
        let services = format!("\"asks\": [\"{asks}\"], \"serves\": [\"{serves}\"]}}");
        node(name, 100).replace("fifo:80", policy).trim_end_matches('}').to_owned() + ", " + &services
    };
    let scene = |file: &str, policy: &str| {
        let scene = Scene::new(file);
        described(&scene, "a", &asks("drive", "plan", "map", policy));
        described(&scene, "b", &asks("map", "map", "plan", policy));
        scene
    };
    let real_time = scene(TWO, "fifo:80");
    let refused = real_time.refused(&[&machine(&real_time)]);
    let told = "refused: a/drive asks b/map (map), b/map asks a/drive (plan): a circle with a real-time node (a/drive, fifo:80)";
    assert!(refused.contains(told), "{refused}");
    assert!(!real_time.path("started").exists());
    let apart = scene(&format!("{TWO}namespace = \"lab\"\n"), "fifo:80");
    let mut check = apart.start(&[&machine(&apart), "--check"]);
    check.waits_for("2 nodes of 2 programs admitted: ");
    assert_eq!(check.status(), 0);
    let fair = scene(TWO, "other");
    let mut check = fair.start(&[&machine(&fair), "--check"]);
    check.waits_for("no bound: a/drive asks b/map (map), b/map asks a/drive (plan): a circle");
    assert_eq!(check.status(), 0);
}

#[test]
fn one_program_twice_on_the_same_topics_is_refused_and_in_two_namespaces_it_is_not() {
    let file =
        "[programs.left]\nrun = \"a.sh\"\nready = \"start\"\n[programs.right]\nrun = \"a.sh\"\nready = \"start\"\n";
    let scene = Scene::new(file);
    described(&scene, "a", &node("drive", 100));
    let refused = scene.refused(&[]);
    assert!(
        refused.contains("left and right are both the program `a` on the same topics: give one of them"),
        "{refused}"
    );
    assert!(!scene.path("started").exists());
    let scene = Scene::new(&format!("{file}namespace = \"right\"\n"));
    described(&scene, "a", &node("drive", 100));
    let mut robot = scene.start(&[&machine(&scene)]);
    robot.waits_for("2 nodes of 2 programs admitted: the fullest CPU is 1 with 20 %");
    assert_eq!(robot.status(), 0);
}

#[test]
fn a_program_that_runs_already_is_told_before_one_starts() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("2 nodes of 2 programs: none asks for a scheduling policy, a budget and one CPU");
    robot.waits_for("ping  ready after ");
    let refused = scene.refused(&[]);
    assert!(refused.contains("ping runs already: the program `ping` is on the topics of /dev/shm/"), "{refused}");
    robot.ends_by(rustix::process::Signal::INT);
}

#[test]
fn a_program_that_cannot_describe_itself_is_told_and_started() {
    let scene = Scene::new("[programs.vision]\nrun = \"vision.py\"\n");
    scene.script("vision.py", "# horus.App(\nimport no_such_module\n");
    let mut robot = scene.start(&[]);
    robot.waits_for("vision is not counted: ");
    robot.waits_for("vision  ended: ModuleNotFoundError: No module named 'no_such_module'");
    assert_eq!(robot.status(), 1);
}

#[test]
fn ctrl_c_is_heard_while_programs_are_asked_what_their_nodes_are() {
    // They are asked eight at a time.
    let file: String = (0..17).map(|i| format!("[programs.slow{i}]\nrun = \"slow.sh\"\n")).collect();
    let scene = Scene::new(&file);
    scene.script("slow.sh", "# HORUS_NODE_FILE\necho $$ >> asked\nexec sleep 60\n");
    for arguments in [&[][..], &["--virtual"]] {
        let _ = std::fs::remove_file(scene.path("asked"));
        let mut robot = scene.start(arguments);
        pause_until("one is asked", || scene.path("asked").exists());
        robot.signal(rustix::process::Signal::INT);
        assert_eq!(robot.status(), 2);
        let asked = std::fs::read_to_string(scene.path("asked")).unwrap();
        let asked: Vec<u32> = asked.lines().map(|number| number.parse().unwrap()).collect();
        assert!(asked.len() <= 8, "{} were asked, more than at a time", asked.len());
        assert!(asked.iter().all(|process| is_gone(*process)), "{asked:?}");
    }
}

#[test]
fn a_renamed_topic_is_the_same_for_both_ends_and_a_namespace_keeps_them_apart() {
    let rename = "rename = { ping = \"wheels.ping\" }\nnamespace = \"lab\"\n";
    let file = PING_AND_PONG.replace("run = ", &format!("{rename}run = "));
    let scene = Scene::new(&file);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let topics = || scene.said(&["topic", "list", "--json", "--namespace", "lab"]);
    let topics = || serde_json::from_str::<serde_json::Value>(&topics()).unwrap()["topics"].as_array().unwrap().clone();
    let sent =
        |name: &str| topics().iter().find(|topic| topic["name"] == name).and_then(|topic| topic["sent"].as_u64());
    // Each answer is one to a message on the renamed topic.
    pause_until("pong answers", || sent("pong") > Some(3));
    assert!(sent("wheels.ping") > Some(3) && sent("ping").is_none(), "{:?}", topics());
    let info = scene.said(&["node", "info", "pong", "--namespace", "lab"]);
    assert!(info.contains("reads       wheels.ping"), "{info}");
    robot.ends_by(rustix::process::Signal::INT);
}

#[test]
fn the_graph_of_what_runs_has_both_ends_of_each_topic() {
    let scene = Scene::new(PING_AND_PONG);
    let mut robot = scene.start(&[]);
    robot.waits_for("ping  ready after ");
    let topic = |mermaid: &str| {
        let mut lines = mermaid.lines().filter(|line| line.starts_with("  t0([\"ping<br/>horus/Stamp<br/>"));
        lines.next().unwrap().to_owned()
    };
    // A publisher that is held up for the whole interval has a rate of 0.
    let mut drawn = std::iter::repeat_with(|| scene.said(&["node", "graph", "--interval", "200ms"])).take(200);
    let mermaid = drawn.find(|mermaid| !topic(mermaid).contains(">0 /s")).expect("ping sends messages");
    for line in [
        "flowchart LR",
        "  subgraph g0[\"ping\"]",
        "    n0[\"ping<br/>every 10 ms, deadline 8 ms<br/>longest ",
        "  n0 --> t0",
        "  t0 --> n1",
        "  n1 --> t1",
        "  t1 --> n0",
    ] {
        assert!(mermaid.lines().any(|found| found.starts_with(line)), "{line}\n{mermaid}");
    }
    assert!(topic(&mermaid).ends_with(" /s\"])"), "{mermaid}");
    let dot = scene.said(&["node", "graph", "--dot", "--interval", "100ms"]);
    assert!(dot.starts_with("digraph robot {\n") && dot.contains("  n0 -> t0;\n"), "{dot}");
    let svg = scene.said(&["node", "graph", "--svg", "--interval", "100ms"]);
    assert!(svg.starts_with("<svg ") && svg.matches("<rect class=\"node\"").count() == 2, "{svg}");
    // Two deadlines of 8 ms, and a period between.
    let sentence = "ping/ping → pong/pong: 26 ms by deadlines end to end";
    for drawing in [&mermaid, &dot, &svg] {
        assert!(drawing.contains(sentence) && drawing.contains("26 ms by deadlines after ping/ping"), "{drawing}");
    }
    robot.ends_by(rustix::process::Signal::INT);
    assert_eq!(scene.said(&["node", "graph", "--interval", "100ms"]), "flowchart LR\n");
}
