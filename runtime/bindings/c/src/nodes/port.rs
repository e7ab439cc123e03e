//! The topics of a node: what its step reads, and what it writes.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

use horus::port::{Input, Lost, Output, Set};
use horus::time::MonotonicTime;
use horus::topic::{Raw, Received};

use crate::handle::{Kind, place, wrong_size};
use crate::nodes::keep::{Belonging, Holders};
use crate::nodes::turn::Turn;
use crate::payload::{Of, of_either};
use crate::status::horus_status::{HORUS_EMPTY, HORUS_FULL, HORUS_OK};
use crate::status::{Refusal, call, horus_status, misuse, quick_call};
use crate::topic::publisher::{bytes_at, message_at, too_long};
use crate::topic::subscriber::{check_room, horus_received, tell};

/// An end of a topic, with the turn of the node that it belongs to.
pub(crate) struct Port<E> {
    turn: Turn,
    /// There until the program ends, after which no thread has its turn any more.
    end: ManuallyDrop<E>,
    holders: Holders,
}

impl<E> Port<E> {
    pub fn new(turn: Turn, end: E) -> Self {
        Self { turn, end: ManuallyDrop::new(end), holders: Holders::default() }
    }
}

impl<E> Belonging for Port<E> {
    fn holders(&self) -> &Holders {
        &self.holders
    }

    unsafe fn end(this: *mut Self) {
        // SAFETY: this is called once, and only a step of the node looks at it, of which none runs from now on.
        unsafe { ManuallyDrop::drop(&mut (*this).end) };
    }
}

/// The end behind a pointer that C gave, for the step that runs now.
///
/// # Safety
/// As `get`; that another thread is in a step of its node is found out.
#[inline(always)]
unsafe fn own<'a, E, K: Kind<Value = Port<E>>>(handle: *mut K) -> Result<&'a mut E, Refusal> {
    // SAFETY: the caller's promise is the same.
    let port = unsafe { place(handle) }?;
    // SAFETY: it came from `give` and is not closed. Others may read this field meanwhile, and no thread writes it.
    if !unsafe { (*port).turn.is_mine() } {
        return Err(not_now::<K>());
    }
    // SAFETY: this thread is in a step of the node, which one thread at a time runs, and whose program has not ended.
    Ok(unsafe { &mut (*port).end })
}

#[cold]
fn not_now<K: Kind>() -> Refusal {
    misuse(format!(
        "this {} belongs to a node that is in no step of this thread, or whose program has ended: open one for the node that uses it, before \
         horus_app_node",
        K::NAME
    ))
}

/// What a node reads. It belongs to its program, ends with it, and only the step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_input {
    _opaque: (),
}

impl Kind for horus_input {
    type Value = Port<Of<Input<Raw>, Input<[u8]>>>;
    const MARK: u64 = 0x7475_6f79_616c_0004;
    const NAME: &'static str = "input";
}

/// What a node writes. It belongs to its program, ends with it, and only the step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_output {
    _opaque: (),
}

impl Kind for horus_output {
    type Value = Port<Of<Output<Raw>, Output<[u8]>>>;
    const MARK: u64 = 0x7475_6f79_616c_0005;
    const NAME: &'static str = "output";
}

/// Copies what is found to memory of the caller's: by the first look on an input of messages, and by the second one on one of bytes.
///
/// # Safety
/// `input` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
#[inline(always)]
unsafe fn copy(
    input: *mut horus_input,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
    of_messages: impl FnOnce(&mut Input<Raw>) -> Option<Received<&[u8]>>,
    of_bytes: impl FnOnce(&mut Input<[u8]>) -> Option<Received<&[u8]>>,
) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promise is the same.
    let input = unsafe { own(input) }?;
    if message.is_null() {
        return Err(misuse("the place for the message is null"));
    }
    let input = match input {
        Of::Messages(input) => input,
        // SAFETY: the caller's promises are the same, and `message` is not null.
        Of::Bytes(input) => return unsafe { copy_bytes(input, message, bytes, about, of_bytes) },
    };
    if bytes != input.message_bytes() {
        return Err(wrong_size(bytes, input.message_bytes()));
    }
    let Some(received) = of_messages(input) else { return Ok(HORUS_EMPTY) };
    let (found, received) = (received.message, received.map(|_| ()));
    // SAFETY: so many bytes may be written there, by the caller's promise, and `found` has as many. It is memory of the input's own,
    // which C is never shown.
    unsafe { ptr::copy_nonoverlapping(found.as_ptr(), message.cast(), bytes) };
    // SAFETY: the caller's promise is the same.
    unsafe { tell(about, received.map(|()| bytes)) };
    Ok(HORUS_OK)
}

/// As [`copy`], of bytes. Apart, so that it costs messages no registers.
///
/// # Safety
/// `bytes` bytes may be written at `message`, `about` is null or may be written.
#[inline(never)]
unsafe fn copy_bytes(
    input: &mut Input<[u8]>,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
    look: impl FnOnce(&mut Input<[u8]>) -> Option<Received<&[u8]>>,
) -> Result<horus_status, Refusal> {
    check_room(bytes, input.message_bytes(), about)?;
    let Some(received) = look(input) else { return Ok(HORUS_EMPTY) };
    let (found, length) = (received.message.as_ptr(), received.message.len());
    // SAFETY: so many bytes may be written there, because an input has no longer message than the longest one, for which there is room. `found` is
    // memory of the input's own, which C is never shown.
    unsafe { ptr::copy_nonoverlapping(found, message.cast(), length) };
    // SAFETY: the caller's promise is the same.
    unsafe { tell(about, received.map(|_| length)) };
    Ok(HORUS_OK)
}

