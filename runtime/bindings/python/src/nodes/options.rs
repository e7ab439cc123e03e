//! What a node asks for, from keyword arguments; their names are those of node.toml.

use horus::cpus::CpuChoice;
use horus::node::{OnMiss, Spec};
use horus::startup::SchedulingPolicy;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::renamed::{OF_NODES, refusal};
use crate::topic::options::duration;

/// Sets a node's wishes.
///
/// # Errors
/// When there is no such wish, or it makes no sense.
pub fn apply(spec: &mut Spec, given: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in given.iter() {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        match name.as_str() {
            "period" => spec.period(duration(&value)?),
            "rate" => spec.rate(value.extract().map_err(|_| no_rate(&value))?),
            "phase" => spec.phase(duration(&value)?),
            "on" => spec.on(value.extract::<String>()?),
            "min_inter_arrival" => spec.min_inter_arrival(duration(&value)?),
            "budget" => spec.budget(duration(&value)?),
            "deadline" => spec.deadline(duration(&value)?),
            "stale_after" => stale_after(spec, &value)?,
            "monitor_limit" => spec.monitor_limit(duration(&value)?),
            "cpu" => spec.cpu(value.str()?.to_str()?.parse::<CpuChoice>().map_err(invalid)?),
            "scheduling_policy" => {
                spec.scheduling_policy(value.extract::<String>()?.parse::<SchedulingPolicy>().map_err(invalid)?)
            }
            "on_miss" => spec.on_miss(on_miss(&value)?),
            "logical_execution_time" if value.is_truthy()? => spec.logical_execution_time(),
            "logical_execution_time" => spec,
            other => return Err(refusal(OF_NODES, other).unwrap_or_else(|| no_option(other))),
        };
    }
    Ok(())
}

/// As in node.toml: "2 s" for all inputs, or {"imu": "50 ms"} for those of these topics.
fn stale_after<'a>(spec: &'a mut Spec, value: &Bound<'_, PyAny>) -> PyResult<&'a mut Spec> {
    let Ok(by_topic) = value.cast::<PyDict>() else { return Ok(spec.stale_after(duration(value)?)) };
    for (topic, limit) in by_topic.iter() {
        spec.stale_after_of(topic.extract::<String>()?, duration(&limit)?);
    }
    Ok(spec)
}

#[cold]
fn no_option(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a node has no option {name}: there are name, period, rate, phase, on, min_inter_arrival, budget, deadline, stale_after, monitor_limit, cpu, \
         scheduling_policy, on_miss, safe_state, logical_execution_time"
    ))
}

#[cold]
fn no_rate(value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a rate is a number of releases a second, such as 100, and not {value}"))
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// As in node.toml: "stop", or {"safe_state": {"after": 3, "within": 100}}.
fn on_miss(value: &Bound<'_, PyAny>) -> PyResult<OnMiss> {
    let py = value.py();
    let (name, said) = match value.cast::<PyDict>() {
        Ok(dict) if dict.len() == 1 => {
            let (name, said) = dict.iter().next().expect("it has one");
            let said = said.cast_into::<PyDict>().map_err(|_| wrong(value))?;
            (name.extract::<String>()?, said)
        }
        _ => (value.extract::<String>().map_err(|_| wrong(value))?, PyDict::new(py)),
    };
    let number = |key| said.get_item(key)?.map(|number| number.extract::<u32>()).transpose();
    let mut reaction = match name.as_str() {
        "count" => OnMiss::count(),
        "warn" => OnMiss::warn(),
        "skip" => OnMiss::skip(),
        "safe_state" => OnMiss::safe_state(),
        "stop" => OnMiss::stop(),
        "degrade" => OnMiss::degrade(number("every")?.ok_or_else(|| wrong(value))?),
        _ => return Err(wrong(value)),
    };
    for (key, _) in said.iter() {
        let key: String = key.extract()?;
        if !(["after", "within"].contains(&key.as_str()) || key == "every" && name == "degrade") {
            return Err(wrong(value));
        }
    }
    if let Some(after) = number("after")? {
        reaction = reaction.after(after);
    }
    Ok(match number("within")? {
        Some(within) => reaction.within(within),
        None => reaction,
    })
}

#[cold]
fn wrong(value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!(
        "on_miss is \"count\", \"warn\", \"skip\", \"safe_state\" or \"stop\", or with a window {{\"safe_state\": {{\"after\": 3, \"within\": 100}}}}, or \
         {{\"degrade\": {{\"every\": 2}}}}, and not {value}"
    ))
}
