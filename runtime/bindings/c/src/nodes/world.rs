//! Virtual time, for the tests of programs of nodes.

mod account;
mod faults;

use std::cell::{RefCell, RefMut};
use std::ffi::{CString, c_char, c_void};
use std::slice;
use std::time::Duration;

pub use account::*;
pub use faults::*;
use horus::app::App;
use horus::topic::{Bytes, Raw, Received};
use horus::world::VirtualWorld;

use crate::handle::{Kind, close, give, look, text, wrong_size};
use crate::layout::horus_layout;
use crate::nodes::program::{Owned, declare_by, horus_declare};
use crate::payload::Of;
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::publisher::{bytes_at, message_at, too_long};
use crate::topic::subscriber::{check_room, horus_received, tell};

/// The nodes of a program in virtual time: step by step, faster than real time, the same each time. One thread at a time uses it, and it
/// calls the steps.
#[allow(non_camel_case_types)]
pub struct horus_world {
    _opaque: (),
}

/// A world with the handles that its nodes use. Its own steps may ask it, too, and are told that it runs.
pub(crate) type World = RefCell<Nodes>;

/// The nodes, and what they stand on.
pub(crate) struct Nodes {
    pub(super) world: VirtualWorld,
    entry: CString,
    /// Behind the world, because it is dropped last.
    _owned: Owned,
}

impl Kind for horus_world {
    type Value = World;
    const MARK: u64 = 0x7475_6f79_616c_0008;
    const NAME: &'static str = "world";
}

/// Builds the nodes that `declare` declares with `context`. No time has passed. Null when they are refused.
///
/// # Safety
/// `declare` may be called with `context`, and until the world is closed, so may the steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_new(declare: horus_declare, context: *mut c_void) -> *mut horus_world {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { build(declare, context, |declare| VirtualWorld::new(declare)) }
    })
}

/// A world, by what `make` makes of the function that declares its nodes.
///
/// # Safety
/// As `horus_world_new`.
unsafe fn build(
    declare: horus_declare,
    context: *mut c_void,
    make: impl FnOnce(&mut dyn FnMut(&mut App) -> horus::Result) -> horus::Result<VirtualWorld>,
) -> Result<*mut horus_world, Refusal> {
    let mut owned = Owned::default();
    let mut declared = |app: &mut App| {
        // SAFETY: the caller's promise is the same.
        owned = unsafe { declare_by(declare, context, app) }?;
        Ok(())
    };
    let world = make(&mut declared).map_err(failed)?;
    Ok(give(RefCell::new(Nodes { world, entry: CString::default(), _owned: owned })))
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
        // SAFETY: as above.
        unsafe { build(declare, context, |declare| VirtualWorld::with_settings(file, declare)) }
    })
}

/// The nodes of a world, unless they run: a step of the world may have its handle.
///
/// # Safety
/// `world` is null or a handle that only its own steps use meanwhile.
pub(super) unsafe fn rest<'a>(world: *mut horus_world) -> Result<RefMut<'a, Nodes>, Refusal> {
    // SAFETY: the caller's promise is the same, and every function looks at a world by this one.
    let world = unsafe { look(world) }?;
    world.try_borrow_mut().map_err(|_| misuse("the world runs: its steps use inputs and outputs"))
}

/// The time that has passed, in nanoseconds; 0 of what is no world.
///
/// # Safety
/// `world` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_now_ns(world: *mut horus_world) -> u64 {
    let mut now = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        now = unsafe { rest(world) }?.world.elapsed().as_nanos() as u64;
        Ok(HORUS_OK)
    });
    now
}

/// Lets time pass, and the nodes run. A step that fails is an error.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_run_for(world: *mut horus_world, nanoseconds: u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { rest(world) }?.world.run_for(Duration::from_nanos(nanoseconds));
        Ok(HORUS_OK)
    })
}

/// Publishes a message of `bytes` bytes, as another program would. A message of a struct has the bytes of its layout. One of bytes has up to the
/// maximum, and may be null where it has none.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile, `layout` one that is not closed meanwhile, `topic` ends with a zero byte, `bytes` bytes may be read at `message`.
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
        let (mut world, topic, layout) = unsafe { (rest(world)?, text(topic, "name of the topic")?, look(layout)?) };
        match layout {
            Of::Messages(layout) => {
                // SAFETY: as above.
                let message = unsafe { message_at(message, bytes, layout.payload().bytes) }?;
                world.world.publish_as::<Raw>(topic, layout, message)
            }
            Of::Bytes(maximum) if bytes > *maximum => return Err(too_long(bytes, *maximum)),
            Of::Bytes(maximum) => {
                // SAFETY: as above.
                let message = unsafe { bytes_at(message, bytes) }?;
                world.world.publish_as::<[u8]>(topic, Bytes::up_to(*maximum), message)
            }
        }
        .map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Copies the newest message of a topic; HORUS_EMPTY while there is none. A message of a struct has `bytes` bytes, and `about` may be null. For one
/// of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many there are.
///
/// # Safety
/// As `horus_world_publish`, `bytes` bytes may be written at `message`, and `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_last(
    world: *mut horus_world,
    topic: *const c_char,
    layout: *mut horus_layout,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (mut world, topic, layout) = unsafe { (rest(world)?, text(topic, "name of the topic")?, look(layout)?) };
        if message.is_null() {
            return Err(misuse("the place for the message is null"));
        }
        let found = match layout {
            Of::Messages(layout) if bytes != layout.payload().bytes => {
                return Err(wrong_size(bytes, layout.payload().bytes));
            }
            Of::Messages(layout) => world.world.last_received_as::<Raw>(topic, layout),
            Of::Bytes(maximum) => {
                check_room(bytes, *maximum, about)?;
                world.world.last_received_as::<[u8]>(topic, Bytes::up_to(*maximum))
            }
        };
        let Some(received) = found.map_err(failed)? else { return Ok(HORUS_EMPTY) };
        // There is room for it: the world has the topic with the same layout, or bytes with the same maximum.
        let found = received.message.get(..bytes).unwrap_or(&received.message);
        // SAFETY: not null, and so many bytes may be written, by the caller's promise; they are only written.
        unsafe { slice::from_raw_parts_mut(message.cast(), found.len()) }.copy_from_slice(found);
        let &Received { sequence, sent_ns, publisher, .. } = received;
        // SAFETY: the caller's promise is the same.
        unsafe { tell(about, Received { message: found.len(), sequence, sent_ns, publisher }) };
        Ok(HORUS_OK)
    })
}

/// The world, and the name of one of its nodes.
///
/// # Safety
/// As `horus_world_delay`.
unsafe fn of<'a>(world: *mut horus_world, node: *const c_char) -> Result<(RefMut<'a, Nodes>, &'a str), Refusal> {
    // SAFETY: the caller's promises are the same.
    let (world, node) = unsafe { (rest(world)?, text(node, "name of the node")?) };
    if world.world.has_node(node) {
        return Ok((world, node));
    }
    Err(misuse(format!("the world has no node {node}")))
}

/// Ends a world. Null is nothing to end.
///
/// # Safety
/// `world` is null or a handle that no other call uses meanwhile, and it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_close(world: *mut horus_world) -> horus_status {
    call(|| {
        if !world.is_null() {
            // SAFETY: the caller's promise is the same.
            drop(unsafe { rest(world) }?);
        }
        // SAFETY: as above, and it does not run.
        unsafe { close(world) }
    })
}
