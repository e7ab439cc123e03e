//! The gateway brings messages both ways, says what was lost, and lets no client hurt another.

mod running;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::messages::CmdVel;
use horus::topic::{Options, Publisher, Subscriber};
use horus_gateway::client::{Address, ClientError, Connection};
use horus_gateway::frame::batch::{self, Item};
use horus_gateway::frame::words::{Ack, Advertise, Begin, Subscribe, Topic, WhenFull, read_text, text};
use horus_gateway::frame::{HEAD_BYTES, Head, Type, WANTS_ACK, encode};
use horus_sys::clock::monotonic_ns;
use running::talk::*;
use running::{Gateway, PATIENCE};

const OUT: &str = "[topics.speed]\ndirection = \"out\"\n";

#[test]
fn what_a_program_publishes_reaches_a_client_that_was_there_before() {
    let gateway = Gateway::start(OUT);
    let mut client = gateway.connect();
    let topic = client.subscribe(7, &now("speed")).unwrap();
    assert_eq!((topic.text.as_str(), topic.next), ("", 1), "it is not there yet");
    let mut publisher = Publisher::<CmdVel>::open("speed", gateway.topics(Options::latest(64))).unwrap();
    for number in 1..11_u8 {
        publisher.try_send(CmdVel { forward: number.into(), turn: 0.0 }).unwrap();
    }
    let (head, payload) = next(&mut client);
    let topic = Topic::read(&payload).unwrap();
    assert_eq!((head.kind, head.channel, topic.message_bytes), (Type::Topic, 7, 16));
    assert!(topic.text.starts_with("horus/CmdVel\n") && topic.text.contains("forward"), "{}", topic.text);
    let found = messages(&mut client, 10);
    for (number, (sequence, message)) in (1..11_u8).zip(found) {
        assert_eq!(sequence, u64::from(number));
        assert_eq!(message[..8], f64::from(number).to_le_bytes());
    }
}

#[test]
fn what_a_client_sends_reaches_a_program_and_is_acknowledged() {
    let gateway = Gateway::start("[topics.speed]\ndirection = \"in\"\ntype = \"horus/CmdVel\"\n");
    let mut client = gateway.connect();
    let topic = client.advertise(3, &advertise("speed")).unwrap();
    assert_eq!(topic.message_bytes, 16);
    let mut subscriber = Subscriber::<CmdVel>::open("speed", gateway.topics(Options::latest(64))).unwrap();
    let speed = [1.5_f64.to_le_bytes(), 2.5_f64.to_le_bytes()].concat();
    let head = Head { flags: WANTS_ACK, sequence: 99, ..Head::new(Type::Message, 3) };
    client.send(&head, &speed).unwrap();
    let received = subscriber.recv_timeout(PATIENCE).expect("it came");
    assert_eq!((received.message.forward, received.message.turn), (1.5, 2.5));
    let (head, payload) = next(&mut client);
    assert_eq!((head.kind, head.channel, head.sequence), (Type::Ack, 3, 99));
    assert_eq!(Ack::read(&payload), Some(Ack { sequence: 0, taken: 1, lost: 0 }));
    // Another layout is refused before anything is sent.
    let wrong = Advertise { layout_hash: 5, topic: "speed".into() };
    let Err(ClientError::Refused(why)) = client.advertise(4, &wrong) else { panic!("it is another layout") };
    assert!(why.contains("horus/CmdVel") && why.contains("0000000000000005"), "{why}");
}

