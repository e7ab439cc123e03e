//! Parameters of programs that run: listed, set, watched and saved from another program.

use std::ffi::c_char;
use std::slice;
use std::time::Duration;

use horus::param::{Change, Current, MAX_TEXT_BYTES, Origin, Params, Value, Watch};

use crate::handle::{self, Kind, get, give, text};
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};

/// Of a horus_value: it has none.
pub const HORUS_NONE: u32 = 0;
/// Of a horus_value: `is_true` holds.
pub const HORUS_BOOL: u32 = 1;
/// Of a horus_value: `whole` holds.
pub const HORUS_WHOLE: u32 = 2;
/// Of a horus_value: `number` holds.
pub const HORUS_NUMBER: u32 = 3;
/// Of a horus_value: `text` holds.
pub const HORUS_TEXT: u32 = 4;

/// What a parameter can be.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct horus_value {
    /// HORUS_BOOL, HORUS_WHOLE, HORUS_NUMBER, HORUS_TEXT or HORUS_NONE.
    pub kind: u32,
    /// 0 or 1.
    pub is_true: u32,
    /// A whole number.
    pub whole: i64,
    /// A finite number.
    pub number: f64,
    /// A text of at most 64 bytes, which ends with a zero byte.
    pub text: [c_char; 72],
}

const NO_VALUE: horus_value = horus_value { kind: HORUS_NONE, is_true: 0, whole: 0, number: 0.0, text: [0; 72] };

/// A text in a field, which has room for it and a zero byte; what does not fit is left out.
fn put<const ROOM: usize>(given: &str) -> [c_char; ROOM] {
    let mut field = [0; ROOM];
    let fits = given.floor_char_boundary(ROOM - 1);
    for (place, byte) in field.iter_mut().zip(given[..fits].bytes()) {
        *place = byte as c_char;
    }
    field
}

impl From<&Value> for horus_value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Bool(value) => Self { kind: HORUS_BOOL, is_true: u32::from(*value), ..NO_VALUE },
            Value::I64(value) => Self { kind: HORUS_WHOLE, whole: *value, ..NO_VALUE },
            Value::F64(value) => Self { kind: HORUS_NUMBER, number: *value, ..NO_VALUE },
            Value::Text(value) => Self { kind: HORUS_TEXT, text: put(value), ..NO_VALUE },
        }
    }
}

impl From<Option<Value>> for horus_value {
    fn from(value: Option<Value>) -> Self {
        value.as_ref().map_or(NO_VALUE, Self::from)
    }
}

impl horus_value {
    /// As the runtime has it.
    pub(crate) fn read(&self) -> Result<Value, Refusal> {
        Ok(match self.kind {
            HORUS_BOOL => Value::Bool(self.is_true != 0),
            HORUS_WHOLE => Value::I64(self.whole),
            HORUS_NUMBER => Value::F64(self.number),
            HORUS_TEXT => {
                let bytes: Vec<_> = self.text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
                if bytes.len() > MAX_TEXT_BYTES {
                    return Err(misuse(format!(
                        "a text of a value has at most {MAX_TEXT_BYTES} bytes and a zero byte behind"
                    )));
                }
                Value::Text(String::from_utf8(bytes).map_err(|_| misuse("the text of a value is no UTF-8"))?)
            }
            other => {
                let kinds = "HORUS_BOOL, HORUS_WHOLE, HORUS_NUMBER and HORUS_TEXT";
                return Err(misuse(format!("a value has no kind {other}: there are {kinds}")));
            }
        })
    }
}

/// A value from C.
///
/// # Safety
/// `value` is null or may be read.
pub(crate) unsafe fn value_at(value: *const horus_value) -> Result<Value, Refusal> {
    // SAFETY: null or readable, by the caller's promise, and each pattern of bytes is a `horus_value`.
    unsafe { value.as_ref() }.ok_or_else(|| misuse("the value is null"))?.read()
}

/// The value came from the program's own declaration.
pub const HORUS_FROM_PROGRAM: u32 = 0;
/// The value came from the node.toml that `settings` names.
pub const HORUS_FROM_SETTINGS: u32 = 1;
/// A command or a program set the value.
pub const HORUS_FROM_COMMAND: u32 = 2;
/// The value was saved before the program started, or loaded since.
pub const HORUS_FROM_SAVED: u32 = 3;

