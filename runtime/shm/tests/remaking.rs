//! Topics that subscribers made and others need otherwise: remade in their own file, with everybody who is there.
#![cfg(not(loom))]

mod common;

use std::os::unix::fs::FileExt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{JOINING, KIND, MAKING, Message, Scratch, message, received};
use horus_shm::ends::place::Copied;
use horus_shm::ends::{Joining, Making, Payload, Publication, Subscription};
use horus_shm::error::OpenError;
use horus_shm::ring::Plain;
use horus_shm::segment::header::Needs;
use horus_shm::segment::layout::{DeliveryPolicy, GENERATION_WORD, GENERATIONS, MEMBERSHIP};
use horus_shm::wait::WaitStrategy;

const POLICIES: [DeliveryPolicy; 2] = [DeliveryPolicy::Reliable, DeliveryPolicy::Latest];

/// Options that ask for so much.
fn asks(policy: DeliveryPolicy, capacity: usize) -> Making {
    Making { policy, capacity, least: capacity, ..MAKING }
}

fn needs(policy: Option<DeliveryPolicy>, capacity: usize) -> Joining {
    let making = asks(policy.unwrap_or(DeliveryPolicy::Latest), capacity.max(1));
    Joining { needs: Needs { policy, capacity, waking: false }, making, ..JOINING }
}

/// A subscriber that takes the topic as it is, and would have made it `latest` of 16 messages.
fn any() -> Joining {
    Joining { making: asks(DeliveryPolicy::Latest, 16), ..JOINING }
}

fn send(publisher: &mut Publication, numbers: std::ops::Range<u64>) -> u64 {
    numbers.map(|number| u64::from(publisher.try_send(&message(number), 0).is_ok())).sum()
}

#[test]
fn first_receiving_call_delivers_the_first_message() {
    for policy in POLICIES {
        for capacity in [4, 64] {
            let scratch = Scratch::new();
            let mut subscriber = scratch.subscribe_as(any()).unwrap();
            let mut publisher = scratch.publish_as(&Making { publishers: 2, ..asks(policy, capacity) }).unwrap();
            assert!(subscriber.is_published().unwrap());
            assert_eq!(send(&mut publisher, 0..3), 3);
            let first = subscriber.try_recv::<Message>().expect("in this very call");
            assert_eq!((first.message, first.sequence), (message(0), 0));
            assert_eq!((received(&mut subscriber), subscriber.missed()), (vec![1, 2], 0));
            assert_eq!(scratch.files(), 1);
        }
    }
}

#[test]
fn reliable_publisher_waits_for_a_subscriber_that_has_not_looked_yet() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(needs(Some(DeliveryPolicy::Reliable), 4)).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Reliable, 64)).unwrap();
    assert_eq!(publisher.subscribers().unwrap(), 1);
    assert_eq!(send(&mut publisher, 0..200), 64, "what is beyond is refused, not lost");
    assert_eq!(received(&mut subscriber), (0..64).collect::<Vec<_>>());
    assert_eq!((send(&mut publisher, 64..70), received(&mut subscriber).len(), subscriber.missed()), (6, 6, 0));
}

#[test]
fn what_a_latest_topic_overwrote_before_the_first_look_is_counted() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(any()).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Latest, 32)).unwrap();
    assert_eq!(send(&mut publisher, 0..200), 200);
    let all = received(&mut subscriber);
    assert_eq!((all.len() as u64 + subscriber.missed(), all.last()), (200, Some(&199)));
}

#[test]
fn dead_member_holds_no_reliable_publisher() {
    let scratch = Scratch::new();
    let gone = scratch.subscribe_as(any()).unwrap();
    let mut stays = scratch.subscribe_as(any()).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Reliable, 4)).unwrap();
    drop(gone); // without having looked
    for number in 0..100 {
        assert!(publisher.try_send(&message(number), 0).is_ok());
        assert_eq!(received(&mut stays), [number]);
    }
}

