//! Setters of parameters that are killed, and a storm of them: every step of the program sees a set as a setter wrote it, and the loop keeps
//! its grid.
//!
//! With the failpoints compiled in (`tests/kill_matrix.rs` says how) setters die at each step of setting, and otherwise at random times alone.

mod peers;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use horus::param::Params;
use horus::prelude::*;
use peers::{PATIENCE, Peer};
use rustix::process::Signal;

/// Setters that are killed at random times.
const KILLS: u64 = 60;
/// Sets of a storm.
const STORM: i64 = 30_000;
const PROGRAM: &str = "HORUS_TEST_PROGRAM";

/// The program: a step that sees two values of different sets ends it.
#[test]
#[ignore = "a peer"]
fn peer_is_the_program() {
    let seen = Arc::new(AtomicU64::new(0));
    let mut app = App::new(&std::env::var(PROGRAM).unwrap()).unwrap();
    let (one, other) = (app.param("one", 0), app.param("other", 0));
    let text = app.param("text", "0");
    let values = Arc::clone(&seen);
    let mut last = 0;
    let step = move |_: &Cycle| {
        assert_eq!(one.get(), other.get(), "a step sees two sets");
        assert!(text.get().parse::<i64>().is_ok_and(|text| text == one.get()), "a step sees two sets");
        values.fetch_add(u64::from(one.get() != last), Ordering::Relaxed);
        last = one.get();
    };
    app.node("n", step).period(ms(1));
    app.background({
        let mut is_told = false;
        move |_| {
            if !std::mem::replace(&mut is_told, true) {
                peers::ready();
            }
        }
    });
    let accounts = app.run().unwrap();
    let account = &accounts[0];
    let mut line = String::new();
    write!(
        line,
        "\nmisses {}\ncycles {}\nsets {}",
        account.tally.misses,
        account.tally.cycles,
        seen.load(Ordering::Relaxed)
    )
    .unwrap();
    println!("{line}");
}

fn program(name: &str, topics: &Path) -> Peer {
    // The environment of a peer is this process's, and one variable.
    let mut peer = Peer::start_with("peer_is_the_program", topics, "latest", Some((PROGRAM, name.to_owned())));
    peer.wait_until_ready();
    peer
}

fn set(params: &Params, value: i64) -> Result<(), horus::param::SetError> {
    let text = value.to_string();
    params.set(&[("one", value.into()), ("other", value.into()), ("text", (&*text).into())]).map(drop)
}

#[test]
#[ignore = "a peer"]
fn peer_sets_over_and_over() {
    let params = Params::open("p").unwrap();
    peers::ready();
    for value in 1.. {
        match set(&params, value) {
            Ok(()) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// The values that hold, which are of one set.
fn values(params: &Params) -> i64 {
    let all = params.list().unwrap();
    let text = all[2].value.as_ref().unwrap().to_string();
    assert_eq!(all[0].value, all[1].value);
    assert_eq!(all[0].value.as_ref().unwrap().to_string(), text);
    text.parse().unwrap()
}

/// Runs `work` in a process whose topics are in a directory of their own: opening by name asks the environment.
fn in_own_directory(test: &str, work: impl FnOnce(&Path)) {
    const INSIDE: &str = "HORUS_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return work(Path::new(&std::env::var("HORUS_SHM_DIR").unwrap()));
    }
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, "1").env("HORUS_SHM_DIR", files.path());
    command.env_remove("HORUS_NAMESPACE").env_remove("HORUS_NODE_FILE").env("HORUS_STATE_DIR", files.path());
    command.env("HORUS_JOURNAL", "print");
    assert!(command.status().unwrap().success());
}

#[test]
fn a_setter_that_is_killed_leaves_the_set_of_before_or_its_own() {
    in_own_directory("a_setter_that_is_killed_leaves_the_set_of_before_or_its_own", |topics| {
        let mut running = program("p", topics);
        let params = Params::open("p").unwrap();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for kill in 0..KILLS {
            let mut setter = Peer::start("peer_sets_over_and_over", topics, "latest");
            setter.wait_until_ready();
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            std::thread::park_timeout(Duration::from_micros(random % 20_000));
            setter.kill();
            after_a_death(&params, kill);
        }
        ended(&mut running);
    });
}

#[cfg(failpoints)]
#[test]
fn a_setter_that_is_killed_at_any_step_leaves_the_set_of_before_or_its_own() {
    use horus_shm::failpoint::{NAMES, VARIABLE};
    in_own_directory("a_setter_that_is_killed_at_any_step_leaves_the_set_of_before_or_its_own", |topics| {
        let mut running = program("p", topics);
        let params = Params::open("p").unwrap();
        let steps: Vec<_> = NAMES.iter().filter(|place| place.starts_with("board:")).collect();
        assert!(steps.len() >= 3, "{steps:?}");
        for (kill, step) in steps.iter().flat_map(|step| [step; 6]).enumerate() {
            let variable = Some((VARIABLE, format!("{step}:{}", 1 + kill % 3)));
            let mut setter = Peer::start_with("peer_sets_over_and_over", topics, "latest", variable);
            setter.wait_until_ready();
            setter.was_killed();
            after_a_death(&params, kill as u64);
        }
        ended(&mut running);
    });
}

/// What holds is whole, and the next setter is not kept out.
fn after_a_death(params: &Params, kill: u64) {
    let held = values(params);
    assert!(held >= 0, "kill {kill}");
    let next = -1 - kill.cast_signed();
    set(params, next).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
    assert_eq!(values(params), next, "kill {kill}");
    set(params, 0).unwrap();
}

/// Ends the program, which has seen whole sets alone.
fn ended(running: &mut Peer) {
    running.signal(Signal::TERM);
    let sets = running.wait_for_number("sets ");
    assert!(sets > 1, "its step saw {sets} sets");
}

#[test]
fn a_storm_of_sets_costs_a_loop_no_more_misses_than_one_beside_it_that_nobody_sets() {
    in_own_directory("a_storm_of_sets_costs_a_loop_no_more_misses_than_one_beside_it_that_nobody_sets", |topics| {
        let (mut stormed, mut calm) = (program("stormed", topics), program("calm", topics));
        let params = Params::open("stormed").unwrap();
        let began = Instant::now();
        for value in 1..=STORM {
            set(&params, value).unwrap();
            assert!(began.elapsed() < 10 * PATIENCE, "set {value}");
        }
        let took = began.elapsed();
        stormed.signal(Signal::TERM);
        calm.signal(Signal::TERM);
        let [(misses, cycles, sets), (without, _, none)] = [&mut stormed, &mut calm].map(|peer| {
            (peer.wait_for_number("misses "), peer.wait_for_number("cycles "), peer.wait_for_number("sets "))
        });
        println!(
            "{STORM} sets in {took:?}, {:.0} a second: the loop saw {sets} of them and missed {misses} of {cycles}; the one beside it {without}",
            f64::from(STORM as u32) / took.as_secs_f64()
        );
        assert_eq!(none, 0);
        assert!(sets > 10, "the loop saw {sets} sets");
        // Both are held up by what else this machine does, at different times.
        assert!(misses <= 2 * without + cycles / 5 + 20, "{misses} misses of {cycles} beside {without}");
    });
}
