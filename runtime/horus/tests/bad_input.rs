//! Bad input: each is an error of its own kind that says what to do; nothing is lost by it and nothing left behind.

use std::path::{Path, PathBuf};

use horus::messages::{CmdVel, ImageFullHd, Imu};
use horus::topic::{Bytes, NameError, OpenError, Options, Publisher, SendError, Serde, Subscriber, TopicName};
use horus_shm::segment::layout::{MAX_SUBSCRIBERS, ShapeError};
use horus_shm::segment::rejected::{Reason, Rejected};

fn name() -> TopicName {
    "topic".parse().unwrap()
}

/// A directory of its own, and options to keep topics in it.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("topic.topic")
    }

    fn here(&self, options: Options) -> Options {
        options.directory(self.path())
    }

    fn options(&self) -> Options {
        self.here(Options::reliable(4))
    }

    fn publish(&self, options: Options) -> Result<Publisher<CmdVel>, OpenError> {
        Publisher::open(name(), self.here(options))
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.path()).unwrap().count()
    }
}

#[track_caller]
fn assert_says(error: &OpenError, what_to_do: &str) {
    assert!(error.to_string().contains(what_to_do), "'{what_to_do}' is not in: {error}");
}

#[test]
fn names_that_are_none() {
    let parse = |name: &str| name.parse::<TopicName>().unwrap_err();
    assert_eq!(parse(""), NameError::Empty);
    assert_eq!(parse(&"x".repeat(300)), NameError::TooLong(300));
    assert!(matches!(parse("../etc/passwd"), NameError::Character { character: '/', .. }));
    assert!(matches!(parse(".hidden"), NameError::Hidden(_)));
    for error in [parse(""), parse("a/b")] {
        assert!(error.to_string().contains("A-Z a-z 0-9 _ - ."), "{error}");
    }
}

#[test]
fn capacities_and_numbers_of_publishers_that_are_none() {
    let scene = Scene::new();
    for capacity in [0, 3, 1 << 21, usize::MAX] {
        let error = scene.publish(Options::latest(capacity)).err().unwrap();
        assert!(matches!(error, OpenError::Shape(ShapeError::Capacity(found)) if found == capacity), "{error}");
        assert_says(&error, "choose a power of two from 1 to");
    }
    for publishers in [0, 64, usize::MAX] {
        let error = scene.publish(Options::latest(4).publishers(publishers)).err().unwrap();
        assert!(matches!(error, OpenError::Shape(ShapeError::Publishers(found)) if found == publishers), "{error}");
    }
    let options = scene.here(Options::latest(1 << 20));
    let error = Publisher::<ImageFullHd>::open(name(), &options).err().unwrap();
    assert!(matches!(error, OpenError::Shape(ShapeError::Total)), "{error}");
    assert_says(&error, "choose a smaller capacity");
    assert_eq!(scene.files(), 0);
}

#[test]
fn lengths_and_type_names_that_are_none() {
    let scene = Scene::new();
    for maximum in [1 << 28, usize::MAX] {
        let error = Publisher::<[u8]>::open_as(name(), Bytes::up_to(maximum), scene.options()).err().unwrap();
        assert!(matches!(error, OpenError::Shape(ShapeError::Bytes(_))), "{error}");
    }
    for type_name in ["", &"x".repeat(129), "bell\x07"] {
        let opened = Publisher::<Serde<u32>>::open_as(name(), Bytes::of_type(type_name, 16), scene.options());
        assert!(matches!(opened.err(), Some(OpenError::TypeName { .. })), "{type_name:?}");
    }
    assert_eq!(scene.files(), 0);
    let mut publisher = Publisher::<[u8]>::open_as(name(), Bytes::up_to(16), scene.options()).unwrap();
    assert_eq!(publisher.try_send([0; 17]), Err(SendError::TooLong { bytes: 17, maximum: 16 }));
    publisher.try_send([0; 16]).unwrap();
    publisher.try_send([]).unwrap();
}

