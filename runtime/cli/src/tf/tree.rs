//! `horus tf tree`: all frames.

use horus::time::MonotonicTime;
use horus::transform::{FrameName, Frames, Known, Survey};
use serde_json::json;

use super::{KILLED, age, age_ns};
use crate::output;
use crate::topic::json as pretty;

pub fn run(frames: &Frames, as_json: bool) -> Result<(), String> {
    let survey = frames.survey().map_err(|error| error.to_string())?;
    let now = MonotonicTime::now();
    output::write(&if as_json { pretty(&value(&survey, now)) } else { text(&survey, now) })
}

fn value(survey: &Survey, now: MonotonicTime) -> serde_json::Value {
    let links = survey.links.iter().map(|link| {
        json!({
            "child": link.child.as_str(), "parent": link.parent.as_str(), "static": link.known == Known::Static,
            "age_ns": age_ns(link, now), "sender": link.sender,
        })
    });
    let roots: Vec<_> = survey.roots.iter().map(FrameName::as_str).collect();
    json!({"schema": "horus.frames/1", "roots": roots, "frames": links.collect::<Vec<_>>(), "left_out": survey.left_out})
}

fn text(survey: &Survey, now: MonotonicTime) -> String {
    let mut lines = Vec::new();
    for root in &survey.roots {
        lines.push((root.to_string(), String::new()));
        below(survey, root, "", now, &mut lines);
    }
    let width = lines.iter().map(|(frame, _)| frame.chars().count()).max().unwrap_or_default();
    let shown = lines.iter().map(|(frame, told)| format!("{frame:<width$}  {told}").trim_end().to_owned() + "\n");
    let mut text: String = shown.collect();
    if survey.left_out > 0 {
        text += &format!("and {} more, which no program knows: send fewer frames\n", survey.left_out);
    }
    if lines.is_empty() { "no frame is sent at the moment\n".to_owned() } else { output::lines(&text) }
}

/// The frames that are in this one, with what is in them.
fn below(survey: &Survey, parent: &FrameName, before: &str, now: MonotonicTime, lines: &mut Vec<(String, String)>) {
    let links: Vec<_> = survey.links.iter().filter(|link| link.parent == *parent).collect();
    for (number, link) in links.iter().enumerate() {
        let (branch, next) = if number + 1 == links.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let sender = link.sender.as_deref().unwrap_or(KILLED);
        lines.push((format!("{before}{branch}{}", link.child), format!("{}, {sender}", age(link, now))));
        below(survey, &link.child, &format!("{before}{next}"), now, lines);
    }
}
