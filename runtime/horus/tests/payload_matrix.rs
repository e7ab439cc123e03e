//! Every method of a topic's ends, of a node's ports and of a virtual world's topics, called for every kind of payload, so that the matrix of
//! methods and kinds gets no holes.
//!
//! The methods are read from the sources: one that is added and not called here fails a test. So does a method of one kind only that is not
//! named here.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use horus::message::Stamp;
use horus::message::layout::Layout;
use horus::topic::{
    Bytes, DeliveryPolicy, InPlace, OpenError, Options, Payload, Publisher, Raw, Received, Sendable, Serde, Subscriber,
    WaitStrategy, wait_any,
};

const SOURCES: [&str; 2] = [include_str!("../src/topic/publisher.rs"), include_str!("../src/topic/subscriber.rs")];
const KINDS: [&str; 4] = [
    include_str!("../src/topic/payload/message.rs"),
    include_str!("../src/topic/payload/bytes.rs"),
    include_str!("../src/topic/payload/serde.rs"),
    include_str!("../src/topic/payload/raw.rs"),
];
const SOON: Duration = Duration::from_secs(10);
const NUMBER: Stamp = Stamp { sequence: 7, sent_ns: 9 };
const TEXT: &[u8] = b"left wheel slips";

/// A kind, and what the test sends by it.
trait Kind: Payload + 'static {
    fn open(options: &Options) -> Result<(Publisher<Self>, Subscriber<Self>), OpenError> {
        let publisher = Publisher::open_as("topic", Self::shape(), options)?;
        Ok((publisher, Subscriber::open_as("topic", Self::shape(), options)?))
    }
    fn shape() -> Self::Shape<'static>;
    fn sent() -> impl Sendable<Self>;
    fn is_seen(seen: Self::Seen<'_>) -> bool;
    fn is_sent(message: Self::Message<'_>) -> bool;
    fn is_sent_owned(message: &Self::Owned) -> bool;
    fn place() -> Box<Self::Place>;
    fn is_sent_placed(place: &Self::Place, placed: Self::Placed) -> bool;
}

impl Kind for Stamp {
    fn open(options: &Options) -> Result<(Publisher<Self>, Subscriber<Self>), OpenError> {
        Ok((Publisher::<Self>::open("topic", options)?, Subscriber::<Self>::open("topic", options)?))
    }
    fn shape() {}
    fn is_seen(seen: &Self) -> bool {
        *seen == NUMBER
    }
    fn sent() -> impl Sendable<Self> {
        NUMBER
    }
    fn is_sent(message: Self) -> bool {
        message == NUMBER
    }
    fn is_sent_owned(message: &Self) -> bool {
        *message == NUMBER
    }
    fn place() -> Box<Self> {
        Box::default()
    }
    fn is_sent_placed(place: &Self, (): ()) -> bool {
        *place == NUMBER
    }
}

impl Kind for [u8] {
    fn shape() -> Bytes<'static> {
        Bytes::up_to(64)
    }
    fn is_seen(seen: &[u8]) -> bool {
        seen == TEXT
    }
    fn sent() -> impl Sendable<Self> {
        TEXT
    }
    fn is_sent(message: &[u8]) -> bool {
        message == TEXT
    }
    fn is_sent_owned(message: &Vec<u8>) -> bool {
        message == TEXT
    }
    fn place() -> Box<Self> {
        Box::new([0; 64])
    }
    fn is_sent_placed(place: &[u8], bytes: usize) -> bool {
        &place[..bytes] == TEXT
    }
}

impl Kind for Serde<String> {
    fn shape() -> Bytes<'static> {
        Bytes::of_type("test/Text", 64)
    }
    fn is_seen(seen: Self::Seen<'_>) -> bool {
        seen.is_ok_and(|text| text.as_bytes() == TEXT)
    }
    fn sent() -> impl Sendable<Self> {
        String::from_utf8_lossy(TEXT).into_owned()
    }
    fn is_sent(message: Self::Owned) -> bool {
        Self::is_sent_owned(&message)
    }
    fn is_sent_owned(message: &Self::Owned) -> bool {
        message.as_ref().is_ok_and(|text| text.as_bytes() == TEXT)
    }
    fn place() -> Box<String> {
        Box::default()
    }
    fn is_sent_placed(place: &String, placed: Self::Placed) -> bool {
        placed.is_ok() && place.as_bytes() == TEXT
    }
}

