//! Seven defects of the broker Hermes, each of which users met, and each of which is tested for here by what users would see.

mod running;

use horus_gateway::client::ClientError;
use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Ack, Subscribe, WhenFull};
use horus_gateway::frame::{Head, Type, WANTS_ACK, encode};
use horus_gateway::log::{Durability, From, Log, Options};
use running::Gateway;
use running::talk::*;

/// 1. Its stress test counted 6093 messages as sent, of which its server had taken none: both made checksums in their own way.
#[test]
fn what_a_sender_counts_is_what_the_gateway_took_and_a_receiver_got() {
    let gateway = Gateway::start(&format!("{BOTH}[limits]\nheartbeat_ms = 2000\n"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    for number in 0..600_u64 {
        send(&mut sender, 1, &number.to_le_bytes());
    }
    assert_eq!(messages(&mut receiver, 600).len(), 600);
    let taken = std::iter::from_fn(|| Some(heartbeat(&mut sender).taken)).find(|taken| *taken >= 600);
    assert_eq!(taken, Some(600));
}

/// 2. One frame with a wrong checksum ended a connection's hearing for ever.
#[test]
fn a_wrong_checksum_costs_its_frame_and_not_the_connection() {
    let gateway = Gateway::start(BOTH);
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let mut bytes = Vec::new();
    encode(&mut bytes, &Head::new(Type::Message, 1), b"damaged");
    bytes[32] ^= 1;
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    for good in 0..5_u8 {
        encode(&mut bytes, &Head::new(Type::Message, 1), &[good]);
    }
    sender.send_bytes(&bytes).unwrap();
    let found: Vec<Vec<u8>> = messages(&mut receiver, 5).into_iter().map(|(_, message)| message).collect();
    assert_eq!(found, (0..5).map(|good| vec![good]).collect::<Vec<_>>());
}

/// 3. A batch was accepted and thrown away.
#[test]
fn a_batch_of_ten_is_acknowledged_delivered_and_logged_as_ten() {
    let gateway = Gateway::start(&format!("{BOTH}{LOGGED}"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let mut payload = Vec::new();
    (0..10_u8).for_each(|number| batch::push(&mut payload, &Item { sequence: 0, stamp_ns: 0, message: &[number] }));
    sender.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Batch, 1) }, &payload).unwrap();
    let wanted: Vec<_> = (0..10_u8).map(|number| (u64::from(number) + 1, vec![number])).collect();
    assert_eq!(messages(&mut receiver, 10), wanted);
    assert_eq!(Ack::read(&next(&mut sender).1), Some(Ack { sequence: 10, taken: 10, lost: 0 }));
    let mut late = gateway.connect();
    late.subscribe(1, &from(1)).unwrap();
    assert_eq!(messages(&mut late, 10), wanted);
}

/// 4. Who closed its connection was never missed: nine connects, no disconnect, and an error a message a ghost.
#[test]
fn who_leaves_is_gone_at_once_and_its_place_is_free() {
    let gateway = Gateway::start(&format!("{BOTH}[limits]\nclients = 9\nheartbeat_ms = 60000\n"));
    for _ in 0..30 {
        // Nine at a time: who comes later has a place only if the others' leaving was noticed, long before a heartbeat.
        let nine: Vec<_> = (0..9).map(|_| connect_when_there_is_room(&gateway)).collect();
        assert!(matches!(
            horus_gateway::client::Connection::open(&gateway.address(), "tenth"),
            Err(ClientError::Closed)
        ));
        drop(nine);
    }
}

fn connect_when_there_is_room(gateway: &Gateway) -> horus_gateway::client::Connection {
    let open = || horus_gateway::client::Connection::open(&gateway.address(), "one of nine");
    let mut client =
        std::iter::from_fn(|| Some(open().ok())).take(1_000_000).flatten().next().expect("there is room again");
    client.subscribe(1, &now("speed")).unwrap();
    client
}

/// 5. Who read slowly got frames that began in the middle: one that had been written in part was written anew from its beginning.
#[test]
fn who_reads_slowly_gets_whole_frames_in_order_and_the_count_of_all_others() {
    let gateway = Gateway::start(
        "[topics.speed]\ndirection = \"both\"\nbytes = 1024\n[limits]\nqueue_bytes = 70000\npayload_bytes = 30000\nheartbeat_ms = 2000\n",
    );
    let (mut sender, mut slow) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    slow.subscribe(1, &Subscribe { when_full: WhenFull::DropNewest, ..now("speed") }).unwrap();
    const SENT: u64 = 5_000;
    for number in 1..=SENT {
        let head = Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) };
        sender.send(&head, &[number as u8; 1_024]).unwrap();
        // It reads nothing, but it is there: the gateway takes a client that says nothing for three heartbeats for dead.
        slow.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        // It waits for each: what is missing is missing for want of reading alone.
        assert_eq!(Ack::read(&next_ack(&mut sender)), Some(Ack { sequence: number, taken: 1, lost: 0 }));
    }
    let (mut last, mut got) = (0, 0);
    let counts = loop {
        let frame = slow.receive(running::PATIENCE).unwrap().expect("it comes");
        match frame.head.kind {
            Type::Message => {
                assert!(frame.head.sequence > last && frame.payload == [frame.head.sequence as u8; 1_024]);
                (last, got) = (frame.head.sequence, got + 1);
            }
            Type::Heartbeat => {
                let counts = horus_gateway::frame::words::Heartbeat::read(frame.payload).unwrap();
                if counts.sent == got {
                    break counts;
                }
            }
            Type::Batch => {
                for item in batch::items(frame.payload).unwrap() {
                    assert!(item.sequence > last && item.message == [item.sequence as u8; 1_024]);
                    (last, got) = (item.sequence, got + 1);
                }
            }
            _ => {}
        }
    };
    assert_eq!((counts.sent + counts.dropped, slow.damage().total()), (SENT, 0));
    assert!(counts.dropped > 0, "it was slow");
}

