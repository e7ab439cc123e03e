//! Rules and a machine: opened once, audited as often as a caller asks.

use std::path::Path;

use crate::check::Verdict;
use crate::facts::Facts;
use crate::load::{Rules, load};
use crate::outcome::{Machine, Outcome, RuleResult, Status};
use crate::remedy::{self, Remedy};
use crate::rule::Rule;
use crate::tree::{Tree, Unread};

/// Audits the machine whose file system is at `root`, a directory or a recording, by the rule files (`*.toml`) in `rules`.
///
/// Never fails as a whole: a rule file that cannot be used is listed in [`Outcome::problems`], and the rest still runs.
pub fn run(root: &Path, rules: &Path) -> Outcome {
    match Auditor::open(root, rules) {
        Ok(auditor) => auditor.audit(),
        Err(problems) => Outcome::new(Machine::default(), Vec::new(), problems),
    }
}

/// Rules and a machine, which can be asked again.
pub struct Auditor {
    tree: Tree,
    facts: Facts,
    loaded: Rules,
}

impl Auditor {
    /// The machine at `root` and the rule files in `rules`.
    ///
    /// # Errors
    /// When there is no machine to read; a sentence a problem, those of the rule files among them.
    pub fn open(root: &Path, rules: &Path) -> Result<Self, Vec<String>> {
        let mut loaded = load(rules);
        match Tree::open(root) {
            Ok(tree) => Ok(Self { facts: Facts::read(&tree), tree, loaded }),
            Err(Unread(reason)) => {
                let remedy = "name a recording or a directory that holds proc and sys with --root";
                loaded.problems.push(format!("{reason}; {remedy}"));
                Err(loaded.problems)
            }
        }
    }

    /// Checks every rule.
    pub fn audit(&self) -> Outcome {
        let results: Vec<RuleResult> = self.loaded.rules.iter().map(|rule| self.check(rule)).collect();
        let mut problems = self.loaded.problems.clone();
        if !results.is_empty() && results.iter().all(|result| result.status == Status::Na) {
            let remedy = "is it the root of a machine, with proc and sys below it?";
            problems.push(format!("{}: not one rule could be checked; {remedy}", self.tree.root().display()));
        }
        Outcome::new(self.facts.machine(&self.tree), results, problems)
    }

    /// The rules that can be used.
    pub fn rules(&self) -> &[Rule] {
        &self.loaded.rules
    }

    /// Checks one rule, by files as they are now and the CPUs and kernel as they were when this was opened.
    pub fn check(&self, rule: &Rule) -> RuleResult {
        judge(rule, &self.tree, &self.facts)
    }

    /// The text of a file of the machine; empty where it cannot be read.
    pub(crate) fn text(&self, path: &str) -> String {
        self.tree.text(path).unwrap_or_default()
    }

    /// What puts a rule that fails right.
    pub(crate) fn remedy(&self, rule: &Rule) -> Remedy {
        remedy::remedy(rule, &self.tree, &self.facts)
    }
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
