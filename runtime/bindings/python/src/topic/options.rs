//! How a topic is made and joined, from keyword arguments.

use std::path::PathBuf;
use std::time::Duration;

use horus::time::parse_duration;
use horus::topic::{Group, Options, WaitStrategy};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::failed;
use crate::renamed::{OF_TOPICS, refusal};

/// The options that `given` names, and its `maximum` for bytes and values.
///
/// # Errors
/// When there is no such option, or it makes no sense.
pub fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<(Options, Option<usize>)> {
    let (mut options, mut maximum) = (Options::default(), None);
    let Some(given) = given else { return Ok((options, maximum)) };
    for policy in ["reliable", "latest"] {
        if let Some(capacity) = given.get_item(policy)?.filter(|capacity| !capacity.is_none()) {
            if given.contains("reliable")? && given.contains("latest")? {
                return Err(PyTypeError::new_err("a topic is reliable=N or latest=N, and not both"));
            }
            let capacity = capacity.extract()?;
            options = if policy == "reliable" { Options::reliable(capacity) } else { Options::latest(capacity) };
        }
    }
    for (name, value) in given.iter() {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        options = match name.as_str() {
            "reliable" | "latest" => options,
            "publishers" => options.publishers(value.extract()?),
            "group" => options.group(group(&value)?),
            "directory" => options.directory(value.extract::<PathBuf>()?),
            "history" => options.history(value.extract()?),
            "wait_strategy" => options.wait_strategy(wait_strategy(&value.extract::<String>()?)?),
            "stamped" if value.is_truthy()? => options.stamped(),
            "never_wake" if value.is_truthy()? => options.never_wake(),
            "latched" if value.is_truthy()? => options.latched(),
            "stamped" | "never_wake" | "latched" => options,
            "maximum" => {
                maximum = Some(value.extract()?);
                options
            }
            other => return Err(refusal(OF_TOPICS, other).unwrap_or_else(|| no_option(other))),
        };
    }
    Ok((options, maximum))
}

#[cold]
fn no_option(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "there is no option {name}: there are reliable, latest, publishers, group, directory, history, wait_strategy, stamped, never_wake, latched, maximum"
    ))
}

fn group(value: &Bound<'_, PyAny>) -> PyResult<Group> {
    match value.extract::<u32>() {
        Ok(number) => Ok(number.into()),
        Err(_) => Ok(value.extract::<String>()?.as_str().into()),
    }
}

fn wait_strategy(text: &str) -> PyResult<WaitStrategy> {
    let (word, length) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match (word, length) {
        ("spin", "") => WaitStrategy::Spin,
        ("sleep", "") => WaitStrategy::Sleep,
        ("spin", length) => WaitStrategy::SpinThenSleep(parse_duration(length).map_err(failed)?),
        ("poll", length) => WaitStrategy::Poll(parse_duration(length).map_err(failed)?),
        _ => {
            let text = format!(
                "wait_strategy is \"spin\", \"sleep\", \"spin 20 us\" (and then sleep) or \"poll 1 ms\", and not \"{text}\""
            );
            return Err(PyValueError::new_err(text));
        }
    })
}

/// A length of time: seconds as a number, as in Python's library, or a text such as "10 ms".
pub fn duration(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    if let Ok(text) = value.extract::<String>() {
        return parse_duration(&text).map_err(failed);
    }
    let seconds: f64 = match value.call_method0("total_seconds") {
        Ok(seconds) => seconds.extract()?, // of a timedelta
        Err(_) => value.extract().map_err(|_| {
            PyTypeError::new_err(format!("a time is a number of seconds, or a text such as \"10 ms\", and not {value}"))
        })?,
    };
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{seconds} s is no length of time: {error}")))
}

/// A limit for waiting: `None` for as long as it takes.
pub fn limit(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Duration>> {
    value.map(duration).transpose()
}
