//! The audit as text for people: failures first, each with what to do about it.

use horus::outside::printable;

use crate::boot::Boot;
use crate::fix::{Done, Fix, Fixed};
use crate::outcome::{Outcome, RuleResult, Severity, Status};
use crate::rule::Rule;

/// Columns of the text; wider terminals gain nothing from longer lines.
const WIDTH: usize = 100;

/// Writes that the text names for one rule; machines have many CPUs.
const MAX_WRITES: usize = 4;

/// The table of `outcome` below what the boot has to tell; `all` adds the rules that passed or do not apply.
pub fn table(outcome: &Outcome, boot: &Boot, all: bool, colour: bool) -> String {
    let paint = Paint(colour);
    let mut text = machine(outcome);
    for (label, sentence) in boot.lines() {
        text += &entry(&paint.bad("BOOT"), "BOOT", &format!("{label}: {sentence}"));
    }
    for problem in &outcome.problems {
        text += &entry(&paint.bad("PROBLEM"), "PROBLEM", problem);
    }
    let mut failed: Vec<&RuleResult> = with_status(outcome, Status::Fail).collect();
    failed.sort_by_key(|rule| rule.severity);
    for rule in failed {
        text += &failure(rule, &paint);
    }
    let unknown: Vec<&RuleResult> = with_status(outcome, Status::Na).collect();
    let shown = |rule: &&&RuleResult| all || matches!(rule.severity, Severity::Fatal | Severity::High);
    for rule in unknown.iter().filter(shown) {
        let line = format!("{} {}: {}", rule.id, rule.title, rule.reason.as_deref().unwrap_or_default());
        text += &entry(&paint.dim("NA"), "NA", &line);
    }
    if all {
        for rule in with_status(outcome, Status::Pass) {
            text += &entry(&paint.good("PASS"), "PASS", &format!("{} {}: {}", rule.id, rule.title, rule.observed));
        }
    }
    let sentence = outcome.sentence();
    text += &if outcome.passed() { paint.good(&sentence) } else { paint.bad(&sentence) };
    text += if all { "\n" } else { "\n(--all also shows what passed and what does not apply)\n" };
    text
}

/// What was done about each rule that failed, the worst first, above the audit's sentence.
pub fn fixes(fixed: &Fixed, colour: bool) -> String {
    let paint = Paint(colour);
    let mut text = String::new();
    let mut fixes: Vec<&Fix> = fixed.fixes.iter().collect();
    fixes.sort_by_key(|fix| fix.severity);
    for fix in &fixes {
        text += &one_fix(fix, &paint);
    }
    for problem in &fixed.audit.problems {
        text += &entry(&paint.bad("PROBLEM"), "PROBLEM", problem);
    }
    let count = |done: Done| fixes.iter().filter(|fix| fix.done == done).count();
    let set = count(Done::Set);
    text += &match (fixed.dry_run, fixes.len()) {
        (_, 0) => "No rule fails: nothing to set.\n".to_owned(),
        (true, all) => format!("{} of {all} can be set now. Nothing was changed (--dry-run).\n", count(Done::WouldSet)),
        (false, all) => format!("{set} of {all} set. What was set holds until the next start.\n"),
    };
    let sentence = fixed.audit.sentence();
    text + &if fixed.audit.passed() { paint.good(&sentence) } else { paint.bad(&sentence) } + "\n"
}

