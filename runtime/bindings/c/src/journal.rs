//! What a program writes to the journal.

use std::ffi::c_char;

use horus::journal::{Entry, Priority};

use crate::handle::text;
use crate::status::{call, failed, horus_status, misuse};

/// The most fields of an entry.
const MAX_FIELDS: usize = 64;

/// How serious an entry of the journal is.
#[allow(non_camel_case_types)]
pub type horus_priority = u32;
/// Failed: a person has to act.
pub const HORUS_JOURNAL_ERROR: horus_priority = 3;
/// Worth a look.
pub const HORUS_JOURNAL_WARNING: horus_priority = 4;
/// The normal course of things.
pub const HORUS_JOURNAL_INFO: horus_priority = 6;

/// A field of an entry: its name is HORUS_ and then A-Z, 0-9 and _.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct horus_field {
    /// Its name.
    pub name: *const c_char,
    /// Its value.
    pub value: *const c_char,
}

/// Writes an entry to the journal, or prints it to stderr where there is none. `fields` may be null when `count` is 0. It allocates and makes
/// system calls: not for a step.
///
/// # Safety
/// `message` ends with a zero byte; `count` fields may be read at `fields`, whose texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_journal(
    priority: horus_priority,
    message: *const c_char,
    fields: *const horus_field,
    count: usize,
) -> horus_status {
    call(|| {
        let priority = match priority {
            HORUS_JOURNAL_ERROR => Priority::Error,
            HORUS_JOURNAL_WARNING => Priority::Warning,
            HORUS_JOURNAL_INFO => Priority::Info,
            other => return Err(misuse(format!("there is no priority {other}: HORUS_JOURNAL_INFO"))),
        };
        // SAFETY: the caller's promise is the same.
        let mut entry = Entry::plain(priority, unsafe { text(message, "message") }?);
        if count > MAX_FIELDS || (fields.is_null() && count > 0) {
            return Err(misuse(format!("an entry has up to {MAX_FIELDS} fields, and they are not null")));
        }
        for index in 0..count {
            // SAFETY: so many may be read, by the caller's promise; each text ends with a zero byte.
            let (name, value) = unsafe {
                let field = *fields.add(index);
                (text(field.name, "name of a field")?, text(field.value, "value of a field")?)
            };
            entry = entry.field(name.to_owned(), value);
        }
        entry.check().map_err(failed)?;
        entry.send_or_print();
        Ok(horus_status::HORUS_OK)
    })
}
