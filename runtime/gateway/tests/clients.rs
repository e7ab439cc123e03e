//! Clients in other languages, each of its standard library alone and written from docs/gateway-protocol.md.
//!
//! That in Python is run here. `HORUS_TEST_CLIENT` names the program of another one, which `scripts/test --only gateway` builds. It also runs the
//! test of the one in Node.js, which this machine may not have.

mod running;

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use horus::message;
use horus::topic::{Bytes, Options, Publisher, Subscriber};
use horus_gateway::client::Address;
use running::certificates::{Authority, Counts, listen};
use running::process::Process;
use running::{Gateway, PATIENCE};

const SETTINGS: &str = "[limits]\nheartbeat_ms = 60000\n[topics.numbers]\ndirection = \"both\"\nbytes = 64\ncapacity = 256\npublishers = 2\n\
                        log = { durability = \"each\", keep_bytes = 67108864 }\n";

/// A client's program, and what it prints.
struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(gateway: &Gateway, arguments: &[&str]) -> Self {
        Self::start_at(&gateway.address(), None, arguments)
    }

    fn start_at(address: &Address, certificates: Option<&Path>, arguments: &[&str]) -> Self {
        let mut command = match std::env::var_os("HORUS_TEST_CLIENT") {
            Some(program) => Command::new(program),
            None => {
                let mut command = Command::new("python3");
                command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/client.py"));
                command
            }
        };
        command.arg(address.to_string());
        Self::run(command, certificates, arguments)
    }

    fn run(mut command: Command, certificates: Option<&Path>, arguments: &[&str]) -> Self {
        command.args(arguments).stdout(Stdio::piped());
        if let Some(folder) = certificates {
            command.env("HORUS_CERTIFICATES", folder);
        }
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("the client prints a line").unwrap()
    }

    fn end(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill(); // of one that is at its end, nothing
    }
}

#[test]
fn a_foreign_client_gets_what_a_program_publishes_and_afterwards_again_from_the_log() {
    let gateway = Gateway::start(SETTINGS);
    let options = Options::latest(256).publishers(2);
    let mut client = Client::start(&gateway, &["receive", "numbers", "0", "300"]);
    assert_eq!(client.line(), "ready");
    let mut publisher = Publisher::<[u8]>::open_as("numbers", Bytes::up_to(64), gateway.topics(options)).unwrap();
    let line = |number: u64, message: &[u8]| {
        let hex: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{number} {hex}")
    };
    let message = |number: u64| vec![number as u8; number as usize % 65];
    for number in 1..301 {
        publisher.try_send(message(number)).unwrap();
        assert_eq!(client.line(), line(number, &message(number)));
    }
    client.end();
    let mut late = Client::start(&gateway, &["receive", "numbers", "100", "201"]);
    assert_eq!(late.line(), "ready");
    (100..301).for_each(|number| assert_eq!(late.line(), line(number, &message(number))));
    late.end();
}

#[test]
fn a_foreign_client_sends_single_messages_and_batches_to_a_program_and_is_told_their_numbers() {
    let gateway = Gateway::start(SETTINGS);
    let mut subscriber =
        Subscriber::<[u8]>::open_as("numbers", Bytes::up_to(64), gateway.topics(Options::latest(256))).unwrap();
    let mut client = Client::start(&gateway, &["send", "numbers", "200"]);
    for number in 0..200_u64 {
        let received = subscriber.recv_timeout(PATIENCE).expect("it comes");
        assert_eq!(received.message, number.to_le_bytes());
    }
    (1..101).for_each(|number| assert_eq!(client.line(), format!("{number} 1 0")));
    assert_eq!(client.line(), "200 100 0", "the batch was taken whole");
    client.end();
}

#[test]
fn what_a_foreign_client_sends_between_garbage_arrives_and_the_garbage_is_counted() {
    let gateway = Gateway::start(&SETTINGS.replace("60000", "2000"));
    let mut subscriber =
        Subscriber::<[u8]>::open_as("numbers", Bytes::up_to(64), gateway.topics(Options::latest(256))).unwrap();
    let mut client = Client::start(&gateway, &["damage", "numbers"]);
    for _ in 0..3 {
        assert_eq!(subscriber.recv_timeout(PATIENCE).expect("it comes").message, b"good");
    }
    assert_eq!(client.line(), "0 0 3 3", "sent, dropped, taken, damaged");
    client.end();
}

