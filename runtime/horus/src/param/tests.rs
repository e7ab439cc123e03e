//! Sets are whole, the loop allocates nothing for them, and what is refused changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use horus_shm::board::Board;
use horus_shm::directory::{Directory, Location};

use super::*;
use crate::app::App;
use crate::node::Cycle;
use crate::time::ms;
use crate::world::VirtualWorld;

/// Two parameters that a program `p` has in its node `n`, with their slots.
fn pair() -> (Param<i64>, Param<i64>, Assembled) {
    let ((one, first), (other, second)) =
        (Param::declare("one", &Value::I64(0)), Param::declare("other", &Value::I64(0)));
    let assembled = Assembled::of("p", &[("n", &[first, second])]).unwrap();
    (one, other, assembled)
}

fn place() -> (tempfile::TempDir, Location, Directory) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let location = Location { directory: scratch.path().to_owned(), namespace: std::default::Default::default() };
    let directory = Directory::at(location.path()).unwrap();
    (scratch, location, directory)
}

#[test]
fn a_step_sees_one_set_in_a_storm_of_sets_and_allocates_nothing_for_it() {
    let (one, other, assembled) = pair();
    let (_scratch, location, _) = place();
    let mut intake = assembled.intake("n").unwrap();
    intake.attach(assembled.publish(&location, None).unwrap().0);
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    let changes = thread::scope(|scope| {
        let shared = Params::open_at(&location, "p/n").unwrap();
        for params in [shared.clone(), shared, Params::open_at(&location, "p/n").unwrap()] {
            scope.spawn(move || {
                for value in 0..5_000_i64 {
                    params.set(&[("one", value.into()), ("other", value.into())]).unwrap();
                }
                is_over.store(true, Ordering::Relaxed);
            });
        }
        let (mut changes, mut last) = (0, 0);
        while !is_over.load(Ordering::Relaxed) {
            let info = allocation_counter::measure(|| intake.look());
            assert_eq!(info.count_total, 0);
            assert_eq!(one.get(), other.get());
            changes += u64::from(one.get() != last);
            last = one.get();
        }
        changes
    });
    assert!(changes > 10, "the loop saw {changes} sets");
}

#[test]
fn words_that_no_setter_of_ours_writes_change_nothing() {
    let (param, slot) = Param::<f64>::declare("gain", &Value::F64(0.8));
    let param = param.range(0.0..=4.0);
    let assembled = Assembled::of("p", &[("n", &[slot])]).unwrap();
    let (sheet, mut intake) = (Sheet::own(&[0, 0, 0.8_f64.to_bits()]), assembled.intake("n").unwrap());
    intake.attach(Arc::clone(&sheet));
    for word in [9.0_f64, -0.1, f64::NAN, f64::INFINITY].map(f64::to_bits) {
        sheet.put(&[0, 0, word]);
        intake.look();
        assert_eq!(param.get(), 0.8);
    }
    sheet.put(&[0, 0, 1.5_f64.to_bits()]);
    intake.look();
    assert_eq!(param.get(), 1.5);
}

#[test]
fn a_board_of_nonsense_is_no_programs_parameters() {
    let (_scratch, location, directory) = place();
    let board = Board::make_parameters(&directory, &"p".parse().unwrap(), 128, None).unwrap().unwrap();
    for (version, bytes, set_words) in [(2, u64::MAX, 0), (2, 8, 0), (3, 0, 0), (2, 0, u64::MAX)] {
        for (place, word) in [version, bytes, set_words].into_iter().enumerate() {
            board.words()[place].store(word, Ordering::Relaxed);
        }
        assert!(Params::open_at(&location, "p").is_err());
    }
}

#[test]
fn two_worlds_that_are_told_the_same_are_the_same() {
    let run = || {
        let sum = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&sum);
        let declare = move |app: &mut App| {
            let (gain, name) = (app.param("gain", 0.5).range(0.0..=4.0), app.param("name", "base"));
            let step = move |cycle: &Cycle| {
                let value = gain.get().to_bits() ^ (name.get().len() as u64) ^ cycle.number;
                seen.store(seen.load(Ordering::Relaxed).rotate_left(7) ^ value, Ordering::Relaxed);
            };
            app.node("drive", step).period(ms(1));
            Ok(())
        };
        let mut world = VirtualWorld::new(declare).unwrap();
        world.run_for(ms(10));
        world.set_param("drive", "gain", 1.25).unwrap();
        world.set_param("drive", "name", "odom_of_the_robot").unwrap();
        assert!(world.set_param("drive", "gain", f64::NAN).is_err());
        assert!(world.set_param("drive", "gian", 1.0).unwrap_err().to_string().contains("did you mean gain?"));
        world.run_for(ms(10));
        sum.load(Ordering::Relaxed)
    };
    assert_eq!(run(), run());
}

#[test]
fn node_toml_has_the_last_word_at_start_and_its_mistakes_are_told() {
    let scratch = tempfile::tempdir().unwrap();
    let start = |text: &str| {
        let file = scratch.path().join("node.toml");
        std::fs::write(&file, text).unwrap();
        let seen = Arc::new(AtomicU64::new(0));
        let value = Arc::clone(&seen);
        let mut world = VirtualWorld::with_settings(&file, move |app: &mut App| {
            let gain = app.param("gain", 0.5).range(0.0..=4.0).read_only();
            app.node("drive", move |_: &Cycle| value.store(gain.get().to_bits(), Ordering::Relaxed)).period(ms(1));
            Ok(())
        })?;
        world.run_for(ms(5));
        Ok::<_, crate::Error>(f64::from_bits(seen.load(Ordering::Relaxed)))
    };
    assert_eq!(start("").unwrap(), 0.5);
    assert_eq!(start("[node.drive.params]\ngain = 2").unwrap(), 2.0);
    for (text, words) in [
        ("[node.drive.params]\ngain = 9.0", "gain may be 0 to 4"),
        ("[node.drive.params]\ngain = nan", "gain may be 0 to 4"),
        ("[node.drive.params]\ngian = 1.0", "did you mean gain?"),
        ("[node.drive.params]\ngain = [1]", "write true or false, a number, or a text"),
    ] {
        let error = start(text).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("node.toml"), "{text}: {error}");
    }
}

#[test]
fn a_declaration_that_cannot_be_is_told_at_start() {
    let start = |declare: &dyn Fn(&mut App)| {
        let world = VirtualWorld::new(|app: &mut App| {
            declare(app);
            app.node("drive", |_: &Cycle| {}).period(ms(1));
            Ok(())
        });
        world.err().expect("it is refused").to_string()
    };
    assert!(start(&|app| drop(app.param("gain", 9.0).range(0.0..=4.0))).contains("has a default that it may not have"));
    let long = "x".repeat(65);
    assert!(start(&|app| drop(app.param("url", &*long))).contains("a text has at most 64 bytes"));
    assert!(start(&|app| drop(app.param("gain", 1.0).range(4.0..=0.0))).contains("has a range without a value"));
    assert!(start(&|app| drop(app.param("a b", true))).contains("the name of a parameter"));
    assert!(start(&|app| drop((app.param("gain", 1), app.param("gain", 2)))).contains("two parameters named gain"));
}
