//! What became of a world's nodes: their accounts, and what the journal would say.

use std::ffi::{CString, c_char};

use super::{Nodes, horus_world, of, rest};
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{call, horus_status, misuse};

/// What a node does.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct horus_tally {
    /// Cycles that ran to completion.
    pub cycles: u64,
    /// Cycles that completed late, and skipped releases.
    pub misses: u64,
    /// Releases that were skipped; contained in `misses`.
    pub skipped: u64,
    /// The longest run of consecutive releases that were missed.
    pub max_consecutive: u64,
    /// The longest response time.
    pub max_response_ns: u64,
    /// The largest release jitter.
    pub max_jitter_ns: u64,
    /// Whether it is in its safe state.
    pub is_safe: u32,
    /// Whether it ended its program, after misses.
    pub has_stopped: u32,
}

/// The account of a node.
///
/// # Safety
/// As `horus_world_delay`; `tally` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_tally(
    world: *mut horus_world,
    node: *const c_char,
    tally: *mut horus_tally,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (world, node) = unsafe { of(world, node) }?;
        if tally.is_null() {
            return Err(misuse("the place for the tally is null"));
        }
        let (known, state) = (world.world.tally(node), world.world.state(node));
        let told = horus_tally {
            cycles: known.cycles,
            misses: known.misses,
            skipped: known.skipped,
            max_consecutive: known.max_consecutive,
            max_response_ns: known.max_response.as_nanos() as u64,
            max_jitter_ns: known.max_jitter.as_nanos() as u64,
            is_safe: u32::from(state == horus::figures::State::Safe),
            has_stopped: u32::from(state == horus::figures::State::Stopped),
        };
        // SAFETY: not null, and it may be written, by the caller's promise.
        unsafe { tally.write(told) };
        Ok(HORUS_OK)
    })
}

/// What the journal would say: the text of entry `index`, from 0, valid until the next call with this world; null when there are not so many.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_journal(world: *mut horus_world, index: usize) -> *const c_char {
    let mut told = std::ptr::null();
    call(|| {
        // SAFETY: the caller's promise is the same.
        let mut nodes = unsafe { rest(world) }?;
        let Nodes { world, entry, .. } = &mut *nodes;
        let Some(said) = world.journal().get(index) else { return Ok(HORUS_EMPTY) };
        *entry = CString::new(said.message().replace('\0', "?")).unwrap_or_default();
        told = entry.as_ptr();
        Ok(HORUS_OK)
    });
    told
}
