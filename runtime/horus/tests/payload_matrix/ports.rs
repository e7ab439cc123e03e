//! The ports of nodes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use horus::message::Stamp;
use horus::port::{Input, Lost, Output, Set};
use horus::prelude::*;
use horus::topic::{ByValue, Raw, Received, Serde};

use super::{Kind, assert_all};

const SOURCES: [&str; 2] = [include_str!("../../src/port/input.rs"), include_str!("../../src/port/output.rs")];

/// Calls what the ports of every kind have, in the steps of two nodes, and `rest` in a step of the node that reads.
fn call_all<K: Kind + ?Sized>(rest: fn(&mut Input<K>) -> Option<&'static str>) -> [BTreeSet<&'static str>; 2]
where
    Input<K>: Send,
    Output<K>: Send,
{
    let called: Arc<Mutex<[BTreeSet<&'static str>; 2]>> = Arc::default();
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output_as::<K>("topic", K::shape(), Options::reliable(8))?;
        let notes = Arc::clone(&called);
        let send = move |_: &Cycle| {
            let o = &mut notes.lock().expect("no step has failed")[1];
            call!(o, output.set(K::sent()));
            assert_eq!(call!(o, output.try_set(K::sent())), Set::Taken);
            assert_eq!(call!(o, output.lost()), Lost::default());
            assert!(call!(o, output.message_bytes()) >= super::TEXT.len());
        };
        app.node("send", send).period(ms(1));
        let mut input = app.input_as::<K>("topic", K::shape(), Options::reliable(8))?;
        let (notes, mut looks) = (Arc::clone(&called), 0);
        let receive = move |cycle: &Cycle| {
            let i = &mut notes.lock().expect("no step has failed")[0];
            looks += 1;
            match looks {
                1 => {} // two messages and more wait at every look behind the first
                2 => {
                    let Received { message, sequence, sent_ns, publisher } =
                        call!(i, input.try_recv()).expect("it was set");
                    assert_eq!((sequence, publisher), (0, 0));
                    assert!(sent_ns > 0 && K::is_sent(message));
                    assert!(K::is_seen(call!(i, input.fresh()).expect("it was set")));
                    assert!(input.fresh().is_none());
                    assert!(K::is_seen(call!(i, input.latest()).expect("it was set")));
                    assert!(call!(i, input.age(cycle.release)).is_some());
                }
                3 => {
                    let Received { message, sequence, .. } = call!(i, input.fresh_received()).expect("it was set");
                    assert!(sequence > 0 && K::is_seen(message));
                    let latest = call!(i, input.latest_received()).expect("it was set");
                    assert_eq!(latest.sequence, sequence);
                    assert!(K::is_seen(latest.message));
                }
                4 => i.extend(rest(&mut input)),
                _ => assert!(input.latest().is_some()),
            }
            assert_eq!(call!(i, input.missed()), 0);
            assert!(call!(i, input.message_bytes()) >= super::TEXT.len());
        };
        app.node("receive", receive).period(ms(1));
        Ok(())
    })
    .expect("the nodes");
    world.run_for(ms(8));
    let called = called.lock().expect("no step has failed");
    called.clone()
}

/// What comes is values, which an iterator gives.
fn iterate<K: Kind + ByValue + ?Sized>(input: &mut Input<K>) -> Option<&'static str> {
    let came: Vec<_> = input.messages().collect();
    assert!(came.len() >= 2 && came.iter().all(|message| K::is_sent_owned(message)));
    Some("messages")
}

fn nothing<K: Kind + ?Sized>(_: &mut Input<K>) -> Option<&'static str> {
    None
}

#[test]
fn ports_of_messages_have_every_method() {
    assert_all(SOURCES, call_all::<Stamp>(iterate), &[]);
}

#[test]
fn ports_of_values_have_every_method() {
    assert_all(SOURCES, call_all::<Serde<String>>(iterate), &[]);
}

#[test]
fn ports_of_bytes_have_every_method_but_messages() {
    assert_all(SOURCES, call_all::<[u8]>(nothing), &["messages"]);
}

#[test]
fn ports_of_layouts_have_every_method_but_messages() {
    assert_all(SOURCES, call_all::<Raw>(nothing), &["messages"]);
}

/// How often a message of this kind releases a node, of ten that are set.
fn releases<K: Kind + ?Sized>() -> u64
where
    Input<K>: Send,
    Output<K>: Send,
{
    let released = Arc::new(AtomicU64::new(0));
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output_as::<K>("topic", K::shape(), Options::default())?;
        let send = move |cycle: &Cycle| {
            if cycle.number < 10 {
                output.set(K::sent());
            }
        };
        app.node("send", send).period(ms(1));
        let mut input = app.input_as::<K>("topic", K::shape(), Options::default())?;
        let counts = Arc::clone(&released);
        let receive = move |_: &Cycle| {
            assert!(K::is_seen(input.fresh().expect("it released the node")));
            counts.fetch_add(1, Ordering::Relaxed);
        };
        app.node("receive", receive).on("topic").deadline(us(500));
        Ok(())
    })
    .expect("the nodes");
    world.run_for(ms(20));
    released.load(Ordering::Relaxed)
}

#[test]
fn messages_of_every_kind_release_a_node() {
    let all = [releases::<Stamp>(), releases::<[u8]>(), releases::<Serde<String>>(), releases::<Raw>()];
    assert_eq!(all, [10; 4]);
}
