//! Files that are no segments, segments of another kind, and segments that a peer scribbles on while they are in use.
#![cfg(not(loom))]

mod common;

use std::os::unix::fs::{FileExt, PermissionsExt};

use common::{JOINING, KIND, MAKING, Message, Scratch};
use horus_shm::ends::{Kind, Making, Payload};
use horus_shm::error::OpenError;
use horus_shm::peers::clean::clean;
use horus_shm::peers::identity::Identity;
use horus_shm::segment::file::Access;
use horus_shm::segment::header::{Alleged, Expected, Header, Needs, Terms};
use horus_shm::segment::layout::{DeliveryPolicy, HEADER_BYTES, Shape, VERSION};
use horus_shm::segment::rejected::Reason;
use proptest::prelude::*;

impl Scratch {
    /// What both ends say about the file as it is.
    fn reasons(&self) -> [Reason; 2] {
        let reason = |error| match error {
            OpenError::Rejected(rejected) => {
                assert_eq!(rejected.path, self.file());
                assert!(rejected.to_string().contains("topic.topic"), "{rejected}");
                rejected.reason
            }
            other => panic!("{other}"),
        };
        [reason(self.publish().err().unwrap()), reason(self.subscribe().err().unwrap())]
    }
}

fn header() -> Header {
    Header {
        shape: Shape::new(32, 8, 4, 1, 32).unwrap(),
        policy: DeliveryPolicy::Reliable,
        type_name: "test/Message".to_owned(),
        layout_hash: 7,
        description: String::new(),
        wakes: true,
        is_latched: false,
        creator: Identity { pid: 1, namespace: 3 },
    }
}