message! {
    /// A place.
    struct Place = "test/Place" { x: f32, number: i32 }
}

/// Another message of the same name, as another program may have it.
mod other {
    horus::message! {
        /// A place.
        pub struct Place = "test/Place" { east: f64 }
    }
}

message! {
    /// Places inside of a message that is inside of a message.
    struct Step = "test/Step" { from: Place, to: Place }
}

type Matrix = [[f32; 3]; 2];

message! {
    /// Whatever a field can be.
    struct Everything = "test/Everything" {
        huge: u128, least: i128, large: u64, low: i64, elsewhere: other::Place, matrix: Matrix, steps: [Step; 2], word: u32, byte: u8, small: i8,
        half: i16, text: [u8; 8]
    }
}

#[test]
#[ignore = "needs Node.js: ./scripts/test --only 'gateway: clients' runs it"]
fn a_client_in_node_reads_any_message_by_its_description_alone() {
    let gateway = Gateway::start("[topics.everything]\ndirection = \"out\"\n");
    let mut publisher = Publisher::<Everything>::open("everything", gateway.topics(Options::latest(8))).unwrap();
    let mut command = Command::new("node");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/decode.js")).arg(gateway.address().to_string());
    let mut client = Client::run(command, None, &["everything", "1"]);
    assert_eq!(client.line(), "ready");
    let place = |number| Place { x: 0.5, number };
    let message = Everything {
        huge: u128::MAX,
        least: -1,
        large: 1 << 53,
        low: -2,
        elsewhere: other::Place { east: 2.5 },
        matrix: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        steps: [Step { from: place(1), to: place(2) }, Step { from: place(3), to: place(4) }],
        word: 7,
        byte: 255,
        small: -1,
        half: -300,
        text: [1; 8],
    };
    publisher.try_send(message).unwrap();
    let places = r#"[{"from":{"x":0.5,"number":1},"to":{"x":0.5,"number":2}},{"from":{"x":0.5,"number":3},"to":{"x":0.5,"number":4}}]"#;
    let said = format!(
        r#"{{"huge":"{}","least":-1,"large":"9007199254740992","low":-2,"elsewhere":{{"east":2.5}},"matrix":[[0,1,2],[3,4,5]],"steps":{places},"word":7,"byte":255,"small":-1,"half":-300,"text":[1,1,1,1,1,1,1,1]}}"#,
        u128::MAX
    );
    assert_eq!(client.line(), said);
    client.end();
}

#[test]
fn a_foreign_client_speaks_tls_and_is_not_served_with_the_certificate_of_another_authority() {
    let (ours, other) = (Authority::new("ours"), Authority::new("another"));
    let gateway = Process::start(Some(&listen(&ours.sign("127.0.0.1", Counts::Now))), SETTINGS);
    let folder = |authority: &Authority| {
        let (folder, files) = (tempfile::tempdir().unwrap(), authority.sign("client", Counts::Now));
        for (name, file) in
            [("ca.crt", &ours.certificate()), ("client.crt", &files.certificate), ("client.key", &files.key)]
        {
            std::fs::copy(file, folder.path().join(name)).unwrap();
        }
        folder
    };
    let (good, bad) = (folder(&ours), folder(&other));
    let start = |folder: &Path, arguments: &[&str]| Client::start_at(&gateway.address, Some(folder), arguments);
    let mut sender = start(good.path(), &["send", "numbers", "200"]);
    (1..101).for_each(|number| assert_eq!(sender.line(), format!("{number} 1 0")));
    assert_eq!(sender.line(), "200 100 0");
    sender.end();
    let mut receiver = start(good.path(), &["receive", "numbers", "1", "200"]);
    assert_eq!(receiver.line(), "ready");
    for number in 0..200_u64 {
        let hex: String = number.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(receiver.line(), format!("{} {hex}", number + 1));
    }
    receiver.end();
    let mut refused = start(bad.path(), &["receive", "numbers", "1", "200"]);
    assert!(refused.lines.next().is_none(), "it is told nothing");
    assert!(!refused.child.wait().unwrap().success());
}
