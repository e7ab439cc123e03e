//! Keeping the handles of a program beyond its end, each kind by functions of its own.

use crate::nodes::keep::{keep, let_go};
use crate::nodes::node_handle::horus_node;
use crate::nodes::port::{horus_input, horus_output};
use crate::status::{call, horus_status};

/// Keeps an input beyond the end of its program, until `horus_input_let_go`: it reads nothing then, and using it is an error. Each call counts.
/// Any thread may call this.
///
/// # Safety
/// `input` is null or a handle whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_keep(input: *mut horus_input) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(input) })
}

/// Ends what `horus_input_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_let_go(input: *mut horus_input) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(input) })
}

/// As `horus_input_keep`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_keep(output: *mut horus_output) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(output) })
}

/// As `horus_input_let_go`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_let_go(output: *mut horus_output) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(output) })
}

/// As `horus_input_keep`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_keep(node: *mut horus_node) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(node) })
}

/// As `horus_input_let_go`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_let_go(node: *mut horus_node) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(node) })
}
