//! Programs in C: they compile without a warning, run, and understand each other with programs in Rust.

mod programs;

use horus::action::{self, ActionClient, ActionServer, GoalStatus};
use horus::service::{self, Client, Server};
use horus::topic::{Options, Publisher};
use programs::Programs;

/// Longer than anything here takes on the slowest machine; what it ends is a hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn messages_arrive_and_every_misuse_is_an_error_in_a_sentence() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("topics"), &["1000000"]), "all of it holds\n");
}

#[test]
fn a_million_calls_with_wrong_handles_end_with_a_status() {
    let programs = Programs::new();
    let misuse = programs.c("misuse");
    for seed in ["1", "2", "3", "4"] {
        let said = programs.run(&misuse, &["250000", seed]);
        assert_eq!(said, "all of it holds\n", "seed {seed}");
    }
}

#[test]
fn a_handle_may_move_to_another_thread_and_each_thread_has_its_own_last_error() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("threads"), &["100000"]), "all of it holds\n");
}

#[test]
fn a_port_is_used_by_no_other_node() {
    let programs = Programs::new();
    let ports = programs.c("ports");
    assert_eq!(programs.run(&ports, &[]), "all of it holds\n");
    assert_eq!(programs.run(&ports, &["threads"]).lines().last(), Some("all of it holds"));
}

#[test]
fn frames_are_sent_and_looked_up_and_a_latched_topic_outlives_its_publisher() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("transforms"), &[]), "all of it holds\n");
}

#[test]
fn a_step_logs_lines_that_the_journal_has_and_makes_no_system_call_for_them() {
    let programs = Programs::new();
    let log = programs.c("log");
    assert_eq!(programs.run(&log, &["world"]), "all of it holds\n");
    let output = programs.output(&log, &["run"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("\nnode wheels, cycle 0: -3 of 4 0.13 0.1 true motor ff left\n"),
        "{said}"
    );
    let output = programs.output(&log, &["quiet"]);
    // `timeout` hands on the status, or that of the signal that ended the program.
    assert_eq!(output.status.code(), Some(42), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn services_answer_in_c_and_each_error_of_a_call_has_its_name() {
    let programs = Programs::new();
    let services = programs.c("services");
    assert_eq!(programs.run(&services, &[]), "all of it holds\n");
    let output = programs.output(&services, &["quiet"]);
    assert_eq!(output.status.code(), Some(42), "{}", String::from_utf8_lossy(&output.stderr));
}

horus::message! {
    /// As the program in C describes it.
    struct SaveMap = "test/SaveMap" { slot: u32 }
}
horus::message! {
    /// As the program in C describes it.
    struct MapSaved = "test/MapSaved" { cells: u32 }
}

#[test]
fn a_service_in_c_answers_rust_and_one_in_rust_answers_c() {
    let programs = Programs::new();
    let services = programs.c("services");
    let options = service::Options::default().directory(programs.topics());
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| programs.run(&services, &["serve", "3"]));
        let mut client = Client::<SaveMap, MapSaved>::open("map.save", &options).unwrap();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        for slot in 1..=3 {
            assert_eq!(client.call(SaveMap { slot }, PATIENCE).unwrap().cells, 100 * slot);
        }
        serving.join().unwrap();
    });
    let mut server = Server::<SaveMap, MapSaved>::open("map.save", &options).unwrap();
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| programs.run(&services, &["call", "7"]));
        let answered =
            server.serve(PATIENCE, |request, answer| answer.send(MapSaved { cells: 3 * request.slot }).unwrap());
        assert!(answered);
        assert_eq!(calling.join().unwrap(), "21 cells\n");
    });
}

#[test]
fn parameters_are_declared_read_and_set_from_another_program() {
    let programs = Programs::new();
    let params = programs.c("params");
    assert_eq!(programs.run(&params, &[]), "all of it holds\n");
    assert_eq!(programs.run_beside_itself(&params, "nav"), "all of it holds\n");
}

#[test]
fn goals_of_an_action_have_their_outcomes_in_c() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("actions"), &[]), "all of it holds\n");
}

