//! Whose topics a virtual world's nodes use: the world's, whichever program opens them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use horus::messages::ImageVga;
use horus::prelude::*;
use horus::zerocopy::FromZeros;

/// A node with a publisher and a subscriber of its own, as for images; it opens another topic in its step.
fn camera(app: &mut App) -> horus::Result {
    let mut frames = Publisher::<CmdVel>::open("camera.front", Options::latest(4))?;
    let mut settings = Subscriber::<CmdVel>::open("camera.settings", Options::default())?;
    let mut seen = app.output::<CmdVel>("seen")?;
    let mut late = None;
    let shoot = move |cycle: &Cycle| {
        let late = late.get_or_insert_with(|| Publisher::<CmdVel>::open("camera.late", Options::latest(4)).unwrap());
        let frame = CmdVel { forward: cycle.number as f64, turn: 0.0 };
        frames.try_send(frame).unwrap();
        late.try_send(frame).unwrap();
        if let Some(told) = settings.try_recv() {
            seen.set(told.message);
        }
    };
    app.node("camera", shoot).period(ms(10));
    Ok(())
}

#[test]
fn topics_that_a_node_opens_by_itself_are_the_worlds() {
    let robot = tempfile::tempdir_in("/dev/shm").unwrap();
    // Beside a robot that runs: its camera publishes the same topic.
    let on_robot = Options::latest(4).directory(robot.path());
    let _frames = Publisher::<CmdVel>::open("camera.front", &on_robot).unwrap();
    with_robot(robot.path(), || {
        let mut world = VirtualWorld::new(camera).unwrap();
        let setting = CmdVel { forward: 7.0, turn: 0.0 };
        world.publish("camera.settings", &setting);
        world.run_for(ms(50));
        world.publish("camera.settings", &setting);
        world.run_for(ms(50));
        for topic in ["camera.front", "camera.late"] {
            assert_eq!(world.last::<CmdVel>(topic).map(|frame| frame.forward), Some(9.0), "{topic}");
        }
        assert_eq!(world.last::<CmdVel>("seen"), Some(setting));
        let here = std::fs::read_dir(world.directory()).unwrap().count();
        assert_eq!(here, 4, "camera.front, camera.late, camera.settings, seen");
    });
    let there: Vec<_> = std::fs::read_dir(robot.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["camera.front.topic"], "nothing of the test is on the robot");
}

#[test]
fn two_worlds_of_one_process_do_not_meet() {
    let mut worlds = [VirtualWorld::new(camera).unwrap(), VirtualWorld::new(camera).unwrap()];
    worlds[0].run_for(ms(100));
    worlds[1].run_for(ms(30));
    let [first, second] = worlds.each_mut().map(|world| world.last::<CmdVel>("camera.front").unwrap().forward);
    assert_eq!((first, second), (9.0, 2.0));
}

/// Runs `body` where the environment names the robot's topics.
fn with_robot(topics: &Path, body: impl FnOnce()) {
    // The variable would be that of all tests of this process: a scope is that of this thread, and a world's lies inside of it.
    let _robot = horus_shm::directory::Scope::enter(topics);
    body();
}

#[test]
fn a_reliable_input_is_fed_as_it_asks_and_a_full_topic_is_told() {
    let read = |app: &mut App| {
        let mut goals = app.input_with::<CmdVel>("goal", Options::reliable(4))?;
        let mut count = app.output::<CmdVel>("count")?;
        let mut total = 0;
        let follow = move |_: &Cycle| {
            total += goals.messages().count();
            count.set(CmdVel { forward: total as f64, turn: 0.0 });
        };
        app.node("follow", follow).period(ms(10));
        Ok(())
    };
    let mut world = VirtualWorld::new(read).unwrap();
    for _ in 0..5 {
        (0..4).for_each(|_| world.publish("goal", &CmdVel::STOP));
        world.run_for(ms(20));
    }
    assert_eq!(world.last::<CmdVel>("count").unwrap().forward, 20.0);
    (0..4).for_each(|_| world.publish("goal", &CmdVel::STOP));
    let full = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.publish("goal", &CmdVel::STOP)));
    let text = *full.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("holds 4 messages") && text.contains("run_for"), "{text}");
}

#[test]
fn a_topic_is_made_as_a_test_wants_it() {
    let mut world = VirtualWorld::new(camera).unwrap();
    world.publish_with("map", Options::reliable(2), &CmdVel::STOP);
    let options = Options::reliable(2).directory(world.directory());
    assert!(Subscriber::<CmdVel>::open("map", options).is_ok());
}

