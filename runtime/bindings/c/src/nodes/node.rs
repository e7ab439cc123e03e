//! The wishes of a node.

use std::ffi::c_char;
use std::sync::Arc;
use std::time::Duration;

use horus::cpus::CpuChoice;
use horus::node::{OnMiss, Spec};
use horus::startup::SchedulingPolicy;

use crate::handle::{get, text};
use crate::nodes::node_handle::{NodeHandle, horus_node};
use crate::nodes::program::null_step;
use crate::nodes::step::horus_step;
use crate::status::{Refusal, call, horus_status, misuse};

/// What a miss leads to.
#[allow(non_camel_case_types)]
pub type horus_reaction = u32;
/// It is counted.
pub const HORUS_COUNT: horus_reaction = 0;
/// It is counted, and told in the journal: so it is unless said otherwise.
pub const HORUS_WARN: horus_reaction = 1;
/// The next release is left out, so that others catch up.
pub const HORUS_SKIP: horus_reaction = 2;
/// From then on the node's safe state is called in place of its step.
pub const HORUS_SAFE_STATE: horus_reaction = 3;
/// The program ends, with a failure.
pub const HORUS_STOP: horus_reaction = 4;

/// Changes the wishes of a node; what is refused, the program will not start with.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
unsafe fn change(node: *mut horus_node, change: impl FnOnce(&mut Spec) -> Result<(), Refusal>) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (app, index) = unsafe { get(node) }.map(|node| (node.app, node.index))?;
        if app.is_null() {
            return Err(misuse("this node is declared, or its program has ended: say what it asks for before"));
        }
        // SAFETY: the node belongs to this app and ends with it, so it is there, and no other call uses it.
        unsafe { get(app) }?.declare(|program| {
            let spec = program.app()?.spec(index).ok_or_else(|| misuse("the app has no such node"))?;
            change(spec)?;
            Ok(horus_status::HORUS_OK)
        })
    })
}

/// Releases it once a period, on the grid that all nodes of the machine with this period share.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_period_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.period(Duration::from_nanos(nanoseconds)))) }
}

/// Moves its grid by so much against that of other nodes.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_phase_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.phase(Duration::from_nanos(nanoseconds)))) }
}

/// The minimum inter-arrival time: the shortest between two releases by events. An event that comes sooner is served at its end.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_min_inter_arrival_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.min_inter_arrival(Duration::from_nanos(nanoseconds)))) }
}

/// The CPU time that a cycle may take.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_budget_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.budget(Duration::from_nanos(nanoseconds)))) }
}

/// The time from release to completion that counts as in time; the period if not said otherwise.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_deadline_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.deadline(Duration::from_nanos(nanoseconds)))) }
}

/// How long nothing may come on an input until it is stale, and the journal says so; 100 periods and 1 s at least if not said otherwise.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_stale_after_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.stale_after(Duration::from_nanos(nanoseconds)))) }
}

/// As `horus_node_stale_after_ns`, for the input of one topic; the others keep theirs.
///
/// # Safety
/// As `horus_node_period_ns`; `topic` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_stale_after_of_ns(
    node: *mut horus_node,
    topic: *const c_char,
    nanoseconds: u64,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe {
        change(node, |spec| {
            set(spec.stale_after_of(text(topic, "name of the topic")?, Duration::from_nanos(nanoseconds)))
        })
    }
}

/// How long after its release a cycle may be under way before the monitor publishes what is safe: from the deadline to 100 periods, or 1 s where
/// that is longer. A period and the budget, or a tenth of the period if that is longer, if not said otherwise. The node has a period and reacts by
/// its safe state, or its program does not run.
///
/// # Safety
/// `node` is null or a handle that no other call uses meanwhile, nor its app.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_monitor_limit_ns(node: *mut horus_node, nanoseconds: u64) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.monitor_limit(Duration::from_nanos(nanoseconds)))) }
}

/// Releases it when a message comes on this topic, which is one of its inputs.
///
/// # Safety
/// As `horus_node_period_ns`; `topic` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_on(node: *mut horus_node, topic: *const c_char) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { change(node, |spec| set(spec.on(text(topic, "name of the topic")?))) }
}

/// The CPU that it runs on, as node.toml says it: `isolated`, `isolated:1`, `housekeeping`, `2`, `2-3`.
///
/// # Safety
/// As `horus_node_period_ns`; `cpu` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_cpu(node: *mut horus_node, cpu: *const c_char) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { change(node, |spec| set(spec.cpu(text(cpu, "CPU")?.parse::<CpuChoice>().map_err(misuse)?))) }
}

/// The scheduling policy by which the kernel chooses it, as node.toml says it: `fifo:80`, `rr:80`, `deadline`, `other`.
///
/// # Safety
/// As `horus_node_period_ns`; `policy` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_scheduling_policy(node: *mut horus_node, policy: *const c_char) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe {
        change(node, |spec| {
            set(spec.scheduling_policy(text(policy, "scheduling policy")?.parse::<SchedulingPolicy>().map_err(misuse)?))
        })
    }
}

/// What becomes of misses, from the `after`-th one within `within` releases; `within` 0 for all of them in a row.
///
/// # Safety
/// As `horus_node_period_ns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_on_miss(
    node: *mut horus_node,
    reaction: horus_reaction,
    after: u32,
    within: u32,
) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe {
        change(node, |spec| {
            let reaction = match reaction {
                HORUS_COUNT => OnMiss::count(),
                HORUS_WARN => OnMiss::warn(),
                HORUS_SKIP => OnMiss::skip(),
                HORUS_SAFE_STATE => OnMiss::safe_state(),
                HORUS_STOP => OnMiss::stop(),
                other => return Err(misuse(format!("there is no reaction {other}: HORUS_WARN or HORUS_SAFE_STATE"))),
            };
            set(spec.on_miss(window(reaction, after, within)))
        })
    }
}

/// As `horus_node_on_miss`: from then on, one release of `every` is served.
///
/// # Safety
/// As `horus_node_period_ns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_degrade(
    node: *mut horus_node,
    every: u32,
    after: u32,
    within: u32,
) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.on_miss(window(OnMiss::degrade(every), after, within)))) }
}

fn window(reaction: OnMiss, after: u32, within: u32) -> OnMiss {
    let reaction = reaction.after(after);
    if within == 0 { reaction } else { reaction.within(within) }
}

/// Sets what keeps the robot safe, in place of a step, after misses that `horus_node_on_miss` names. It is called once before the first
/// release; what it sets then is remembered and not published. So it sets the same each time, and waits for nothing.
///
/// # Safety
/// As `horus_node_period_ns`, and as `horus_app_node` for `safe_state` in place of `step`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_safe_state(node: *mut horus_node, safe_state: horus_step) -> horus_status {
    // SAFETY: the caller's promise is the same.
    match unsafe { get(node) } {
        Ok(NodeHandle { safe, .. }) => {
            let safe = Arc::clone(safe);
            // SAFETY: as above.
            unsafe {
                change(node, |_| {
                    safe.set(Some(safe_state.ok_or_else(null_step)?))
                        .map_err(|_| misuse("the node has a safe state already"))
                })
            }
        }
        Err(refusal) => call(|| Err(refusal)),
    }
}

/// Logical execution time: its inputs are those of its release, and its outputs are those of its deadline.
///
/// # Safety
/// As `horus_node_period_ns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_logical_execution_time(node: *mut horus_node) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { change(node, |spec| set(spec.logical_execution_time())) }
}

/// The wish is noted.
fn set(_: &mut Spec) -> Result<(), Refusal> {
    Ok(())
}
