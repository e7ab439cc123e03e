//! However a connection ends, or does not, nothing of it is left, and no other client is disturbed.

mod running;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use horus_gateway::client::{Address, Connection};
use horus_gateway::frame::words::Ack;
use horus_gateway::frame::{Head, Type, WANTS_ACK};
use running::PATIENCE;
use running::process::{GROWTH, Process};
use running::talk::*;

/// How many connect; `HORUS_CONNECTS=1000000` takes minutes.
fn connects() -> u64 {
    std::env::var("HORUS_CONNECTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

const PATIENT: &str = "[limits]\nheartbeat_ms = 60000\n";

/// Closing it sends no farewell but a reset.
fn without_farewell(socket: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO)).unwrap();
}

/// How many clients came, as a journal says at its end.
fn came(journal: &str) -> u64 {
    journal.split("gateway: ended; ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn connections_by_the_hundred_thousand_leave_nothing_behind() {
    let (gateway, port) = Process::start_on_tcp(&format!("{BOTH}{PATIENT}"));
    let Address::Unix(path) = &gateway.address else { unreachable!() };
    let mut others = Pair::open(&gateway.address);
    others.exchange(5);
    let (files, memory) = (gateway.open_files(), gateway.peak_memory());
    let say = |client: &mut dyn Write, number: u64| {
        if number.is_multiple_of(3) {
            let _ = client.write_all(&hello()[..(number % 50) as usize]); // it may have been displaced already
        }
    };
    for number in 0..connects() {
        if number % 2 == 0 {
            say(&mut UnixStream::connect(path).unwrap(), number);
        } else {
            let mut client = TcpStream::connect(&port).unwrap();
            say(&mut client, number);
            // Ports of those who say farewell are kept for a while, and there are no more than 28,000.
            if number % 16 != 1 {
                without_farewell(&client);
            }
        }
        if number % 5_000 == 0 {
            others.exchange(5);
        }
    }
    others.exchange(5);
    gateway.wait_for_files(files);
    let grown = gateway.peak_memory() - memory;
    println!("{} connections, {} KiB more", connects(), grown >> 10);
    assert!(grown < GROWTH, "{grown} bytes more");
    let journal = gateway.end();
    let came = came(&journal);
    // Two more are the others. Who is reset before he is accepted never came.
    assert!((connects() / 2 + 2..=connects() + 2).contains(&came), "{came} came");
    assert!(journal.lines().count() < 20_000 + connects() as usize / 100, "a flood is not told line by line");
}

/// What a client has sent when it ends.
fn states() -> Vec<Vec<u8>> {
    let subscribe = frame(&Head::new(Type::Subscribe, 1), &now("speed").payload());
    let replay = frame(&Head::new(Type::Subscribe, 1), &from(1).payload());
    let topic = frame(&Head::new(Type::Advertise, 1), &advertise("speed").payload());
    let message = frame(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) }, &[7; 100]);
    let joined = |frames: &[&[u8]]| frames.concat();
    vec![
        vec![],
        hello()[..20].to_vec(),
        hello(),
        joined(&[&hello(), &subscribe]),
        joined(&[&hello(), &replay]),
        joined(&[&hello(), &topic, &message[..90]]),
        joined(&[&hello(), &topic, &message]),
    ]
}

