//! A stream of frames, damaged frames and anything else: the decoder gives the same in whatever pieces it comes, in bounded memory, and
//! all payloads are read without a panic.
#![no_main]

use horus_gateway::frame::words::{Ack, Advertise, Heartbeat, Subscribe, Topic, Welcome, read_text};
use horus_gateway::frame::{Damage, Decoder, HEAD_BYTES, Head, Type, batch, encode};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// The longest payload that is accepted here.
const MAXIMUM: usize = 600;

#[derive(Arbitrary, Debug)]
enum Piece {
    /// Anything.
    Bytes(Vec<u8>),
    /// A frame.
    Frame { kind: u8, flags: u16, channel: u32, sequence: u64, payload: Vec<u8> },
    /// A frame of another version or type, or with another length, whose head has the right checksum.
    Odd { at: u8, byte: u8, payload: Vec<u8> },
    /// A frame with a byte changed.
    Damaged { at: u16, byte: u8, payload: Vec<u8> },
    /// A frame that breaks off.
    Broken { bytes: u8, payload: Vec<u8> },
}

#[derive(Arbitrary, Debug)]
struct Input {
    pieces: Vec<Piece>,
    step: u8,
}

fn frame(kind: u8, flags: u16, channel: u32, sequence: u64, payload: &[u8]) -> Vec<u8> {
    let kind = Type::ALL[usize::from(kind) % Type::ALL.len()];
    let mut bytes = Vec::new();
    encode(&mut bytes, &Head { kind, flags, channel, sequence, stamp_ns: 7 }, payload);
    bytes
}

impl Piece {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Frame { kind, flags, channel, sequence, payload } => {
                frame(*kind, *flags, *channel, *sequence, payload)
            }
            Self::Odd { at, byte, payload } => {
                let mut bytes = frame(8, 0, 1, 1, payload);
                bytes[usize::from(*at) % 36] = *byte;
                let checksum = crc32c(&bytes[..36]);
                bytes[36..HEAD_BYTES].copy_from_slice(&checksum.to_le_bytes());
                bytes
            }
            Self::Damaged { at, byte, payload } => {
                let mut bytes = frame(8, 0, 1, 1, payload);
                let at = usize::from(*at) % bytes.len();
                bytes[at] ^= byte;
                bytes
            }
            Self::Broken { bytes, payload } => {
                let mut whole = frame(8, 0, 1, 1, payload);
                whole.truncate(usize::from(*bytes));
                whole
            }
        }
    }
}

/// As the specification has it, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

fn decode(stream: &[u8], step: usize) -> (Vec<(Head, Vec<u8>)>, Damage) {
    let mut decoder = Decoder::new(MAXIMUM);
    let mut found = Vec::new();
    for piece in stream.chunks(step) {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = decoder.take(rest);
            assert!(taken > 0, "there is always room");
            rest = &rest[taken..];
            while let Some(frame) = decoder.next() {
                assert!(frame.payload.len() <= MAXIMUM);
                found.push((frame.head, frame.payload.to_vec()));
            }
            assert!(decoder.memory() <= 4 * (HEAD_BYTES + MAXIMUM), "{} bytes", decoder.memory());
        }
    }
    (found, decoder.damage())
}

fuzz_target!(|input: Input| {
    let stream: Vec<u8> = input.pieces.iter().flat_map(Piece::bytes).collect();
    let (found, damage) = decode(&stream, stream.len().max(1));
    assert_eq!((&found, damage), (&decode(&stream, usize::from(input.step) + 1).0, damage));
    assert_eq!(damage, decode(&stream, usize::from(input.step) + 1).1);
    if input.pieces.iter().all(|piece| matches!(piece, Piece::Frame { .. })) {
        let fitting = input
            .pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Frame { payload, .. } if payload.len() <= MAXIMUM));
        assert_eq!((found.len(), damage.garbage, damage.payloads), (fitting.count(), 0, 0), "whole frames all arrive");
    }
    for (_, payload) in &found {
        let _ = (Welcome::read(payload), Subscribe::read(payload), Advertise::read(payload), Topic::read(payload));
        let _ = (Ack::read(payload), Heartbeat::read(payload), read_text(payload));
        if let Some(items) = batch::items(payload) {
            let mut again = Vec::new();
            assert!(items.len() > 0);
            items.for_each(|item| batch::push(&mut again, &item));
            assert_eq!(&again, payload, "a batch is its messages and nothing else");
        }
    }
});
