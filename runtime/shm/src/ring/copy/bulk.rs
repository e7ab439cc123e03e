//! Long payloads: whole blocks of 64 bytes by vector registers, in assembly.
//!
//! To the compiler the assembly reads and writes the slot as relaxed atomic accesses would, in unspecified order and
//! width: it knows nothing about what a block of it does beyond that. The stamps' orderings surround it as they surround
//! atomic words: an `asm!` block that may touch memory is not moved across an atomic access with Acquire or Release, and
//! on the machine vector loads and stores are ordered by the same rules and barriers as all others.

use std::mem::MaybeUninit;

use crate::segment::layout::WORD;
use crate::sync::AtomicU64;

/// Bytes that one turn of the loop moves.
const BLOCK: usize = 64;
const BLOCK_WORDS: usize = BLOCK / WORD;

/// Stores as many whole blocks as `bytes` has; returns what is left over of both.
#[inline(always)]
pub fn store<'a, 'b>(slot: &'a [AtomicU64], bytes: &'b [u8]) -> (&'a [AtomicU64], &'b [u8]) {
    let blocks = bytes.len() / BLOCK;
    let (to, slot_rest) = slot.split_at(blocks * BLOCK_WORDS);
    let (from, bytes_rest) = bytes.split_at(blocks * BLOCK);
    // SAFETY: both ranges have `blocks` blocks, which split_at checked. Atomics may be written through a shared
    // reference, and who else accesses them meanwhile does so atomically or in assembly, too.
    unsafe { copy_blocks(to.as_ptr().cast_mut().cast(), from.as_ptr(), blocks) };
    (slot_rest, bytes_rest)
}

/// Loads as many whole blocks as `bytes` has room for; returns what is left over of both.
#[inline(always)]
pub fn load<'a, 'b>(
    slot: &'a [AtomicU64],
    bytes: &'b mut [MaybeUninit<u8>],
) -> (&'a [AtomicU64], &'b mut [MaybeUninit<u8>]) {
    let blocks = bytes.len() / BLOCK;
    let (from, slot_rest) = slot.split_at(blocks * BLOCK_WORDS);
    let (to, bytes_rest) = bytes.split_at_mut(blocks * BLOCK);
    // SAFETY: both ranges have `blocks` blocks, which split_at checked; `to` is borrowed mutably.
    unsafe { copy_blocks(to.as_mut_ptr().cast(), from.as_ptr().cast(), blocks) };
    (slot_rest, bytes_rest)
}

/// Copies `blocks` blocks.
///
/// # Safety
/// `to` must be writable and `from` readable for this many blocks, and the two must not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn copy_blocks(to: *mut u8, from: *const u8, blocks: usize) {
    if blocks == 0 {
        return;
    }
    // SAFETY: the caller's promise; SSE2 is part of x86-64. Registers and flags that change are declared.
    unsafe {
        core::arch::asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "dec {blocks}",
            "jnz 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// Copies `blocks` blocks.
///
/// # Safety
/// `to` must be writable and `from` readable for this many blocks, and the two must not overlap.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn copy_blocks(to: *mut u8, from: *const u8, blocks: usize) {
    if blocks == 0 {
        return;
    }
    // SAFETY: the caller's promise; Advanced SIMD is part of the targets that we build for. Registers and flags that
    // change are declared.
    unsafe {
        core::arch::asm!(
            "2:",
            "ldp {a:q}, {b:q}, [{from}]",
            "ldp {c:q}, {d:q}, [{from}, #32]",
            "add {from}, {from}, #64",
            "stp {a:q}, {b:q}, [{to}]",
            "stp {c:q}, {d:q}, [{to}, #32]",
            "add {to}, {to}, #64",
            "subs {blocks}, {blocks}, #1",
            "b.ne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            options(nostack),
        );
    }
}
