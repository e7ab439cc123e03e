//! Whatever a client sends or leaves undone costs bounded memory, is counted and told, and disturbs no other client.

mod running;

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use horus_gateway::client::{Address, Connection};
use horus_gateway::frame::words::{self, Ack, Subscribe, WhenFull};
use horus_gateway::frame::{HEAD_BYTES, Head, MAGIC, Type, WANTS_ACK};
use running::PATIENCE;
use running::process::{GROWTH, Process};
use running::talk::*;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::Signal;

fn plain(gateway: &Process) -> UnixStream {
    let Address::Unix(path) = &gateway.address else { unreachable!() };
    UnixStream::connect(path).unwrap()
}

/// Numbers that look random and are the same in every run.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(step).collect()
}

#[test]
fn random_bytes_and_broken_frames_of_every_kind_are_counted_and_disturb_nobody() {
    let gateway = Process::start(None, &format!("{BOTH}[limits]\nheartbeat_ms = 60000\n"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(50);
    let (files, memory) = (gateway.open_files(), gateway.peak_memory());
    let whole = frame(&Head::new(Type::Message, 1), &[7; 500]);
    let with = |at: usize, bytes: &[u8]| {
        // The head's checksum is right: what is wrong is what it says.
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        let checksum = crc32c::crc32c(&changed[..36]);
        changed[36..40].copy_from_slice(&checksum.to_le_bytes());
        changed
    };
    let broken: Vec<(&str, Vec<u8>)> = vec![
        ("random bytes", noise(3, 300_000)),
        ("beginnings of frames", MAGIC.repeat(50_000)),
        ("a frame without its end", whole[..whole.len() - 100].to_vec()),
        ("a head without its end", whole[..HEAD_BYTES - 3].to_vec()),
        ("the longest length", with(12, &u32::MAX.to_le_bytes())),
        ("one byte more than is accepted", with(12, &((1 << 20) + 1_u32).to_le_bytes())),
        ("version 0", with(4, &[0])),
        ("version 2", with(4, &[2])),
        ("type 0", with(5, &[0])),
        ("type 200", with(5, &[200])),
        ("a payload with another checksum", with(32, &[1, 2, 3, 4])),
    ];
    for (name, bytes) in &broken {
        // Before the hello, and behind it.
        for begin in [&[][..], &hello()] {
            let mut client = plain(&gateway);
            let sent = client.write_all(begin).and_then(|()| client.write_all(bytes));
            assert!(sent.is_ok() || begin.is_empty(), "{name}: {sent:?}");
            others.exchange(5);
        }
    }
    gateway.wait_for_files(files);
    assert!(gateway.peak_memory() - memory < GROWTH, "{} bytes more", gateway.peak_memory() - memory);
    // Each of them is counted for who sent it.
    let mut client = gateway.connect();
    for (_, bytes) in &broken[..3] {
        client.send_bytes(bytes).unwrap();
        client.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
    }
    drop(client);
    others.exchange(5);
    let journal = gateway.end();
    assert!(journal.contains("its connection broke") || journal.contains("it left"), "{journal}");
    assert!(journal.contains(" damaged") && journal.contains("(a client) went"), "{journal}");
}

#[test]
fn who_sends_random_frames_for_ever_is_served_and_counted_beside_others() {
    let gateway = Process::start(None, BOTH);
    let mut others = Pair::open(&gateway.address);
    let memory = gateway.peak_memory();
    let mut client = plain(&gateway);
    client.set_nonblocking(true).unwrap();
    client.write_all(&hello()).unwrap();
    for round in 0..400_u64 {
        // Whole frames of every type, channel and flag, with payloads of noise.
        let bytes = noise(round + 1, 200);
        let kind = [Type::Subscribe, Type::Advertise, Type::Close, Type::Message, Type::Batch, Type::Heartbeat];
        let head = Head {
            flags: bytes[0].into(),
            sequence: round,
            ..Head::new(kind[usize::from(bytes[1]) % kind.len()], u32::from(bytes[2]))
        };
        let _ = client.write_all(&frame(&head, &bytes[3..])); // it does not read its answers, and its queue may be full
        others.exchange(1);
    }
    assert!(gateway.peak_memory() - memory < GROWTH);
}

#[test]
fn who_connects_and_says_nothing_or_a_byte_now_and_then_goes_after_three_heartbeats() {
    let gateway = Process::start(None, &format!("{BOTH}[limits]\nheartbeat_ms = 2000\n"));
    let mut others = Pair::open(&gateway.address);
    // Half open; one that greeted and is silent; one that greets a byte at a time; one that sends a frame so.
    let mut clients: [UnixStream; 4] = std::array::from_fn(|_| plain(&gateway));
    clients[1].write_all(&hello()).unwrap();
    clients[3].write_all(&hello()).unwrap();
    let drop_by_drop = [Vec::new(), Vec::new(), hello(), frame(&Head::new(Type::Message, 1), &[0; 100_000])];
    let mut gone = [false; 4];
    for byte in 0..1_000 {
        for ((client, bytes), gone) in clients.iter_mut().zip(&drop_by_drop).zip(&mut gone) {
            if *gone {
                continue;
            }
            // So few bytes that a hello is not through within three heartbeats.
            *gone = byte < bytes.len() && client.write_all(&bytes[byte..=byte]).is_err();
            client.set_nonblocking(true).unwrap();
            *gone |= loop {
                match client.read(&mut [0; 1_000]) {
                    Ok(0) => break true,
                    Ok(_) => {}
                    Err(error) => break error.kind() != ErrorKind::WouldBlock,
                }
            };
            client.set_nonblocking(false).unwrap();
        }
        others.exchange(1);
        if gone == [true; 4] {
            break;
        }
        horus::time::pause(Duration::from_millis(200));
    }
    assert_eq!(gone, [true; 4]);
    others.exchange(10);
    let journal = gateway.end();
    assert_eq!(journal.matches("it was silent for three heartbeats").count(), 4, "{journal}");
}

#[test]
fn who_speaks_while_the_gateway_is_held_up_is_not_taken_for_silent() {
    let gateway = Process::start(None, &format!("{BOTH}[limits]\nheartbeat_ms = 2000\n"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(5);
    gateway.signal(Signal::STOP);
    // For longer than three heartbeats. What both say then lies unread when it goes on.
    horus::time::pause(Duration::from_secs(7));
    for client in [&mut others.sender, &mut others.receiver] {
        client.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
    }
    gateway.signal(Signal::CONT);
    others.exchange(5);
    let journal = gateway.end();
    assert!(!journal.contains("silent for three heartbeats"), "{journal}");
}

/// A connection that says nothing yet, from an address of this machine.
fn stranger(from: Ipv4Addr, port: &str) -> TcpStream {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddrV4::new(from, 0)).unwrap();
    rustix::net::connect(&socket, &port.parse::<SocketAddrV4>().unwrap()).unwrap();
    socket.into()
}

#[test]
fn who_connects_again_and_again_displaces_himself() {
    let (gateway, port) = Process::start_on_tcp(&format!("{BOTH}[limits]\nclients = 4\nheartbeat_ms = 60000\n"));
    let is_answered = |mut client: TcpStream| {
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.read(&mut [0; 64]).unwrap() > 0
    };
    // The gateway finds all of them at once: who has said hello is heard before his place is given away.
    gateway.signal(Signal::STOP);
    let mut good = stranger(Ipv4Addr::LOCALHOST, &port);
    good.write_all(&hello()).unwrap();
    let crowd: Vec<_> = (0..40).map(|_| stranger(Ipv4Addr::LOCALHOST, &port)).collect();
    gateway.signal(Signal::CONT);
    assert!(is_answered(good.try_clone().unwrap()), "it was displaced before it was heard");
    drop((good, crowd));
    // Of two addresses, the one with the crowd makes room.
    let mut slow = stranger(Ipv4Addr::new(127, 0, 0, 2), &port);
    for _ in 0..40 {
        let _ = stranger(Ipv4Addr::LOCALHOST, &port);
    }
    let crowd: Vec<_> = (0..40).map(|_| stranger(Ipv4Addr::LOCALHOST, &port)).collect();
    assert!(!is_answered(crowd[0].try_clone().unwrap()), "one of a crowd is displaced");
    slow.write_all(&hello()).unwrap();
    assert!(is_answered(slow), "a crowd at another address displaced it");
}

#[test]
fn a_topic_that_is_cut_off_is_told_and_served_again() {
    let gateway = Process::start(None, &format!("{BOTH}[limits]\nheartbeat_ms = 60000\n"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(3);
    let file = gateway.topic_file("speed");
    std::fs::File::options().write(true).open(&file).unwrap().set_len(100).unwrap();
    let until = Instant::now() + PATIENCE;
    while !gateway.journal().contains("gateway: topic speed: ") || file.metadata().is_ok_and(|file| file.len() == 100) {
        assert!(Instant::now() < until, "{}", gateway.journal());
        std::thread::yield_now();
    }
    assert!(gateway.journal().contains("was cut off while"), "{}", gateway.journal());
    others.exchange(3);
}

#[test]
fn a_client_that_breaks_off_in_any_state_leaves_nothing_and_disturbs_nobody() {
    let gateway = Process::start(None, &format!("{BOTH}{LOGGED}[limits]\nheartbeat_ms = 60000\n"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(300);
    let files = gateway.open_files();
    let from_the_log = from(1).payload();
    let every = Subscribe { when_full: WhenFull::DropNewest, ..now("speed") }.payload();
    let topic = words::Advertise { layout_hash: 0, topic: "speed".into() }.payload();
    let wants_ack = Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) };
    let states: [&[Vec<u8>]; 9] = [
        &[],
        &[hello()],
        &[hello()[..20].to_vec()],
        &[hello(), frame(&Head::new(Type::Subscribe, 1), &every)],
        &[hello(), frame(&Head::new(Type::Subscribe, 1), &from_the_log)],
        &[hello(), frame(&Head::new(Type::Advertise, 1), &topic)],
        &[hello(), frame(&Head::new(Type::Advertise, 1), &topic), frame(&wants_ack, &[7; 100])[..90].to_vec()],
        &[hello(), frame(&Head::new(Type::Advertise, 1), &topic), frame(&wants_ack, b"whole")],
        &[hello(), frame(&Head::new(Type::Subscribe, 1), &every), frame(&Head::new(Type::Close, 1), &[])],
    ];
    let mut more = 0;
    for round in 0..20 {
        for (number, state) in states.iter().enumerate() {
            let mut client = plain(&gateway);
            for bytes in *state {
                client.write_all(bytes).unwrap();
            }
            if round % 2 == 0 {
                // What it asked for is under way when it ends.
                let _ = client.set_nonblocking(true).and_then(|()| client.read(&mut [0; 10]).map(|_| ()));
            }
            more += usize::from(number == 7);
            drop(client);
        }
        let mut connection = gateway.connect();
        connection.subscribe(1, &now("speed")).unwrap();
    }
    gateway.wait_for_files(files);
    // What they had sent whole has come to the others as well.
    let mut client = gateway.connect();
    let (sent, found) = (300 + more, client.subscribe(1, &from(1)).unwrap());
    assert_eq!(found.next as usize, sent + 1);
    let found = messages(&mut client, sent);
    assert_eq!(found.iter().filter(|(_, message)| message == b"whole").count(), more);
}

#[test]
fn a_thousand_clients_get_everything_beside_one_that_is_slow_and_one_that_sends_garbage() {
    const CLIENTS: usize = 1_000;
    const MESSAGES: usize = 200;
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit {
            current: Some(4_096),
            maximum: rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
        },
    )
    .unwrap();
    let limits = "[limits]\nclients = 1100\nheartbeat_ms = 60000\nqueue_bytes = 70000\npayload_bytes = 30000\n";
    let gateway = Process::start(None, &format!("{BOTH}{limits}"));
    let mut sender = gateway.connect();
    sender.advertise(1, &advertise("speed")).unwrap();
    let subscribed = || {
        let mut client = gateway.connect();
        client.subscribe(1, &now("speed")).unwrap();
        client
    };
    let mut clients: Vec<Connection> = (0..CLIENTS).map(|_| subscribed()).collect();
    let (_slow, mut garbage) = (subscribed(), subscribed());
    let memory = gateway.peak_memory();
    for number in 0..MESSAGES {
        send(&mut sender, 1, &[number as u8; 500]);
        let _ = garbage.send_bytes(&noise(number as u64, 5_000)); // it is never disconnected for it
        if number % 20 == 19 {
            for client in &mut clients {
                let found = messages(client, 20);
                let first = number as u64 - 18;
                assert!(found.iter().map(|(sequence, _)| *sequence).eq(first..first + 20), "{found:?}");
            }
        }
    }
    assert!(clients.iter().all(|client| client.damage().total() == 0));
    let grown = gateway.peak_memory() - memory;
    // Their queues, and a decoder each that was used.
    assert!(grown < 1_100 * 100_000, "{grown} bytes more");
}

#[test]
fn a_log_whose_directory_is_taken_away_is_told_and_messages_still_come() {
    let log = "log = { durability = \"none\", segment_bytes = 8192, keep_bytes = 1048576 }\n";
    let gateway = Process::start(None, &format!("{BOTH}{log}"));
    let mut others = Pair::open(&gateway.address);
    others.exchange(10);
    let mut sender = gateway.connect();
    sender.advertise(1, &advertise("speed")).unwrap();
    let mut is_logged = || {
        sender.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) }, &[7; 500]).unwrap();
        let ack = Ack::read(&next(&mut sender).1).unwrap();
        assert_eq!(ack.taken + ack.lost, 1);
        ack.taken == 1
    };
    std::fs::rename(&gateway.log, gateway.log.with_extension("away")).unwrap();
    let before = (0..1_000).take_while(|_| is_logged()).count();
    assert!((1..100).contains(&before), "what the last segment had room for: {before}");
    std::fs::rename(gateway.log.with_extension("away"), &gateway.log).unwrap();
    // It is there again, and is tried again once a second.
    let lost = 1 + std::iter::repeat_with(&mut is_logged).take_while(|is_logged| !is_logged).count() as u64;
    assert!((0..19).all(|_| is_logged()));
    let mut client = gateway.connect();
    let missing = 10 + before as u64 + 1;
    let next = missing + lost + 20;
    assert_eq!(client.subscribe(1, &from(1)).unwrap().next, next, "what was not logged has its number too");
    let found: Vec<u64> =
        messages(&mut client, (next - 1 - lost) as usize).into_iter().map(|(number, _)| number).collect();
    assert!(found.into_iter().eq((1..missing).chain(missing + lost..next)));
    let journal = gateway.end();
    assert!(
        journal.matches("the log's directory was taken away").count() == 1
            && journal.contains(&format!(" {lost} lost from the log")),
        "{lost}: {journal}"
    );
}

#[test]
fn the_journal_tells_what_a_slow_client_lost() {
    const SENT: u64 = 2_000;
    let limits = "[limits]\nqueue_bytes = 70000\npayload_bytes = 30000\nheartbeat_ms = 60000\n";
    let gateway = Process::start(None, &format!("{BOTH}{limits}"));
    let (mut sender, mut slow, mut quick) = (gateway.connect(), gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    for client in [&mut slow, &mut quick] {
        client.subscribe(1, &now("speed")).unwrap();
    }
    for number in 1..=SENT {
        send(&mut sender, 1, &[7; 1_000]);
        assert_eq!(messages(&mut quick, 1).remove(0).0, number, "the one that reads gets all");
    }
    // The number of the last message tells the client how many there were.
    let (mut came, mut last) = (0, 0);
    while last < SENT {
        let found = messages(&mut slow, 1);
        came += found.len() as u64;
        last = found.last().unwrap().0;
    }
    let lost = SENT - came;
    assert!(lost > 0, "it was slow");
    drop(slow);
    let until = Instant::now() + PATIENCE;
    while !gateway.journal().contains(&format!("; {came} messages to it, {lost} dropped, 0 from it, 0 damaged")) {
        assert!(Instant::now() < until, "{}", gateway.journal());
        std::thread::yield_now();
    }
}
