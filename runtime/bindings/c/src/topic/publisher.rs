//! The publishing end of a topic.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::message::layout::Layout;
use horus::topic::{Loan, Publisher, Raw, Sent};

use crate::handle::{Kind, give, look, text, wrong_size};
use crate::layout::horus_layout;
use crate::status::horus_status::{HORUS_FULL, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse, quick_call};
use crate::topic::lending::{Lending, close, free, lend, quick, take_back};
use crate::topic::options::{horus_options, options};

/// A publisher with the place that it has lent.
type Value = Lending<Publisher<Raw>, Loan<'static, Raw>>;

/// What has to be done before the publisher is used again.
pub(crate) const PUBLISH_FIRST: &str = "a place of this publisher is lent: publish or discard it first";

/// The publishing end of a topic. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_publisher {
    _opaque: (),
}

impl Kind for horus_publisher {
    type Value = Value;
    const MARK: u64 = 0x7475_6f79_616c_0002;
    const NAME: &'static str = "publisher";
}

/// Opens a topic for publishing, and makes it unless a living peer uses it; null when it is refused. `options` may be null.
///
/// # Safety
/// `topic` ends with a zero byte, `layout` is a handle that is not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_open(
    topic: *const c_char,
    layout: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_publisher {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (topic, layout, options) = unsafe { opening(topic, layout, options) }?;
        let publisher = Publisher::<Raw>::open_as(topic, layout, &options).map_err(failed)?;
        let short_bytes = publisher.short_bytes();
        Ok(give(Lending::new(publisher, short_bytes)))
    })
}

/// What both ends of a topic are opened with.
///
/// # Safety
/// That of `horus_publisher_open`.
pub(crate) unsafe fn opening<'a>(
    topic: *const c_char,
    layout: *mut horus_layout,
    given: *const horus_options,
) -> Result<(&'a str, &'a Layout, horus::topic::Options), Refusal> {
    // SAFETY: the caller's promises are the same.
    unsafe { Ok((text(topic, "name of the topic")?, look(layout)?, options(given)?)) }
}

/// A message that stands in the caller's memory.
///
/// # Safety
/// `message` is null, or `bytes` bytes may be read there, and do not change meanwhile.
#[inline(always)]
pub(crate) unsafe fn message_at<'a>(message: *const c_void, bytes: usize, wanted: usize) -> Result<&'a [u8], Refusal> {
    if message.is_null() {
        return Err(misuse("the message is null"));
    }
    if bytes != wanted {
        return Err(wrong_size(bytes, wanted));
    }
    // SAFETY: not null, and so many bytes may be read, by the caller's promise.
    Ok(unsafe { slice::from_raw_parts(message.cast(), bytes) })
}

/// Sends a message of `bytes` bytes; HORUS_FULL when there is no room. Wait-free, no allocation.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile, and `bytes` bytes may be read at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_try_send(
    publisher: *mut horus_publisher,
    message: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    let sent = unsafe {
        match bytes {
            16 => try_send_short::<16>(publisher, message),
            8 => try_send_short::<8>(publisher, message),
            _ => None,
        }
    };
    match sent {
        Some(Sent { asleep: None }) => HORUS_OK,
        // SAFETY: the caller's promises are the same.
        Some(Sent { asleep: Some(asleep) }) => unsafe { ring(publisher, asleep) },
        // SAFETY: as above.
        None => unsafe { try_send_the_long_way(publisher, message, bytes) },
    }
}

/// Wakes who sleeps, after a message. Apart, so that it costs the short way no registers.
///
/// # Safety
/// As `horus_publisher_try_send`.
#[cold]
#[inline(never)]
unsafe extern "C" fn ring(publisher: *mut horus_publisher, asleep: u64) -> horus_status {
    quick_call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { free(publisher, PUBLISH_FIRST) }?.ring(asleep);
        Ok(HORUS_OK)
    })
}

/// Sends a message of so many bytes, unless something is in the way of doing that at once.
///
/// # Safety
/// As `horus_publisher_try_send`.
#[inline(always)]
unsafe fn try_send_short<const BYTES: usize>(publisher: *mut horus_publisher, message: *const c_void) -> Option<Sent> {
    // SAFETY: the caller's promise is the same.
    let publisher = unsafe { quick::<BYTES, _, _, _>(publisher) }?;
    // SAFETY: null, or so many bytes may be read, by the caller's promise.
    let message = unsafe { message.cast::<[u8; BYTES]>().as_ref() }?;
    publisher.try_send_at_once(message)
}