fn next_ack(connection: &mut horus_gateway::client::Connection) -> Vec<u8> {
    loop {
        let (head, payload) = next(connection);
        if head.kind == Type::Ack {
            return payload;
        }
    }
}

/// 6. Its storage took 10922 messages of 1 MiB in its life, none afterwards, and opened a file of another size as it was.
#[test]
fn a_log_that_is_full_keeps_the_newest_and_goes_on_in_another_size() {
    let scratch = tempfile::tempdir().unwrap();
    let options = |segment_bytes| Options {
        segment_bytes,
        keep_bytes: 1 << 20,
        durability: Durability::None,
        ..Options::default()
    };
    let fill = |segment_bytes, messages: u64| {
        let (mut log, found) = Log::open(scratch.path(), options(segment_bytes)).unwrap();
        assert!(!found.torn && found.damaged_files.is_empty(), "{found:?}");
        for number in log.next_sequence()..log.next_sequence() + messages {
            assert_eq!(log.append(&[number as u8; 96], 1, 0).unwrap(), number);
        }
        let mut reader = log.reader(From::First);
        let mut found = Vec::new();
        while let Some(read) = reader.next(&mut log) {
            assert_eq!(read.message, [read.sequence as u8; 96]);
            found.push(read.sequence);
        }
        assert!(log.bytes() <= 1 << 20);
        assert!(found.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        (found.len(), *found.last().unwrap())
    };
    let (kept, last) = fill(64 << 10, 50_000);
    assert!(kept > 5_000 && last == 50_000, "{kept} to {last}");
    let (kept, last) = fill(128 << 10, 20_000);
    assert!(kept > 5_000 && last == 70_000, "{kept} to {last}");
}

/// 7. It copied each message for each client, and made a system call for each.
#[test]
fn messages_that_come_together_go_out_in_few_frames() {
    let gateway = Gateway::start(&BOTH.replace("capacity = 64", "capacity = 1024"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let mut bytes = Vec::new();
    for number in 0..1_000_u64 {
        encode(&mut bytes, &Head::new(Type::Message, 1), &number.to_le_bytes());
    }
    sender.send_bytes(&bytes).unwrap();
    let (mut frames, mut got) = (0, 0);
    while got < 1_000 {
        let frame = receiver.receive(running::PATIENCE).unwrap().expect("it comes");
        match frame.head.kind {
            Type::Message => got += 1,
            Type::Batch => got += batch::items(frame.payload).unwrap().len(),
            _ => continue,
        }
        frames += 1;
    }
    // As many as the kernel hands over reads, and not as there are messages.
    assert!(frames <= 100, "{frames} frames for {got} messages");
}
