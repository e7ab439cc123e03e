//! A tree of frames between processes: who sends, who looks up, what is refused and with which words, and what a look-up costs.

mod peers;

use std::hint::black_box;

use allocation_counter::measure;
use horus::messages::{Quaternion, Vector3};
use horus::time::{MonotonicTime, ms, pause};
use horus::topic::Options;
use horus::transform::{Broadcaster, Frames, HELD, LookupError, SendError, StaticBroadcaster, Transform};
use peers::{PATIENCE, Peer};
use tempfile::TempDir;

/// A place of this test's own.
fn place() -> (TempDir, Options) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(scratch.path());
    (scratch, options)
}

fn at(milliseconds: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(milliseconds * 1_000_000)
}

fn moved(x: f64) -> Transform {
    Transform::planar(x, 0.0, 0.0)
}

fn near(one: &Transform, other: &Transform) -> bool {
    let (p, q) = (&one.rotation, &other.rotation);
    one.distance(other) < 1e-9 && (p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w).abs() > 1.0 - 1e-12
}

/// Sends a mounting once and a moving frame for as long as it lives: at `t` milliseconds the robot is at `t` metres.
#[test]
#[ignore = "a peer"]
fn peer_sends_frames() {
    let mut mounted = StaticBroadcaster::open(&peers::options()).unwrap();
    mounted.add("base", "lidar", &Transform::planar(0.0, 0.5, 0.0)).unwrap();
    let mut odom = Broadcaster::open("odom", "base", &peers::options()).unwrap();
    for millisecond in 1..=100 {
        odom.send(at(millisecond), &moved(millisecond as f64)).unwrap();
    }
    peers::ready();
    pause(PATIENCE);
}

#[test]
fn a_process_looks_up_what_another_sends_static_and_moving() {
    let (scratch, options) = place();
    let frames = Frames::open(&options).unwrap(); // before any is sent
    assert!(matches!(frames.at("odom", "lidar", at(50)), Err(LookupError::UnknownFrame { nearest: None, .. })));
    let mut peer = Peer::start("peer_sends_frames", scratch.path(), "latest");
    peer.wait_until_ready();
    let half = MonotonicTime::from_nanos(50_500_000);
    assert!(near(&frames.at("odom", "lidar", half).unwrap(), &Transform::planar(50.5, 0.5, 0.0)));
    assert!(near(&frames.at("lidar", "odom", half).unwrap(), &Transform::planar(-50.5, -0.5, 0.0)));
    assert!(
        near(&frames.at("base", "lidar", at(100_000)).unwrap(), &Transform::planar(0.0, 0.5, 0.0)),
        "static: always"
    );
    let (newest, time) = frames.newest("odom", "lidar").unwrap();
    assert!(near(&newest, &Transform::planar(100.0, 0.5, 0.0)) && time == Some(at(100)));

    // The frame is that process's, and who it is stands in the refusal.
    let refused = Broadcaster::open("map", "base", &options).map(drop).unwrap_err().to_string();
    assert!(refused.starts_with("base is in odom already, sent by process ") && refused.contains("map"), "{refused}");
    peer.kill();
    // What a killed program sent stays until another one sends the frame.
    assert!(frames.at("odom", "lidar", half).is_ok());
    let mut again = Broadcaster::open("odom", "base", &options).unwrap();
    again.send(at(200), &moved(7.0)).unwrap();
    assert!(near(&frames.at("odom", "base", at(200)).unwrap(), &moved(7.0)));
}

#[test]
fn a_time_outside_of_what_is_held_is_refused_with_how_far_it_is_outside() {
    let (_scratch, options) = place();
    let mut base = Broadcaster::open("odom", "base", &options).unwrap();
    let frames = Frames::open(&options).unwrap();
    let unsent = frames.at("odom", "base", at(1)).unwrap_err();
    assert_eq!(unsent.to_string(), "base in odom was announced and not sent yet: wait for it");
    for millisecond in 1..=1000 {
        base.send(at(millisecond), &moved(millisecond as f64)).unwrap();
    }
    let late = frames.at("odom", "base", at(1012)).unwrap_err();
    assert!(matches!(late, LookupError::TooLate { by, .. } if by == ms(12)));
    let oldest = 1000 - HELD as u64 + 2;
    let early = frames.at("odom", "base", at(oldest - 3)).unwrap_err();
    assert!(matches!(early, LookupError::TooEarly { by, .. } if by == ms(3)));
    assert_eq!(
        (late.to_string(), early.to_string()),
        (
            "base in odom is known until 12ms before the time that was asked for: ask for an earlier time, or wait for it".into(),
            "base in odom is known from 3ms after the time that was asked for: the 255 transforms that are held begin there; \
             ask sooner, or send it less often"
                .to_owned()
        )
    );
    for millisecond in oldest..=1000 {
        assert!(
            near(&frames.at("odom", "base", at(millisecond)).unwrap(), &moved(millisecond as f64)),
            "{millisecond}"
        );
    }
}