/// The bytes of a topic's file that no peer uses, made by a publisher that was not let go properly.
fn bytes_of_a_topic() -> Vec<u8> {
    let scene = Scene::new();
    let _publisher = scene.publish(Options::reliable(4)).unwrap();
    std::fs::read(scene.file()).unwrap()
}

#[test]
fn files_that_are_no_topic_are_refused_and_left_as_they_are() {
    let whole = bytes_of_a_topic();
    let with = |offset: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[offset] = byte;
        bytes
    };
    let random = whole.iter().zip(0_u64..).map(|(_, i)| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8);
    type Check = fn(&Reason) -> bool;
    let cases: [(&str, Vec<u8>, Check); 4] = [
        ("the first bytes", whole[..8].to_vec(), |reason| matches!(reason, Reason::Truncated { found: 8 })),
        ("zeros", vec![0; whole.len()], |reason| matches!(reason, Reason::Magic { .. })),
        ("random", random.collect(), |reason| matches!(reason, Reason::Magic { .. })),
        ("another version", with(8, 0xee), |reason| matches!(reason, Reason::Version { .. })),
    ];
    for (what, bytes, is_expected) in cases {
        let scene = Scene::new();
        std::fs::write(scene.file(), &bytes).unwrap();
        let publisher = scene.publish(Options::reliable(4)).err().unwrap();
        let subscriber = Subscriber::<CmdVel>::open(name(), scene.options()).err().unwrap();
        for error in [publisher, subscriber] {
            let OpenError::Rejected(Rejected { path, reason }) = &error else { panic!("{what}: {error}") };
            assert!(*path == scene.file() && is_expected(reason), "{what}: {error}");
            assert_says(&error, "remove");
        }
        assert_eq!((std::fs::read(scene.file()).unwrap(), scene.files()), (bytes, 1), "{what}");
    }
}

#[test]
fn damaged_topics_that_nobody_living_uses_are_made_anew() {
    let whole = bytes_of_a_topic();
    let with = |offset: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[offset] = byte;
        bytes
    };
    let half_a_header = whole[..300].to_vec();
    let cut_off = whole[..whole.len() - 64].to_vec();
    let too_long = [&whole[..], &[0; 64]].concat();
    for bytes in [Vec::new(), half_a_header, cut_off, too_long, with(12, 0xee), with(64, 9)] {
        let scene = Scene::new();
        std::fs::write(scene.file(), &bytes).unwrap();
        drop(scene.publish(Options::reliable(4)).unwrap());
        std::fs::write(scene.file(), &bytes).unwrap();
        drop(Subscriber::<CmdVel>::open(name(), scene.options()).unwrap());
        assert_eq!(scene.files(), 0);
    }
}

#[test]
fn what_is_no_file_at_all_is_refused_without_waiting_for_it() {
    let make: [fn(&Path); 3] = [
        |path| std::fs::create_dir(path).unwrap(),
        |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap(),
        |path| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        },
    ];
    for make in make {
        let scene = Scene::new();
        make(&scene.file());
        assert!(matches!(scene.publish(Options::reliable(4)).err(), Some(OpenError::NoRegularFile { .. })));
        let subscriber = Subscriber::<CmdVel>::open(name(), scene.options());
        assert!(matches!(subscriber.err(), Some(OpenError::NoRegularFile { .. })));
        assert_eq!(scene.files(), 1);
    }
}