#[test]
fn a_client_that_resets_its_connection_in_any_state_leaves_nothing() {
    let (gateway, port) = Process::start_on_tcp(&format!("{BOTH}{LOGGED}{PATIENT}"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(100);
    let files = gateway.open_files();
    for round in 0..20 {
        for state in states() {
            let mut client = TcpStream::connect(&port).unwrap();
            client.write_all(&state).unwrap();
            if round % 2 == 0 {
                // What it asked for is under way.
                client.set_nonblocking(true).unwrap();
                let _ = client.read(&mut [0; 10]);
            }
            without_farewell(&client);
        }
    }
    gateway.wait_for_files(files);
    Pair::open(&gateway.address).exchange(5); // the others got what was sent whole before a reset
    // All of them came, or most: who is reset before he is accepted may not be told of. Four more are pairs.
    assert!((74..=144).contains(&came(&gateway.end())));
}

#[test]
fn who_closes_his_side_alone_gets_what_he_asked_for_and_then_the_end() {
    let (gateway, port) = Process::start_on_tcp(&format!("{BOTH}{LOGGED}{PATIENT}"));
    let mut others = Pair::open(&gateway.address);
    let files = gateway.open_files();
    let mut client = TcpStream::connect(&port).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&states()[6]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut said = Vec::new();
    client.read_to_end(&mut said).unwrap();
    let kinds: Vec<u8> = frames_of(&said).iter().map(|frame| frame[5]).collect();
    assert_eq!(kinds, [2, 5, 10], "welcome, topic, and the acknowledgement of its message");
    let ack = Ack::read(&frames_of(&said)[2][40..]).unwrap();
    assert_eq!((ack.taken, ack.lost), (1, 0));
    drop(client);
    gateway.wait_for_files(files);
    messages(&mut others.receiver, 1);
    others.exchange(5);
}

/// The frames of a stream that has nothing else.
fn frames_of(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = 40 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        found.push(&bytes[..length]);
        bytes = &bytes[length..];
    }
    found
}

const STATE: &str = "HORUS_TEST_STATE";
const PLACE: &str = "HORUS_TEST_PLACE";

#[test]
#[ignore = "the client that is killed"]
fn client_that_is_killed() {
    let (Ok(state), Ok(place)) = (std::env::var(STATE), std::env::var(PLACE)) else { return };
    let state = &states()[state.parse::<usize>().unwrap()];
    let mut unix;
    let mut tcp;
    let socket: &mut dyn Write = match place.parse().unwrap() {
        Address::Unix(path) => {
            unix = UnixStream::connect(path).unwrap();
            &mut unix
        }
        Address::Tcp(port) | Address::Tls(port) => {
            tcp = TcpStream::connect(port).unwrap();
            &mut tcp
        }
    };
    socket.write_all(state).unwrap();
    println!("\nready");
    std::thread::park_timeout(PATIENCE);
}

#[test]
fn a_client_whose_process_is_killed_in_any_state_leaves_nothing() {
    let (gateway, _) = Process::start_on_tcp(&format!("{BOTH}{LOGGED}{PATIENT}"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(100);
    let files = gateway.open_files();
    let mut taken = 0;
    for place in &gateway.addresses {
        for state in 0..states().len() {
            let mut client = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "client_that_is_killed", "--ignored", "--nocapture"])
                .env(STATE, state.to_string())
                .env(PLACE, place.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = std::io::BufRead::lines(std::io::BufReader::new(client.stdout.take().unwrap()));
            assert!(lines.map(Result::unwrap).any(|line| line == "ready"));
            client.kill().unwrap();
            client.wait().unwrap();
            if state == 6 {
                // What was sent whole is taken.
                assert_eq!(messages(&mut others.receiver, 1)[0].1, [7; 100]);
                taken += 1;
            }
            others.exchange(1);
        }
    }
    gateway.wait_for_files(files);
    assert_eq!(taken, 2);
}

#[test]
fn a_peer_that_vanishes_without_a_word_goes_after_three_heartbeats() {
    let unshared = |run: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "sh", "-c", run]).arg(std::env::current_exe().unwrap());
        command
    };
    if !unshared("ip link set lo up").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may make no network of his own");
        return;
    }
    let run = "ip link set lo up && exec \"$0\" --exact a_line_that_is_cut --ignored --nocapture";
    assert!(unshared(run).env(STATE, "cut").status().unwrap().success());
}

#[test]
#[ignore = "needs a network of its own"]
fn a_line_that_is_cut() {
    if std::env::var_os(STATE).is_none() {
        return;
    }
    let (gateway, port) = Process::start_on_tcp(&format!("{BOTH}[limits]\nheartbeat_ms = 2000\n"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(5);
    let files = gateway.open_files();
    let mut far = Connection::open(&Address::Tcp(port.clone()), "far away").unwrap();
    far.subscribe(1, &now("speed")).unwrap();
    let mut half = TcpStream::connect(&port).unwrap();
    half.write_all(&states()[5]).unwrap();
    let until = Instant::now() + PATIENCE;
    while gateway.open_files() < files + 2 {
        assert!(Instant::now() < until, "{} files are open, and {files} were", gateway.open_files());
        std::thread::yield_now();
    }
    // From here on, nothing that is sent by TCP arrives: no acknowledgement, no farewell, no reset.
    assert!(Command::new("ip").args(["link", "set", "lo", "down"]).status().unwrap().success());
    drop((far, half));
    let until = Instant::now() + PATIENCE;
    while gateway.open_files() > files {
        assert!(Instant::now() < until, "{} files are open, and {files} were", gateway.open_files());
        others.exchange(5);
    }
    let journal = gateway.end();
    assert_eq!(journal.matches("silent for three heartbeats").count(), 2, "{journal}");
}