#[test]
fn those_who_wait_asleep_or_busily_hear_the_first_message() {
    for policy in POLICIES {
        let scratch = Scratch::new();
        let open = |wait_strategy| scratch.subscribe_as(Joining { wait_strategy, ..any() }).unwrap();
        let sleeping = [
            Some(WaitStrategy::Sleep),
            None,
            Some(WaitStrategy::Spin),
            Some(WaitStrategy::Poll(Duration::from_micros(100))),
        ];
        let waiters = sleeping.map(open).map(|mut subscriber| {
            std::thread::spawn(move || subscriber.recv_timeout::<Message>(Duration::from_secs(60)).map(|it| it.message))
        });
        let mut publisher = scratch.publish_as(&Making { publishers: 2, ..asks(policy, 64) }).unwrap();
        publisher.try_send(&message(8), 0).unwrap();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Some(message(8)));
        }
    }
}

#[test]
fn who_would_be_woken_looks_by_the_clock_once_the_topic_wakes_nobody() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(Joining { wait_strategy: None, ..any() }).unwrap();
    assert_eq!(subscriber.wait_strategy(), WaitStrategy::default());
    let waiter = std::thread::spawn(move || {
        let came = subscriber.recv_timeout::<Message>(Duration::from_secs(60)).is_some();
        (came, subscriber.wait_strategy())
    });
    let mut publisher = scratch.publish_as(&Making { wakes: false, ..MAKING }).unwrap();
    publisher.try_send(&message(1), 0).unwrap();
    assert!(matches!(waiter.join().unwrap(), (true, WaitStrategy::Poll(_))));
}

/// A message that is held in place on a `latest` topic.
#[derive(Clone, Copy, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[repr(C)]
struct Page([u64; 1024]);

fn pages<T: Plain>(scratch: &Scratch, joining: Joining) -> Subscription {
    scratch.subscribe_to(KIND, Payload::of::<T>(), joining).unwrap()
}

#[test]
fn first_message_is_lent_in_its_place_as_the_remade_topic_permits() {
    let scratch = Scratch::new();
    let mut subscriber = pages::<Page>(&scratch, any());
    let publishing = asks(DeliveryPolicy::Reliable, 4);
    let opened = Publication::open(&scratch.directory, &scratch.name, KIND, Payload::of::<Page>(), &publishing);
    let mut publisher = opened.unwrap();
    publisher.try_send(&Page([7; 1024]), 0).unwrap();
    let mut copied = Copied::default();
    let sample = subscriber.sample(&mut copied).expect("in this very call");
    assert_eq!(&sample[..8], &7_u64.to_ne_bytes());
    drop(sample);

    // From one that could lend to one that must copy.
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(Joining { making: MAKING, ..JOINING }).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Latest, 4)).unwrap();
    assert_eq!(send(&mut publisher, 0..1), 1);
    let sample = subscriber.sample(&mut copied).expect("in this very call");
    assert_eq!(send(&mut publisher, 1..9), 8, "nothing is held on a latest topic of small messages");
    assert_eq!(&sample[..8], &0_u64.to_ne_bytes());
}

#[test]
fn subscribers_that_need_more_remake_the_topic_for_all_until_it_is_published() {
    let scratch = Scratch::new();
    let mut anything = scratch.subscribe_as(any()).unwrap();
    let mut much = scratch.subscribe_as(needs(Some(DeliveryPolicy::Reliable), 64)).unwrap();
    let mut little = scratch.subscribe_as(needs(None, 2)).unwrap();
    let error = scratch.subscribe_as(needs(Some(DeliveryPolicy::Latest), 4)).err().unwrap();
    assert!(matches!(&error, OpenError::Needed { needs, .. } if needs.capacity == 64), "{error}");
    // It asks for less, and adopts what there is.
    let mut publisher = scratch.publish().unwrap();
    assert_eq!(publisher.segment().header().shape.capacity(), 64);
    assert_eq!(send(&mut publisher, 0..100), 64);
    for subscriber in [&mut anything, &mut much, &mut little] {
        assert_eq!((received(subscriber).len(), subscriber.missed()), (64, 0));
    }
    let error = scratch.subscribe_as(needs(None, 128)).err().unwrap();
    assert!(error.to_string().contains("holds 64 messages, this subscriber needs 128"), "{error}");
}