horus::message! {
    /// As the program in C describes it.
    struct Count = "test/Count" { to: u64 }
}
horus::message! {
    /// As the program in C describes it.
    struct Reached = "test/Reached" { number: u64 }
}
horus::message! {
    /// As the program in C describes it.
    struct Counted = "test/Counted" { number: u64 }
}

#[test]
fn an_action_in_c_serves_rust_and_one_in_rust_serves_c() {
    let programs = Programs::new();
    let actions = programs.c("actions");
    let options = action::Options::default().directory(programs.topics());
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| programs.run(&actions, &["serve"]));
        let mut client = ActionClient::<Count, Reached, Counted>::open("count", &options).unwrap();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let mut told = Vec::new();
        let outcome = client.act(Count { to: 7 }, PATIENCE, |feedback| told.push(feedback.number)).unwrap();
        assert_eq!((outcome.status, outcome.result.unwrap().number, told), (GoalStatus::Succeeded, 7, vec![1]));
        serving.join().unwrap();
    });
    let mut server = ActionServer::<Count, Reached, Counted>::open("count", &options).unwrap();
    std::thread::scope(|scope| {
        let acting = scope.spawn(|| programs.run(&actions, &["act", "9"]));
        let goal = server.next_goal(PATIENCE).unwrap();
        let number = goal.value().to;
        goal.succeed(Counted { number }).unwrap();
        assert_eq!(acting.join().unwrap(), "counted to 9\n");
    });
}

#[test]
fn options_of_a_later_release_are_taken_or_refused_and_never_misread() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("options"), &[]), "all of it holds\n");
}

#[test]
fn threads_may_outlive_main_in_c_and_in_rust() {
    let programs = Programs::new();
    for outlive in [programs.c("outlive"), programs::example("outlive")] {
        for _ in 0..20 {
            assert_eq!(programs.run(&outlive, &[]), "all of it holds\n");
        }
    }
}

#[test]
fn a_program_whose_step_never_returns_is_ended_by_a_third_sigterm() {
    let programs = Programs::new();
    programs.end_what_hangs(&programs.c("hang"), &[]);
}

#[test]
fn without_a_grace_time_the_second_signal_ends_what_hangs() {
    let programs = Programs::new();
    programs.end_by_the_second_signal(&programs.c("hang"));
}

#[test]
fn a_program_that_two_signals_ask_to_end_does_so_in_order() {
    let programs = Programs::new();
    let hang = programs.c("hang");
    for _ in 0..5 {
        programs.end_in_order_after_two_signals(&hang, &["not"], "runs");
    }
}

#[test]
fn the_texts_of_the_test_vectors_have_their_hashes() {
    let programs = Programs::new();
    let vectors = std::fs::read_to_string(programs::vectors()).unwrap();
    let said = programs.run(&programs.c("vectors"), &[programs::vectors().to_str().unwrap()]);
    assert_eq!(said, format!("{} vectors\n", vectors.matches("\nhash ").count()));
}

#[test]
fn what_a_struct_with_padding_is_told() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("padding"), &[]), "all of it holds\n");
}

/// Every function of a topic's ends, of a node's ports and of a world's topics takes both kinds of payload: the program calls each for a struct and
/// for bytes.
#[test]
fn every_function_of_topics_ports_and_worlds_takes_messages_and_bytes() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("matrix"), &[]), "all of it holds\n");
    let called = std::fs::read_to_string(programs::source_of("matrix")).unwrap();
    let map = std::fs::read_to_string(programs::root().join("package/horus.map")).unwrap();
    let functions = map.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let begin =
        ["publisher_", "subscriber_", "input_", "output_", "app_input", "app_output", "world_publish", "world_last"];
    let is_theirs = |name: &&str| {
        let rest = name.strip_prefix("horus_").unwrap_or_default();
        // A handle is kept whatever its messages are.
        begin.iter().any(|begin| rest.starts_with(begin)) && !rest.ends_with("_keep") && !rest.ends_with("_let_go")
    };
    let absent: Vec<_> = functions.filter(is_theirs).filter(|name| !called.contains(&format!("{name}("))).collect();
    assert!(absent.is_empty(), "tests/c/matrix.c calls no {absent:?}");
}

