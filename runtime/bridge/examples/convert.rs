//! Converters, for comparison with a ROS 2: `convert write` prints a sample of each, `convert read` compares what comes back.
//!
//! A line is `ROS OURS HEX`, the bytes with the four in front. The answer to each line is `ROS OURS same`, `differs` or `one way`.

use std::io::stdin;

use horus_bridge::cdr::{ENCAPSULATION, Writer};
use horus_bridge::convert::samples::{self, OFFSET, Sample};
use horus_bridge::convert::{Context, Mismatch, Pairing};

fn main() {
    let context = Context { offset: OFFSET, frame: "frame".to_owned() };
    let samples = samples::all();
    if std::env::args().nth(1).as_deref() == Some("write") {
        return samples.iter().for_each(|sample| write(sample, &context));
    }
    for line in stdin().lines().map_while(Result::ok) {
        let words: Vec<_> = line.split(' ').collect();
        let [ros, ours, hex] = words[..] else { continue };
        let sample = samples.iter().find(|sample| sample.ros == ros && sample.ours.name() == ours);
        let sample = sample.expect("a sample that was written");
        println!("{ros} {ours} {}", read(sample, &bytes_of(hex), &context));
    }
}

fn write(sample: &Sample, context: &Context) {
    let pairing = Pairing::new(&sample.ours, Some(sample.ros), true).expect("a converter");
    let mut bytes = Vec::new();
    pairing.write(sample.bytes(), &mut Writer::new(&mut bytes), context).expect("it can be said");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{} {} {hex}", sample.ros, sample.ours.name());
}

fn read(sample: &Sample, bytes: &[u8], context: &Context) -> &'static str {
    let pairing = match Pairing::new(&sample.ours, Some(sample.ros), false) {
        Ok(pairing) => pairing,
        Err(Mismatch::OneWay { .. }) => return "one way",
        Err(error) => panic!("{error}"),
    };
    let room = sample.bytes().len().max(64);
    let mut words = vec![0_u64; room.div_ceil(8)];
    let place = &mut horus::zerocopy::IntoBytes::as_mut_bytes(&mut words[..])[..room];
    let place = if sample.bytes().len() < 64 && sample.ours.name() != horus::topic::Bytes::TYPE_NAME {
        &mut place[..sample.bytes().len()]
    } else {
        place
    };
    match pairing.read(&bytes[ENCAPSULATION.len()..], place, context) {
        Ok(length) if place[..length] == *sample.bytes() => "same",
        _ => "differs",
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|index| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).expect("hex")).collect()
}