#[test]
fn unknown_frames_and_unconnected_ones_are_named() {
    let (_scratch, options) = place();
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    mounted
        .add_all([("base", "lidar", moved(1.0)), ("base", "camera", moved(2.0)), ("dock", "plate", moved(0.0))])
        .unwrap();
    let frames = Frames::open(&options).unwrap();
    let told = |target, source| frames.at(target, source, at(1)).unwrap_err().to_string();
    assert_eq!(told("base", "lider"), "no frame is called lider: the nearest name is lidar");
    assert_eq!(
        told("lidar", "plate"),
        "lidar and plate are not connected: the tree of lidar begins with base, that of plate with dock; send one of these in a frame \
         of the other tree"
    );
    assert!(told("a b", "lidar").starts_with("no frame is called so (a name has 1 to 52"));
    assert!(near(&frames.at("lidar", "camera", at(1)).unwrap(), &moved(1.0)), "two arms of one tree");
    assert!(near(&frames.at("lidar", "lidar", at(1)).unwrap(), &Transform::IDENTITY));
}

#[test]
fn loops_second_parents_and_wrong_transforms_are_refused() {
    let (_scratch, options) = place();
    let mut base = Broadcaster::open("odom", "base", &options).unwrap();
    let _odom = Broadcaster::open("map", "odom", &options).unwrap();
    let open = |parent, child| Broadcaster::open(parent, child, &options).map(drop).unwrap_err().to_string();
    assert_eq!(
        open("base", "map"),
        "map cannot be in base: base is in map already, by base in odom in map; a tree has no loop"
    );
    assert_eq!(
        open("base", "base"),
        "base is in odom already, sent by ".to_owned() + &own() + ": it cannot be in base too; end one of the two"
    );
    assert!(open("x", "x").starts_with("x cannot be in x"));
    assert!(open("/map", "x").contains("is no name of a frame"));
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    mounted.add("base", "lidar", &moved(1.0)).unwrap();
    let refused = mounted.add_all([("base", "camera", moved(1.0)), ("lidar", "map", moved(1.0))]).unwrap_err();
    assert!(matches!(refused, SendError::Loop { .. }), "{refused}");
    assert!(matches!(mounted.add("map", "lidar", &moved(1.0)).unwrap_err(), SendError::SecondParent { .. }));
    let frames = Frames::open(&options).unwrap();
    assert!(frames.at("base", "lidar", at(1)).is_ok());
    assert!(matches!(frames.at("base", "camera", at(1)), Err(LookupError::UnknownFrame { .. })), "all or none");

    base.send(at(5), &moved(1.0)).unwrap();
    let told = base.send(at(5), &moved(1.0)).unwrap_err().to_string();
    assert_eq!(
        told,
        "base was not sent: its time is not after that of the transform before, by 0ns; send each time once, in order"
    );
    let unset = Transform { translation: Vector3::default(), rotation: Quaternion::default() };
    assert!(base.send(at(6), &unset).unwrap_err().to_string().contains("its rotation has the length 0"));
    assert!(base.send(at(6), &moved(f64::NAN)).is_err());
    let unix = MonotonicTime::from_nanos(1_790_000_000_000_000_000);
    assert!(matches!(base.send(unix, &moved(1.0)).unwrap_err(), SendError::Future { .. }));
}

fn own() -> String {
    format!("process {}", std::process::id())
}

#[test]
fn of_two_that_come_at_the_same_moment_never_both_send_a_frame_and_never_both_close_a_loop() {
    let (_scratch, options) = place();
    let _keeps_the_file = Frames::open(&options).unwrap();
    let mut alone = 0;
    for frames in [[("a", "x"), ("b", "x")], [("a", "b"), ("b", "a")]].iter().cycle().take(60) {
        let barrier = std::sync::Barrier::new(2);
        let opened = std::thread::scope(|scope| {
            let open = |(parent, child)| {
                let (barrier, options) = (&barrier, &options);
                scope.spawn(move || {
                    barrier.wait();
                    Broadcaster::open(parent, child, options)
                })
            };
            frames.map(open).map(|thread| thread.join().unwrap())
        });
        let stayed = opened.iter().filter(|opened| opened.is_ok()).count();
        assert!(stayed <= 1, "{frames:?}");
        alone += stayed;
    }
    assert!(alone > 0, "one of the two is refused, and not always both");
}