fn one_fix(fix: &Fix, paint: &Paint) -> String {
    let label = match fix.done {
        Done::Set => "SET",
        Done::WouldSet => "WOULD SET",
        Done::NotYet => "NOT YET",
        Done::Refused => "REFUSED",
        Done::Restart => "RESTART",
        Done::OtherKernel => "KERNEL",
        Done::ByHand => "BY HAND",
    };
    let painted = if fix.done == Done::Set { paint.good(label) } else { paint.bad(label) };
    let change = match &fix.after {
        Some(after) => format!("{} → {after}", fix.before),
        None => fix.before.clone(),
    };
    let head = format!("{} ({}) {}: {change}", fix.id, fix.severity.word(), fix.title);
    let mut text = entry(&painted, label, &head);
    for write in fix.writes.iter().take(MAX_WRITES) {
        let refused = write.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        text += &entry("", "", &format!("{}: {} → {}{refused}", write.path, write.before, write.wanted));
    }
    if fix.writes.len() > MAX_WRITES {
        text += &entry("", "", &format!("and {} files more (--json names them)", fix.writes.len() - MAX_WRITES));
    }
    let parameters = fix.kernel_parameters.join(", ");
    let more = match fix.done {
        Done::Set | Done::WouldSet if parameters.is_empty() => None,
        Done::Set | Done::WouldSet => Some(format!("for the next starts, kernel parameter {parameters}: {}", fix.fix)),
        Done::NotYet => Some(
            "written, and the rule still fails. Some interrupts move when they fire next: run horus doctor again"
                .to_owned(),
        ),
        Done::Refused => Some(format!("the kernel refused. {}", fix.fix)),
        Done::Restart => Some(format!("needs kernel parameter {parameters} and a restart: {}", fix.fix)),
        Done::OtherKernel => Some(format!("needs another kernel: {}", fix.fix)),
        Done::ByHand => Some(format!("needs you: {}", fix.fix)),
    };
    text + &more.map(|more| entry("", "", &more)).unwrap_or_default() + "\n"
}

/// What every rule is for, by file order.
pub fn explain(rules: &[Rule], problems: &[String]) -> String {
    let mut text = String::new();
    for problem in problems {
        text += &entry("PROBLEM", "PROBLEM", problem);
    }
    for rule in rules {
        text += &format!("{} ({}) {}\n", rule.id, rule.severity.word(), rule.title);
        text += &entry("", "", &format!("why: {}", rule.why));
        text += &entry("", "", &format!("fix: {}", rule.fix));
        if let Some(fix) = &rule.fix_with_one_cpu {
            text += &entry("", "", &format!("fix with one CPU: {fix}"));
        }
        if !rule.proves.is_empty() {
            text += &entry("", "", &format!("proves: {}", rule.proves.join(", ")));
        }
        if let Some(reference) = &rule.reference {
            text += &entry("", "", &format!("see: {reference}"));
        }
        text += "\n";
    }
    text + &format!("{} rules\n", rules.len())
}

fn machine(outcome: &Outcome) -> String {
    let machine = &outcome.machine;
    let kind = if machine.is_virtual { "virtual machine" } else { "machine" };
    let list = |cpus: &str| if cpus.is_empty() { "none".to_owned() } else { cpus.to_owned() };
    let kernel = machine.kernel.split_whitespace().nth(2).unwrap_or("unknown kernel");
    let line = format!(
        "{} {kind}, Linux {kernel}, isolated CPUs {}, housekeeping CPUs {}",
        if machine.arch.is_empty() { "unknown" } else { &machine.arch },
        list(&machine.isolated),
        list(&machine.housekeeping)
    );
    printable(&line) + "\n\n"
}

fn with_status(outcome: &Outcome, status: Status) -> impl Iterator<Item = &RuleResult> {
    outcome.rules.iter().filter(move |rule| rule.status == status)
}

fn failure(rule: &RuleResult, paint: &Paint) -> String {
    let mut text = entry(&paint.bad("FAIL"), "FAIL", &format!("{} ({}) {}", rule.id, rule.severity.word(), rule.title));
    text += &entry("", "", &format!("observed: {}", rule.observed));
    text += &entry("", "", &format!("expected: {}", rule.expected));
    for (label, sentence) in [("why", &rule.why), ("fix", &rule.fix)] {
        if let Some(sentence) = sentence {
            text += &entry("", "", &format!("{label}: {sentence}"));
        }
    }
    text + "\n"
}

/// One wrapped paragraph behind a label; `plain` is the label without colour codes, which have no width.
fn entry(label: &str, plain: &str, paragraph: &str) -> String {
    let indent = 6.max(plain.chars().count() + 2);
    let mut text = format!("{label}{}", " ".repeat(indent - plain.chars().count()));
    let mut column = indent;
    for (index, word) in paragraph.split_whitespace().enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > WIDTH {
            text += &format!("\n{}", " ".repeat(indent));
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text += &printable(word); // also what processes and files of others are called
        column += width;
    }
    text + "\n"
}

/// Terminal colours, or none.
struct Paint(bool);

impl Paint {
    fn bad(&self, text: &str) -> String {
        self.wrap("31", text)
    }

    fn good(&self, text: &str) -> String {
        self.wrap("32", text)
    }

    fn dim(&self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