/// Copies the newest message, however old it is by now; HORUS_EMPTY before the first. No allocation. A message of a struct has `bytes` bytes, and
/// `about` may be null. For one of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many came.
///
/// # Safety
/// `input` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_latest(
    input: *mut horus_input,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    quick_call(|| unsafe {
        copy(input, message, bytes, about, Input::<Raw>::latest_received, Input::<[u8]>::latest_received)
    })
}

/// Copies the newest message, if it came since the last look; HORUS_EMPTY otherwise.
///
/// # Safety
/// As `horus_input_latest`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_fresh(
    input: *mut horus_input,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    quick_call(|| unsafe {
        copy(input, message, bytes, about, Input::<Raw>::fresh_received, Input::<[u8]>::fresh_received)
    })
}

/// Copies the oldest message that came and was not read yet: each once, in the order of each publisher.
///
/// # Safety
/// As `horus_input_latest`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_next(
    input: *mut horus_input,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    quick_call(|| unsafe { copy(input, message, bytes, about, Input::<Raw>::try_recv, Input::<[u8]>::try_recv) })
}

/// How long before `now_ns` the newest message was sent that was read, in nanoseconds at `*age_ns`; HORUS_EMPTY before the first, and where its
/// publisher stamps none. Every output stamps. What control laws use for `now_ns` is the cycle's `release_ns`.
///
/// # Safety
/// `input` is a handle that no other call uses meanwhile; `age_ns` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_age_ns(input: *mut horus_input, now_ns: u64, age_ns: *mut u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let input = unsafe { own(input) }?;
        let age = of_either!(input, input => input.age(MonotonicTime::from_nanos(now_ns)));
        if age_ns.is_null() {
            return Err(misuse("the place for the age is null"));
        }
        let Some(age) = age else { return Ok(HORUS_EMPTY) };
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { age_ns.write(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)) };
        Ok(HORUS_OK)
    })
}

/// How many messages were overwritten before they were read; 0 of what is no input.
///
/// # Safety
/// `input` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_missed(input: *mut horus_input) -> u64 {
    let mut missed = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        let input = unsafe { own(input) }?;
        missed = of_either!(input, input => input.missed());
        Ok(HORUS_OK)
    });
    missed
}

/// Publishes a message of `bytes` bytes when the step returns, after what the step set before; HORUS_FULL when it is not taken, because there is
/// no room for it: a subscriber of a reliable topic has yet to read, or the step has set as many messages as the topic holds. Those before it
/// stay, and `horus_output_lost` counts this one. No allocation. A message of a struct has the bytes of its layout. One of bytes has up to the
/// maximum, and may be null where it has none.
///
/// # Safety
/// `output` is a handle that no other call uses meanwhile, and `bytes` bytes may be read at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_set(
    output: *mut horus_output,
    message: *const c_void,
    bytes: usize,
) -> horus_status {
    quick_call(|| {
        // SAFETY: the caller's promise is the same.
        let output = match unsafe { own(output) }? {
            Of::Messages(output) => output,
            // SAFETY: as above.
            Of::Bytes(output) => return unsafe { set_bytes(output, message, bytes) },
        };
        // SAFETY: as above.
        let set = output.try_set(unsafe { message_at(message, bytes, output.message_bytes()) }?);
        Ok(if set.is_taken() { HORUS_OK } else { HORUS_FULL })
    })
}

/// As `horus_output_set`, of bytes. Apart, so that it costs messages no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn set_bytes(output: &mut Output<[u8]>, message: *const c_void, bytes: usize) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promise is the same.
    match output.try_set(unsafe { bytes_at(message, bytes) }?) {
        Set::Taken => Ok(HORUS_OK),
        Set::Invalid => Err(too_long(bytes, output.message_bytes())),
        Set::Full | Set::Beyond | Set::Outside => Ok(HORUS_FULL),
    }
}

/// Messages that an output did not publish, by their cause.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct horus_lost {
    /// They found the topic full: a subscriber of a reliable one has yet to read, or subscribers hold what stands in their place.
    pub full: u64,
    /// They were more than the topic holds in one step.
    pub beyond: u64,
    /// Of a step whose outcome was discarded: it failed, or a monitor took its place.
    pub discarded: u64,
    /// They were set while no step could.
    pub outside: u64,
    /// They were no messages of the topic: bytes, and more than its maximum.
    pub invalid: u64,
}

/// Says what was set on this output and not published, since the program began.
///
/// # Safety
/// `output` is a handle that no other call uses meanwhile; `lost` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_lost(output: *mut horus_output, lost: *mut horus_lost) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let output = unsafe { own(output) }?;
        let Lost { full, beyond, discarded, outside, invalid } = of_either!(output, output => output.lost());
        if lost.is_null() {
            return Err(misuse("the place for the counts is null"));
        }
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { lost.write(horus_lost { full, beyond, discarded, outside, invalid }) };
        Ok(HORUS_OK)
    })
}