#[test]
fn a_message_at_the_first_instant_is_stamped() {
    let watch = |app: &mut App| {
        let mut cmd = app.input::<CmdVel>("cmd")?;
        let mut age = app.output::<CmdVel>("age")?;
        let watch = move |cycle: &Cycle| {
            cmd.latest();
            if let Some(old) = cmd.age(cycle.release) {
                age.set(CmdVel { forward: old.as_secs_f64(), turn: 0.0 });
            }
        };
        app.node("watch", watch).period(ms(10));
        Ok(())
    };
    let mut world = VirtualWorld::new(watch).unwrap();
    assert!(world.now() > MonotonicTime::default() && world.elapsed().is_zero());
    world.publish("cmd", &CmdVel::STOP);
    world.run_for(ms(100));
    assert_eq!(world.last::<CmdVel>("age").unwrap().forward, 0.1);
    assert_eq!(world.elapsed(), ms(100));
}

#[test]
fn an_image_fits_the_stack_of_a_test() {
    let mut world = VirtualWorld::new(camera).unwrap();
    world.publish_with("image", Options::latest(2), &*ImageVga::new_box_zeroed().unwrap());
    assert!(world.last_boxed::<ImageVga>("image").is_some());
    assert!(world.last::<ImageVga>("image").is_some());
}

/// What a subscriber that joined late got: when it joined by the publisher's count, and the numbers.
#[derive(Clone, Debug, Default, PartialEq)]
struct Got {
    is_refused: bool,
    sent_before: u64,
    numbers: Vec<u64>,
    missed: u64,
}

/// Runs a publisher and two subscribers, each of which opens the topic in its own turn of the world's cycles. The first subscriber takes any
/// topic, the second one needs more than the publisher asks for.
fn joins(turns: [u64; 3], options: fn(usize) -> Options) -> (u64, [Got; 2]) {
    let sent = Arc::new(Mutex::new(0));
    let got = Arc::new(Mutex::new([Got::default(), Got::default()]));
    let mut world = VirtualWorld::new(|app| {
        let (mut publisher, count) = (None, Arc::clone(&sent));
        let publish = move |cycle: &Cycle| {
            if cycle.number < turns[0] {
                return;
            }
            let publisher = publisher.get_or_insert_with(|| Publisher::<CmdVel>::open("late", options(8)).unwrap());
            let mut sent = count.lock().unwrap();
            *sent += u64::from(publisher.try_send(CmdVel { forward: *sent as f64, turn: 0.0 }).is_ok());
        };
        app.node("publisher", publish).period(ms(1));
        for (which, asks) in [Options::default(), options(32)].into_iter().enumerate() {
            let (mut subscriber, count, got) = (None, Arc::clone(&sent), Arc::clone(&got));
            let read = move |cycle: &Cycle| {
                let got = &mut got.lock().unwrap()[which];
                if cycle.number < turns[1 + which] || got.is_refused {
                    return;
                }
                if subscriber.is_none() {
                    got.sent_before = *count.lock().unwrap();
                    match Subscriber::<CmdVel>::open("late", asks.clone()) {
                        Ok(opened) => subscriber = Some(opened),
                        Err(_) => got.is_refused = true,
                    }
                }
                let Some(subscriber) = &mut subscriber else { return };
                got.numbers.extend(std::iter::from_fn(|| subscriber.try_recv()).map(|it| it.message.forward as u64));
                got.missed = subscriber.missed();
            };
            app.node(["any", "more"][which], read).period(ms(1));
        }
        Ok(())
    })
    .unwrap();
    world.run_for(ms(40));
    let (sent, got) = (*sent.lock().unwrap(), got.lock().unwrap().clone());
    (sent, got)
}

#[test]
fn who_joins_late_in_whatever_order_gets_all_that_is_sent_from_then_on() {
    let orders = [
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
        [1, 1, 1],
        [2, 1, 1],
        [1, 2, 2],
        [9, 1, 5],
        [1, 9, 5],
    ];
    for turns in orders {
        for options in [Options::reliable as fn(usize) -> Options, Options::latest] {
            let (sent, got) = joins(turns, options);
            assert!(sent >= 30, "{turns:?}: {sent} were sent");
            assert_eq!(got[1].is_refused, turns[2] >= turns[0], "{turns:?}: the topic holds less once it is published");
            for got in got.iter().filter(|got| !got.is_refused) {
                // A cycle's nodes run one after the other, so what was sent last was read.
                let due: Vec<_> = (got.sent_before..sent).collect();
                assert!(got.numbers == due && got.missed == 0, "{turns:?}: {sent} were sent, {got:?}");
            }
            assert_eq!((sent, got), joins(turns, options), "{turns:?}: another run is another one");
        }
    }
}
