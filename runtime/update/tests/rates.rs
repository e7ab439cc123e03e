//! How often the gate is wrong: trials of versions whose boots are made up, 10^5 of each kind, against the rates that `docs/update.md` promises.
//!
//! A tail is log-normal over boots: its median times `exp(spread * z)`, with `z` of the normal distribution (Box and Muller, "A note on the generation
//! of random normal deviates", Annals of Mathematical Statistics 29, 1958). Bounds are the exact ones of Clopper and Pearson, each at 95 %. Seeds are
//! fixed, so a test that passes once passes always.
//!
//! `HORUS_WRITE_POWER=1 cargo test -p horus-update --test rates` writes the table of docs/data/update-gate anew.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use horus_measure::bound::binomial_upper_95;
use horus_measure::random::Random;
use horus_update::boot::{Boot, Excuse, Fault, Kind, Report};
use horus_update::gate::{BOOTS, FALSE_ROLLBACK, REPORTS, Standing, decide, limit_ns};
use horus_update::trial::Trial;

const TRIALS: u64 = 100_000;
const FACTORS: [f64; 5] = [1.0, 1.1, 1.5, 2.0, 3.0];
/// Medians in nanoseconds, and spreads from boot to boot. In the last row the margin hardly matters, and the rate is near its bound.
const MACHINES: [(f64, f64); 4] = [(10_000.0, 0.15), (20_000.0, 0.15), (100_000.0, 0.15), (100_000.0, 2.0)];
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/update-gate/power.csv");

/// A machine whose tails differ from boot to boot.
struct Machine {
    random: Random,
    median_ns: f64,
    spread: f64,
}

impl Machine {
    fn tail(&mut self) -> f64 {
        let (radius, turn) = (1.0 - self.random.unit(), self.random.unit());
        let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos();
        self.median_ns * (self.spread * normal).exp()
    }

    fn tails<const COUNT: usize>(&mut self) -> [f64; COUNT] {
        std::array::from_fn(|_| self.tail())
    }

    fn reports(&mut self) -> [u64; REPORTS] {
        self.tails().map(|tail| tail.round() as u64)
    }
}

/// How often something happened in [`TRIALS`] trials.
#[derive(Clone, Copy)]
struct Rate(u64);

impl Rate {
    fn upper(self) -> f64 {
        binomial_upper_95(self.0, TRIALS)
    }

    fn lower(self) -> f64 {
        1.0 - binomial_upper_95(TRIALS - self.0, TRIALS)
    }

    fn of(trials: impl FnMut(u64) -> bool) -> Self {
        Self((0..TRIALS).map(trials).filter(|happened| *happened).count() as u64)
    }
}

fn boots(tails: [f64; BOOTS], factor: f64) -> [Boot; BOOTS] {
    tails.map(|tail| Boot { report: Report::Valid { p999_ns: (tail * factor).round() as u64 }, ..Boot::new("") })
}

fn is_back(old: &[u64], boots: &[Boot]) -> bool {
    matches!(decide(old, boots), Standing::Back { .. })
}

/// How often a version is taken back, by machine and factor. Each machine lives through the same boots with every factor.
static RATES: LazyLock<Vec<[Rate; FACTORS.len()]>> = LazyLock::new(|| {
    let of_machine = |(number, (median_ns, spread)): (usize, &(f64, f64))| {
        let mut machine = Machine { random: Random::new(number as u64), median_ns: *median_ns, spread: *spread };
        let mut taken_back = [0; FACTORS.len()];
        for _ in 0..TRIALS {
            let (old, new) = (machine.reports(), machine.tails());
            FACTORS
                .iter()
                .zip(&mut taken_back)
                .for_each(|(factor, count)| *count += u64::from(is_back(&old, &boots(new, *factor))));
        }
        taken_back.map(Rate)
    };
    MACHINES.iter().enumerate().map(of_machine).collect()
});

#[test]
fn the_table_of_the_page_is_that_of_the_gate() {
    let mut table = "old_median_us,spread,factor,trials,taken_back,rate,lower_95,upper_95\n".to_owned();
    for ((median_ns, spread), rates) in MACHINES.iter().zip(RATES.iter()) {
        for (factor, rate) in FACTORS.iter().zip(rates) {
            let (count, share) = (rate.0, rate.0 as f64 / TRIALS as f64);
            let start = format!("{},{spread},{factor},{TRIALS},{count}", median_ns / 1e3);
            let _ = writeln!(table, "{start},{share:.5},{:.6},{:.6}", rate.lower(), rate.upper());
        }
    }
    let path = Path::new(TABLE);
    if std::env::var_os("HORUS_WRITE_POWER").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept == table, "write it anew: HORUS_WRITE_POWER=1 cargo test -p horus-update --test rates\n{table}");
}

