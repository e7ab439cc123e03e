//! The short way of a cycle and the long one, held against each other: nodes of all kinds live through the same cycles on both, and
//! count, publish and tell the same.

mod life;

use super::*;
use crate::node::SafeState;
use life::Life;

const PERIOD_NS: u64 = 1_000_000;
const DEADLINE_NS: u64 = 800_000;
const BUDGET_NS: u64 = 500_000;
/// Cycles of each life.
const CYCLES: usize = 3_000;
/// Lives of nodes of which chance chooses the features.
const MIXTURES: u64 = 24;

/// SplitMix64, by Steele, Lea and Flood ("Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// The features of a node.
#[derive(Clone, Copy, Debug)]
struct Kind {
    has_grid: bool,
    has_events: bool,
    has_ports: bool,
    is_logical: bool,
    has_budget: bool,
    is_observed: bool,
    on_miss: OnMiss,
    releases: u64,
}

const PLAIN: Kind = Kind {
    has_grid: true,
    has_events: false,
    has_ports: false,
    is_logical: false,
    has_budget: false,
    is_observed: false,
    on_miss: OnMiss::count(),
    releases: u64::MAX,
};

const REACTIONS: [OnMiss; 7] = [
    OnMiss::count(),
    OnMiss::warn().after(3).within(20),
    OnMiss::skip(),
    OnMiss::skip().after(2).within(6),
    OnMiss::degrade(3).after(2).within(30),
    SafeState::after(2).within(8),
    OnMiss::stop().after(7).within(9),
];

impl Kind {
    fn of_chance(random: &mut Random) -> Self {
        let has_grid = !random.one_in(8);
        Self {
            has_grid,
            has_events: !has_grid || random.one_in(3),
            has_ports: !random.one_in(3),
            is_logical: random.one_in(3),
            has_budget: random.one_in(4),
            is_observed: random.one_in(6),
            on_miss: REACTIONS[random.below(REACTIONS.len() as u64) as usize],
            releases: if random.one_in(4) { random.below(CYCLES as u64) } else { u64::MAX },
        }
    }
}

/// What befalls a node in one cycle.
#[derive(Debug)]
struct Fate {
    late_ns: u64,
    response_ns: u64,
    cpu_time_ns: u64,
    cpu: u32,
    event: Option<u64>,
    hears: bool,
    /// A monitor takes its place while it steps.
    is_taken_over: bool,
    is_rearmed: bool,
    /// The thread beside the loop comes by.
    is_collected: bool,
}

/// Whether misses come together.
struct Weather(Random, u64);

impl Weather {
    fn next(&mut self) -> Fate {
        let Self(random, storm) = self;
        *storm = if random.one_in(60) { random.below(6) } else { storm.saturating_sub(1) };
        let response_ns = match random.below(if *storm > 0 { 9 } else { 400 }) {
            0 => DEADLINE_NS,
            1 => DEADLINE_NS + 1,
            2 => PERIOD_NS,
            3 => PERIOD_NS + 1,
            4 => random.below(5 * PERIOD_NS),
            _ => random.below(DEADLINE_NS),
        };
        let cpu_time_bound = if random.one_in(20) { 2 * BUDGET_NS } else { BUDGET_NS };
        Fate {
            late_ns: if random.one_in(9) { random.below(PERIOD_NS) / 2 } else { random.below(5_000) },
            response_ns,
            cpu_time_ns: random.below(cpu_time_bound),
            cpu: random.below(4) as u32,
            event: random.one_in(3).then(|| random.below(PERIOD_NS)),
            hears: random.one_in(10),
            is_taken_over: random.one_in(30),
            is_rearmed: random.one_in(6),
            is_collected: random.one_in(400),
        }
    }
}

/// Has a node of this kind live on both ways; returns in how many cycles the short one was open to it.
fn live_both_ways(kind: &Kind, seed: u64) -> usize {
    let mut weather = Weather(Random(seed), 0);
    let [mut open, mut long] = [false; 2].map(|_| Life::new(kind));
    let mut calm = 0;
    for turn in 0..CYCLES {
        let fate = weather.next();
        calm += usize::from(open.runner.is_calm);
        let (after_any, after_long) = (open.live(&fate, false), long.live(&fate, true));
        assert_eq!(after_any, after_long, "{kind:?}, seed {seed}, turn {turn}, {fate:?}");
    }
    assert_eq!(open.collect(MonotonicTime::MAX), long.collect(MonotonicTime::MAX), "{kind:?}, seed {seed}");
    assert_eq!(open.runner.stale_inputs(), long.runner.stale_inputs(), "{kind:?}, seed {seed}");
    calm
}

