//! The first message of a topic reaches nodes that were there before it, in the cycle that it releases.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use horus::message::layout::Layout;
use horus::prelude::*;
use horus::time::SystemClock;
use horus::topic::Raw;

/// What a node saw, cycle by cycle.
type Seen = Arc<Mutex<Vec<Option<f64>>>>;

fn speed(forward: f64) -> CmdVel {
    CmdVel { forward, turn: 0.0 }
}

/// Adds a node that writes down what is fresh in each cycle.
fn listener(app: &mut App, options: Options, seen: &Seen) -> horus::Result {
    let mut input = app.input_with::<CmdVel>("event", options)?;
    let seen = Arc::clone(seen);
    app.node("listen", move |_: &Cycle| seen.lock().unwrap().push(input.fresh().map(|message| message.forward)))
        .on("event");
    Ok(())
}

#[test]
fn an_event_that_comes_once_is_fresh_in_the_cycle_that_it_releases() {
    // Whatever the publisher asks for: what the node's input made is enough, or has to be remade.
    for publishing in [Options::default(), Options::reliable(64), Options::latest(2).publishers(3)] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let here = |options: Options| options.directory(files.path());
        let seen = Seen::default();
        let mut app = App::new("first-message").unwrap();
        listener(&mut app, here(Options::default()), &seen).unwrap();
        app.releases(1);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| app.run_in_place(SystemClock, &stop).unwrap());
            let mut publisher = Publisher::<CmdVel>::open("event", here(publishing)).unwrap();
            publisher.send(speed(7.0)).unwrap();
            let started = Instant::now();
            while seen.lock().unwrap().is_empty() && started.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(*seen.lock().unwrap(), [Some(7.0)]);
    }
}

#[test]
fn what_a_node_of_another_program_sets_once_is_fresh_in_the_first_cycle() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let here = |options: Options| options.directory(files.path());
    let (seen, stop) = (Seen::default(), AtomicBool::new(false));
    let mut listening = App::new("listening").unwrap();
    listener(&mut listening, here(Options::default()), &seen).unwrap();
    listening.releases(1);
    let mut telling = App::new("telling").unwrap();
    // Larger than what the listener's input made.
    let mut output = telling.output_with::<CmdVel>("event", here(Options::reliable(64))).unwrap();
    let cycles = AtomicU64::new(0);
    let cycles: &'static AtomicU64 = Box::leak(Box::new(cycles));
    let tell = move |_: &Cycle| {
        if cycles.fetch_add(1, Ordering::Relaxed) == 0 {
            output.set(speed(7.0));
        }
    };
    telling.node("tell", tell).period(ms(1));
    telling.releases(3);
    std::thread::scope(|scope| {
        scope.spawn(|| listening.run_in_place(SystemClock, &stop).unwrap());
        telling.run_in_place(SystemClock, &AtomicBool::new(false)).unwrap();
        let started = Instant::now();
        while seen.lock().unwrap().is_empty() && started.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(*seen.lock().unwrap(), [Some(7.0)]);
}

#[test]
fn in_a_virtual_world_each_event_releases_its_cycle_from_the_first_one_on() {
    let seen = Seen::default();
    let mut world = VirtualWorld::new(|app| listener(app, Options::default(), &seen)).unwrap();
    for number in 1..=5 {
        world.publish("event", &speed(f64::from(number)));
        world.run_for(ms(1));
    }
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
}

#[test]
fn in_a_virtual_world_a_periodic_node_sees_the_first_message_in_its_next_cycle() {
    let seen = Seen::default();
    let mut world = VirtualWorld::new(|app| {
        let mut input = app.input::<CmdVel>("event")?;
        let seen = Arc::clone(&seen);
        app.node("look", move |_: &Cycle| seen.lock().unwrap().push(input.fresh().map(|message| message.forward)))
            .period(ms(1));
        Ok(())
    })
    .unwrap();
    world.publish("event", &speed(3.0));
    world.run_for(ms(2));
    assert_eq!(seen.lock().unwrap().first(), Some(&Some(3.0)), "{seen:?}");
}

#[test]
fn in_a_virtual_world_the_first_look_of_a_step_sees_all_that_has_come_and_a_second_one_sees_it_no_more() {
    let layout = Layout::of::<CmdVel>();
    // Whatever the publisher asks for: what the input made is enough, or has to be remade, once or twice.
    for publishing in [None, Some(Options::reliable(64)), Some(Options::latest(256).publishers(3))] {
        for is_looked_at in [false, true] {
            let looks: Arc<Mutex<Vec<[usize; 4]>>> = Arc::default();
            let mut world = VirtualWorld::new(|app| {
                let mut typed = app.input::<CmdVel>("event")?;
                let mut raw = app.input_as::<Raw>("event", &layout, Options::default())?;
                let looks = Arc::clone(&looks);
                let look = move |_: &Cycle| {
                    let mut count = || std::iter::from_fn(|| raw.try_recv().map(drop)).count();
                    let raw = [count(), count()];
                    let typed = [typed.messages().count(), typed.messages().count()];
                    looks.lock().unwrap().push([raw[0], raw[1], typed[0], typed[1]]);
                };
                app.node("look", look).period(ms(1));
                Ok(())
            })
            .unwrap();
            if is_looked_at {
                assert!(world.last::<CmdVel>("event").is_none());
            }
            for number in 0..3 {
                match &publishing {
                    Some(options) => world.publish_with("event", options.clone(), &speed(f64::from(number))),
                    None => world.publish("event", &speed(f64::from(number))),
                }
            }
            world.run_for(us(1500));
            world.publish("event", &speed(3.0));
            world.run_for(ms(1));
            assert_eq!(*looks.lock().unwrap(), [[3, 0, 3, 0], [1, 0, 1, 0]], "{publishing:?}");
        }
    }
}

#[test]
fn a_second_program_of_nodes_on_a_topic_is_refused_unless_both_want_it() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let here = |options: Options| options.directory(files.path());
    let output = |program: &str, options: Options| {
        let mut app = App::new(program).unwrap();
        app.output_with::<CmdVel>("event", here(options)).map(|output| (app, output))
    };
    let first = output("first", Options::default()).unwrap();
    let error = output("second", Options::default()).err().unwrap().to_string();
    assert!(error.contains("1 living publisher (") && error.contains("Options::publishers"), "{error}");
    drop(first);
    let _both = [("first", 2), ("second", 2)]
        .map(|(program, room)| output(program, Options::default().publishers(room)).unwrap());
}