#[test]
fn remade_file_never_shrinks_and_need_not_grow() {
    let scratch = Scratch::new();
    let bytes = || std::fs::metadata(scratch.file()).unwrap().len();
    let mut subscriber =
        scratch.subscribe_as(Joining { making: asks(DeliveryPolicy::Latest, 1024), ..JOINING }).unwrap();
    let before = bytes();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Reliable, 4)).unwrap();
    assert_eq!((bytes(), publisher.segment().header().shape.capacity()), (before, 4));
    assert_eq!((send(&mut publisher, 0..9), received(&mut subscriber).len()), (4, 4));
    drop(subscriber);
    assert!(scratch.subscribe().is_ok(), "others open it as it is");
}

#[test]
fn joins_beside_a_remake_lose_nothing_from_their_first_message_on() {
    for round in 0..25 {
        let policy = POLICIES[round % 2];
        let scratch = Scratch::new();
        let mut first = scratch.subscribe_as(any()).unwrap();
        let (together, is_over) = (Barrier::new(5), AtomicBool::new(false));
        let all = std::thread::scope(|scope| {
            // Each joins again and again, with other needs each time.
            let joiners = [0, 1, 2, 3].map(|joiner: usize| {
                let (scratch, together, is_over) = (&scratch, &together, &is_over);
                scope.spawn(move || {
                    together.wait();
                    for turn in 0..8 {
                        let joining = needs(None, 1 << ((turn + joiner) % 6));
                        let mut subscriber = scratch.subscribe_as(joining).unwrap();
                        let mut next = None;
                        for number in received(&mut subscriber) {
                            assert!(next.is_none_or(|next| number >= next), "{number} came late");
                            assert!(policy == DeliveryPolicy::Latest || next.is_none_or(|next| number == next));
                            next = Some(number + 1);
                        }
                        assert!(policy == DeliveryPolicy::Latest || subscriber.missed() == 0);
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                })
            });
            together.wait();
            let mut publisher = scratch.publish_as(&Making { publishers: 3, ..asks(policy, 64) }).unwrap();
            let started = Instant::now();
            for number in 0..60 {
                while publisher.try_send(&message(number), 0).is_err() {
                    assert!(started.elapsed() < Duration::from_secs(60), "held up");
                    publisher.reap();
                    std::thread::yield_now();
                }
            }
            is_over.store(true, Ordering::Relaxed);
            joiners.into_iter().for_each(|joiner| joiner.join().unwrap());
            received(&mut first)
        });
        assert_eq!((all, first.missed()), ((0..60).collect(), 0));
    }
}

/// Writes a word of the file.
fn scribble(scratch: &Scratch, offset: usize, value: u64) {
    let file = std::fs::File::options().write(true).open(scratch.file()).unwrap();
    file.write_all_at(&value.to_ne_bytes(), offset as u64).unwrap();
}

const GENERATION: usize = MEMBERSHIP + 8 * GENERATION_WORD;
/// Offset of the capacity in a header.
const CAPACITY: usize = 48;

#[test]
fn whoever_comes_next_repairs_what_was_left_half_remade() {
    for publisher_comes in [true, false] {
        let scratch = Scratch::new();
        let mut subscriber = scratch.subscribe_as(any()).unwrap();
        scribble(&scratch, GENERATION, 1);
        scribble(&scratch, CAPACITY, 12345);
        assert!(received(&mut subscriber).is_empty() && subscriber.check().is_ok());
        let _next = (!publisher_comes).then(|| scratch.subscribe_as(needs(None, 8)).unwrap());
        let mut publisher = scratch.publish().unwrap();
        assert_eq!(send(&mut publisher, 0..2), 2);
        assert_eq!((received(&mut subscriber), subscriber.missed()), (vec![0, 1], 0));
    }
}

#[test]
fn remade_header_is_believed_no_more_than_any_other() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(needs(Some(DeliveryPolicy::Reliable), 8)).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Reliable, 32)).unwrap();
    assert_eq!(send(&mut publisher, 0..2), 2);
    scribble(&scratch, CAPACITY, 1 << 40);
    assert!(received(&mut subscriber).is_empty());
    let error = subscriber.check().unwrap_err();
    assert!(matches!(&error, OpenError::Remade { reason, .. } if reason.contains("damaged")), "{error}");
    assert!(received(&mut subscriber).is_empty());
}

