//! Virtual time, for the tests of programs of nodes.

use std::ffi::{CString, c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::world::VirtualWorld;

use crate::handle::{Kind, close, get, give, text};
use crate::horus_layout;
use crate::program::{Owned, declare_by, horus_declare};
use crate::publisher::message_at;
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};

/// The nodes of a program in virtual time: step by step, faster than real time, the same each time. One thread at a time uses it, and it
/// calls the steps.
#[allow(non_camel_case_types)]
pub struct horus_world {
    _opaque: (),
}

/// A world with the handles that its nodes use.
pub(crate) struct World {
    world: VirtualWorld,
    entry: CString,
    /// Behind the world, because it is dropped last.
    _owned: Owned,
}

impl Kind for horus_world {
    type Value = World;
    const MARK: u64 = 0x7475_6f79_616c_0008;
    const NAME: &'static str = "world";
}

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

/// Builds the nodes that `declare` declares with `context`. It is time zero. Null when they are refused.
///
/// # Safety
/// `declare` may be called with `context`, and until the world is closed, so may the steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_new(declare: horus_declare, context: *mut c_void) -> *mut horus_world {
    make(|| {
        let mut owned = Owned::default();
        let world = VirtualWorld::new(|app| {
            // SAFETY: the caller's promise is the same.
            owned = unsafe { declare_by(declare, context, app) }?;
            Ok(())
        });
        Ok(give(World { world: world.map_err(failed)?, entry: CString::default(), _owned: owned }))
    })
}

/// As `horus_world_new`, with the settings of a node.toml.
///
/// # Safety
/// As `horus_world_new`; `file` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_with_settings(
    file: *const c_char,
    declare: horus_declare,
    context: *mut c_void,
) -> *mut horus_world {
    make(|| {
        // SAFETY: the caller's promise is the same.
        let file = unsafe { text(file, "name of the file") }?;
        let mut owned = Owned::default();
        let world = VirtualWorld::with_settings(file, |app| {
            // SAFETY: the caller's promise is the same.
            owned = unsafe { declare_by(declare, context, app) }?;
            Ok(())
        });
        Ok(give(World { world: world.map_err(failed)?, entry: CString::default(), _owned: owned }))
    })
}

/// The time that has passed, in nanoseconds; 0 of what is no world.
///
/// # Safety
/// `world` is null or a handle that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_now_ns(world: *mut horus_world) -> u64 {
    let mut now = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        now = unsafe { get(world) }?.world.now().as_nanos();
        Ok(HORUS_OK)
    });
    now
}

/// Lets time pass, and the nodes run. A step that fails is an error.
///
/// # Safety
/// `world` is a handle that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_run_for(world: *mut horus_world, nanoseconds: u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(world) }?.world.run_for(Duration::from_nanos(nanoseconds));
        Ok(HORUS_OK)
    })
}

/// Publishes a message of `bytes` bytes, as another program would.
///
/// # Safety
/// `world` and `layout` are handles that nobody else uses meanwhile, `topic` ends with a zero byte, `bytes` bytes may be read at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_publish(
    world: *mut horus_world,
    topic: *const c_char,
    layout: *mut horus_layout,
    message: *const c_void,
    bytes: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (world, topic, layout) = unsafe { (get(world)?, text(topic, "name of the topic")?, get(layout)?) };
        // SAFETY: as above.
        let message = unsafe { message_at(message, bytes, layout.payload().bytes) }?;
        world.world.publish_raw(topic, layout, message).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Copies the newest message of a topic; HORUS_EMPTY while there is none.
///
/// # Safety
/// As `horus_world_publish`, and `bytes` bytes may be written at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_last(
    world: *mut horus_world,
    topic: *const c_char,
    layout: *mut horus_layout,
    message: *mut c_void,
    bytes: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (world, topic, layout) = unsafe { (get(world)?, text(topic, "name of the topic")?, get(layout)?) };
        if message.is_null() {
            return Err(misuse("the place for the message is null"));
        }
        // SAFETY: not null, so many bytes may be written, by the caller's promise; they are only written.
        let into = unsafe { slice::from_raw_parts_mut(message.cast(), bytes) };
        let there_is = world.world.last_raw(topic, layout, into).map_err(failed)?;
        Ok(if there_is { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// Has a node wake up so much after its releases, for `cycles` cycles; 0 for ever.
///
/// # Safety
/// `world` is a handle that nobody else uses meanwhile, `node` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_delay(
    world: *mut horus_world,
    node: *const c_char,
    nanoseconds: u64,
    cycles: u64,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (world, node) = unsafe { of(world, node) }?;
        let scripted = world.delay(node, Duration::from_nanos(nanoseconds));
        if cycles > 0 {
            scripted.for_cycles(cycles);
        }
        Ok(HORUS_OK)
    })
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
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (world, node) = unsafe { of(world, node) }?;
        let scripted = world.takes(node, Duration::from_nanos(nanoseconds));
        if cycles > 0 {
            scripted.for_cycles(cycles);
        }
        Ok(HORUS_OK)
    })
}

/// Has the next messages of a topic never come to the inputs of the program.
///
/// # Safety
/// `world` is a handle that nobody else uses meanwhile, `topic` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_lose(
    world: *mut horus_world,
    topic: *const c_char,
    messages: u64,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        unsafe { get(world)?.world.lose(text(topic, "name of the topic")?, messages) };
        Ok(HORUS_OK)
    })
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
        let (known, state) = (world.tally(node), world.state(node));
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
/// `world` is a handle that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_journal(world: *mut horus_world, index: usize) -> *const c_char {
    let mut told = std::ptr::null();
    call(|| {
        // SAFETY: the caller's promise is the same.
        let World { world, entry, .. } = unsafe { get(world) }?;
        let Some(said) = world.journal().get(index) else { return Ok(HORUS_EMPTY) };
        *entry = CString::new(said.message().replace('\0', "?")).unwrap_or_default();
        told = entry.as_ptr();
        Ok(HORUS_OK)
    });
    told
}

/// The world, and the name of one of its nodes.
///
/// # Safety
/// As `horus_world_delay`.
unsafe fn of<'a>(world: *mut horus_world, node: *const c_char) -> Result<(&'a mut VirtualWorld, &'a str), Refusal> {
    // SAFETY: the caller's promises are the same.
    let (world, node) = unsafe { (&mut get(world)?.world, text(node, "name of the node")?) };
    if world.has_node(node) {
        return Ok((world, node));
    }
    Err(misuse(format!("the world has no node {node}")))
}

/// Ends a world. Null is nothing to end.
///
/// # Safety
/// `world` is null or a handle that nobody else uses meanwhile, and it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_close(world: *mut horus_world) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(world) }
    })
}
