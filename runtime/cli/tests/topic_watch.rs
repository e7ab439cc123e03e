//! `horus topic echo`, `hz`, `bw` and `delay` as programs, beside a publisher in another process: this one.

mod watching;

use std::time::Duration;

use horus::messages::{CmdVel, ImageVga, Imu, Odometry, Vector3};
use horus::topic::{Bytes, Options, Publisher, Serde, Subscriber};
use serde_json::{Value, json};

use watching::{Scratch, lines_of};

horus::message! {
    /// A message that no other program knows.
    struct Grip = "test/Grip" { force: f64, at: Vector3, fingers: [Finger; 2] }
}
horus::message! {
    /// A part of it.
    struct Finger = "test/Finger" { angle: f32, faults: u32 }
}

fn cmd(number: u32) -> CmdVel {
    CmdVel { forward: f64::from(number), turn: -0.5 }
}

#[test]
fn echo_prints_messages_that_only_their_publisher_knows() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<Grip>::open("grip", scratch.options(Options::latest(8))).unwrap();
    let mut grip = Grip::zeroed();
    (grip.force, grip.at.z, grip.fingers[1]) = (2.5, -1.0, Finger { angle: 0.5, faults: 3 });
    publisher.try_send(grip).unwrap();
    let text = scratch.said(&["echo", "grip", "--once", "--history", "1"]);
    let lines = "force: 2.5\nat:\n  x: 0.0\n  y: 0.0\n  z: -1.0\nfingers:\n- angle: 0.0\n  faults: 0\n- angle: 0.5\n  faults: 3\n---\n";
    assert_eq!(text, lines);
    assert_eq!(scratch.said(&["echo", "grip", "--once", "--history=1", "--field", "fingers[1].faults"]), "3\n---\n");
    let lines = scratch.json_lines(&["echo", "grip", "--once", "--history=1"]);
    let fingers = json!([{"angle": 0.0, "faults": 0}, {"angle": 0.5, "faults": 3}]);
    let message = json!({"force": 2.5, "at": {"x": 0.0, "y": 0.0, "z": -1.0}, "fingers": fingers});
    assert_eq!(lines, [json!({"publisher": 0, "sequence": 0, "sent_ns": 0, "missed": 0, "message": message})]);

    let output = scratch.topic(&["echo", "grip", "--field", "fingers[1].fault"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there are: angle, faults"), "{output:?}");
}

#[test]
fn echo_waits_for_a_topic_and_shows_it_from_its_first_message_on() {
    let scratch = Scratch::new();
    let mut echo = scratch.start(&["echo", "cmd", "--count", "3", "--json"]);
    assert!(echo.note().contains("waiting: there is no topic cmd"));
    let mut publisher = Publisher::<CmdVel>::open("cmd", scratch.options(Options::latest(8))).unwrap();
    (0..3).for_each(|number| publisher.try_send(cmd(number)).unwrap());
    let lines = lines_of(&echo.finish());
    let shown: Vec<_> = lines.iter().map(|line| line["message"]["forward"].clone()).collect();
    assert_eq!(shown, [0.0, 1.0, 2.0]);
    assert_eq!(publisher.position(), 3);
}

#[test]
fn echo_follows_a_publisher_that_comes_back_with_another_topic_of_the_name() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<CmdVel>::open("cmd", scratch.options(Options::latest(8))).unwrap();
    let mut echo = scratch.start(&["echo", "cmd", "--count", "2", "--json", "--history", "1"]);
    publisher.try_send(cmd(7)).unwrap();
    assert_eq!(echo.line()["message"], json!({"forward": 7.0, "turn": -0.5}));
    drop(publisher);
    let mut publisher = Publisher::<Odometry>::open("cmd", scratch.options(Options::reliable(4))).unwrap();
    publisher.try_send(Odometry::new("odom", "base").unwrap()).unwrap();
    assert_eq!(echo.line()["message"]["frame_text"], "odom");
    assert!(echo.finish().is_empty());
}

#[test]
fn a_reliable_publisher_never_waits_for_an_echo_and_the_echo_counts_what_it_missed() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<CmdVel>::open("cmd", scratch.options(Options::reliable(4))).unwrap();
    let mut echo = scratch.start(&["echo", "cmd", "--json", "--history", "4"]);
    publisher.try_send(cmd(0)).unwrap();
    assert_eq!(echo.line()["sequence"], 0);
    echo.pause();
    (1..=100).for_each(|number| publisher.try_send(cmd(number)).unwrap());
    echo.go_on();
    let mut accounted = 0;
    loop {
        let line = echo.line();
        accounted += 1 + line["missed"].as_u64().unwrap();
        assert_eq!(line["message"]["forward"].as_f64(), line["sequence"].as_f64(), "a whole message");
        if line["sequence"] == 100 {
            break;
        }
    }
    assert_eq!(accounted, 100);
    assert_eq!(publisher.subscribers().unwrap(), 0, "it never joined");
    echo.interrupt();
    assert!(echo.finish().is_empty());
}