/// Sends the frame `gimbal` in `base` until it is killed.
#[test]
#[ignore = "a peer"]
fn peer_sends_a_gimbal() {
    let mut gimbal = Broadcaster::open("base", "gimbal", &peers::options()).unwrap();
    gimbal.send(at(1), &moved(1.0)).unwrap();
    peers::ready();
    pause(PATIENCE);
}

#[test]
fn a_program_that_starts_again_in_another_ones_lane_is_seen_at_once() {
    let (scratch, options) = place();
    let mut gimbal = Peer::start("peer_sends_a_gimbal", scratch.path(), "latest");
    gimbal.wait_until_ready();
    let mut wheels = Peer::start("peer_sends_frames", scratch.path(), "latest");
    wheels.wait_until_ready();
    let frames = Frames::open(&options).unwrap();
    // An error has the table read anew: from then on it is known whose lanes these are.
    assert!(frames.newest("odom", "nowhere").is_err());
    assert_eq!(frames.newest("odom", "base").unwrap().1, Some(at(100)));
    gimbal.kill();
    wheels.kill();
    // It gets the gimbal's lane. What the dead one sent stands in its own, where nothing changes any more.
    let mut again = Broadcaster::open("odom", "base", &options).unwrap();
    again.send(at(200), &moved(7.0)).unwrap();
    assert_eq!(frames.newest("odom", "base").unwrap(), (moved(7.0), Some(at(200))));
}

#[test]
fn what_a_dead_program_sent_is_not_taken_for_its_successors() {
    let (scratch, options) = place();
    let mut dead = Peer::start("peer_sends_frames", scratch.path(), "latest");
    dead.wait_until_ready();
    dead.kill();
    // They have the dead one's lanes, and have said nothing yet.
    let _mounted = [StaticBroadcaster::open(&options).unwrap(), StaticBroadcaster::open(&options).unwrap()];
    let mut wheels = Broadcaster::open("odom", "base", &options).unwrap();
    wheels.send(at(1), &moved(1.0)).unwrap();
}

#[test]
fn a_frame_that_is_refused_is_seen_by_no_reader() {
    let (_scratch, options) = place();
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    mounted.add("base", "lidar", &moved(1.0)).unwrap();
    let frames = Frames::open(&options).unwrap();
    let mut copy = StaticBroadcaster::open(&options).unwrap();
    let before = frames.survey().unwrap();
    assert!(matches!(copy.add("base", "lidar", &moved(2.0)), Err(SendError::SecondParent { .. })));
    assert_eq!(frames.survey().unwrap(), before);
    assert!(near(&frames.at("base", "lidar", at(1)).unwrap(), &moved(1.0)));
}

#[test]
fn a_frame_that_is_dropped_is_gone_and_may_be_sent_in_another_parent() {
    let (_scratch, options) = place();
    let mut cup = Broadcaster::open("table", "cup", &options).unwrap();
    cup.send(at(1), &moved(1.0)).unwrap();
    let frames = Frames::open(&options).unwrap();
    assert!(frames.at("table", "cup", at(1)).is_ok());
    drop(cup);
    assert!(matches!(frames.at("table", "cup", at(1)), Err(LookupError::UnknownFrame { .. })));
    let mut cup = Broadcaster::open("gripper", "cup", &options).unwrap();
    cup.send(at(2), &moved(2.0)).unwrap();
    assert!(near(&frames.at("gripper", "cup", at(2)).unwrap(), &moved(2.0)));
}

#[test]
fn static_frames_are_sent_anew_and_never_seen_in_part() {
    let (_scratch, options) = place();
    let frames = Frames::open(&options).unwrap();
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    let names: Vec<_> = (0..100).map(|number| format!("part{number}")).collect();
    mounted.add_all(names.iter().map(|name| ("base", name.as_str(), moved(1.0)))).unwrap();
    for _ in 0..20 {
        // Refused, with what was sent before sent anew: 100 more messages each time.
        assert!(mounted.add("part0", "base", &moved(1.0)).is_err());
        assert!(names.iter().all(|name| frames.at("base", name, at(1)).is_ok()));
    }
    let too_many = mounted.add_all((0..28).map(|_| ("base", "more", moved(1.0)))).unwrap_err().to_string();
    assert_eq!(too_many, "a program sends at most 127 static frames: send the others from another program");
}

