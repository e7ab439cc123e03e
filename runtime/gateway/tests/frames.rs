//! Frames arrive as they were sent, in any pieces, and are found again behind anything else.

use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Ack, Advertise, Begin, Heartbeat, Subscribe, Topic, Welcome, WhenFull};
use horus_gateway::frame::{Damage, Decoder, HEAD_BYTES, Head, Type, WANTS_ACK, encode};
use proptest::prelude::*;

const MAXIMUM: usize = 4 << 10;

type Sent = (Head, Vec<u8>);

fn frame(number: u64, bytes: usize) -> Sent {
    let kind = Type::ALL[number as usize % Type::ALL.len()];
    let head = Head { kind, flags: WANTS_ACK, channel: 7, sequence: number, stamp_ns: u64::MAX - number };
    (head, (0..bytes).map(|byte| (byte as u64 ^ number) as u8).collect())
}

fn bytes_of((head, payload): &Sent) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes, head, payload);
    bytes
}

/// All frames in a stream that comes in pieces of `piece` bytes, and what was passed over.
fn decoded(stream: &[u8], piece: usize) -> (Vec<Sent>, Damage) {
    let mut decoder = Decoder::new(MAXIMUM);
    let mut found = Vec::new();
    for mut piece in stream.chunks(piece.max(1)) {
        while !piece.is_empty() {
            piece = &piece[decoder.take(piece)..];
            while let Some(frame) = decoder.next() {
                found.push((frame.head, frame.payload.to_vec()));
            }
        }
    }
    assert!(decoder.memory() <= (64 << 10) + HEAD_BYTES + MAXIMUM);
    (found, decoder.damage())
}

#[test]
fn frames_arrive_in_any_pieces() {
    let sent: Vec<Sent> = (0..40).map(|number| frame(number, number as usize * 97 % MAXIMUM)).collect();
    let stream: Vec<u8> = sent.iter().flat_map(bytes_of).collect();
    for piece in [1, 2, 3, 39, 40, 41, 1_000, stream.len()] {
        assert_eq!(decoded(&stream, piece), (sent.clone(), Damage::default()), "pieces of {piece}");
    }
}

#[test]
fn a_frame_that_breaks_off_at_any_byte_costs_itself_alone() {
    let (broken, next, last) = (frame(1, 90), frame(2, 5), frame(3, 60));
    let whole = bytes_of(&broken);
    for end in 0..whole.len() {
        let stream = [&whole[..end], &bytes_of(&next), &bytes_of(&last)].concat();
        for piece in [1, 64, stream.len()] {
            let (found, damage) = decoded(&stream, piece);
            assert_eq!(found, [next.clone(), last.clone()], "broken off at {end}, in pieces of {piece}");
            assert_eq!(damage.total(), u64::from(end > 0), "{damage:?}");
        }
    }
}

#[test]
fn every_flipped_bit_costs_its_frame_alone_and_is_counted_once() {
    let (before, flipped, next) = (frame(1, 30), frame(2, 50), frame(3, 30));
    let whole = bytes_of(&flipped);
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let stream = [bytes_of(&before), damaged, bytes_of(&next)].concat();
        let (found, damage) = decoded(&stream, 50);
        assert_eq!(found, [before.clone(), next.clone()], "bit {bit}");
        assert_eq!(damage.total(), 1, "bit {bit}: {damage:?}");
    }
}

#[test]
fn what_is_too_long_or_of_another_version_is_passed_over_whole() {
    let next = frame(3, 30);
    let long = bytes_of(&frame(1, MAXIMUM + 1));
    // It holds what looks like a frame. The head is right, so its length is believed.
    let mut holding = bytes_of(&(frame(1, 0).0, [bytes_of(&next), vec![0; MAXIMUM]].concat()));
    holding.extend(bytes_of(&next));
    let mut version = bytes_of(&frame(1, 200));
    version[4] = 2;
    let checksum = crc32c::crc32c(&version[..36]);
    version[36..40].copy_from_slice(&checksum.to_le_bytes());
    let mut kind = bytes_of(&frame(1, 200));
    kind[5] = 200;
    let checksum = crc32c::crc32c(&kind[..36]);
    kind[36..40].copy_from_slice(&checksum.to_le_bytes());
    for piece in [1, 100, 10_000] {
        let (found, damage) = decoded(&[long.clone(), bytes_of(&next)].concat(), piece);
        assert_eq!((found, damage), (vec![next.clone()], Damage { too_long: 1, ..Damage::default() }));
        assert_eq!(decoded(&holding, piece).0, std::slice::from_ref(&next));
        for unknown in [&version, &kind] {
            let (found, damage) = decoded(&[unknown.clone(), bytes_of(&next)].concat(), piece);
            assert_eq!((found, damage), (vec![next.clone()], Damage { unknown: 1, ..Damage::default() }));
        }
    }
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let messages: Vec<Vec<u8>> = (0..10).map(|number| vec![number; usize::from(number) * 3]).collect();
    let mut payload = Vec::new();
    let items: Vec<Item<'_>> =
        (5..).zip(&messages).map(|(sequence, message)| Item { sequence, stamp_ns: 9, message }).collect();
    items.iter().for_each(|item| batch::push(&mut payload, item));
    let found = batch::items(&payload).unwrap();
    assert_eq!((found.len(), found.collect::<Vec<_>>()), (10, items));
    // The borders of messages are ends of shorter batches; nothing else is.
    let mut borders = vec![];
    let mut end = 0;
    for message in &messages {
        end += batch::ITEM_HEAD_BYTES + message.len();
        borders.push(end);
    }
    for end in 0..payload.len() {
        assert_eq!(batch::items(&payload[..end]).is_some(), borders.contains(&end), "{end}");
    }
}

