//! The CPUs' own machinery: hyper-threads, idle states, clock frequencies; and swap, their slowest memory.

use horus::cpus::CpuList;

use super::named;
use crate::facts::{CpuSet, Facts};
use crate::tree::{Tree, Unread};
use crate::value::{Found, Value, shortened};

const CPU: &str = "/sys/devices/system/cpu";

/// Isolated CPUs that share their core with a running CPU that is not isolated.
pub fn busy_siblings(tree: &Tree, facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let mut found = Found::findings(Vec::new());
    let isolated = facts.cpus(CpuSet::Isolated)?;
    let online = facts.cpus(CpuSet::Online)?;
    for cpu in isolated.iter() {
        match tree.text(&format!("{CPU}/cpu{cpu}/topology/thread_siblings_list")) {
            Ok(text) => {
                let siblings = text.parse::<CpuList>().unwrap_or_default().intersection(&online);
                if !siblings.is_subset(&isolated) {
                    found.values.push(Value::new(format!("cpu{cpu}"), format!("shares its core with {siblings}")));
                }
            }
            Err(unread) => found.gaps.push(unread),
        }
    }
    Ok(found)
}

/// For each isolated CPU the time in microseconds to leave the deepest idle state that it may enter.
///
/// A state counts unless it is disabled or slower than the CPU's `pm_qos_resume_latency_us` allows, where `n/a`
/// tolerates no latency at all and `0` tolerates any. Without a cpuidle driver the kernel only halts the CPU: 0.
pub fn idle_exit_latency(tree: &Tree, facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let isolated = facts.cpus(CpuSet::Isolated)?;
    let driver = tree.text(&format!("{CPU}/cpuidle/current_driver"))?;
    if driver == "none" {
        return Ok(Found::findings(vec![Value::new("no cpuidle driver", "0")]));
    }
    let mut found = Found::findings(Vec::new());
    for cpu in isolated.iter() {
        match deepest(tree, cpu) {
            Ok((latency, states)) => {
                let value = Value::new(format!("cpu{cpu}"), latency.to_string());
                let switch_off = |value: Value, state| value.put_right_by(format!("{state}/disable"), "1");
                found.values.push(states.into_iter().fold(value, switch_off));
            }
            Err(unread) => found.gaps.push(unread),
        }
    }
    found.note = Some(format!("driver {driver}"));
    Ok(found)
}

/// The longest time in microseconds, and the states that take it.
fn deepest(tree: &Tree, cpu: u32) -> Result<(u64, Vec<String>), Unread> {
    let limit = match tree.text(&format!("{CPU}/cpu{cpu}/power/pm_qos_resume_latency_us")).as_deref() {
        Ok("n/a") => 0,
        Ok("0") | Err(_) => u64::MAX,
        Ok(limit) => limit.parse().unwrap_or(u64::MAX),
    };
    let mut deepest = (0, Vec::new());
    for state in tree.glob(&format!("{CPU}/cpu{cpu}/cpuidle/state*"))? {
        let latency = number(tree, &format!("{state}/latency"))?;
        if number(tree, &format!("{state}/disable"))? == 0 && latency <= limit {
            if latency > deepest.0 {
                deepest = (latency, Vec::new());
            }
            if latency == deepest.0 {
                deepest.1.push(state);
            }
        }
    }
    Ok(deepest)
}

fn number(tree: &Tree, path: &str) -> Result<u64, Unread> {
    let text = tree.text(path)?;
    text.parse().map_err(|_| Unread(format!("{path} holds no number: '{}'", shortened(&text))))
}

/// Frequency policies that let the clock move between a lower and an upper limit.
pub fn variable_frequency(tree: &Tree, _facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let mut found = Found::findings(Vec::new());
    for policy in tree.glob(&format!("{CPU}/cpufreq/policy*"))? {
        let read = |name: &str| number(tree, &format!("{policy}/{name}"));
        match (read("scaling_min_freq"), read("scaling_max_freq")) {
            (Ok(low), Ok(high)) if low == high => {}
            (Ok(low), Ok(high)) => {
                let value = Value::new(&policy, format!("{low} to {high} kHz"));
                found.values.push(value.put_right_by(format!("{policy}/scaling_min_freq"), high.to_string()));
            }
            (Err(unread), _) | (_, Err(unread)) => found.gaps.push(unread),
        }
    }
    Ok(found)
}

/// Areas that the kernel swaps to, compressed memory (zram) included.
pub fn swap(tree: &Tree, _facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let table = tree.text("/proc/swaps")?;
    let areas = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    Ok(Found::findings(areas.map(named).collect()))
}