/// As `horus_publisher_try_send` in all cases. Apart, so that it costs the short way no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn try_send_the_long_way(
    publisher: *mut horus_publisher,
    message: *const c_void,
    bytes: usize,
) -> horus_status {
    quick_call(|| {
        // SAFETY: the caller's promises are the same.
        let publisher = unsafe { free(publisher, PUBLISH_FIRST) }?;
        // SAFETY: as above.
        let message = unsafe { message_at(message, bytes, publisher.message_bytes()) }?;
        Ok(publisher.try_send(message).map_or(HORUS_FULL, |()| HORUS_OK))
    })
}

/// Sends a message; waits for room on a reliable topic at most `timeout_ns` nanoseconds, for ever if that is negative.
///
/// # Safety
/// As `horus_publisher_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_send(
    publisher: *mut horus_publisher,
    message: *const c_void,
    bytes: usize,
    timeout_ns: i64,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let publisher = unsafe { free(publisher, PUBLISH_FIRST) }?;
        // SAFETY: as above.
        let message = unsafe { message_at(message, bytes, publisher.message_bytes()) }?;
        let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
        Ok(publisher.send_timeout(message, limit).map_or(HORUS_FULL, |()| HORUS_OK))
    })
}

/// Lends the place of the next message in shared memory at `*place`, to be filled and published. What stands there is some older
/// message, or zeros.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile; `place` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_loan(
    publisher: *mut horus_publisher,
    place: *mut *mut c_void,
) -> horus_status {
    call(|| {
        if place.is_null() {
            return Err(misuse("the pointer to the place is null"));
        }
        // SAFETY: the caller's promise is the same.
        let own: *mut Publisher<Raw> = unsafe { free(publisher, PUBLISH_FIRST) }?;
        // SAFETY: it stays where it is until the loan is dropped; while there is one, `free` refuses every other use.
        let Ok(mut loan) = (unsafe { &mut *own }).loan() else { return Ok(HORUS_FULL) };
        // SAFETY: not null, and may be written, by the caller's promise.
        unsafe { *place = loan.as_mut_ptr().cast() };
        // SAFETY: the caller's promise is the same.
        unsafe { lend(publisher, loan) }?;
        Ok(HORUS_OK)
    })
}

/// Sends the message whose place was lent.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile. The place is not written any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_publish(publisher: *mut horus_publisher) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let loan = unsafe { take_back(publisher) }?;
        loan.ok_or_else(|| misuse("no place of this publisher is lent: call horus_publisher_loan first"))?.publish();
        Ok(HORUS_OK)
    })
}

/// Gives a lent place back without sending anything.
///
/// # Safety
/// As `horus_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_discard(publisher: *mut horus_publisher) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let _unsent = unsafe { take_back(publisher) }?;
        Ok(HORUS_OK)
    })
}

/// How many living subscribers the topic has; 0 when that cannot be known, and `horus_error` says why. Makes system calls.
///
/// # Safety
/// `publisher` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_subscribers(publisher: *mut horus_publisher) -> usize {
    let mut subscribers = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        subscribers = unsafe { free(publisher, PUBLISH_FIRST) }?.subscribers().map_err(failed)?;
        Ok(HORUS_OK)
    });
    subscribers
}

/// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `horus_publisher_try_send`,
/// outside of their real-time loop: it makes system calls.
///
/// # Safety
/// As `horus_publisher_subscribers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_reap(publisher: *mut horus_publisher) -> usize {
    let mut reaped = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        reaped = unsafe { free(publisher, PUBLISH_FIRST) }?.reap_dead_subscribers();
        Ok(HORUS_OK)
    });
    reaped
}

/// Whether what is sent here can reach who joins from now on: not when the topic's file was removed, nor after `fork` in the child.
///
/// # Safety
/// As `horus_publisher_subscribers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_check(publisher: *mut horus_publisher) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { free(publisher, PUBLISH_FIRST) }?.check().map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Ends a publisher. Null is nothing to end.
///
/// # Safety
/// `publisher` is null or a handle that no other call uses meanwhile, and it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_close(publisher: *mut horus_publisher) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(publisher) }
    })
}