/// A parameter of a program that runs, at one moment.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct horus_parameter {
    /// The node that it belongs to.
    pub node: [c_char; 72],
    /// Its name.
    pub name: [c_char; 72],
    /// Its value; HORUS_NONE where the program's memory holds none that it can be.
    pub value: horus_value,
    /// The program's own value.
    pub default_value: horus_value,
    /// The least value; HORUS_NONE where all are possible.
    pub least: horus_value,
    /// The greatest value; HORUS_NONE where all are possible.
    pub greatest: horus_value,
    /// 1 if it changes at the program's start alone.
    pub read_only: u32,
    /// HORUS_FROM_PROGRAM, HORUS_FROM_SETTINGS, HORUS_FROM_COMMAND or HORUS_FROM_SAVED.
    pub from: u32,
    /// Number of the user that set it; the largest number where that was none.
    pub user: u32,
    /// Nothing.
    pub reserved: u32,
    /// When it was set, in seconds since 1970; 0 where it came from the program or node.toml.
    pub set_at: u64,
    /// When the value was set that the program has saved, in seconds since 1970; 0 where it has saved none.
    pub saved_at: u64,
    /// Its unit; empty where it has none.
    pub unit: [c_char; 24],
    /// What it is for; empty where the program does not say.
    pub about: [c_char; 208],
    /// The node.toml that it came from; else empty.
    pub settings: [c_char; 256],
}

impl From<&Current> for horus_parameter {
    fn from(current: &Current) -> Self {
        let known = &current.declaration;
        let [least, greatest] = known.range().map_or([NO_VALUE; 2], |range| range.each_ref().map(horus_value::from));
        let (from, settings, user, set_at) = match &current.origin {
            Origin::Program => (HORUS_FROM_PROGRAM, "", None, 0),
            Origin::Settings(file) => (HORUS_FROM_SETTINGS, file.as_str(), None, 0),
            Origin::Command { user, when } => (HORUS_FROM_COMMAND, "", Some(*user), *when),
            Origin::Saved { user, when } => (HORUS_FROM_SAVED, "", *user, *when),
        };
        Self {
            node: put(&known.node),
            name: put(&known.name),
            value: current.value.clone().into(),
            default_value: known.default().into(),
            least,
            greatest,
            read_only: u32::from(known.read_only),
            from,
            user: user.unwrap_or(u32::MAX),
            reserved: 0,
            set_at,
            saved_at: current.saved.unwrap_or(0),
            unit: put(&known.unit),
            about: put(&known.about),
            settings: put(settings),
        }
    }
}

/// A parameter and the value that it is to have.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct horus_assignment {
    /// "gain", or "drive.gain" where several nodes have it.
    pub name: *const c_char,
    /// The value.
    pub value: horus_value,
}

/// The most that are set or named in one call.
const MAX_NAMED: usize = 1024;

/// The parameters of a program that runs. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_params {
    _opaque: (),
}

/// Beside the parameters: what the last listing found, and what a watch has found and not told.
pub(crate) struct Client {
    params: Params,
    listed: Vec<Current>,
    watch: Option<Watch>,
    changes: Vec<Change>,
}

impl Kind for horus_params {
    type Value = Client;
    const MARK: u64 = 0x7475_6f79_616c_0024;
    const NAME: &'static str = "set of parameters";
}

/// The parameters of a program that runs, "nav", or of one of its nodes, "nav/drive"; null when there are none, or this user may not read them.
///
/// # Safety
/// `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_open(name: *const c_char) -> *mut horus_params {
    make(|| {
        // SAFETY: the caller's promise is the same.
        let params = Params::open(unsafe { text(name, "name of the program") }?).map_err(failed)?;
        Ok(give(Client { params, listed: Vec::new(), watch: None, changes: Vec::new() }))
    })
}

/// Tells number `index` of them, from 0; HORUS_EMPTY behind the last one. Number 0 looks at all of them, at one moment, and the others are told of
/// that moment.
///
/// # Safety
/// `params` is a handle that no other call uses meanwhile, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_list(
    params: *mut horus_params,
    index: usize,
    about: *mut horus_parameter,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let client = unsafe { get(params) }?;
        if index == 0 {
            client.listed = client.params.list().map_err(failed)?;
        }
        let Some(current) = client.listed.get(index) else { return Ok(HORUS_EMPTY) };
        // SAFETY: the caller's promise is the same.
        unsafe { tell(about, current) }
    })
}

/// Where C wants a parameter.
///
/// # Safety
/// `about` is null or may be written.
unsafe fn tell(about: *mut horus_parameter, current: &Current) -> Result<horus_status, Refusal> {
    if about.is_null() {
        return Err(misuse("the place for the parameter is null"));
    }
    // SAFETY: not null, so it may be written, by the caller's promise.
    unsafe { about.write(current.into()) };
    Ok(HORUS_OK)
}

