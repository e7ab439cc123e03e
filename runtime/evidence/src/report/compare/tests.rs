//! Sets of made-up runs whose tails are known.

use horus_measure::random::Random;

use crate::record::schema::Report;
use crate::record::{sample, store};

use super::*;

/// Keeps `boots` boots of one run each; the tail is `factor` times as long as usual.
fn keep(directory: &Path, boots: usize, seed: u64, factor: f64) -> Vec<Run> {
    let mut random = Random::new(seed);
    for boot in 0..boots {
        let mut tail = || ((20_000.0 - 2_000.0 * random.unit().max(1e-9).ln()) * factor) as u64;
        let mut report = Report { run_id: format!("r{boot}"), ..sample::report(&format!("b{boot}")) };
        let node = &mut report.phases[0];
        node.latency.p999_ns = Some(tail());
        node.intervals.as_mut().unwrap().rows.iter_mut().for_each(|row| row.response_ns = Some(tail()));
        store::store(directory, &report).unwrap();
    }
    read(directory).unwrap()
}

fn comparison([boots_a, boots_b]: [usize; 2], factor: f64) -> Comparison {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    compare(&keep(a.path(), boots_a, 1, 1.0), &keep(b.path(), boots_b, 2, factor)).unwrap()
}

#[test]
fn a_longer_tail_is_found_and_the_same_tail_is_not() {
    let longer = comparison([12, 10], 1.5);
    assert!(longer.is_changed());
    let sentence = longer.sentence();
    assert!(sentence.starts_with("The tail is longer in B: B is above A in 100 % of pairs"), "{sentence}");
    assert!(
        sentence.contains("node-quiet response, p99.9 of 12 boots against 10; Mann-Whitney, p < 0.001"),
        "{sentence}"
    );
    assert!(comparison([12, 10], 0.6).sentence().starts_with("The tail is shorter in B"));
    let same = comparison([12, 10], 1.0).sentence();
    assert!(same.starts_with("No change of the tail is shown") && same.contains("would be seen in 80 %"), "{same}");
}

#[test]
fn one_boot_a_side_is_compared_by_its_seconds_and_says_so() {
    let sentence = comparison([1, 1], 1.5).sentence();
    assert!(sentence.contains("worst of 18 seconds against 18, taken as independent"), "{sentence}");
    assert!(sentence.starts_with("The tail is longer in B"), "{sentence}");
}

#[test]
fn two_boots_a_side_can_show_nothing_and_say_so() {
    let sentence = comparison([2, 2], 9.0).sentence();
    assert!(sentence.starts_with("Nothing can be said") && sentence.contains("p would be 0.33"), "{sentence}");
}

#[test]
fn sets_of_other_systems_say_in_what_they_differ() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let a = keep(a.path(), 5, 1, 1.0);
    let mut b = keep(b.path(), 5, 2, 1.0);
    b.iter_mut().for_each(|run| run.identity.as_mut().unwrap().board = "other".to_owned());
    let text = compare(&a, &b).unwrap().render();
    assert!(text.ends_with("\n differs    board") && text.contains("\n A          median 2"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_an_error_that_says_why() {
    let directory = tempfile::tempdir().unwrap();
    assert!(read(directory.path()).unwrap_err().to_string().contains("holds no whole report"));
    let mut runs = keep(directory.path(), 1, 1, 1.0);
    runs[0].phases[0].intervals = None;
    assert!(matches!(compare(&runs, &runs), Err(CompareError::SecondsMissing)));
    runs[0].phases.clear();
    assert!(matches!(compare(&runs, &runs), Err(CompareError::PhaseMissing)));
}