#[test]
fn what_is_said_between_client_and_gateway_is_read_as_it_was_written() {
    let beginnings = [Begin::Now, Begin::Sequence(u64::MAX), Begin::Unix(5)];
    let policies = [WhenFull::DropOldest, WhenFull::DropNewest, WhenFull::Disconnect];
    for (begin, when_full) in beginnings.into_iter().zip(policies) {
        let subscribe = Subscribe { begin, when_full, topic: "base.cmd".into() };
        every_shorter_one_is_refused(&subscribe.payload(), Subscribe::read, &subscribe);
    }
    let advertise = Advertise { layout_hash: 1 << 63, topic: "größe".into() };
    every_shorter_one_is_refused(&advertise.payload(), Advertise::read, &advertise);
    let welcome = Welcome { instance: 1, heartbeat_ms: 2, max_payload: 3 };
    every_shorter_one_is_refused(&welcome.payload(), Welcome::read, &welcome);
    let text = "horus/CmdVel\nfields".to_owned();
    let topic = Topic { layout_hash: 1, next: 2, first: 3, message_bytes: 4, is_of_bytes: true, text };
    every_shorter_one_is_refused(&topic.payload(), Topic::read, &topic);
    let ack = Ack { sequence: 1, taken: 2, lost: 3 };
    every_shorter_one_is_refused(&ack.payload(), Ack::read, &ack);
    let heartbeat = Heartbeat { sent: 1, dropped: 2, taken: 3, damaged: 4, unlogged: 5, disk_failures: 6 };
    let payload = heartbeat.payload();
    assert_eq!(Heartbeat::read(&payload), Some(heartbeat));
    // One of before that says nothing of logs.
    let before = Heartbeat { unlogged: 0, disk_failures: 0, ..heartbeat };
    every_shorter_one_is_refused(
        &payload[..32],
        |payload| Heartbeat::read(payload.get(..32).unwrap_or(payload)),
        &before,
    );
}

fn every_shorter_one_is_refused<T: PartialEq + std::fmt::Debug>(
    payload: &[u8],
    read: impl Fn(&[u8]) -> Option<T>,
    written: &T,
) {
    assert_eq!(read(payload).as_ref(), Some(written));
    assert_eq!(read(&[payload, &[1, 2, 3]].concat()).as_ref(), Some(written), "what a later version adds");
    (0..payload.len()).for_each(|end| assert_eq!(read(&payload[..end]), None));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_found_between_any_garbage(
        parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..80), 0_usize..300), 1..12),
        magic in any::<bool>(),
        piece in 1_usize..500,
    ) {
        let mut stream = Vec::new();
        let mut sent = Vec::new();
        for (number, (garbage, length)) in parts.into_iter().enumerate() {
            stream.extend(garbage);
            if magic {
                stream.extend(b"HRGW");
            }
            sent.push(frame(number as u64, length));
            stream.extend(bytes_of(&sent[number]));
        }
        prop_assert_eq!(decoded(&stream, piece).0, sent);
    }

    #[test]
    fn any_bytes_are_passed_over_and_every_one_is_counted(bytes in prop::collection::vec(any::<u8>(), 0..2_000), piece in 1_usize..200) {
        let (found, damage) = decoded(&bytes, piece);
        prop_assert!(found.is_empty());
        // A frame could begin with the last ones.
        prop_assert!(bytes.len() as u64 - damage.garbage_bytes < HEAD_BYTES as u64);
        prop_assert!(batch::items(&bytes).is_none_or(|items| items.count() > 0));
        let _ = (Subscribe::read(&bytes), Advertise::read(&bytes), Topic::read(&bytes));
    }
}