#[test]
fn headers_come_back_as_they_were_written() {
    let total = header().shape.total_bytes() as u64;
    assert_eq!(Alleged::new(&header().to_bytes(), total).unwrap().validate(), Ok(header()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_never_a_header(
        bytes in prop::collection::vec(any::<u8>(), 0..2 * HEADER_BYTES),
        size in any::<u64>(),
    ) {
        prop_assert!(Alleged::new(&bytes, size).and_then(|alleged| alleged.validate()).is_err());
    }

    /// Any number of damaged bytes: a header that still fits its file either says the same, or is not what a peer wants.
    /// A damaged payload size, for one, may fit the same slots; the peer that knows its message's size refuses it.
    #[test]
    fn damaged_headers_are_refused_or_mean_the_same_offsets(
        damage in prop::collection::vec((0..HEADER_BYTES, any::<u8>()), 1..4),
        resize in prop::option::of(any::<u64>()),
    ) {
        let mut bytes = header().to_bytes();
        damage.into_iter().for_each(|(offset, byte)| bytes[offset] = byte);
        let size = resize.unwrap_or(header().shape.total_bytes() as u64);
        if let Ok(found) = Alleged::new(&bytes, size).unwrap().validate() {
            prop_assert!(size >= found.shape.total_bytes() as u64);
            let wanted = Expected {
                type_name: header().type_name,
                payload_bytes: 32,
                payload_align: 8,
                layout_hash: 7,
                description: String::new(),
                terms: Terms::Publishing { policy: DeliveryPolicy::Reliable, capacity: 4, publishers: 1, wakes: true, is_latched: false },
            };
            prop_assert!(found.check(&wanted).is_err() || found.shape == header().shape);
        }
    }
}

#[test]
fn files_that_are_no_segments_are_refused_and_left_alone() {
    let scratch = Scratch::new();
    for bytes in [vec![0; 10], vec![0; 4096], vec![0xff; HEADER_BYTES], b"HORUSSHM".to_vec()] {
        std::fs::write(scratch.file(), &bytes).unwrap();
        for reason in scratch.reasons() {
            assert!(matches!(reason, Reason::Truncated { .. } | Reason::Magic { .. }), "{reason}");
        }
        let cleaned = clean(&scratch.directory).unwrap();
        assert_eq!((cleaned.removed.len(), cleaned.unjudged.len()), (0, 1));
        assert_eq!(std::fs::read(scratch.file()).unwrap(), bytes);
    }
}

#[test]
fn symbolic_links_directories_and_pipes_are_not_followed_or_waited_for() {
    let scratch = Scratch::new();
    let file = scratch.file();
    std::fs::create_dir(&file).unwrap();
    assert!(matches!(scratch.subscribe(), Err(OpenError::NoRegularFile { .. })));
    std::fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("/dev/null", &file).unwrap();
    assert!(matches!(scratch.publish(), Err(OpenError::NoRegularFile { .. })), "a link is not followed");
    std::fs::remove_file(&file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert!(matches!(scratch.subscribe(), Err(OpenError::NoRegularFile { .. })));
}

#[test]
fn each_damaged_field_has_its_own_reason() {
    let good = header().to_bytes();
    let total = header().shape.total_bytes();
    let refused = |offset: usize, value: &[u8], length: usize, expected: &dyn Fn(&Reason) -> bool| {
        let mut bytes = good.to_vec();
        bytes.resize(length.max(offset + value.len()), 0);
        bytes[offset..offset + value.len()].copy_from_slice(value);
        bytes.truncate(length);
        let found = Alleged::new(&bytes, bytes.len() as u64).and_then(|alleged| alleged.validate());
        assert!(expected(found.as_ref().unwrap_err()), "offset {offset}: {found:?}");
    };
    refused(0, b"h", total, &|reason| matches!(reason, Reason::Magic { .. }));
    let foreign = VERSION + 1;
    refused(8, &foreign.to_ne_bytes(), total, &|reason| *reason == Reason::Version { found: foreign });
    refused(12, &BYTE_SWAPPED.to_ne_bytes(), total, &|reason| matches!(reason, Reason::ByteOrder { .. }));
    refused(24, &u64::MAX.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Shape(_)));
    refused(32, &3_u64.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Shape(_)));
    refused(48, &0_u64.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Shape(_)));
    refused(48, &8_u64.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Inconsistent { .. }));
    refused(56, &0_u64.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Inconsistent { .. }));
    refused(64, &0_u32.to_ne_bytes(), total, &|reason| matches!(reason, Reason::DeliveryPolicyCode { found: 0 }));
    refused(68, &u32::MAX.to_ne_bytes(), total, &|reason| matches!(reason, Reason::Shape(_)));
    refused(128, &[0; 16], total, &|reason| matches!(reason, Reason::TypeNameBytes));
    refused(129, b"\x1b[31m", total, &|reason| matches!(reason, Reason::TypeNameBytes));
    for length in [total - 1, HEADER_BYTES] {
        refused(0, b"H", length, &|reason| matches!(reason, Reason::Inconsistent { .. }));
    }
    refused(0, b"H", HEADER_BYTES - 1, &|reason| matches!(reason, Reason::Truncated { .. }));
}

const BYTE_SWAPPED: u32 = 0x0403_0201;

#[test]
fn topics_of_another_kind_are_refused_field_by_field() {
    let scratch = Scratch::new();
    let _publisher = scratch.publish().unwrap();
    let subscribe = |type_name, layout_hash| {
        let kind = Kind { type_name, layout_hash, description: "" };
        scratch.subscribe_to(kind, Payload::of::<Message>(), JOINING).err().unwrap().to_string()
    };
    let text = subscribe("test/Other", 7);
    assert!(text.contains("test/Message") && text.contains("test/Other"), "{text}");
    let text = subscribe("test/Message", 8);
    assert!(text.contains("0000000000000007") && text.contains("0000000000000008"), "{text}");
    let smaller = scratch.subscribe_to(KIND, Payload::of::<[u64; 3]>(), JOINING).err().unwrap();
    let text = smaller.to_string();
    assert!(text.contains("32 bytes") && text.contains("24") && text.contains("topic.topic"), "{text}");
}