/// Tells the parameter of this name, by now. HORUS_FAILED where there is none.
///
/// # Safety
/// `params` is a handle that no other call uses meanwhile, `name` ends with a zero byte, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_get(
    params: *mut horus_params,
    name: *const c_char,
    about: *mut horus_parameter,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (client, name) = unsafe { (get(params)?, text(name, "name of the parameter")?) };
        let current = client.params.get(name).map_err(failed)?;
        // SAFETY: as above.
        unsafe { tell(about, &current) }
    })
}

/// Sets `count` parameters, all of them or none. HORUS_FAILED when one of them may not have its value; `horus_error` says what it may be.
///
/// # Safety
/// `params` is a handle that no other call uses meanwhile, `count` assignments may be read at `values`, whose names end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_set(
    params: *mut horus_params,
    values: *const horus_assignment,
    count: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let client = unsafe { get(params) }?;
        if values.is_null() || !(1..=MAX_NAMED).contains(&count) {
            return Err(misuse(format!("1 to {MAX_NAMED} parameters are set at a time, and not {count}")));
        }
        // SAFETY: not null, and so many may be read, by the caller's promise.
        let values = unsafe { slice::from_raw_parts(values, count) };
        // SAFETY: each name ends with a zero byte, by the caller's promise.
        let read =
            |each: &horus_assignment| Ok((unsafe { text(each.name, "name of a parameter") }?, each.value.read()?));
        let wanted: Vec<_> = values.iter().map(read).collect::<Result<_, Refusal>>()?;
        client.params.set(&wanted).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Waits for a parameter to change, at most `timeout_ns`, or as long as that takes if it is negative; HORUS_EMPTY when none did. Tells one change
/// a call: what the value was, to `before`, which may be null, and what it is. The first call begins to watch. HORUS_FAILED when the program
/// has ended.
///
/// # Safety
/// `params` is a handle that no other call uses meanwhile, `before` and `now` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_watch(
    params: *mut horus_params,
    timeout_ns: i64,
    before: *mut horus_value,
    now: *mut horus_parameter,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promise is the same.
        let client = unsafe { get(params) }?;
        if client.changes.is_empty() {
            let watch = match &mut client.watch {
                Some(watch) => watch,
                none => none.insert(client.params.watch().map_err(failed)?),
            };
            client.changes = watch.next_within(limit).map_err(failed)?;
            client.changes.reverse();
        }
        let Some(change) = client.changes.pop() else { return Ok(HORUS_EMPTY) };
        // SAFETY: null or writable, by the caller's promise.
        if let Some(before) = unsafe { before.as_mut() } {
            *before = change.before.into();
        }
        // SAFETY: as above.
        unsafe { tell(now, &change.now) }
    })
}

/// Has the program save the values of `count` parameters, so that it begins with them when it starts again; of those that were set, where `count`
/// is 0.
///
/// # Safety
/// `params` is a handle that no other call uses meanwhile, `count` texts may be read at `names`, each ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_save(
    params: *mut horus_params,
    names: *const *const c_char,
    count: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { ask(params, names, count, |params, names| params.save(names)) }
}

/// Has the program set `count` parameters to what is saved, all of them or none; all that is saved, where `count` is 0.
///
/// # Safety
/// As `horus_params_save`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_load(
    params: *mut horus_params,
    names: *const *const c_char,
    count: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { ask(params, names, count, |params, names| params.load(names)) }
}

/// Has the program drop what is saved of `count` parameters, or of all where `count` is 0. Their values stay until it ends.
///
/// # Safety
/// As `horus_params_save`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_forget(
    params: *mut horus_params,
    names: *const *const c_char,
    count: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { ask(params, names, count, |params, names| params.forget(names)) }
}

/// Has the program do something with named parameters.
///
/// # Safety
/// As `horus_params_save`.
unsafe fn ask(
    params: *mut horus_params,
    names: *const *const c_char,
    count: usize,
    work: impl FnOnce(&Params, &[&str]) -> Result<String, horus::param::SetError>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let client = unsafe { get(params) }?;
        if count > MAX_NAMED || names.is_null() && count > 0 {
            return Err(misuse(format!("at most {MAX_NAMED} parameters are named, and not {count}")));
        }
        // SAFETY: not null where there is one, and so many may be read, by the caller's promise.
        let names = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(names, count) } };
        // SAFETY: each ends with a zero byte, by the caller's promise.
        let names: Vec<_> =
            names.iter().map(|&name| unsafe { text(name, "name of a parameter") }).collect::<Result<_, _>>()?;
        work(&client.params, &names).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Ends them. Null is nothing to end.
///
/// # Safety
/// `params` is null or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_params_close(params: *mut horus_params) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { handle::close(params) })
}
