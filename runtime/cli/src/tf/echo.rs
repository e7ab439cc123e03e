//! `horus tf echo`: one frame in another, at the newest time at which all between them are known.

use std::sync::atomic::Ordering;
use std::time::Duration;

use horus::messages::Quaternion;
use horus::time::{Clock, MonotonicTime, SystemClock, parse_duration};
use horus::transform::{Frames, Link, Transform};
use serde_json::json;

use super::age;
use crate::output;

/// Which frame in which, and how often.
#[derive(clap::Args)]
pub struct Args {
    /// The frame that coordinates are wanted in
    target: String,
    /// The frame whose place is wanted
    source: String,
    /// The time between two lines
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = parse_duration)]
    every: Duration,
    /// End after so many lines
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// End after the first line
    #[arg(long, conflicts_with = "count")]
    once: bool,
    /// How long to wait for the frames to be known, before the first line
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    timeout: Duration,
}

pub fn run(frames: &Frames, args: &Args, as_json: bool) -> Result<(), String> {
    let stop = horus::stop::on_termination().map_err(|error| error.to_string())?;
    let count = if args.once { Some(1) } else { args.count };
    let (began, mut next, mut printed) = (MonotonicTime::now(), MonotonicTime::now(), 0);
    while count.is_none_or(|count| printed < count) && !stop.load(Ordering::Relaxed) {
        match look(frames, args) {
            Ok((transform, time, way)) => {
                let now = MonotonicTime::now();
                let time = time.unwrap_or(now);
                output::write(&if as_json {
                    json_line(&transform, time)
                } else {
                    line(&transform, time, &way, args, now)
                })?;
                printed += 1;
            }
            Err(error) if printed > 0 || now_is_after(began, args.timeout) => return Err(error),
            Err(_) => {}
        }
        next = next.plus(if printed == 0 { Duration::from_millis(1) } else { args.every });
        SystemClock.sleep_until(next);
    }
    Ok(())
}

fn now_is_after(began: MonotonicTime, limit: Duration) -> bool {
    MonotonicTime::now().since(began) >= limit
}

type Seen = (Transform, Option<MonotonicTime>, Vec<Link>);

fn look(frames: &Frames, args: &Args) -> Result<Seen, String> {
    let (transform, time) = frames.newest(&args.target, &args.source).map_err(|error| error.to_string())?;
    Ok((transform, time, frames.way(&args.target, &args.source).map_err(|error| error.to_string())?))
}

fn json_line(transform: &Transform, time: MonotonicTime) -> String {
    let (at, turned) = (transform.translation, transform.rotation);
    let value = json!({
        "schema": "horus.transform/1", "time_ns": time.as_nanos(), "translation": [at.x, at.y, at.z],
        "rotation": [turned.x, turned.y, turned.z, turned.w],
    });
    value.to_string() + "\n"
}

fn line(transform: &Transform, time: MonotonicTime, way: &[Link], args: &Args, now: MonotonicTime) -> String {
    let at = transform.translation;
    let mut parts = vec![format!("at {}", of_day(time)), format!("x {:.3}", at.x), format!("y {:.3}", at.y)];
    let [roll, pitch, yaw] = degrees(&transform.rotation);
    // On the ground these three are zero, and a line is short.
    parts.extend((at.z.abs() >= 5e-4).then(|| format!("z {:.3}", at.z)));
    let is_tilted = roll.abs() >= 0.05 || pitch.abs() >= 0.05;
    parts.extend(is_tilted.then(|| format!("roll {roll:.1}  pitch {pitch:.1}")));
    parts.push(format!("yaw {yaw:.1} deg"));
    parts.push(format!("  {}", path(way, &args.target, now)));
    output::lines(&(parts.join("  ") + "\n"))
}

/// The frames from one to the other, each with the age of the link that leads to it.
fn path(way: &[Link], target: &str, now: MonotonicTime) -> String {
    let (mut text, mut here) = (target.to_owned(), target.to_owned());
    for link in way {
        here = if link.child.as_str() == here { link.parent.to_string() } else { link.child.to_string() };
        text += &format!(" -> {here} ({})", age(link, now));
    }
    text
}

/// The time of day in UTC, with milliseconds.
fn of_day(time: MonotonicTime) -> String {
    let nanos = i128::from(time.as_nanos()) + i128::from(MonotonicTime::offset_of_day());
    let millis = nanos.rem_euclid(86_400_000_000_000) / 1_000_000;
    let (hours, minutes, seconds) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", millis % 1_000)
}

/// Roll, pitch and yaw of REP 103, in degrees: turned about the fixed axes x, y and z in this order. Diebel, "Representing Attitude"
/// (2006), equation 290.
fn degrees(rotation: &Quaternion) -> [f64; 3] {
    let Quaternion { x, y, z, w } = *rotation;
    let roll = (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y));
    let pitch = (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin();
    [roll, pitch, rotation.yaw()].map(f64::to_degrees)
}