#[test]
fn topics_of_bytes_are_shown_by_length_and_first_bytes() {
    let scratch = Scratch::new();
    let mut log = Publisher::<[u8]>::open_as("log", Bytes::up_to(300), scratch.options(Options::latest(4))).unwrap();
    let mut faults = Publisher::<Serde<(u8, String)>>::open_as(
        "faults",
        Bytes::of_type("test/Fault", 64),
        scratch.options(Options::latest(4)),
    )
    .unwrap();
    log.try_send(b"left wheel").unwrap();
    log.try_send([0xab; 200]).unwrap();
    faults.try_send(&(3, "x".into())).unwrap();
    let output = scratch.topic(&["echo", "log", "--count=2", "--history=2"]);
    let long = format!("bytes: 200\nhex: '{}ab ...'\n---\n", "ab ".repeat(63));
    let words = "bytes: 10\nhex: '6c 65 66 74 20 77 68 65 65 6c'\ntext: \"left wheel\"\n---\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{words}{long}"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("log carries bytes"), "{output:?}");
    let whole = scratch.said(&["echo", "log", "--once", "--history=1", "-f"]);
    assert_eq!(whole.matches("ab").count(), 200);
    let output = scratch.topic(&["echo", "faults", "--once", "--history=1", "--json"]);
    assert_eq!(lines_of(&output.stdout)[0]["message"], json!({"bytes": 3, "hex": "030178"}));
    assert!(String::from_utf8_lossy(&output.stderr).contains("serialized values (test/Fault, postcard)"), "{output:?}");
}

#[test]
fn a_topic_of_dicts_is_shown_as_json() {
    let scratch = Scratch::new();
    // As the package for Python makes it.
    let mut state = Publisher::<[u8]>::open_as(
        "state",
        Bytes::of_type("horus/MessagePack", 4096),
        scratch.options(Options::latest(4)),
    )
    .unwrap();
    state.try_send(b"\x82\xa7battery\xcb\x3f\xe0\0\0\0\0\0\0\xa6faults\x91\xaaleft wheel").unwrap();
    state.try_send(b"\xc1").unwrap();
    let output = scratch.said(&["echo", "state", "--count=2", "--history=2"]);
    let said = "{\"battery\": 0.5, \"faults\": [\"left wheel\"]}\n---\nbytes: 1\nhex: 'c1'\n---\n";
    assert_eq!(output, said);
    let output = scratch.topic(&["echo", "state", "--count=2", "--history=2", "--json"]);
    assert_eq!(lines_of(&output.stdout)[0]["message"], json!({"battery": 0.5, "faults": ["left wheel"]}));
    assert_eq!(lines_of(&output.stdout)[1]["message"], json!({"bytes": 1, "hex": "c1"}));
    assert!(scratch.said(&["echo", "state", "--once", "--history=2", "--raw"]).starts_with("bytes: 37\nhex: '82 a7"));
    for arguments in [&["pub", "state", "battery: 1"][..], &["pub", "state", "dict", "battery: 1"]] {
        let output = scratch.topic(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let reason =
            "state carries dicts of Python (horus/MessagePack), which have no fields that a message could be made of";
        assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
    }
}

/// The messages of all windows.
fn messages(lines: &[Value]) -> u64 {
    let (summary, windows) = lines.split_last().unwrap();
    let sum: u64 = windows.iter().map(|line| line["messages"].as_u64().unwrap()).sum();
    // A window that was cut short by the signal is in the summary only.
    assert!(sum <= summary["messages"].as_u64().unwrap() && summary["summary"] == true, "{lines:?}");
    summary["messages"].as_u64().unwrap()
}

#[test]
fn hz_counts_every_message_of_every_publisher() {
    let scratch = Scratch::new();
    let options = scratch.options(Options::latest(2).publishers(2));
    let mut publishers = [0, 1].map(|_| Publisher::<Imu>::open("imu", &options).unwrap());
    publishers[0].try_send(Imu::default()).unwrap();
    let mut hz = scratch.start(&["hz", "imu", "--window", "20ms", "--json"]);
    assert_eq!(hz.line()["messages"], 0, "what was sent before is not counted");
    for burst in 0..10 {
        (0..1000 + burst).for_each(|_| publishers[0].try_send(Imu::default()).unwrap());
        (0..500).for_each(|_| publishers[1].try_send(Imu::default()).unwrap());
        assert_eq!(hz.count_to(1500 + burst), 1500 + burst);
    }
    hz.interrupt();
    let lines = hz.finish_with_lines();
    assert_eq!(messages(&lines), 10_045 + 5_000);
    let shares: Vec<_> =
        lines.last().unwrap()["publishers"].as_array().unwrap().iter().map(|share| share["messages"].clone()).collect();
    assert_eq!(shares, [10_045, 5_000]);
    assert_eq!(lines.last().unwrap()["publishers"][1]["pid"], std::process::id());
}

#[test]
fn numbers_of_places_that_a_subscriber_holds_are_no_messages() {
    let scratch = Scratch::new();
    let options = scratch.options(Options::latest(4));
    let mut publisher = Publisher::<ImageVga>::open("camera", &options).unwrap();
    let mut subscriber = Subscriber::<ImageVga>::open("camera", &options).unwrap();
    publisher.loan().unwrap().publish();
    let held = subscriber.borrow().unwrap();
    let mut hz = scratch.start(&["hz", "camera", "--window", "20ms", "--json"]);
    let mut bw = scratch.start(&["bw", "camera", "--window", "20ms", "--json"]);
    let (_, _) = (hz.line(), bw.line());
    let before = publisher.position();
    for _ in 0..12 {
        publisher.loan().unwrap().publish();
        assert_eq!((hz.count_to(1), bw.count_to(1)), (1, 1)); // so slowly that each is seen
    }
    assert!(publisher.position() - before > 12, "numbers were passed over");
    drop(held);
    hz.interrupt();
    bw.interrupt();
    let (hz, bw) = (hz.finish_with_lines(), bw.finish_with_lines());
    assert_eq!((messages(&hz), messages(&bw)), (12, 12));
    assert_eq!(bw.last().unwrap()["bytes"], 12.0 * size_of::<ImageVga>() as f64);
}

#[test]
fn bw_adds_up_the_lengths_of_messages_of_bytes() {
    let scratch = Scratch::new();
    let mut log = Publisher::<[u8]>::open_as("log", Bytes::up_to(1000), scratch.options(Options::latest(64))).unwrap();
    let mut bw = scratch.start(&["bw", "log", "--window", "20ms", "--json"]);
    bw.line();
    (1..=50).for_each(|length| log.try_send(vec![0; length]).unwrap());
    assert_eq!(bw.count_to(50), 50);
    bw.interrupt();
    let lines = bw.finish_with_lines();
    let summary = lines.last().unwrap();
    assert_eq!((&summary["bytes"], &summary["unseen"]), (&json!(1275.0), &json!(0)));
    assert_eq!(summary["message_bytes"], json!([1, 25.5, 50]));
}

#[test]
fn delay_tells_the_age_since_sending_and_since_measuring() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<Imu>::open("imu", scratch.options(Options::latest(64).stamped())).unwrap();
    let mut delay = scratch.start(&["delay", "imu", "--window", "20ms", "--json"]);
    delay.line();
    let measured = horus::time::MonotonicTime::now().as_nanos() - 5_000_000_000;
    (0..30).for_each(|_| publisher.try_send(Imu { stamp_ns: measured, ..Imu::default() }).unwrap());
    assert_eq!(delay.count_to(30), 30);
    delay.interrupt();
    let lines = delay.finish_with_lines();
    let summary = lines.last().unwrap();
    let (sent, age) = (&summary["since_sent"], &summary["since_measured"]);
    assert_eq!((&summary["messages"], &sent["messages"]), (&json!(30), &json!(30)));
    assert!(sent["min_ns"].as_u64() <= sent["p50_ns"].as_u64() && sent["p50_ns"].as_u64() <= sent["max_ns"].as_u64());
    assert_eq!((&sent["p99_ns"], &age["p99_ns"]), (&Value::Null, &Value::Null), "too few for it");
    assert!(age["min_ns"].as_u64().unwrap() > 5_000_000_000 && age["min_ns"].as_u64() > sent["min_ns"].as_u64());
}

