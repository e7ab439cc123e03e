//! The parameters that a node declares, and that a test sets.

use std::ffi::{c_char, c_int};

use horus::param::{AnyParam, Wishes};

use super::world::{horus_world, rest};
use crate::handle::{self, Kind, get, give, look, text};
use crate::nodes::node_handle::horus_app;
use crate::param::{horus_value, value_at};
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, call, failed, horus_status, make, misuse};

/// What is said of a parameter beside its name and its default. It begins as zeros: `horus_param_wishes wishes = {0};`.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct horus_param_wishes {
    /// Its unit, such as "1/s", at most 16 bytes; null for none.
    pub unit: *const c_char,
    /// What it is for, as a sentence without its end, at most 200 bytes; null for none.
    pub about: *const c_char,
    /// The least value, of the kind of the default; null where all are possible.
    pub least: *const horus_value,
    /// The greatest value; null where all are possible.
    pub greatest: *const horus_value,
    /// 1 to have it change at the program's start alone.
    pub read_only: u32,
    /// Nothing: 0.
    pub reserved: u32,
}

/// A parameter of a node. Its steps read it, and it is closed when no step reads it any more, or never.
#[allow(non_camel_case_types)]
pub struct horus_param {
    _opaque: (),
}

impl Kind for horus_param {
    type Value = AnyParam;
    const MARK: u64 = 0x7475_6f79_616c_0025;
    const NAME: &'static str = "parameter";
}

/// A parameter of the next node, with the value that it has where nothing else is said, and of that kind. `wishes` may be null. Null when it is
/// refused; the program does not run then. Other programs set it while this one runs, and all that a step reads of its parameters is of one set.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile, `name` ends with a zero byte, `value` may be read, and `wishes` is null or may be read
/// with all that it points to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_param(
    app: *mut horus_app,
    name: *const c_char,
    value: *const horus_value,
    wishes: *const horus_param_wishes,
) -> *mut horus_param {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (name, value) = unsafe { (text(name, "name of the parameter")?, value_at(value)?) };
            // SAFETY: as above.
            let wishes = unsafe { read(wishes) }?;
            Ok(give(program.app()?.any_param(name, &value, &wishes).map_err(failed)?))
        })
    })
}

/// What C wishes.
///
/// # Safety
/// That of `horus_app_param`.
unsafe fn read<'a>(wishes: *const horus_param_wishes) -> Result<Wishes<'a>, Refusal> {
    // SAFETY: null or readable, by the caller's promise.
    let Some(wishes) = (unsafe { wishes.as_ref() }) else { return Ok(Wishes::default()) };
    let said = |given: *const c_char, what| {
        // SAFETY: not null, so it ends with a zero byte, by the caller's promise.
        if given.is_null() { Ok("") } else { unsafe { text(given, what) } }
    };
    let range = match (wishes.least.is_null(), wishes.greatest.is_null()) {
        (true, true) => None,
        // SAFETY: not null, so they may be read, by the caller's promise.
        (false, false) => Some(unsafe { [value_at(wishes.least)?, value_at(wishes.greatest)?] }),
        _ => return Err(misuse("a range has a least and a greatest value: give both, or neither")),
    };
    let (unit, about) = (said(wishes.unit, "unit")?, said(wishes.about, "text about a parameter")?);
    Ok(Wishes { unit, about, range, read_only: wishes.read_only != 0 })
}

/// Has the members of a group alone set the program's parameters, if node.toml names no other one. Who may use its topics may read them.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile, `group` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_param_group(app: *mut horus_app, group: *const c_char) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: as above.
            program.app()?.param_group(unsafe { text(group, "name of the group") }?);
            Ok(HORUS_OK)
        })
    })
}

/// The value of a number in this cycle, whole or not; 0 of what is none, and then `horus_error` says so.
///
/// # Safety
/// `param` is a handle that is not closed meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_param_number(param: *mut horus_param) -> f64 {
    let mut found = 0.0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        found = match unsafe { look(param) }? {
            AnyParam::F64(param) => param.get(),
            AnyParam::I64(param) => param.get() as f64,
            _ => return Err(other("number")),
        };
        Ok(HORUS_OK)
    });
    found
}

/// The value of a whole number in this cycle; 0 of what is none, and then `horus_error` says so.
///
/// # Safety
/// `param` is a handle that is not closed meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_param_whole(param: *mut horus_param) -> i64 {
    let mut found = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        found = match unsafe { look(param) }? {
            AnyParam::I64(param) => param.get(),
            _ => return Err(other("whole number")),
        };
        Ok(HORUS_OK)
    });
    found
}

/// Whether a truth value holds in this cycle: 0 or 1; 0 of what is none, and then `horus_error` says so.
///
/// # Safety
/// `param` is a handle that is not closed meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_param_is_true(param: *mut horus_param) -> c_int {
    let mut found = false;
    call(|| {
        // SAFETY: the caller's promise is the same.
        found = match unsafe { look(param) }? {
            AnyParam::Bool(param) => param.get(),
            _ => return Err(other("truth value")),
        };
        Ok(HORUS_OK)
    });
    c_int::from(found)
}

/// Copies the value of a text in this cycle, and a zero byte behind it: `bytes` bytes of room, 65 of which are enough for all.
///
/// # Safety
/// `param` is a handle that is not closed meanwhile, `bytes` bytes may be written at `into`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_param_text(param: *mut horus_param, into: *mut c_char, bytes: usize) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let AnyParam::Text(param) = unsafe { look(param) }? else { return Err(other("text")) };
        let value = param.get();
        if into.is_null() || bytes <= value.len() {
            return Err(misuse("the place for the text is null or too small: 65 bytes are enough"));
        }
        // SAFETY: not null, so so many bytes may be written, by the caller's promise.
        unsafe {
            into.cast::<u8>().copy_from_nonoverlapping(value.as_ptr(), value.len());
            into.add(value.len()).write(0);
        }
        Ok(HORUS_OK)
    })
}

#[cold]
fn other(kind: &str) -> Refusal {
    misuse(format!("this parameter is no {kind}: read it as what its default is"))
}

/// Ends the handle. Null is nothing to end.
///
/// # Safety
/// `param` is null or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_param_close(param: *mut horus_param) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { handle::close(param) })
}

/// Sets a parameter of a node, as `horus param set` does; the node has it from its next step on. HORUS_FAILED when there is none of this name, or it
/// may not have this value; nothing changes then.
///
/// # Safety
/// `world` is a handle that no other call uses meanwhile, both names end with a zero byte, `value` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_world_set_param(
    world: *mut horus_world,
    node: *const c_char,
    name: *const c_char,
    value: *const horus_value,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (mut world, value) = unsafe { (rest(world)?, value_at(value)?) };
        // SAFETY: as above.
        let (node, name) = unsafe { (text(node, "name of the node")?, text(name, "name of the parameter")?) };
        world.world.set_param(node, name, value).map_err(failed)?;
        Ok(HORUS_OK)
    })
}
