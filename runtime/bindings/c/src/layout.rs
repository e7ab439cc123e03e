//! Layouts of messages, from text, and of bytes.

use std::ffi::c_char;

use horus::message::layout::Layout;

use crate::handle::{Kind, close, give, look, text};
use crate::payload::Of;
use crate::status::{call, horus_status, make, misuse};

/// The layout of a message, or of bytes. Any number of threads may use it at a time, until it is closed.
#[allow(non_camel_case_types)]
pub struct horus_layout {
    _opaque: (),
}

impl Kind for horus_layout {
    /// Bytes have the maximum.
    type Value = Of<Layout, usize>;
    const MARK: u64 = 0x7475_6f79_616c_0001;
    const NAME: &'static str = "layout";
}

/// A layout from its text: `message package/Name`, then `field type` on a line each, with the types of `docs/layout-hash.md`. Null when the
/// text describes none.
///
/// # Safety
/// `description` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_layout_parse(description: *const c_char) -> *mut horus_layout {
    make(|| {
        // SAFETY: the caller's promise is the same.
        let text = unsafe { text(description, "description") }?;
        Ok(give(Of::Messages(text.parse::<Layout>().map_err(misuse)?)))
    })
}

/// The layout of messages that are bytes of any length up to `maximum`. A message then has a length of its own: what sends it says how long it
/// is, and what receives it has room for the longest one, and is told the length in `horus_received`.
#[unsafe(no_mangle)]
pub extern "C" fn horus_layout_of_bytes(maximum: usize) -> *mut horus_layout {
    make(|| Ok(give(Of::Bytes(maximum))))
}

/// The hash that two programs compare; 0 of bytes, and of what is no layout.
///
/// # Safety
/// `layout` is null or a handle that is not closed meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_layout_hash(layout: *mut horus_layout) -> u64 {
    let mut hash = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        if let Of::Messages(layout) = unsafe { look(layout) }? {
            hash = layout.hash();
        }
        Ok(horus_status::HORUS_OK)
    });
    hash
}

/// Bytes of a message, the most that it can have; 0 of what is no layout.
///
/// # Safety
/// As `horus_layout_hash`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_layout_bytes(layout: *mut horus_layout) -> usize {
    let mut bytes = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        bytes = match unsafe { look(layout) }? {
            Of::Messages(layout) => layout.payload().bytes,
            Of::Bytes(maximum) => *maximum,
        };
        Ok(horus_status::HORUS_OK)
    });
    bytes
}

/// Ends a layout; topics that were opened with it need it no longer. Null is nothing to end.
///
/// # Safety
/// As `horus_layout_hash`; it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_layout_close(layout: *mut horus_layout) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(layout) }
    })
}