#[test]
fn delay_says_that_messages_carry_no_stamp_and_what_to_do() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<CmdVel>::open("cmd", scratch.options(Options::latest(64))).unwrap();
    let mut delay = scratch.start(&["delay", "cmd", "--window", "20ms"]);
    delay.text_line();
    publisher.try_send(cmd(1)).unwrap();
    assert!(delay.note().contains("`Options::stamped()`"));
    delay.interrupt();
    assert_eq!(delay.status(), Some(1));
}

#[test]
fn a_topic_that_does_not_come_in_time_is_an_error_with_near_names() {
    let scratch = Scratch::new();
    let _imu = Publisher::<Imu>::open("arm.imu", scratch.options(Options::latest(8))).unwrap();
    for command in ["echo", "hz", "bw", "delay"] {
        let output = scratch.topic(&[command, "arm.mui", "--timeout", "1ms"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("there is no topic arm.mui") && stderr.contains("did you mean arm.imu?"), "{stderr}");
    }
    let output = scratch.topic(&["echo", "arm.imu", "--timeout", "1ms"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing came in time"), "{output:?}");
}

#[test]
fn whoever_closes_the_pipe_ends_the_command_without_an_error() {
    let scratch = Scratch::new();
    let mut publisher = Publisher::<CmdVel>::open("cmd", scratch.options(Options::latest(8))).unwrap();
    for command in ["echo", "hz"] {
        let window = if command == "hz" { vec!["--window", "5ms"] } else { vec!["--history=1"] };
        publisher.try_send(cmd(1)).unwrap();
        let mut watching = scratch.start(&[&[command, "cmd", "--json"], &window[..]].concat());
        watching.line();
        watching.close();
        while watching.is_running() {
            publisher.try_send(cmd(2)).unwrap();
            std::thread::park_timeout(Duration::from_millis(1));
        }
        assert_eq!(watching.status(), Some(0), "{command}");
    }
}
