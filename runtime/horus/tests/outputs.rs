//! What becomes of the messages that a step sets: each is published, in order, when the step returns, or counted with its cause.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use horus::app::NodeAccount;
use horus::journal;
use horus::port::{Lost, Set};
use horus::prelude::*;
use horus::time::Clock;
use horus::topic::{Bytes, Serde};

horus::message! {
    /// A message that is a number.
    struct Number = "outputs/Number" {
        /// It.
        number: u64,
    }
}

horus::message! {
    /// What a robot calls a small map: 100 x 100 cells, and some more.
    struct Map = "outputs/Map" {
        /// Which one it is.
        number: u64,
        /// Its cells.
        cells: [u8; 10_232],
    }
}

/// A clock that goes on with each sleep only.
#[derive(Default)]
struct Hurried(std::cell::Cell<MonotonicTime>);

impl Clock for Hurried {
    fn now(&self) -> MonotonicTime {
        self.0.get()
    }

    fn sleep_until(&self, until: MonotonicTime) {
        self.0.set(until.max(self.0.get()));
    }

    fn cpu(&self) -> u32 {
        0
    }

    fn cpu_time(&self) -> u64 {
        0
    }
}

/// The entries of one kind.
fn told<'a>(world: &'a VirtualWorld, id: &str) -> Vec<&'a journal::Entry> {
    world.journal().iter().filter(|entry| entry.get("MESSAGE_ID") == Some(id)).collect()
}

