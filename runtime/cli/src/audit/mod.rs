//! The audit: rules from files, facts from a /proc and /sys tree, one verdict a rule.
//!
//! A rule is data (`conf/rt/audit/*.toml`), so that a knob and its proof change in one commit and no program has to be
//! rebuilt. Its path through this module: `load` (file to [`Rule`]) -> `read` (where the value comes from) -> `scan`
//! (the few values that need more than a file) -> `check` (is it as expected) -> [`Outcome`].
//!
//! Two decisions hold everywhere below: what cannot be read is NA with a sentence that names it, never PASS; and nothing
//! is read but the tree, so that a recorded tree gives the same answer on any machine.

mod check;
mod facts;
pub mod journal;
mod kernel;
mod load;
mod outcome;
mod pattern;
mod read;
mod rule;
mod scan;
mod task;
mod tree;
mod value;

pub use kernel::CommandLine;
pub use load::load;
pub use outcome::{Machine, Outcome, RuleResult, Severity, Status};
pub use rule::Rule;
pub use tree::Tree;

use std::path::Path;

use check::Verdict;
use facts::Facts;
use tree::Unread;

/// Audits the machine whose file system is at `root`, a directory or a recording, by the rule files (`*.toml`) in `rules`.
///
/// Never fails as a whole: a rule file that cannot be used is listed in [`Outcome::problems`], and the rest still runs.
pub fn run(root: &Path, rules: &Path) -> Outcome {
    let mut loaded = load(rules);
    let tree = match Tree::open(root) {
        Ok(tree) => tree,
        Err(Unread(reason)) => {
            loaded
                .problems
                .push(format!("{reason}; name a recording or a directory that holds proc and sys with --root"));
            return Outcome::new(Machine::default(), Vec::new(), loaded.problems);
        }
    };
    let facts = Facts::read(&tree);
    let results: Vec<RuleResult> = loaded.rules.iter().map(|rule| judge(rule, &tree, &facts)).collect();
    if !results.is_empty() && results.iter().all(|result| result.status == Status::Na) {
        let remedy = "is it the root of a machine, with proc and sys below it?";
        loaded.problems.push(format!("{}: not one rule could be checked; {remedy}", tree.root().display()));
    }
    Outcome::new(facts.machine(&tree), results, loaded.problems)
}

/// Checks one rule.
fn judge(rule: &Rule, tree: &Tree, facts: &Facts) -> RuleResult {
    let (verdict, observed) = match rule.applies.refusal(facts) {
        Some(reason) => (Verdict::Unknown(Unread(reason)), String::new()),
        None => rule.expect.judge(&rule.read.read(tree, facts, &rule.ignore), facts),
    };
    let (status, reason) = match verdict {
        Verdict::Pass => (Status::Pass, None),
        Verdict::Fail => (Status::Fail, None),
        Verdict::Unknown(Unread(reason)) => (Status::Na, Some(reason)),
    };
    RuleResult {
        id: rule.id.clone(),
        title: rule.title.clone(),
        severity: rule.severity,
        status,
        observed,
        expected: rule.expect.describe(facts),
        reason,
        why: Some(rule.why.clone()),
        fix: Some(rule.fix_for(facts).to_owned()),
    }
}