#[test]
fn a_robot_is_mounted_as_its_urdf_file_says() {
    let (scratch, options) = place();
    let file = scratch.path().join("robot.urdf");
    let joint = r#"<joint name="j" type="fixed"><parent link="base"/><child link="lidar"/><origin xyz="1 2 0" rpy="0 0 0.5"/></joint>"#;
    std::fs::write(&file, format!("<robot name=\"r\">{joint}</robot>")).unwrap();
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    assert_eq!(mounted.add_urdf(&file).unwrap(), 1);
    let frames = Frames::open(&options).unwrap();
    assert!(near(&frames.at("base", "lidar", at(1)).unwrap(), &Transform::planar(1.0, 2.0, 0.5)));
    std::fs::write(&file, "<robot>").unwrap();
    let told = mounted.add_urdf(&file).unwrap_err().to_string();
    assert!(told.starts_with(&file.display().to_string()) && told.contains("it is no XML"), "{told}");
}

#[test]
fn waiting_ends_with_the_frame_or_with_the_reason() {
    let (scratch, options) = place();
    let frames = Frames::open(&options).unwrap();
    let told = frames.wait("odom", "lidar", at(100), ms(20)).unwrap_err();
    assert!(matches!(told, LookupError::UnknownFrame { .. }));
    let _peer = Peer::start("peer_sends_frames", scratch.path(), "latest");
    assert!(frames.wait("odom", "lidar", at(100), PATIENCE).is_ok());
    assert!(matches!(frames.wait("odom", "lidar", at(101), ms(20)), Err(LookupError::TooLate { .. })));
}

#[test]
fn sending_and_looking_up_allocate_nothing_whatever_the_answer() {
    let (_scratch, options) = place();
    let mut mounted = StaticBroadcaster::open(&options).unwrap();
    mounted.add("base", "lidar", &moved(1.0)).unwrap();
    mounted.add("dock", "plate", &moved(1.0)).unwrap();
    let frames = Frames::open(&options).unwrap();
    let mut base = Broadcaster::open("odom", "base", &options).unwrap();
    let counted = measure(|| {
        for millisecond in 1..=1000 {
            base.send(at(millisecond), &moved(1.0)).unwrap();
            let _refused = black_box(base.send(at(millisecond), &moved(1.0)));
            for (target, source, time) in
                [("odom", "lidar", 0), ("lidar", "odom", 3), ("lider", "odom", 0), ("plate", "odom", 0)]
            {
                let _answer = black_box(frames.at(target, source, at(millisecond + time)));
                let _answer = black_box(frames.newest(target, source));
            }
        }
    });
    assert_eq!(counted.count_total, 0);
    // Nor when another broadcaster comes, and the table is read anew.
    let mut gripper = Broadcaster::open("base", "gripper", &options).unwrap();
    gripper.send(at(1), &moved(1.0)).unwrap();
    let mut found = None;
    assert_eq!(measure(|| found = Some(frames.at("lidar", "gripper", at(1)))).count_total, 0);
    assert!(found.unwrap().is_ok());
}

#[test]
fn a_reader_beside_a_broadcaster_that_never_stops_sees_no_torn_transform() {
    let (_scratch, options) = place();
    let mut base = Broadcaster::open("odom", "base", &options).unwrap();
    base.send(at(1), &turned(0)).unwrap();
    let frames = Frames::open(&options).unwrap();
    let writer = std::thread::spawn(move || {
        for number in 1..400_000_u64 {
            base.send(MonotonicTime::from_nanos(1_000_000 + number * 1_000), &turned(number)).unwrap();
        }
        base
    });
    let mut found = 0_u64;
    while !writer.is_finished() {
        let Ok((transform, _)) = frames.newest("odom", "base") else { continue };
        let Vector3 { x, y, z } = transform.translation;
        assert!(x == y && y == z, "{transform:?}");
        found += 1;
    }
    let _base = writer.join().unwrap();
    assert!(found > 0 && frames.newest("odom", "base").is_ok());
}

/// All of its translation is one number.
fn turned(number: u64) -> Transform {
    let all = number as f64;
    Transform { translation: Vector3 { x: all, y: all, z: all }, ..Transform::planar(0.0, 0.0, all / 7.0) }
}

#[test]
fn more_broadcasters_than_there_are_lanes_are_an_error_that_says_so() {
    let (_scratch, options) = place();
    let open = |number: usize| Broadcaster::open("base", &format!("joint{number}"), &options);
    let _all: Vec<_> = (0..horus::transform::MAX_BROADCASTERS).map(|number| open(number).unwrap()).collect();
    let refused = open(100).map(drop).unwrap_err().to_string();
    assert!(refused.contains("63"), "{refused}");
    let frames = Frames::open(&options).unwrap();
    assert!(matches!(frames.at("base", "joint62", at(1)), Err(LookupError::NotSent { .. })));
}
