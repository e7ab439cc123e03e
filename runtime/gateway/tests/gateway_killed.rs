//! A gateway that is killed at any moment has lost nothing that it acknowledged with `durability = "each"`, and replays nothing torn.

mod running;

use std::time::Duration;

use horus_gateway::frame::words::{Ack, Subscribe};
use horus_gateway::frame::{Head, Type, WANTS_ACK, batch};
use running::process::Process;
use running::talk::*;

/// How often it is killed; the long run asks for more.
fn kills() -> u64 {
    std::env::var("HORUS_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
}

fn message(number: u64) -> Vec<u8> {
    let length = 8 + (number.wrapping_mul(0x9e37_79b9) >> 7) as usize % 300;
    number.to_le_bytes().into_iter().cycle().take(length).collect()
}

#[test]
fn a_gateway_that_is_killed_while_it_writes_has_all_that_it_acknowledged_and_nothing_torn() {
    // Small segments: a kill often meets the change from one to the next.
    let log = "log = { durability = \"each\", segment_bytes = 8192, keep_bytes = 131072 }\n";
    let mut gateway = Process::start(None, &format!("{BOTH}{log}"));
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    for kill in 0..kills() {
        let mut sender = gateway.connect();
        sender.advertise(1, &advertise("speed")).unwrap();
        // It writes while it is killed: there is always more on its way than it has answered.
        let wanted = 1 + kill * 7 % 12;
        let mut answered = 0;
        while answered < wanted {
            sent += 1;
            sender
                .send(&Head { flags: WANTS_ACK, sequence: sent, ..Head::new(Type::Message, 1) }, &message(sent))
                .unwrap();
            while let Some(frame) = sender.receive(Duration::ZERO).unwrap() {
                if frame.head.kind == Type::Ack {
                    let ack = Ack::read(frame.payload).unwrap();
                    assert_eq!((ack.taken, ack.lost), (1, 0));
                    acknowledged = acknowledged.max(frame.head.sequence);
                    answered += 1;
                }
            }
        }
        gateway.kill_and_start();
        sent = look_at_all(&gateway, acknowledged);
    }
    let journal = gateway.end();
    assert!(!journal.contains("damaged:"), "{journal}");
}

/// Reads the log from its beginning; the last message's number in it. Messages say which one they are.
fn look_at_all(gateway: &Process, acknowledged: u64) -> u64 {
    let mut client = gateway.connect();
    let topic = client.subscribe(1, &Subscribe { ..from(1) }).unwrap();
    let (mut at, mut last) = (topic.first, 0);
    while at < topic.next {
        let (head, payload) = next(&mut client);
        assert_eq!(head.kind, Type::Batch);
        for item in batch::items(&payload).unwrap() {
            last = u64::from_le_bytes(item.message[..8].try_into().unwrap());
            assert_eq!((item.sequence, item.message), (at, message(last).as_slice()));
            at += 1;
        }
    }
    assert!(last >= acknowledged, "{acknowledged} was acknowledged, and {last} is the last that is there");
    last
}