#[test]
fn topic_that_was_remade_too_often_without_being_published_is_refused() {
    let scratch = Scratch::new();
    let _subscriber = scratch.subscribe_as(any()).unwrap();
    scribble(&scratch, GENERATION, 2 * (GENERATIONS as u64 - 1));
    assert!(matches!(scratch.publish_as(&asks(DeliveryPolicy::Reliable, 32)), Err(OpenError::Busy { .. })));
    scribble(&scratch, GENERATION, u64::MAX);
    assert!(matches!(scratch.publish(), Err(OpenError::Rejected(_))));
}

#[test]
fn monitor_finds_its_lane_whoever_came_first_and_no_publisher_takes_it() {
    let scratch = Scratch::new();
    let monitor =
        || Publication::in_the_monitors_lane(&scratch.directory, &scratch.name, KIND, Payload::of::<Message>());
    assert!(monitor().unwrap().is_none(), "no topic");
    let mut subscriber = scratch.subscribe_as(any()).unwrap();
    assert!(monitor().unwrap().is_none(), "not published yet, and perhaps remade");
    let mut publisher = scratch.publish().unwrap();
    let mut safe = monitor().unwrap().unwrap();
    assert!(matches!(scratch.publish(), Err(OpenError::PublishersFull { publishers: 1, .. })));
    assert!(matches!(monitor(), Err(OpenError::MonitorsLane { one, .. }) if one.pid == std::process::id()));
    assert_eq!((send(&mut publisher, 0..1), safe.try_send(&message(77), 0)), (1, Ok(0)));
    let mut all = received(&mut subscriber);
    all.sort_unstable();
    assert_eq!(all, [0, 77]);
    drop(publisher);
    assert!(!subscriber.is_published().unwrap(), "a monitor alone publishes nothing by itself");
    drop(scratch.publish().unwrap());
}

#[test]
fn wrong_type_is_told_before_the_lack_of_room() {
    let scratch = Scratch::new();
    let _publisher = scratch.publish().unwrap();
    let opened = Publication::open(&scratch.directory, &scratch.name, KIND, Payload::of::<[u64; 3]>(), &MAKING);
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("24") && error.contains("32 bytes"), "{error}");
}

/// A number of kB that the kernel tells of this process.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_topic_that_cannot_be_mapped_anew_keeps_its_memory_and_is_followed_later() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let role = "a_process_without_room_for_a_remade_topic";
    let done = child.args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
#[ignore = "a process of its own, which the test above starts: its room for memory is limited"]
fn a_process_without_room_for_a_remade_topic() {
    let scratch = Scratch::new();
    let mut subscriber = scratch.subscribe_as(any()).unwrap();
    let mut publisher = scratch.publish_as(&asks(DeliveryPolicy::Latest, 16_384)).unwrap();
    assert_eq!(send(&mut publisher, 0..1), 1);
    let locked = status("VmLck:");
    let mut room = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours, here and below.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut room) };
    let none = libc::rlimit { rlim_cur: status("VmSize:") * 1024, ..room };
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const none) };
    let received = subscriber.try_recv::<Message>();
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const room) };
    assert!(received.is_none() && matches!(subscriber.check(), Err(OpenError::Remade { .. })));
    assert_eq!(status("VmLck:"), locked, "what it still uses is no longer locked");
    assert!(locked > 0 || subscriber.memory_lock().is_err());
    let end = Instant::now() + Duration::from_secs(60);
    let received = loop {
        assert!(Instant::now() < end, "{:?}", subscriber.check());
        if let Some(received) = subscriber.try_recv::<Message>() {
            break received;
        }
        std::thread::yield_now();
    };
    assert_eq!(received.message, message(0));
}