fn sum(entries: &[&journal::Entry], field: &str) -> u64 {
    entries.iter().map(|entry| entry.get(field).unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn message_for_a_full_reliable_topic_is_refused_and_counted_and_all_others_come_once_in_order() {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::new(Mutex::new(Vec::new()));
    let refused = Arc::new(Mutex::new(Lost::default()));
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output_with::<Number>("numbers", Options::reliable(8))?;
        let (taken, refused) = (Arc::clone(&taken), Arc::clone(&refused));
        let mut number = 0;
        let send = move |_: &Cycle| {
            for _ in 0..3 {
                match output.try_set(Number { number }) {
                    Set::Taken => taken.lock().unwrap().push(number),
                    why => assert_eq!(why, Set::Full),
                }
                number += 1;
            }
            *refused.lock().unwrap() = output.lost();
        };
        app.node("send", send).period(ms(1));
        let mut input = app.input_with::<Number>("numbers", Options::reliable(8))?;
        let received = Arc::clone(&received);
        let receive = move |_: &Cycle| {
            received.lock().unwrap().extend(input.messages().map(|message| message.number));
            assert_eq!(input.missed(), 0);
        };
        app.node("receive", receive).period(ms(7));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(3_500));
    let (taken, received, lost) = (taken.lock().unwrap(), received.lock().unwrap(), *refused.lock().unwrap());
    assert!(received.len() > 1_000 && lost.full > 1_000, "{} {lost:?}", received.len());
    assert_eq!(taken[..received.len()], received[..]);
    assert_eq!((lost.total(), taken.len() as u64 + lost.full), (lost.full, 3 * 3_500));
    // Three and a half seconds, an entry a second: the last one is told at the program's end.
    let entries = told(&world, journal::id::OUTPUT_LOST);
    assert!((3..=5).contains(&entries.len()), "{}", entries.len());
    assert!(
        entries[0]
            .message()
            .starts_with("node send did not publish 1 message on topic numbers: 1 found the topic full")
    );
    assert!(sum(&entries, "HORUS_LOST_FULL") <= lost.full && sum(&entries, "HORUS_LOST") > lost.full / 2);
}

#[test]
fn step_sets_as_many_messages_as_the_topic_holds_and_the_first_ones_stay() {
    for options in [Options::latest(8), Options::reliable(8)] {
        let mut world = VirtualWorld::new(|app| {
            let mut output = app.output_with::<Number>("numbers", options)?;
            let send = move |_: &Cycle| {
                let set: Vec<_> = (0..10).map(|number| output.try_set(Number { number })).collect();
                assert_eq!(set, [vec![Set::Taken; 8], vec![Set::Beyond; 2]].concat());
            };
            app.node("send", send).period(ms(1));
            let mut input = app.input::<Number>("numbers")?;
            let receive = move |_: &Cycle| {
                let numbers: Vec<_> = input.messages().map(|message| message.number).collect();
                assert!(numbers.is_empty() || numbers == [0, 1, 2, 3, 4, 5, 6, 7], "{numbers:?}");
            };
            app.node("receive", receive).period(ms(1));
            Ok(())
        })
        .unwrap();
        world.run_for(ms(50));
        assert_eq!(told(&world, journal::id::OUTPUT_LOST)[0].get("HORUS_LOST_BEYOND"), Some("2"));
    }
}

#[test]
fn what_is_no_message_of_the_topic_is_refused_and_told() {
    let mut world = VirtualWorld::new(|app| {
        let mut log = app.output_as::<[u8]>("log", Bytes::up_to(8), Options::default())?;
        let mut words =
            app.output_as::<Serde<Option<String>>>("words", Bytes::of_type("outputs/Words", 8), Options::default())?;
        let send = move |_: &Cycle| {
            assert_eq!(["just fit", "does not fit"].map(|line| log.try_set(line)), [Set::Taken, Set::Invalid]);
            let words_of = |text: &str| Some(text.to_owned());
            assert_eq!(words.try_set(words_of("too long for it")), Set::Invalid);
            assert_eq!(words.try_set(words_of("short")), Set::Taken);
            assert_eq!(log.lost().invalid, words.lost().total());
        };
        app.node("send", send).period(ms(1));
        let mut log = app.input_as::<[u8]>("log", Bytes::up_to(8), Options::default())?;
        let mut words =
            app.input_as::<Serde<Option<String>>>("words", Bytes::of_type("outputs/Words", 8), Options::default())?;
        let receive = move |_: &Cycle| {
            while let Some(line) = log.try_recv() {
                assert_eq!(line.message, b"just fit");
            }
            assert!(words.messages().all(|words| words.unwrap().as_deref() == Some("short")));
        };
        app.node("receive", receive).period(ms(1));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(5));
    let entries = told(&world, journal::id::OUTPUT_LOST);
    assert_eq!(entries.len(), 2, "one of each output in the first second");
    assert!(entries[0].message().ends_with("on topic log: 1 no message of the topic"), "{}", entries[0].message());
    assert_eq!(sum(&entries, "HORUS_LOST_INVALID"), 2);
}

#[test]
fn value_that_cannot_be_read_is_told_to_the_step_that_reads_it() {
    let received = Arc::new(Mutex::new(0));
    let mut world = VirtualWorld::new(|app| {
        let shape = Bytes::of_type("outputs/Either", 64);
        let mut output = app.output_as::<Serde<Vec<u8>>>("either", shape, Options::default())?;
        app.node("send", move |_: &Cycle| output.set(vec![0xff; 3])).period(ms(1));
        let mut input = app.input_as::<Serde<String>>("either", shape, Options::default())?;
        let received = Arc::clone(&received);
        let receive = move |_: &Cycle| {
            if let Some(seen) = input.fresh_received() {
                assert_eq!(seen.message.unwrap_err().sequence, seen.sequence);
                *received.lock().unwrap() += 1;
            }
        };
        app.node("receive", receive).period(ms(1));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(10));
    assert!(*received.lock().unwrap() > 5);
}

#[test]
fn output_of_bytes_that_are_too_large_is_refused() {
    let refused = VirtualWorld::new(|app| {
        app.output_as::<[u8]>("log", Bytes::up_to(horus::port::MAX_OUTPUT_BYTES), Options::default())?;
        app.output_as::<[u8]>("logs", Bytes::up_to(horus::port::MAX_OUTPUT_BYTES + 1), Options::default())?;
        Ok(())
    });
    let refused = refused.err().expect("it is too large").to_string();
    assert!(refused.contains("65537 bytes is too large for an output, of topic logs: at most 65536"), "{refused}");
}

#[test]
fn nothing_that_a_step_sets_is_seen_before_it_returns() {
    for options in [Options::latest(2), Options::reliable(2)] {
        let mut world = VirtualWorld::new(|app| {
            let mut output = app.output_with::<Number>("numbers", options)?;
            app.node("send", move |cycle: &Cycle| output.set(Number { number: cycle.number + 1 })).period(ms(1));
            Ok(())
        })
        .unwrap();
        world.takes("send", us(500));
        assert_eq!(world.last::<Number>("numbers"), None);
        world.run_for(us(1_200));
        assert_eq!(world.last::<Number>("numbers"), None, "its step has set it and not returned");
        world.run_for(us(500));
        assert_eq!(world.last("numbers"), Some(Number { number: 1 }));
        world.run_for(us(600));
        assert_eq!(world.last("numbers"), Some(Number { number: 1 }));
    }
}

#[test]
fn map_of_10_kb_ten_times_a_second_is_a_normal_message() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output::<Map>("map")?;
        let send = move |cycle: &Cycle| output.set(Map { number: cycle.number, cells: [cycle.number as u8; 10_232] });
        app.node("mapper", send).period(ms(100));
        let mut input = app.input::<Map>("map")?;
        let received = Arc::clone(&received);
        let receive = move |_: &Cycle| {
            if let Some(map) = input.fresh() {
                assert!(map.cells.iter().all(|&cell| cell == map.number as u8), "a torn map");
                received.lock().unwrap().push(map.number);
            }
            assert_eq!(input.missed(), 0);
        };
        app.node("planner", receive).period(ms(50));
        Ok(())
    })
    .unwrap();
    world.run_for(secs(3));
    let received = received.lock().unwrap();
    assert!(received.len() >= 28, "{received:?}");
    assert_eq!(*received, (0..received.len() as u64).collect::<Vec<_>>());
    assert_eq!(told(&world, journal::id::OUTPUT_LOST).len() + told(&world, journal::id::INPUT_MISSED).len(), 0);
}