#[test]
fn bytes_wait_sets_the_journal_and_fork_do_what_they_do_in_rust() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("bytes"), &[]), "all of it holds\n");
}

#[test]
fn nodes_run_in_virtual_time_and_what_is_wrong_with_a_graph_is_said() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.c("nodes"), &["world"]).lines().last(), Some("all of it holds"));
}

#[test]
fn nodes_run_on_the_machines_clock_and_a_step_that_fails_ends_its_program_with_its_reason() {
    let programs = Programs::new();
    let nodes = programs.c("nodes");
    let said = programs.run(&nodes, &["run"]);
    assert!(said.contains("control: 20 releases") && said.contains("steps, ended well"), "{said}");
    let output = programs.output(&nodes, &["fail"]);
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 steps, node control failed: the wheel came off"), "{said}");
    assert!(complaint.contains("robot: node control failed: the wheel came off"), "{complaint}");
}

#[test]
fn a_program_describes_its_nodes_and_its_node_toml_has_the_last_word() {
    let programs = Programs::new();
    let nodes = programs.c("nodes");
    let said = programs.run(&nodes, &["run", "--describe"]);
    assert!(said.contains(r#""name": "control""#) && said.contains(r#""period_ns": 1000000"#), "{said}");
    assert!(said.contains(r#""monitor_limit_ns": 50000000"#), "{said}");
    let settings = programs.source("node.toml", "program = \"robot\"\n[node.control]\nperiod = \"2 ms\"\n");
    let mut command = std::process::Command::new(&nodes);
    command.args(["run", "--describe"]).env("HORUS_NODE_FILE", settings).env("HORUS_SHM_DIR", programs.path());
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(said.contains(r#""period_ns": 2000000"#), "{said}");
}

#[test]
fn the_programs_of_the_guide_run_as_they_are_printed() {
    let programs = Programs::new();
    let guide = include_str!("../../../../docs/languages.md");
    let parts: Vec<_> = guide.split("```c\n").skip(1).map(|part| part.split_once("```").unwrap().0).collect();
    assert!(!parts.is_empty());
    for (number, program) in parts.into_iter().enumerate() {
        let source = programs.source(&format!("guide-{number}.c"), program);
        programs.run(&programs.compile("cc", &["-std=c99"], &source), &["--releases", "10"]);
    }
}

horus::message! {
    /// As the program in C describes it.
    struct WheelSpeed = "example/WheelSpeed" { left: f64, right: f64 }
}

#[test]
fn what_rust_sends_c_receives() {
    let programs = Programs::new();
    let listen = programs.c("listen");
    let options = Options::reliable(8).directory(programs.topics());
    let mut publisher = Publisher::<WheelSpeed>::open("wheels", &options).unwrap();
    std::thread::scope(|scope| {
        let listening = scope.spawn(|| programs.run(&listen, &["3"]));
        while publisher.subscribers().unwrap() == 0 {
            std::thread::yield_now();
        }
        for left in [0.5, 1.5, 2.5] {
            publisher.send(WheelSpeed { left, right: -left }).unwrap();
        }
        assert_eq!(listening.join().unwrap(), "0.5 -0.5\n1.5 -1.5\n2.5 -2.5\n");
    });
}

#[test]
fn a_topic_that_is_renamed_from_outside_is_the_real_one_for_c() {
    let programs = Programs::new();
    let mut listen = std::process::Command::new("timeout");
    listen
        .args(["-k", "5", "60"])
        .arg(programs.c("listen"))
        .arg("1")
        .env("HORUS_SHM_DIR", programs.topics())
        .env("HORUS_RENAME", "wheels=robot.wheels");
    let options = Options::reliable(8).directory(programs.topics());
    let mut publisher = Publisher::<WheelSpeed>::open("robot.wheels", &options).unwrap();
    let mut listening = listen.stdout(std::process::Stdio::piped()).spawn().unwrap();
    while publisher.subscribers().unwrap() == 0 {
        assert!(listening.try_wait().unwrap().is_none(), "it has ended");
        std::thread::yield_now();
    }
    publisher.send(WheelSpeed { left: 0.5, right: -0.5 }).unwrap();
    let said = listening.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(said.stdout).unwrap(), "0.5 -0.5\n");
}