#[test]
fn short_and_long_way_count_publish_and_tell_the_same() {
    let most = CYCLES / 2;
    assert!(live_both_ways(&PLAIN, 1) > most, "a plain node takes the short way");
    assert!(live_both_ways(&Kind { has_ports: true, is_logical: true, ..PLAIN }, 2) > most / 2);
    assert!(live_both_ways(&Kind { has_ports: true, ..PLAIN }, 3) > most / 2);
    assert!(live_both_ways(&Kind { has_events: true, ..PLAIN }, 4) > most / 4);
    for on_miss in REACTIONS {
        assert!(live_both_ways(&Kind { on_miss, ..PLAIN }, 5) > 0, "{on_miss:?}");
        assert!(live_both_ways(&Kind { on_miss, has_ports: true, ..PLAIN }, 6) > 0, "{on_miss:?}");
    }
    for releases in [1, 2, 3, 1_000, 1_001] {
        live_both_ways(&Kind { releases, ..PLAIN }, 7 + releases);
    }
    assert_eq!(live_both_ways(&Kind { is_observed: true, ..PLAIN }, 8), 0);
    assert_eq!(live_both_ways(&Kind { has_budget: true, ..PLAIN }, 9), 0);
    assert_eq!(live_both_ways(&Kind { has_grid: false, has_events: true, ..PLAIN }, 10), 0);
    for seed in 100..100 + MIXTURES {
        let kind = Kind::of_chance(&mut Random(seed));
        live_both_ways(&kind, seed);
    }
}

/// A node that is calm until `change` is made.
fn is_calm_with(change: impl FnOnce(&mut Runner<'static>)) -> bool {
    let mut life = Life::new(&Kind { on_miss: SafeState::after(2).within(100), ..PLAIN });
    let cycle = |life: &mut Life| {
        let wake = life.runner.grid;
        life.runner.step(wake, wake, 0);
        life.runner.is_calm = false; // so that the long way says anew whether it is
        life.runner.finish(wake, 0, 0, 0).unwrap();
    };
    cycle(&mut life);
    assert!(life.runner.is_calm);
    change(&mut life.runner);
    cycle(&mut life);
    life.runner.is_calm
}

#[test]
fn each_feature_of_the_long_way_keeps_a_node_from_the_short_one() {
    assert!(is_calm_with(|_| {}));
    assert!(!is_calm_with(|runner| runner.parts.observer = Some(Box::new(|_, _| {}))), "observer");
    assert!(!is_calm_with(|runner| runner.parts.budget_ns = Some(BUDGET_NS)), "budget");
    let miss = Verdict { missed: true, overran: false, skipped: 0, consecutive: 1 };
    assert!(!is_calm_with(|runner| assert!(!runner.window.add(&miss))), "misses in the window");
    for state in [State::Degraded, State::Safe, State::Stopped, State::Ended] {
        assert!(!is_calm_with(|runner| runner.state = state), "{state:?}");
    }
    let untold = |runner: &mut Runner<'_>| {
        let change = Change::new(ChangeKind::Armed, 0, 0, 1);
        while runner.parts.changes.try_send(change).is_ok() {}
        runner.untold = Some(change);
    };
    assert!(!is_calm_with(untold), "a change that was not told");
}

#[test]
fn a_node_that_events_alone_release_is_never_calm_even_at_the_instant_at_which_its_clock_began() {
    let mut life = Life::new(&Kind { has_grid: false, has_events: true, ..PLAIN });
    let began = life.runner.grid; // which no grid moves
    for number in 0..3 {
        life.runner.step(began, began, 0);
        assert_eq!(life.runner.finish(began, 0, 0, 0), None, "release {number}");
        assert!(!life.runner.is_calm);
    }
}