#[test]
fn a_batch_arrives_whole_and_one_wrong_message_in_it_stops_all() {
    let gateway = Gateway::start(BOTH);
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let batch = |lengths: &[usize]| {
        let mut payload = Vec::new();
        for length in lengths {
            batch::push(&mut payload, &Item { sequence: 0, stamp_ns: 0, message: &vec![*length as u8; *length] });
        }
        payload
    };
    // More messages than the topic holds.
    let lengths: Vec<usize> = (0..500).collect();
    let head = Head { flags: WANTS_ACK, sequence: 1, ..Head::new(Type::Batch, 1) };
    sender.send(&head, &batch(&lengths)).unwrap();
    let found = messages(&mut receiver, 500);
    for (number, (sequence, message)) in found.into_iter().enumerate() {
        assert_eq!((sequence, message), (number as u64 + 1, vec![number as u8; number]));
    }
    assert_eq!(Ack::read(&next(&mut sender).1), Some(Ack { sequence: 500, taken: 500, lost: 0 }));

    sender.send(&head, &batch(&[1, 2, 1_001, 3])).unwrap();
    let (head_of_answer, payload) = next(&mut sender);
    assert_eq!((head_of_answer.kind, head_of_answer.sequence), (Type::Refused, 1));
    assert!(read_text(&payload).unwrap().contains("1001 bytes"));
    let whole = batch(&[4, 5]);
    sender.send(&head, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(next(&mut sender).0.kind, Type::Refused);
    send(&mut sender, 1, b"next");
    assert_eq!(messages(&mut receiver, 1), [(501, b"next".to_vec())], "nothing of the wrong ones was sent");
}

#[test]
fn a_client_begins_where_it_wants_in_the_log_and_goes_on_without_a_gap() {
    let gateway = Gateway::start(&format!("{BOTH}{LOGGED}"));
    let mut sender = gateway.connect();
    sender.advertise(1, &advertise("speed")).unwrap();
    let mut sent = 0_u64;
    let mut go_on = |sender: &mut Connection, count| {
        for _ in 0..count {
            sent += 1;
            let head = Head { flags: WANTS_ACK, sequence: sent, ..Head::new(Type::Message, 1) };
            sender.send(&head, &sent.to_le_bytes()).unwrap();
        }
        for _ in 0..count {
            let (head, payload) = next(sender);
            let ack = Ack::read(&payload).unwrap();
            assert_eq!((head.kind, ack), (Type::Ack, Ack { sequence: head.sequence, taken: 1, lost: 0 }));
        }
    };
    go_on(&mut sender, 1_000);
    let mut clients: Vec<_> = [1, 500, 1_000, 1_001].map(|first| (first, gateway.connect())).into();
    for (first, client) in &mut clients {
        let topic = client.subscribe(9, &from(*first)).unwrap();
        assert_eq!((topic.first, topic.next), (1, 1_001));
    }
    go_on(&mut sender, 500);
    for (first, client) in &mut clients {
        let found = messages(client, 1_501 - *first as usize);
        let expected = (*first..1_501).map(|number| (number, number.to_le_bytes().to_vec()));
        assert!(found.into_iter().eq(expected), "from {first}");
    }
    // The log is there when the gateway is started again, and its numbers go on.
    let gateway = gateway.restart();
    let mut sender = gateway.connect();
    assert_eq!(sender.advertise(1, &advertise("speed")).unwrap().next, 1_501);
    go_on(&mut sender, 10);
    let mut client = gateway.connect();
    client.subscribe(9, &from(0)).unwrap();
    let found: Vec<u64> = messages(&mut client, 1_510).into_iter().map(|(number, _)| number).collect();
    assert!(found.into_iter().eq(1..1_511));
}

#[test]
fn garbage_of_a_client_costs_nothing_but_itself() {
    let gateway = Gateway::start(&format!("{BOTH}[limits]\nheartbeat_ms = 2000\n"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let mut bad = Vec::new();
    encode(&mut bad, &Head::new(Type::Message, 1), b"bad");
    *bad.last_mut().unwrap() ^= 1;
    for garbage in [&bad[..], b"GET / HTTP/1.1\r\n\r\n", &bad[..HEAD_BYTES], &[0xff; 5_000]] {
        sender.send_bytes(garbage).unwrap();
        send(&mut sender, 1, b"good");
        assert_eq!(messages(&mut receiver, 1)[0].1, b"good");
    }
    let counts = heartbeat(&mut sender);
    assert_eq!((counts.taken, counts.damaged), (4, 4), "{counts:?}");
}

#[test]
fn a_client_that_does_not_read_loses_what_it_was_told_and_nobody_else_does() {
    let gateway = Gateway::start(&format!("{BOTH}[limits]\nqueue_bytes = 70000\npayload_bytes = 30000\n"));
    let mut sender = gateway.connect();
    sender.advertise(1, &advertise("speed")).unwrap();
    let policies = [WhenFull::DropOldest, WhenFull::DropNewest, WhenFull::Disconnect];
    let mut slow = policies.map(|when_full| {
        let mut client = gateway.connect();
        client.subscribe(1, &Subscribe { when_full, ..now("speed") }).unwrap();
        client
    });
    let mut quick = gateway.connect();
    quick.subscribe(1, &now("speed")).unwrap();
    const SENT: u64 = 5_000;
    for number in 1..=SENT {
        let mut message = number.to_le_bytes().to_vec();
        message.resize(1_000, 7);
        send(&mut sender, 1, &message);
        let (sequence, found) = messages(&mut quick, 1).remove(0);
        assert_eq!((sequence, found), (number, message), "the one that reads gets all");
        // They read nothing, but they are there: the gateway takes a client that says nothing for three heartbeats for dead.
        for client in &mut slow {
            let _ = client.send(&Head::new(Type::Heartbeat, 0), &[]); // the last one is disconnected by and by
        }
    }
    let [oldest, newest, disconnected] = &mut slow;
    let end = Subscribe { begin: Begin::Now, when_full: WhenFull::DropOldest, topic: "speed".into() };
    for (client, drops_oldest) in [(oldest, true), (newest, false)] {
        // An answer comes after everything that waited.
        client.send(&Head::new(Type::Subscribe, 2), &end.payload()).unwrap();
        let mut found = Vec::new();
        loop {
            let (head, payload) = next(client);
            match head.kind {
                Type::Message => found.push(head.sequence),
                Type::Batch => found.extend(batch::items(&payload).unwrap().map(|item| item.sequence)),
                Type::Topic if head.channel == 2 => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(found.is_sorted() && (found.len() as u64) < SENT, "{} of {SENT}", found.len());
        assert_eq!(*found.last().unwrap() == SENT, drops_oldest);
        // A heartbeat that was made while the queue was still written counts fewer.
        let mut heartbeats = std::iter::repeat_with(|| heartbeat(client)).take(10);
        let counts = heartbeats.find(|counts| counts.sent == found.len() as u64).expect("what came is counted");
        assert_eq!(counts.sent + counts.dropped, SENT);
        assert_eq!(client.damage().total(), 0);
    }
    let ending = loop {
        match disconnected.receive(PATIENCE) {
            Ok(Some(_)) => {}
            other => break other.map(|frame| frame.is_some()),
        }
    };
    assert!(matches!(ending, Err(ClientError::Closed)), "{ending:?}");
}

#[test]
fn what_is_not_allowed_is_refused_in_words() {
    let gateway = Gateway::start(
        "[topics.speed]\ndirection = \"out\"\n[topics.goal]\ndirection = \"in\"\n[limits]\nclients = 3\nchannels = 2\n",
    );
    let mut client = gateway.connect();
    let refused = |client: &mut Connection, outcome: Result<Topic, ClientError>| match outcome {
        Err(ClientError::Refused(why)) => {
            client.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
            why
        }
        other => panic!("{other:?}"),
    };
    for (outcome, word) in [
        (client.subscribe(1, &now("secret")), "not served"),
        (client.subscribe(1, &now("goal")), "only comes in"),
        (client.advertise(1, &advertise("speed")), "only goes out"),
        (client.advertise(1, &advertise("goal")), "no program has made the topic"),
        (client.subscribe(1, &from(1)), "has no log"),
    ] {
        let why = refused(&mut client, outcome);
        assert!(why.contains(word), "{why}");
    }
    client.subscribe(1, &now("speed")).unwrap();
    let again = client.subscribe(1, &now("speed"));
    assert!(refused(&mut client, again).contains("in use"));
    client.subscribe(2, &now("speed")).unwrap();
    let third = client.subscribe(3, &now("speed"));
    assert!(refused(&mut client, third).contains("at most 2 channels"));
    client.send(&Head::new(Type::Close, 2), &[]).unwrap();
    client.subscribe(3, &now("speed")).unwrap();
    // A place is free again when its client is gone.
    let _second = gateway.connect();
    let third = gateway.connect();
    assert!(Connection::open(&gateway.address(), "fourth").is_err());
    drop(third);
    while Connection::open(&gateway.address(), "fourth").is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn who_does_not_speak_the_protocol_or_is_silent_goes() {
    let gateway = Gateway::start(&format!("{OUT}[limits]\nheartbeat_ms = 2000\n"));
    // A `Connection` that is read says that it is there. This one says hello, and nothing more.
    let Address::Unix(place) = gateway.address() else { unreachable!() };
    let mut silent = UnixStream::connect(place).unwrap();
    silent.write_all(&hello()).unwrap();
    let mut rude = gateway.connect();
    rude.send(&Head::new(Type::Welcome, 0), &[]).unwrap();
    assert!(matches!(until_closed(&mut rude), ClientError::Closed));
    let mut talkative = gateway.connect();
    talkative.send(&Head::new(Type::Hello, 0), &text("another one")).unwrap();
    assert!(matches!(until_closed(&mut talkative), ClientError::Closed));
    // `receive` says that its client is there, as long as it is called.
    let mut lively = gateway.connect();
    let long_enough = monotonic_ns() + 4 * 2_000_000_000;
    while monotonic_ns() < long_enough {
        assert!(lively.receive(Duration::from_millis(10)).is_ok());
    }
    silent.read_to_end(&mut Vec::new()).unwrap(); // to the end that the gateway makes
    assert!(lively.receive(Duration::from_millis(10)).is_ok());
}

#[test]
fn it_answers_and_ends_beside_publishers_that_never_pause() {
    let logged = "log = { durability = \"none\", segment_bytes = 65536, keep_bytes = 1048576 }\n";
    let gateway = Gateway::start(&format!("[topics.speed]\ndirection = \"both\"\n{logged}"));
    let options = gateway.topics(Options::latest(64)).publishers(3);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut publisher = Publisher::<CmdVel>::open("speed", options.clone()).unwrap();
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let _ = publisher.try_send(CmdVel::default()); // a topic of latest messages takes all
                }
            });
        }
        let mut client = gateway.connect();
        client.advertise(1, &advertise("speed")).unwrap();
        for _ in 0..20 {
            client.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) }, &[0; 16]).unwrap();
            let (head, payload) = next(&mut client);
            assert_eq!((head.kind, Ack::read(&payload).unwrap().taken), (Type::Ack, 1));
        }
        let (done, is_done) = std::sync::mpsc::channel();
        scope.spawn(move || {
            drop(gateway);
            done.send(()).unwrap();
        });
        let ended = is_done.recv_timeout(PATIENCE);
        stop.store(true, Ordering::Relaxed);
        ended.expect("it ends, whichever client goes on");
    });
}
