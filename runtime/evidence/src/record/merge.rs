//! Several phases together: their counts add up, and the claim is that of the phase that supports the weakest one.

use horus_measure::merge::{sum, weakest};

use super::schema::{Phase, Total};

/// The phases with a deadline that were measured: nodes, and messages that have one.
fn judged(phases: &[Phase]) -> impl Iterator<Item = &Phase> {
    phases.iter().filter(|phase| phase.releases().is_some())
}

/// The phase whose counts the run's claim about misses is made of; `None` when none was measured.
pub fn weakest_phase(phases: &[Phase]) -> Option<&Phase> {
    weakest(judged(phases), |phase| phase.releases().unwrap_or_default())
}

/// Adds up the phases with a deadline; the bound is that of the weakest one.
pub fn total(phases: &[Phase]) -> Total {
    let all = sum(judged(phases).filter_map(Phase::releases));
    let weakest = weakest_phase(phases);
    Total {
        samples: all.map_or(0, |all| all.judged),
        misses: all.map(|all| all.misses),
        max_consecutive: all.map(|all| all.longest_run),
        max_ns: judged(phases).filter_map(|phase| phase.latency.max_ns).max(),
        miss_bound_95: weakest.and_then(|phase| phase.miss_bound_95),
        miss_bound_phase: weakest.map(|phase| phase.name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_weakest_phase_and_no_phase_is_no_figure() {
        let mut phases = sample::report("b0").phases;
        let load =
            Phase { name: "node-load".to_owned(), misses: Some(2), miss_bound_95: Some(0.5), ..phases[0].clone() };
        phases.push(load);
        let together = total(&phases);
        assert_eq!((together.samples, together.misses), (36_000, Some(2)));
        assert_eq!((together.miss_bound_95, together.miss_bound_phase.as_deref()), (Some(0.5), Some("node-load")));
        let none = total(&phases[1..2]);
        assert_eq!((none.samples, none.misses, none.max_consecutive, none.miss_bound_95), (0, None, None, None));
    }
}
