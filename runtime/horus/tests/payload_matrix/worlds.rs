//! What a test publishes and looks at in a virtual world.

use std::collections::BTreeSet;

use horus::message::Stamp;
use horus::prelude::*;
use horus::topic::{Bytes, Raw, Received, Serde};

use super::{Kind, public};

const SOURCE: &str = include_str!("../../src/world/topics.rs");

/// A node that hands every message on.
fn relay<K: Kind + ?Sized>(app: &mut App) -> horus::Result
where
    Input<K>: Send,
    Output<K>: Send,
{
    let mut input = app.input_as::<K>("topic", K::shape(), Options::reliable(2))?;
    let mut output = app.output_as::<K>("copy", K::shape(), Options::default())?;
    let step = move |_: &Cycle| {
        while let Some(received) = input.try_recv() {
            assert!(received.sent_ns > 0 && K::is_sent(received.message));
            output.set(K::sent());
        }
    };
    app.node("relay", step).period(ms(1));
    Ok(())
}

/// Calls what a world has for every kind.
fn call_all<K: Kind<Owned: Send> + ?Sized>()
where
    Input<K>: Send,
    Output<K>: Send,
{
    let mut called = BTreeSet::new();
    let mut world = VirtualWorld::new(relay::<K>).expect("the nodes");
    assert!(call!(called, world.last_as::<K>("copy", K::shape())).expect("the topic").is_none());
    assert!(call!(called, world.last_received_as::<K>("copy", K::shape())).expect("the topic").is_none());
    call!(called, world.publish_as::<K>("topic", K::shape(), K::sent())).expect("room");
    world.run_for(ms(2));
    for _ in 0..2 {
        let last = world.last_as::<K>("copy", K::shape()).expect("the topic");
        assert!(K::is_sent_owned(last.expect("it was handed on")), "also at the second look");
    }
    let Received { message, sequence, sent_ns, publisher } =
        world.last_received_as::<K>("copy", K::shape()).expect("the topic").expect("it was handed on");
    assert_eq!((*sequence, *publisher), (0, 0));
    assert!(*sent_ns > 0 && K::is_sent_owned(message));
    let full = (0..3).find_map(|_| world.publish_as::<K>("topic", K::shape(), K::sent()).err());
    let full = full.expect("the input asks for two messages").to_string();
    assert!(full.contains("holds 2 messages") && full.contains("run_for"), "{full}");
    call!(called, world.publish_as_with::<K>("map", Options::reliable(1), K::shape(), K::sent())).expect("room");
    let options = Options::reliable(1).directory(world.directory());
    assert!(Subscriber::<K>::open_as("map", K::shape(), options).is_ok());
    assert_eq!(called, public(SOURCE), "left: called by this test; right: public");
}

#[test]
fn worlds_publish_and_give_every_kind() {
    call_all::<Stamp>();
    call_all::<[u8]>();
    call_all::<Serde<String>>();
    call_all::<Raw>();
}

#[test]
fn a_topic_of_a_world_keeps_its_kind_and_its_messages() {
    let mut world = VirtualWorld::new(relay::<Stamp>).expect("the nodes");
    let (bytes, named) = (Bytes::up_to(64), Bytes::of_type("test/Named", 64));
    world.publish_as::<[u8]>("log", bytes, "left wheel slips").expect("room");
    let other_kind = world.publish_as::<Serde<String>>("log", bytes, "text".to_owned()).expect_err("bytes").to_string();
    let other_type = world.publish_as::<[u8]>("log", named, "text").expect_err("no name").to_string();
    let other_maximum = world.publish_as::<[u8]>("log", Bytes::up_to(32), "text").expect_err("64").to_string();
    assert_eq!((&other_kind, &other_maximum), (&other_type, &other_type));
    assert!(other_type.contains("another type of message, kind of payload or maximum before"), "{other_type}");
    assert_eq!(world.last_as::<[u8]>("log", bytes).expect("the topic"), Some(&b"left wheel slips".to_vec()));
    assert!(world.last_as::<Serde<String>>("log", bytes).is_err());
}

#[test]
fn what_is_no_message_of_the_topic_is_no_full_topic() {
    let mut world = VirtualWorld::new(relay::<Stamp>).expect("the nodes");
    let long = world.publish_as::<[u8]>("log", Bytes::up_to(4), "slips").expect_err("five bytes").to_string();
    assert!(long.contains("at most 4") && !long.contains("run_for"), "{long}");
    let shape = Bytes::of_type("test/Text", 4);
    let long = world.publish_as::<Serde<String>>("text", shape, "slips".to_owned()).expect_err("six").to_string();
    assert!(long.contains("larger maximum") && !long.contains("run_for"), "{long}");
}

#[test]
fn a_world_may_go_to_another_thread() {
    fn movable<T: Send>() {}
    movable::<VirtualWorld>();
}
