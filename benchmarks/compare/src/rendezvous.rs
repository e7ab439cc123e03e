//! Two processes find each other: small files in the directory of their meeting.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use horus_benchmarks::patience::PATIENCE;
use horus_benchmarks::transport::{Failure, Link, Meeting};

/// How often to look again.
const PAUSE: Duration = Duration::from_millis(1);

/// A path in the meeting's directory that is this meeting's alone.
pub fn path(meeting: &Meeting, what: &str) -> PathBuf {
    meeting.directory.join(format!("{}.{what}", meeting.name))
}

/// Lays a text down for the other end: whole or not at all.
pub fn leave(meeting: &Meeting, what: &str, text: &str) -> Result<(), Failure> {
    let unfinished = path(meeting, &format!("{what}.unfinished"));
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path(meeting, what))?;
    Ok(())
}

/// The text that the other end laid down, waited for.
pub fn fetch(meeting: &Meeting, what: &str) -> Result<String, Failure> {
    patiently(what, || match fs::read_to_string(path(meeting, what)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => Ok(Some(text?)),
    })
}

/// Tries until there is a result; gives up after [`PATIENCE`], naming what was waited for.
pub fn patiently<T>(what: &str, mut attempt: impl FnMut() -> Result<Option<T>, Failure>) -> Result<T, Failure> {
    let start = Instant::now();
    loop {
        if let Some(result) = attempt()? {
            return Ok(result);
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("waited {PATIENCE:?} for the other end: {what}").into());
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns when both ends have called it: neither goes on before the other has come this far.
pub fn both_here(link: &Link, stage: &str) -> Result<(), Failure> {
    leave(&link.back(), stage, "")?;
    fetch(&link.out(), stage).map(drop)
}