#[test]
fn publisher_cannot_change_a_topic_under_its_subscribers() {
    let scratch = Scratch::new();
    drop({
        let publisher = scratch.publish().unwrap();
        let subscriber = scratch.subscribe().unwrap();
        drop(publisher);
        let retry = |making: Making| scratch.publish_as(&making).err().unwrap();
        let text = retry(Making { policy: DeliveryPolicy::Latest, ..MAKING }).to_string();
        assert!(text.contains("reliable") && text.contains("latest"), "{text}");
        let text = retry(Making { capacity: 8, least: 8, ..MAKING }).to_string();
        assert!(text.contains("holds 4") && text.contains("asks for 8"), "{text}");
        let text = retry(Making { publishers: 2, ..MAKING }).to_string();
        assert!(text.contains("room for 1") && text.contains("asks for 2"), "{text}");
        // What asks for no more than there is takes it as it is.
        drop(scratch.publish_as(&Making { capacity: 2, least: 2, ..MAKING }).unwrap());
        drop(scratch.publish_as(&Making { capacity: 64, least: 0, ..MAKING }).unwrap());
        subscriber
    });
    assert!(!scratch.file().exists());
}

#[test]
fn permissions_are_the_owners_unless_a_group_is_named() {
    let scratch = Scratch::new();
    let mode = || std::fs::metadata(scratch.file()).unwrap().permissions().mode() & 0o7777;
    let publish = |mode, group| scratch.publish_as(&Making { access: Access { mode, group }, ..MAKING });
    let publisher = publish(0o600, None).unwrap();
    assert_eq!(mode(), 0o600);
    drop(publisher);
    let own_group = rustix::process::getgid().as_raw();
    let publisher = publish(0o660, Some(own_group)).unwrap();
    assert_eq!(mode(), 0o660);
    drop(publisher);
    for wrong in [0o666, 0o602, 0o700, 0o4600, 0o604] {
        assert!(matches!(publish(wrong, None), Err(OpenError::Mode { mode }) if mode == wrong));
        assert!(!scratch.file().exists());
    }
}

/// Deterministic noise; the seed is in the message of a failure.
fn noise(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 16
}

#[test]
fn peer_that_scribbles_on_a_live_segment_causes_no_panic_and_no_endless_wait() {
    for seed in 0..300 {
        let scratch = Scratch::new();
        let mut publisher = scratch.publish().unwrap();
        let mut subscriber = scratch.subscribe().unwrap();
        let file = std::fs::File::options().write(true).open(scratch.file()).unwrap();
        let bytes = file.metadata().unwrap().len();
        let mut state = seed;
        for _ in 0..20 {
            let word = noise(&mut state) % (bytes / 8);
            let value = match noise(&mut state) % 3 {
                0 => noise(&mut state) % 20,
                1 => u64::MAX - noise(&mut state) % 4,
                _ => noise(&mut state) << 16,
            };
            file.write_all_at(&value.to_ne_bytes(), word * 8).unwrap();
            let _full = publisher.try_send(&[state; 4], state);
            let _nothing = subscriber.try_recv::<Message>();
            let _reaped = publisher.reap();
        }
        let _refused_or_not = scratch.subscribe();
        let _cleaned = clean(&scratch.directory).unwrap();
    }
}

#[test]
fn needs_are_met_by_the_same_policy_and_as_much_room() {
    for needs in [Needs::default(), Needs { policy: Some(DeliveryPolicy::Latest), capacity: 1 << 20, waking: true }] {
        assert!(needs.check(DeliveryPolicy::Latest, 1 << 20, true).is_ok());
    }
    let needs = Needs { policy: Some(DeliveryPolicy::Latest), capacity: 8, waking: true };
    assert_eq!(
        needs.check(DeliveryPolicy::Reliable, 8, true),
        Err(Reason::DeliveryPolicy { found: DeliveryPolicy::Reliable, expected: DeliveryPolicy::Latest })
    );
    assert_eq!(needs.check(DeliveryPolicy::Latest, 8, false), Err(Reason::NeverWakes));
    assert_eq!(needs.check(DeliveryPolicy::Latest, 4, true), Err(Reason::TooSmall { found: 4, needed: 8 }));
}
