//! `horus tf check`: what is wrong with the tree, each in a sentence that says what to do.

use std::process::ExitCode;
use std::time::Duration;

use horus::time::{MonotonicTime, parse_duration};
use horus::transform::{FrameName, Frames, Known, Survey};
use serde_json::json;

use super::length;
use crate::output;
use crate::topic::json as pretty;

/// What counts as old.
#[derive(clap::Args)]
pub struct Args {
    /// A moving frame is old when its newest transform is so old
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    old_after: Duration,
}

pub fn run(frames: &Frames, args: &Args, as_json: bool) -> Result<ExitCode, String> {
    let survey = frames.survey().map_err(|error| error.to_string())?;
    let problems = problems(&survey, MonotonicTime::now(), args.old_after);
    let count = survey.links.len() + survey.roots.len();
    let text = match (as_json, problems.as_slice()) {
        (true, _) => pretty(&json!({"schema": "horus.frames-check/1", "frames": count, "problems": problems})),
        (false, []) => format!("{count} frames in one tree{}: nothing is wrong\n", from(&survey.roots)),
        (false, problems) => problems.iter().map(|problem| output::lines(problem) + "\n").collect(),
    };
    output::write(&text)?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn from(roots: &[FrameName]) -> String {
    roots.first().map_or_else(String::new, |root| format!(" from {root}"))
}

fn problems(survey: &Survey, now: MonotonicTime, old_after: Duration) -> Vec<String> {
    let mut problems = Vec::new();
    if survey.roots.is_empty() {
        problems.push("no frame is sent at the moment: start a program that sends one".to_owned());
    }
    if survey.roots.len() > 1 {
        let roots: Vec<_> = survey.roots.iter().map(FrameName::as_str).collect();
        let (count, roots) = (roots.len(), roots.join(", "));
        problems.push(format!(
            "there are {count} trees, which begin with {roots}: send all but one of these in a frame of another tree"
        ));
    }
    for link in &survey.links {
        let (child, parent) = (&link.child, &link.parent);
        if link.sender.is_none() {
            problems.push(format!("{child} in {parent} is what a killed program left: start that program again"));
            continue;
        }
        match link.known {
            Known::Moving(None) => problems.push(format!("{child} in {parent} was announced and not sent yet")),
            Known::Moving(Some(newest)) if now.since(newest) > old_after => {
                let age = length(now.since(newest));
                let sender = link.sender.as_deref().unwrap_or_default();
                problems.push(format!(
                    "{child} in {parent} is {age} old: look whether {sender} still gets what it sends it from"
                ));
            }
            Known::Moving(Some(_)) | Known::Static => {}
        }
    }
    if survey.left_out > 0 {
        problems
            .push(format!("{} frames are left out, since a program knows 1,024 at most: send fewer", survey.left_out));
    }
    problems
}
