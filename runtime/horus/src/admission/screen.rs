//! How an analysis reads on the screen: the refusals with their parts and remedies, or the promises when nothing is
//! refused.

use std::fmt;

use super::prediction::{Assessment, Cause, Interference, Overload, Part, Prediction, Relation};
use super::span::Span;
use super::task::{BudgetSource, JitterSource, Task, TaskPolicy};
use super::{Admission, MAX_DEADLINE_UTILISATION};

/// What stands beside every budget that was only measured.
const OBSERVED: &str = "observed, not WCET";

impl fmt::Display for Admission {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let admitted = self.is_admitted();
        let shown = self.assessments.iter().filter(|assessment| admitted || assessment.is_refused());
        for (number, assessment) in shown.enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            write!(out, "{separator}{assessment}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Assessment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_refused() {
            return refusal(self, out);
        }
        let Task { name, cpu, policy, .. } = &self.task;
        let Some(worst) = self.worst_response() else {
            return write!(out, "no guarantee: {name} ({policy}) on CPU {cpu}");
        };
        let worst = match self.prediction {
            Prediction::Demand { .. } => String::new(), // the deadline is the bound
            _ => format!(" = {}", Span(worst)),
        };
        let budget = match self.task.budget_source {
            BudgetSource::Declared => "budget declared".to_owned(),
            BudgetSource::Observed { runs } => format!("budget {OBSERVED}: the largest of {runs} runs"),
        };
        let jitter = match &self.task.jitter_source {
            JitterSource::Declared => "declared".to_owned(),
            JitterSource::Unknown => "not measured".to_owned(),
            JitterSource::Report { date } => format!("of the report of {date}"),
        };
        let deadline = Span(self.task.deadline);
        write!(out, "admitted: {name} R{worst} <= D = {deadline} on CPU {cpu} ({budget}, jitter {jitter})")
    }
}

fn refusal(assessment: &Assessment, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let task = &assessment.task;
    let (name, cpu, deadline) = (&task.name, task.cpu, Span(task.deadline));
    match &assessment.prediction {
        Prediction::Response { worst, .. } => {
            write!(out, "refused: {name} may take {} after its release, its deadline is {deadline}", Span(*worst))?;
        }
        Prediction::NoBound { utilisation, .. } => {
            let asked = percent(*utilisation);
            write!(out, "refused: {name} may take any time, it and what runs before it ask for {asked} of CPU {cpu}")?;
        }
        Prediction::Demand { overload, .. } => {
            write!(out, "refused: {name} may miss its deadline of {deadline}, ")?;
            overloaded(*overload, cpu, out)?;
        }
        Prediction::NoGuarantee => {}
    }
    for part in assessment.parts() {
        write!(out, "\n  {} ", Span(part.time))?;
        part_text(part, task, out)?;
    }
    remedies(assessment, out)
}

fn overloaded(overload: Option<Overload>, cpu: u32, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match overload {
        Some(Overload::Utilisation(utilisation)) => {
            let (asked, given) = (percent(utilisation), percent(MAX_DEADLINE_UTILISATION));
            write!(out, "the deadline tasks of CPU {cpu} ask for {asked} of it and get at most {given}")
        }
        Some(Overload::Interval { length, demand }) => {
            write!(out, "the deadline tasks of CPU {cpu} may need {} within {}", Span(demand), Span(length))
        }
        Some(Overload::Undecided) | None => {
            write!(out, "the deadline tasks of CPU {cpu} have too many deadlines for the test")
        }
    }
}

/// Rounded up, so that "more than 95 %" does not read "95 %"; but not by what a sum of floating-point numbers adds.
fn percent(share: f64) -> String {
    format!("{:.0} %", (share * 100.0 - 1e-6).ceil())
}

fn part_text(part: &Part, task: &Task, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &part.cause {
        Cause::OwnBudget => {
            out.write_str("its own budget")?;
            match task.budget_source {
                BudgetSource::Declared => Ok(()),
                BudgetSource::Observed { .. } => write!(out, " ({OBSERVED})"),
            }
        }
        Cause::OwnEarlierJobs => out.write_str("its own earlier releases, still unfinished"),
        Cause::Jitter => {
            write!(out, "release jitter of CPU {}", task.cpu)?;
            match &task.jitter_source {
                JitterSource::Declared | JitterSource::Unknown => Ok(()),
                JitterSource::Report { date } => write!(out, " (report of {date})"),
            }
        }
        Cause::Blocking { of } if *of == task.name => out.write_str("work of lower priority holds it up"),
        Cause::Blocking { of } => write!(out, "work of lower priority holds {of} up"),
        Cause::Interference(other) => interference(other, task, out),
    }
}

fn interference(other: &Interference, task: &Task, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Interference { task: name, policy, arrival, .. } = other;
    let budget = Span(other.budget);
    let observed = match other.budget_source {
        BudgetSource::Declared => String::new(),
        BudgetSource::Observed { .. } => format!(" {OBSERVED},"),
    };
    write!(out, "{name} ({policy}, budget {budget}{observed} {arrival})")?;
    if task.policy == TaskPolicy::Deadline {
        return Ok(()); // the line above says whose demand this is
    }
    let times = if other.jobs == 1 { String::new() } else { format!(" {} times", other.jobs) };
    let cpu = task.cpu;
    match other.relation {
        Relation::Above => write!(out, " runs{times} before it on CPU {cpu}"),
        Relation::Equal => write!(out, " has its priority and may run{times} before it on CPU {cpu}"),
        Relation::SameThread => write!(out, " shares its thread, may run{times} before it and is not interrupted"),
    }
}

fn remedies(assessment: &Assessment, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let texts: Vec<String> = assessment.remedies.iter().map(ToString::to_string).collect();
    if texts.is_empty() {
        return out.write_str("\n  no other CPU, priority or rate alone makes it fit: allow more time, or cut budgets");
    }
    write!(out, "\n  try: {}", texts.join(", or "))
}
