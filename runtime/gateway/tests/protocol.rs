//! The examples of docs/gateway-protocol.md are what this crate sends.

use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Begin, Subscribe, WhenFull, text};
use horus_gateway::frame::{Decoder, Head, Type, encode};

const DOCUMENT: &str = include_str!("../../../docs/gateway-protocol.md");

/// The bytes of each block of the document that has bytes.
fn examples() -> Vec<Vec<u8>> {
    let blocks = DOCUMENT.split("```").skip(1).step_by(2).filter(|block| block.starts_with('\n'));
    blocks.map(|block| block.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()).collect()
}

fn frame(head: Head, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes, &head, payload);
    bytes
}

#[test]
fn the_examples_of_the_document_are_the_bytes_that_are_sent_and_understood() {
    let begin = Begin::Sequence(1_000);
    let subscribe = Subscribe { begin, when_full: WhenFull::DropOldest, topic: "imu".into() };
    let mut items = Vec::new();
    for (sequence, message) in [(1_000, &b"hi"[..]), (1_001, b"")] {
        batch::push(&mut items, &Item { sequence, stamp_ns: 0, message });
    }
    let sent = [
        frame(Head::new(Type::Hello, 0), &text("laptop")),
        frame(Head::new(Type::Subscribe, 1), &subscribe.payload()),
        frame(Head { sequence: 1_000, stamp_ns: 5_000_000_000, ..Head::new(Type::Message, 1) }, b"hi!"),
        frame(Head { sequence: 1_000, ..Head::new(Type::Batch, 1) }, &items),
    ];
    assert_eq!(examples(), sent);
    let mut decoder = Decoder::new(100);
    for bytes in &sent {
        assert_eq!(decoder.take(bytes), bytes.len());
        assert!(decoder.next().is_some());
    }
}

#[test]
fn the_description_of_the_document_is_the_one_that_is_sent() {
    let said = DOCUMENT.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let description = horus::message::description::<horus::messages::Pose3D>();
    assert_eq!(said, format!("horus/Pose3D\n{description}\n"));
}

#[test]
fn the_types_of_the_document_have_its_numbers() {
    for kind in Type::ALL {
        let row = format!("| {} | {} |", kind as u8, format!("{kind:?}").to_lowercase());
        assert!(DOCUMENT.contains(&row), "{row}");
    }
}

#[test]
fn the_settings_of_the_guide_are_taken() {
    let guide = include_str!("../../../docs/gateway.md");
    let settings = guide.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let config: horus_gateway::server::config::Config = settings.parse().unwrap();
    assert_eq!((config.listen.len(), config.topics.len()), (2, 2));
}
