//! The first line of the page: the machine, and how all its nodes do together.

use std::path::Path;

use horus::cpus;
use horus::outside::printable;
use horus_evidence::measure::machine::Facts;
use horus_evidence::view::text::bound_sentence;
use horus_measure::bound::miss_bound_95;
use horus_measure::units::count;
use serde::Serialize;

use crate::node::running::Node;

/// What does not change while the page is shown.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// Whether its kernel is PREEMPT_RT.
    pub real_time: bool,
    /// The audit's score of 100; `null` where there are no rules.
    pub audit: Option<u32>,
    /// CPUs that are not isolated.
    pub housekeeping: String,
    /// Isolated CPUs.
    pub isolated: String,
}

/// The misses of all living nodes since each began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Misses {
    /// Late cycles and skipped releases.
    pub misses: u64,
    /// Releases.
    pub releases: u64,
    /// Upper 95 % confidence bound of the miss probability.
    pub miss_bound_95: f64,
}

impl Machine {
    /// This machine, audited by the rules in `rules`.
    pub fn here(rules: &Path) -> Self {
        let root = Path::new("/");
        let outcome = horus_audit::run(root, rules);
        Self {
            host: printable(&rustix::system::uname().nodename().to_string_lossy()),
            real_time: Facts::read(root).is_preempt_rt(),
            audit: (!outcome.rules.is_empty()).then_some(outcome.score),
            housekeeping: cpus::housekeeping(root).to_string(),
            isolated: cpus::isolated(root).to_string(),
        }
    }
}

impl Misses {
    /// Those of `nodes`.
    pub fn of(nodes: &[Node]) -> Self {
        let sum = |number: fn(&Node) -> u64| nodes.iter().fold(0_u64, |sum, node| sum.saturating_add(number(node)));
        let (misses, releases) = (sum(|node| node.figures.misses), sum(|node| node.figures.releases));
        Self { misses, releases, miss_bound_95: miss_bound_95(misses, releases) }
    }
}

/// The line.
pub fn line(machine: &Machine, misses: &Misses) -> String {
    let Machine { host, real_time, audit, housekeeping, isolated } = machine;
    let real_time = if *real_time { "RT yes" } else { "RT no" };
    let audit = audit.map_or_else(|| "audit -".to_owned(), |score| format!("audit {score}/100"));
    let bound = match misses.releases {
        0 => "no releases yet".to_owned(),
        releases => {
            let bound = bound_sentence(misses.miss_bound_95);
            format!("{} misses in {} releases: {bound}", count(misses.misses), count(releases))
        }
    };
    let isolated = if isolated.is_empty() { "none isolated".to_owned() } else { format!("{isolated} isolated") };
    format!("{host}  {real_time}  {audit}  {bound}  CPU {housekeeping} housekeeping, {isolated}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_reads_as_documented() {
        let machine = Machine {
            host: "robot".to_owned(),
            real_time: true,
            audit: Some(100),
            housekeeping: "0".to_owned(),
            isolated: "1-3".to_owned(),
        };
        let misses = Misses { misses: 0, releases: 32_000_000, miss_bound_95: miss_bound_95(0, 32_000_000) };
        assert_eq!(
            line(&machine, &misses),
            "robot  RT yes  audit 100/100  0 misses in 3.2e7 releases: P(miss) < 9.4e-8 (95 %)  CPU 0 housekeeping, 1-3 isolated"
        );
        let machine = Machine { real_time: false, audit: None, isolated: String::new(), ..machine };
        let text = line(&machine, &Misses::of(&[]));
        assert_eq!(text, "robot  RT no  audit -  no releases yet  CPU 0 housekeeping, none isolated");
    }
}