#[test]
fn a_version_as_good_as_the_old_one_is_taken_back_no_more_often_than_promised() {
    for ((_, spread), rates) in MACHINES.iter().zip(RATES.iter()) {
        assert!(rates[0].upper() <= FALSE_ROLLBACK, "spread {spread}: {} of {TRIALS}", rates[0].0);
    }
    // The same of a gate that takes two worse boots of three breaks the promise.
    let mut machine = Machine { random: Random::new(3), median_ns: 100_000.0, spread: 2.0 };
    let two_of_three = Rate::of(|_| {
        let limit = limit_ns(&machine.reports()).unwrap() as f64;
        machine.tails::<BOOTS>().iter().filter(|tail| **tail > limit).count() >= 2
    });
    assert!(two_of_three.lower() > FALSE_ROLLBACK, "{} of {TRIALS}", two_of_three.0);
}

#[test]
fn a_tail_twice_as_long_is_found_six_times_of_seven_and_one_three_times_as_long_nearly_always() {
    let of_10_us = RATES[0];
    assert!(of_10_us[3].lower() > 0.85 && of_10_us[3].upper() < 0.88, "{} of {TRIALS}", of_10_us[3].0);
    for (rates, (median_ns, spread)) in RATES.iter().zip(MACHINES).filter(|(_, (_, spread))| *spread < 1.0) {
        assert!(rates[4].lower() > 0.999, "{median_ns} ns, {spread}: {} of {TRIALS}", rates[4].0);
        assert!(rates.is_sorted_by_key(|rate| rate.0), "a longer tail is never found more rarely");
    }
}

/// The same by the trial as it is lived through: asked after each step, with power cuts and reports that are not valid on the way.
#[test]
fn power_cuts_and_reports_that_are_not_valid_change_no_decision() {
    let mut machine = Machine { random: Random::new(5), median_ns: 10_000.0, spread: 0.15 };
    let (mut cut, mut invalid, mut taken_back) = (0, 0, 0);
    for number in 0..TRIALS {
        let (old, new) = (machine.reports(), boots(machine.tails(), 1.7));
        let (mut trial, mut starts) = (Trial::new("0.1.0", "0.2.0", &old), 0);
        let mut chance = || machine.random.below(10) == 0;
        for boot in &new {
            loop {
                starts += 1;
                assert!(trial.begin("0.2.0", &starts.to_string()));
                if chance() {
                    invalid += 1;
                    trial.report(Report::Invalid { reason: "throttled".to_owned() });
                    assert!(matches!(trial.standing(), Standing::Hold { .. }));
                }
                if !chance() {
                    break;
                }
                cut += 1;
            }
            trial.report(boot.report.clone());
        }
        assert_eq!(trial.standing(), decide(&old, &new), "trial {number}");
        taken_back += u64::from(is_back(&old, &new));
    }
    assert!(cut > 1_000 && invalid > 1_000, "{cut}, {invalid}");
    assert!((TRIALS / 4..TRIALS / 4 * 3).contains(&taken_back), "both ends are seen: {taken_back}");
}

/// What fails by chance takes a good version back only if it never did so in the old one's last reports: at most `q^20 (1 - q^3)`, with `q` the
/// probability that a boot is without it. The largest of these is 5.1 %, of what fails in one boot of 22.
#[test]
fn what_fails_by_chance_is_excused_if_it_did_so_before_and_else_takes_back_one_good_version_in_19_at_worst() {
    let mut random = Random::new(6);
    for (fails, most) in [(1.0 / 22.0, 0.0535), (1.0 / 200.0, 0.0145), (0.5, 1e-4)] {
        let rate = Rate::of(|_| {
            let mut has_failed = || random.unit() < fails;
            let excuse = (0..REPORTS).fold(false, |before, _| before | has_failed()).then_some(Excuse::AsBefore);
            let mut new = boots([1.0; BOOTS], 1.0);
            for boot in &mut new {
                if has_failed() {
                    boot.faults.push(Fault { kind: Kind::Unit, name: String::new(), excuse });
                }
            }
            is_back(&[], &new)
        });
        assert!(rate.upper() < most, "fails in {fails} of all boots: {} of {TRIALS}", rate.0);
    }
}