#[test]
fn what_an_input_missed_is_told_and_counted() {
    let seen = Arc::new(Mutex::new((0, 0)));
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output_with::<Number>("numbers", Options::latest(4))?;
        app.node("send", move |cycle: &Cycle| output.set(Number { number: cycle.number })).period(ms(1));
        let mut input = app.input::<Number>("numbers")?;
        let seen = Arc::clone(&seen);
        let receive = move |_: &Cycle| {
            let came = input.messages().count() as u64;
            let mut seen = seen.lock().unwrap();
            *seen = (seen.0 + came, input.missed());
        };
        app.node("receive", receive).period(ms(20));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(2_500));
    let (came, missed) = *seen.lock().unwrap();
    assert!(came > 100 && missed > 1_000, "{came} {missed}");
    let entries = told(&world, journal::id::INPUT_MISSED);
    assert!(entries[0].message().contains("overwritten on topic numbers"), "{}", entries[0].message());
    let told = sum(&entries, "HORUS_MISSED");
    assert!(told <= missed && told > missed / 2, "{told} of {missed}");
}

/// Runs the nodes that `declare` declares until each had so many releases, faster than time passes.
fn run_in_place(releases: u64, declare: impl FnOnce(&mut App) -> horus::Result) -> Vec<NodeAccount> {
    let mut app = App::new("outputs-in-place").unwrap();
    declare(&mut app).unwrap();
    app.releases(releases);
    app.run_in_place(Hurried::default(), &AtomicBool::new(false)).unwrap()
}

#[test]
fn output_that_outlives_its_program_holds_neither_a_place_nor_the_file() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(8).directory(scratch.path());
    let outlives = Arc::new(Mutex::new(None));
    let accounts = run_in_place(3, |app| {
        *outlives.lock().unwrap() = Some(app.output_with::<Number>("numbers", options)?);
        let lent = Arc::clone(&outlives);
        let send = move |cycle: &Cycle| {
            let number = Number { number: cycle.number };
            lent.lock().unwrap().as_mut().unwrap().set(number);
        };
        app.node("send", send).period(ms(1));
        Ok(())
    });
    assert_eq!((accounts[0].tally.cycles, accounts[0].lost), (3, Lost::default()));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "the topic's file is still there");
    let mut outlives = outlives.lock().unwrap();
    let output = outlives.as_mut().unwrap();
    assert_eq!(output.try_set(Number { number: 9 }), Set::Outside);
    assert_eq!(output.lost(), Lost { outside: 1, ..Lost::default() });
}

