//! What a step in C says: a text and values, which leave the loop by the ring of its node.

use std::ffi::c_char;
use std::slice;

use horus::log::{Level, MAX_VALUES, Value};

use crate::nodes::step::{horus_cycle, inner_of};
use crate::status::{Refusal, call, horus_status, misuse};

/// How serious a line of a node is.
#[allow(non_camel_case_types)]
pub type horus_level = u32;
/// For finding a mistake.
pub const HORUS_LOG_DEBUG: horus_level = 0;
/// The normal course of things.
pub const HORUS_LOG_INFO: horus_level = 1;
/// Worth a look.
pub const HORUS_LOG_WARN: horus_level = 2;
/// Failed: a person has to act.
pub const HORUS_LOG_ERROR: horus_level = 3;

/// What a value of a line is.
#[allow(non_camel_case_types)]
pub type horus_log_kind = u32;
/// An integer: `bits` is its two's complement.
pub const HORUS_LOG_SIGNED: horus_log_kind = 1;
/// An integer that is not negative.
pub const HORUS_LOG_UNSIGNED: horus_log_kind = 2;
/// A double: `bits` are its bits.
pub const HORUS_LOG_DOUBLE: horus_log_kind = 3;
/// A float: the low half of `bits` are its bits.
pub const HORUS_LOG_FLOAT: horus_log_kind = 4;
/// A truth value: `bits` is not 0 where it is true.
pub const HORUS_LOG_BOOL: horus_log_kind = 5;
/// A text at `text`: `bits` is how many bytes it has.
pub const HORUS_LOG_TEXT: horus_log_kind = 6;

/// A value of a line: the macro `horus_log` of log.h makes it.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct horus_log_value {
    /// What it is.
    pub kind: horus_log_kind,
    /// 0.
    pub spare: u32,
    /// A number, or the bytes of a text.
    pub bits: u64,
    /// A text, which need not end with a zero byte.
    pub text: *const c_char,
}

/// A value from C. Of a text that is no UTF-8, what comes before the first wrong byte counts.
///
/// # Safety
/// If it is a text, so many bytes may be read there, and do not change while the value is used.
unsafe fn value<'a>(given: &horus_log_value) -> Result<Value<'a>, Refusal> {
    let bits = given.bits;
    Ok(match given.kind {
        HORUS_LOG_SIGNED => Value::Signed(bits.cast_signed()),
        HORUS_LOG_UNSIGNED => Value::Unsigned(bits),
        HORUS_LOG_DOUBLE => Value::Float(f64::from_bits(bits)),
        HORUS_LOG_FLOAT => Value::Single(f32::from_bits(bits as u32)),
        HORUS_LOG_BOOL => Value::Bool(bits != 0),
        HORUS_LOG_TEXT if given.text.is_null() => Value::Text("(null)", false),
        HORUS_LOG_TEXT => {
            let bytes = usize::try_from(bits).unwrap_or(usize::MAX).min(isize::MAX as usize);
            // SAFETY: not null, and so many bytes may be read, by the caller's promise.
            let bytes = unsafe { slice::from_raw_parts(given.text.cast::<u8>(), bytes) };
            match str::from_utf8(bytes) {
                Ok(text) => Value::Text(text, false),
                Err(error) => Value::Text(str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), true),
            }
        }
        other => return Err(misuse(format!("there is no value of kind {other}: the macro horus_log makes them"))),
    })
}

/// Has a line written to the journal by a thread beside the loop: here the text and the values are copied alone, with no allocation, no lock and
/// no system call. `text` has up to 120 bytes, and a place for each of up to 8 values: `{}`, `{:.3}` for digits behind the point, `{:x}`. A line
/// that finds no room is counted and told. Where the text does not fit its values, HORUS_MISUSE, and the journal is told that. The macro `horus_log`
/// of log.h calls this.
///
/// # Safety
/// `cycle` is the one that a running step was given, or a copy; `text` ends with a zero byte; `count` values may be read at `values`, and the
/// bytes of their texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_cycle_log(
    cycle: *const horus_cycle,
    level: horus_level,
    text: *const c_char,
    values: *const horus_log_value,
    count: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (inner, text) = unsafe { (inner_of(cycle)?, crate::handle::text(text, "text of the line")?) };
        let level = match level {
            HORUS_LOG_DEBUG => Level::Debug,
            HORUS_LOG_INFO => Level::Info,
            HORUS_LOG_WARN => Level::Warn,
            HORUS_LOG_ERROR => Level::Error,
            other => return Err(misuse(format!("there is no level {other}: HORUS_LOG_INFO"))),
        };
        if count > 0 && values.is_null() {
            return Err(misuse("the values of the line are null"));
        }
        // One more than fit, so that too many are told as such.
        let mut given = [Value::Bool(false); MAX_VALUES + 1];
        let count = count.min(given.len());
        for (index, place) in given[..count].iter_mut().enumerate() {
            // SAFETY: so many may be read, by the caller's promise, and the bytes of their texts.
            *place = unsafe { value(&*values.add(index)) }?;
        }
        // SAFETY: it is set while a step runs, which is so by the caller's promise.
        let cycle = unsafe { inner.cycle.as_ref() }.ok_or_else(|| misuse("the step of this cycle has returned"))?;
        cycle.try_log(level, text, &given[..count]).map_err(misuse)?;
        Ok(horus_status::HORUS_OK)
    })
}