#[test]
fn who_wants_another_topic_under_the_same_name_is_refused_and_the_users_of_the_first_lose_nothing() {
    let scene = Scene::new();
    let mut publisher = scene.publish(Options::reliable(4).publishers(2)).unwrap();
    let mut subscriber = Subscriber::<CmdVel>::open(name(), scene.options()).unwrap();
    let reason = |result: Result<Publisher<CmdVel>, OpenError>| match result.err() {
        Some(OpenError::Rejected(rejected)) => rejected.reason,
        other => panic!("{other:?}"),
    };
    let send = |publisher: &mut Publisher<CmdVel>, turn| publisher.try_send(CmdVel { forward: 1.0, turn }).unwrap();
    send(&mut publisher, 1.0);
    let capacity = reason(scene.publish(Options::reliable(8).publishers(2)));
    assert_eq!(capacity, Reason::Capacity { found: 4, expected: 8 });
    assert!(matches!(reason(scene.publish(Options::latest(4).publishers(2))), Reason::DeliveryPolicy { .. }));
    let publishers = reason(scene.publish(Options::reliable(4).publishers(3)));
    assert_eq!(publishers, Reason::Publishers { found: 2, expected: 3 });
    let imu = Publisher::<Imu>::open(name(), scene.options()).err().unwrap();
    assert!(
        matches!(&imu, OpenError::Rejected(rejected) if matches!(rejected.reason, Reason::TypeName { .. })),
        "{imu}"
    );
    assert!(Subscriber::<Imu>::open(name(), scene.options()).is_err());
    assert!(Publisher::<[u8]>::open_as(name(), Bytes::up_to(16), scene.options()).is_err());
    send(&mut publisher, 2.0);
    let received = std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.message.turn);
    assert_eq!(received.collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!((publisher.subscribers().unwrap(), scene.files()), (1, 1), "no peer joined");
}

mod newer {
    horus::message! {
        /// As `horus::messages::CmdVel` of some other release, in which the second field was another.
        #[derive(Default)]
        pub struct CmdVel = "horus/CmdVel" {
            /// The same.
            forward: f64,
            /// Something else.
            curvature: f64,
        }
    }
    horus::message! {
        /// As `horus::messages::CmdVel` of some other release, which had one field more.
        #[derive(Default)]
        pub struct LongCmdVel = "horus/CmdVel" {
            /// The same.
            forward: f64,
            /// The same.
            turn: f64,
            /// One more.
            brake: f64,
        }
    }
}

#[test]
fn a_different_layout_of_the_same_type_is_explained_by_its_first_different_field() {
    let scene = Scene::new();
    let _publisher = scene.publish(Options::reliable(4)).unwrap();
    let error = Subscriber::<newer::CmdVel>::open(name(), scene.options()).err().unwrap();
    for part in ["topic.topic", "`turn` f64 (8 bytes at 8)", "`curvature` f64", "build both programs"] {
        assert_says(&error, part);
    }
    let error = Subscriber::<newer::LongCmdVel>::open(name(), scene.options()).err().unwrap();
    for part in ["16 bytes", "24", "`brake` f64 (8 bytes at 16)"] {
        assert_says(&error, part);
    }
}

#[test]
fn one_publisher_or_subscriber_too_many_is_refused_and_disturbs_nobody() {
    let scene = Scene::new();
    let options = || Options::reliable(4).publishers(2);
    let mut publishers: Vec<_> = (0..2).map(|_| scene.publish(options()).unwrap()).collect();
    let error = scene.publish(options()).err().unwrap();
    let pid = std::process::id();
    assert!(matches!(error, OpenError::PublishersFull { publishers: 2, one, .. } if one.pid == pid), "{error}");
    assert_says(&error, "Options::publishers");

    let subscribe = || Subscriber::<CmdVel>::open(name(), scene.options());
    let mut subscribers: Vec<_> = (0..MAX_SUBSCRIBERS).map(|_| subscribe().unwrap()).collect();
    let error = subscribe().err().unwrap();
    assert!(matches!(error, OpenError::SubscribersFull { subscribers: MAX_SUBSCRIBERS, .. }), "{error}");
    assert_says(&error, "stop one of them");

    publishers.iter_mut().for_each(|publisher| publisher.try_send(CmdVel::default()).unwrap());
    for subscriber in &mut subscribers {
        assert_eq!(std::iter::from_fn(|| subscriber.try_recv()).count(), 2);
    }
    drop((publishers, subscribers));
    assert_eq!(scene.files(), 0);
}