#[test]
fn account_says_what_was_lost_and_missed() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(2).directory(scratch.path());
    let accounts = run_in_place(10, |app| {
        let mut output = app.output_with::<Number>("numbers", options.clone())?;
        app.node("send", move |_: &Cycle| (0..3).for_each(|number| output.set(Number { number }))).period(ms(1));
        let mut input = app.input_with::<Number>("numbers", options.clone())?;
        app.node("receive", move |cycle: &Cycle| {
            if cycle.number % 2 == 1 {
                let _ = input.latest();
            }
        })
        .period(ms(1));
        Ok(())
    });
    assert_eq!((accounts[0].lost.beyond, accounts[1].missed > 0), (10, true));
    let texts = accounts.map_texts();
    assert!(texts[0].contains("; messages not published: 10 beyond what the topic holds in one step"), "{}", texts[0]);
    assert!(texts[1].contains("; messages missed: "), "{}", texts[1]);
}

trait Texts {
    fn map_texts(&self) -> Vec<String>;
}

impl Texts for Vec<NodeAccount> {
    fn map_texts(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn messages_set_by_another_thread_come_whole_once_and_in_order() {
    const MESSAGES: u64 = 20_000;
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(64).directory(scratch.path());
    let mut subscriber = Subscriber::<Number>::open("numbers", &options).unwrap();
    let mut app = App::new("outputs-of-threads").unwrap();
    let mut output = app.output_with::<Number>("numbers", options.clone()).unwrap();
    let runs = Arc::new(AtomicBool::new(false));
    let (says, has_begun) = (Arc::clone(&runs), runs);
    app.node("idle", move |_: &Cycle| says.store(true, Ordering::Relaxed)).period(ms(1));
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let setter = std::thread::spawn(move || {
        // What is set before the program runs is what is safe, and not published.
        while !has_begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let (mut taken, mut not) = (Vec::new(), 0);
        for number in 0..MESSAGES {
            match output.try_set(Number { number }).is_taken() {
                true => taken.push(number),
                false => {
                    not += 1;
                    std::thread::yield_now();
                }
            }
        }
        // The executor publishes the last of them in its next cycle.
        std::thread::park_timeout(ms(50));
        assert_eq!(output.lost().total(), not);
        stopped.store(true, Ordering::Relaxed);
        taken
    });
    let stops = Arc::clone(&stop);
    let reader = std::thread::spawn(move || {
        let mut received = Vec::new();
        loop {
            match subscriber.recv_timeout(ms(100)) {
                Some(message) => received.push(message.message.number),
                None if stops.load(Ordering::Relaxed) => return received,
                None => {}
            }
        }
    });
    app.run_in_place(Hurried::default(), &stop).unwrap();
    let taken = setter.join().unwrap();
    let received = reader.join().unwrap();
    assert!(taken.len() > 64, "{}", taken.len());
    // What was set after the last cycle was taken and not published.
    assert_eq!(taken[..received.len()], received[..]);
    assert!(taken.len() - received.len() <= 64, "{} of {}", received.len(), taken.len());
}

#[test]
#[ignore = "a program that a test of this file starts"]
fn program_that_panics_in_its_third_step() {
    let mut app = App::new("outputs-panic").unwrap();
    let mut output = app.output_with::<Number>("numbers", Options::reliable(8)).unwrap();
    let step = move |cycle: &Cycle| {
        output.set(Number { number: cycle.number });
        output.set(Number { number: cycle.number });
        assert!(cycle.number < 2, "the third step");
    };
    app.node("send", step).period(ms(10));
    let error = app.run().unwrap_err();
    eprintln!("{error}");
}

#[test]
fn what_a_step_set_that_panicked_is_not_published_and_told() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(8).directory(scratch.path());
    let mut subscriber = Subscriber::<Number>::open("numbers", options).unwrap();
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "program_that_panics_in_its_third_step", "--ignored", "--nocapture"])
        .env("HORUS_SHM_DIR", scratch.path())
        .env(journal::VARIABLE, journal::PRINT)
        .env_remove("NOTIFY_SOCKET")
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&program.stderr);
    assert!(text.contains("node send panicked"), "{text}");
    // A late release is skipped, so the third step may have any number.
    let told = "node send did not publish 2 messages on topic numbers: 2 of a step that was discarded";
    assert!(text.contains(told), "{text}");
    let numbers: Vec<_> =
        std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.message.number).collect();
    assert!(numbers == [0, 0, 1, 1] || numbers == [0, 0] || numbers.is_empty(), "{numbers:?}");
}