impl Kind for Raw {
    fn shape() -> &'static Layout {
        static LAYOUT: LazyLock<Layout> =
            LazyLock::new(|| "message test/Pair\n left f64\n right f64".parse().expect("a layout"));
        &LAYOUT
    }
    fn is_seen(seen: &[u8]) -> bool {
        seen == TEXT
    }
    fn sent() -> impl Sendable<Self> {
        TEXT
    }
    fn is_sent(message: &[u8]) -> bool {
        message == TEXT
    }
    fn is_sent_owned(message: &Vec<u8>) -> bool {
        message == TEXT
    }
    fn place() -> Box<[u8]> {
        Box::new([0; 16])
    }
    fn is_sent_placed(place: &[u8], (): ()) -> bool {
        place == TEXT
    }
}

/// Calls a method and notes its name.
macro_rules! call {
    ($called:ident, $end:ident.$method:ident$(::<$kind:ty>)?($($given:expr),*)) => {{
        $called.insert(stringify!($method));
        $end.$method$(::<$kind>)?($($given),*)
    }};
}

// Behind the macro, which it uses.
#[path = "payload_matrix/ports.rs"]
mod ports;
#[path = "payload_matrix/worlds.rs"]
mod worlds;

/// The methods that are public in a source, of its ends or of what else it defines.
fn public(source: &'static str) -> BTreeSet<&'static str> {
    let after = source
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub ")?.trim_start_matches("const ").strip_prefix("fn "));
    after.filter_map(|rest| rest.split(['(', '<']).next()).collect()
}

/// A test has called the methods that are public in these sources, but for some.
fn assert_all(sources: [&'static str; 2], called: [BTreeSet<&'static str>; 2], but: &[&'static str]) {
    for (source, called) in sources.into_iter().zip(called) {
        let mut wanted = public(source);
        wanted.retain(|method| !but.contains(method));
        assert_eq!(called, wanted, "left: called by this test; right: public, and not without a reason to be missing");
    }
}

fn scratch() -> (tempfile::TempDir, Options) {
    let scratch = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let options = Options::reliable(4).stamped().directory(scratch.path());
    (scratch, options)
}

/// Calls what every kind has.
fn call_all<K: Kind + ?Sized>() -> [BTreeSet<&'static str>; 2] {
    let (_scratch, options) = scratch();
    let (mut publisher, mut subscriber) = K::open(&options).expect("the topic");
    let (mut p, mut s) = (BTreeSet::from(["open_as"]), BTreeSet::from(["open_as"]));
    let mut place = K::place();

    assert!(call!(s, subscriber.try_recv()).is_none());
    call!(p, publisher.try_send(K::sent())).expect("room");
    assert!(call!(s, subscriber.wait(SOON)));
    assert_eq!(wait_any(&mut [call!(s, subscriber.waitable())], SOON), Some(0));
    let Received { message, sequence, sent_ns, publisher: lane } = subscriber.try_recv().expect("it was sent");
    assert!(K::is_sent(message) && sent_ns > 0);
    assert_eq!((sequence, lane), (0, 0));
    call!(p, publisher.try_send_stamped(K::sent(), 5)).expect("room");
    let received = call!(s, subscriber.try_recv_into(&mut place)).expect("it was sent");
    assert_eq!((received.sequence, received.sent_ns), (1, 5));
    assert!(K::is_sent_placed(&place, received.message));
    call!(p, publisher.send(K::sent())).expect("room");
    assert!(K::is_sent(call!(s, subscriber.recv()).message));
    call!(p, publisher.send_timeout(K::sent(), SOON)).expect("room");
    assert!(K::is_sent(call!(s, subscriber.recv_timeout(SOON)).expect("it was sent").message));
    let mut place = K::place();
    publisher.try_send(K::sent()).expect("room");
    let received = call!(s, subscriber.recv_timeout_into(&mut place, SOON)).expect("it was sent");
    assert!(K::is_sent_placed(&place, received.message));
    publisher.try_send(K::sent()).expect("room");
    assert!(K::is_sent_owned(&call!(s, subscriber.messages()).next().expect("for ever")));

    (0..4).for_each(|_| publisher.try_send(K::sent()).expect("room"));
    let full = publisher.try_send(K::sent()).expect_err("there is no room").to_string();
    assert!(full.contains("full"), "{full}");
    assert!(publisher.send_timeout(K::sent(), Duration::from_millis(1)).is_err());

    assert_eq!((call!(p, publisher.position()), call!(s, subscriber.position())), (10, 6));
    assert_eq!(
        (call!(p, publisher.delivery_policy()), call!(s, subscriber.delivery_policy())),
        (DeliveryPolicy::Reliable, DeliveryPolicy::Reliable)
    );
    assert_eq!((call!(p, publisher.capacity()), call!(s, subscriber.capacity())), (4, 4));
    assert_eq!(call!(p, publisher.message_bytes()), call!(s, subscriber.message_bytes()));
    assert_eq!(
        (call!(p, publisher.wait_strategy()), call!(s, subscriber.wait_strategy())),
        (WaitStrategy::default(), WaitStrategy::default())
    );
    assert_eq!(call!(p, publisher.subscribers()).expect("it is there"), 1);
    assert_eq!(call!(p, publisher.reap_dead_subscribers()), 0);
    assert_eq!((call!(p, publisher.lane()), call!(s, subscriber.missed())), (0, 0));
    assert!(call!(s, subscriber.is_published()).expect("it is there"));
    assert!(call!(s, subscriber.wait_until_published(SOON)).expect("it is there"));
    call!(p, publisher.check()).expect("it is there");
    call!(s, subscriber.check()).expect("it is there");
    assert_eq!(call!(p, publisher.memory_lock()).is_ok(), call!(s, subscriber.memory_lock()).is_ok());
    [p, s]
}

/// Calls what every kind has whose messages can be lent.
fn call_all_in_place<K: Kind + InPlace + ?Sized>(
    fill: impl FnOnce(&mut K::Value),
    is: impl FnOnce(&K::Value) -> bool,
) -> [BTreeSet<&'static str>; 2] {
    let [mut p, mut s] = call_all::<K>();
    let (_scratch, options) = scratch();
    let (mut publisher, mut subscriber) = K::open(&options).expect("the topic");
    drop(call!(p, publisher.loan()).expect("room")); // it was never sent
    let mut loan = publisher.loan().expect("room");
    fill(&mut loan);
    loan.publish();
    let sample = call!(s, subscriber.borrow()).expect("it was sent");
    assert!(is(&sample));
    assert!(sample.sent_ns() > 0);
    assert_eq!((sample.sequence(), sample.publisher()), (0, 0));
    [p, s]
}

#[test]
fn messages_have_every_method() {
    let mut called = call_all_in_place::<Stamp>(|place| *place = NUMBER, |message| *message == NUMBER);
    for called in &mut called {
        called.insert("open"); // `Kind::open` has called it
    }
    assert_all(SOURCES, called, &[]);
}

#[test]
fn bytes_have_every_method_but_open() {
    let is = |message: &[u8]| message.len() == 64 && message.starts_with(TEXT);
    let called = call_all_in_place::<[u8]>(|place| place[..TEXT.len()].copy_from_slice(TEXT), is);
    assert_all(SOURCES, called, &["open"]);
}

#[test]
fn layouts_have_every_method_but_open() {
    let called = call_all_in_place::<Raw>(|place| place.copy_from_slice(TEXT), |message| message == TEXT);
    assert_all(SOURCES, called, &["open"]);
}

#[test]
fn values_have_every_method_but_open_and_those_in_place() {
    assert_all(SOURCES, call_all::<Serde<String>>(), &["open", "loan", "borrow"]);
}

#[test]
fn what_only_one_kind_has_is_named_here() {
    let [messages, bytes, values, layouts] = KINDS.map(public);
    assert_eq!((messages.len(), values.len()), (0, 0));
    assert_eq!(bytes, BTreeSet::from(["up_to", "of_type", "loan_of", "publish_first"]), "only they have a length");
    let hidden = ["short_bytes", "try_send_at_once", "ring", "try_recv_at_once"];
    assert_eq!(layouts, BTreeSet::from(hidden), "hidden: the short way of the C ABI");
}

#[test]
fn loan_of_bytes_has_the_length_that_is_asked_for_or_published() {
    let (_scratch, options) = scratch();
    let (mut publisher, mut subscriber) = <[u8] as Kind>::open(&options).expect("the topic");
    assert!(publisher.loan_of(65).is_err());
    let mut loan = publisher.loan_of(TEXT.len()).expect("room");
    loan.copy_from_slice(TEXT);
    loan.publish();
    let mut loan = publisher.loan().expect("room");
    loan[..TEXT.len()].copy_from_slice(TEXT);
    loan.publish_first(4);
    assert_eq!(subscriber.recv().message, TEXT);
    assert_eq!(*subscriber.borrow().expect("it was sent"), TEXT[..4]);
}
