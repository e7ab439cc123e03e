//! What a test scripts: nodes that are late or slow, and messages that are lost.

use std::ffi::c_char;
use std::time::Duration;

use horus::world::{Scripted, VirtualWorld};

use super::{horus_world, of, rest};
use crate::handle::text;
use crate::status::horus_status::HORUS_OK;
use crate::status::{call, horus_status, misuse};

/// Scripts a node by `fault`, for `cycles` cycles; 0 for ever.
///
/// # Safety
/// As `horus_world_delay`.
unsafe fn script(
    world: *mut horus_world,
    node: *const c_char,
    cycles: u64,
    fault: impl for<'a> FnOnce(&'a mut VirtualWorld, &str) -> Scripted<'a>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (mut world, node) = unsafe { of(world, node) }?;
        let scripted = fault(&mut world.world, node);
        if cycles > 0 {
            scripted.for_cycles(cycles);
        }
        Ok(HORUS_OK)
    })
}

/// Has a node wake up so much after its releases, for `cycles` cycles; 0 for ever.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile, `node` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_delay(
    world: *mut horus_world,
    node: *const c_char,
    nanoseconds: u64,
    cycles: u64,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { script(world, node, cycles, |world, node| world.delay(node, Duration::from_nanos(nanoseconds))) }
}

/// Has a node's steps take so long, for `cycles` cycles; 0 for ever.
///
/// # Safety
/// As `horus_world_delay`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_takes(
    world: *mut horus_world,
    node: *const c_char,
    nanoseconds: u64,
    cycles: u64,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { script(world, node, cycles, |world, node| world.takes(node, Duration::from_nanos(nanoseconds))) }
}

/// Has the next messages of a topic never come to the inputs of the program.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile, `topic` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_lose(
    world: *mut horus_world,
    topic: *const c_char,
    messages: u64,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (mut world, topic) = unsafe { (rest(world)?, text(topic, "name of the topic")?) };
        if !world.world.has_input(topic) {
            return Err(misuse(format!("no input of the world's nodes is of the topic {topic}")));
        }
        world.world.lose(topic, messages);
        Ok(HORUS_OK)
    })
}
