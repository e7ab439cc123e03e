//! The publishing end of a topic.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::message::layout::Layout;
use horus::topic::{Bytes, Loan, Publisher, Raw, SendError, Sent};

use crate::handle::{Kind, give, look, text, wrong_size};
use crate::layout::horus_layout;
use crate::payload::{Of, of_either};
use crate::status::horus_status::{HORUS_FULL, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse, quick_call};
use crate::topic::lending::{Lending, close, free, lend, quick, take_back};
use crate::topic::options::{horus_options, options};

/// A publisher with the place that it has lent.
type Value = Lending<Of<Publisher<Raw>, Publisher<[u8]>>, Of<Loan<'static, Raw>, Loan<'static, [u8]>>>;

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

/// Opens a topic for publishing, and makes it unless a living peer uses it; null when it is refused. `layout` says whether its messages are those
/// of a struct or bytes of any length. `options` may be null.
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
        Ok(give(match layout {
            Of::Messages(layout) => {
                let publisher = Publisher::<Raw>::open_as(topic, layout, &options).map_err(failed)?;
                let short_bytes = publisher.short_bytes();
                Lending::of_messages(publisher, short_bytes)
            }
            Of::Bytes(maximum) => {
                Lending::of_bytes(Publisher::<[u8]>::open_as(topic, Bytes::up_to(*maximum), &options).map_err(failed)?)
            }
        }))
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
) -> Result<(&'a str, &'a Of<Layout, usize>, horus::topic::Options), Refusal> {
    // SAFETY: the caller's promises are the same.
    unsafe { Ok((text(topic, "name of the topic")?, look(layout)?, options(given)?)) }
}

/// A message of a layout that stands in the caller's memory.
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

/// Bytes in the caller's memory; null is allowed where there are none.
///
/// # Safety
/// `message` is null, or `bytes` bytes may be read there, and do not change meanwhile.
pub(crate) unsafe fn bytes_at<'a>(message: *const c_void, bytes: usize) -> Result<&'a [u8], Refusal> {
    match message.is_null() {
        true if bytes == 0 => Ok(&[]),
        true => Err(misuse("the message is null")),
        // SAFETY: not null, and so many bytes may be read, by the caller's promise; no object has more than `isize::MAX`.
        false => Ok(unsafe { slice::from_raw_parts(message.cast(), bytes.min(isize::MAX as usize)) }),
    }
}

/// Why bytes are no message of a topic.
#[cold]
pub(crate) fn too_long(bytes: usize, maximum: usize) -> Refusal {
    misuse(SendError::TooLong { bytes, maximum })
}

/// What became of bytes: too many are the caller's mistake.
fn told(sent: Result<(), SendError>) -> Result<horus_status, Refusal> {
    match sent {
        Ok(()) => Ok(HORUS_OK),
        Err(SendError::Full) => Ok(HORUS_FULL),
        Err(error) => Err(misuse(error)),
    }
}

/// Sends a message of `bytes` bytes; HORUS_FULL when there is no room. Wait-free, no allocation. A message of a struct has the bytes of its
/// layout. One of bytes has up to the maximum, and may be null where it has none.
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
        if let Of::Messages(publisher) = unsafe { free(publisher, PUBLISH_FIRST) }? {
            publisher.ring(asleep);
        }
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
    let publisher = unsafe { quick::<BYTES, _, _, _, _>(publisher) }?;
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
        match unsafe { free(publisher, PUBLISH_FIRST) }? {
            Of::Messages(publisher) => {
                // SAFETY: as above.
                let message = unsafe { message_at(message, bytes, publisher.message_bytes()) }?;
                Ok(publisher.try_send(message).map_or(HORUS_FULL, |()| HORUS_OK))
            }
            // SAFETY: as above.
            Of::Bytes(publisher) => told(publisher.try_send(unsafe { bytes_at(message, bytes) }?)),
        }
    })
}

/// Sends a message; waits for room on a reliable topic at most `timeout_ns` nanoseconds, for ever if that is negative. On a latest topic
/// no subscriber is waited for without a limit.
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
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promises are the same.
        match unsafe { free(publisher, PUBLISH_FIRST) }? {
            Of::Messages(publisher) => {
                // SAFETY: as above.
                let message = unsafe { message_at(message, bytes, publisher.message_bytes()) }?;
                Ok(publisher.send_timeout(message, limit).map_or(HORUS_FULL, |()| HORUS_OK))
            }
            // SAFETY: as above.
            Of::Bytes(publisher) => told(publisher.send_timeout(unsafe { bytes_at(message, bytes) }?, limit)),
        }
    })
}

/// Lends the place of the next message, of `bytes` bytes, in shared memory at `*place`, to be filled and published; HORUS_FULL when there is no
/// room. What stands there is of some older message, or zeros.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile; `place` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_loan(
    publisher: *mut horus_publisher,
    bytes: usize,
    place: *mut *mut c_void,
) -> horus_status {
    call(|| {
        if place.is_null() {
            return Err(misuse("the pointer to the place is null"));
        }
        // SAFETY: the caller's promise is the same.
        let own: *mut Of<_, _> = unsafe { free(publisher, PUBLISH_FIRST) }?;
        // SAFETY: it stays where it is until the loan is dropped; while there is one, `free` refuses every other use.
        let mut loan = match unsafe { &mut *own } {
            Of::Messages(publisher) if bytes != publisher.message_bytes() => {
                return Err(wrong_size(bytes, publisher.message_bytes()));
            }
            Of::Messages(publisher) => match publisher.loan() {
                Ok(loan) => Of::Messages(loan),
                Err(_full) => return Ok(HORUS_FULL),
            },
            Of::Bytes(publisher) => match publisher.loan_of(bytes) {
                Ok(loan) => Of::Bytes(loan),
                Err(refused) => return told(Err(refused)),
            },
        };
        // SAFETY: not null, and may be written, by the caller's promise.
        unsafe { *place = of_either!(&mut loan, loan => loan.as_mut_ptr()).cast() };
        // SAFETY: the caller's promise is the same.
        unsafe { lend(publisher, loan) }?;
        Ok(HORUS_OK)
    })
}

/// Sends the message whose place was lent, of `bytes` bytes: of a layout's message all of them, and of bytes the first ones.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile. The place is not written any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_publish(publisher: *mut horus_publisher, bytes: usize) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let loan = unsafe { take_back(publisher) }?;
        let loan = loan.ok_or_else(|| misuse("no place of this publisher is lent: call horus_publisher_loan first"))?;
        match loan {
            Of::Messages(loan) if bytes == loan.len() => loan.publish(),
            Of::Bytes(loan) if bytes <= loan.len() => loan.publish_first(bytes),
            loan => {
                let lent = of_either!(&loan, loan => loan.len());
                // SAFETY: the caller's promise is the same.
                unsafe { lend(publisher, loan) }?;
                return Err(misuse(format!("the place has {lent} bytes, and not {bytes}")));
            }
        }
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
        let publisher = unsafe { free(publisher, PUBLISH_FIRST) }?;
        subscribers = of_either!(publisher, publisher => publisher.subscribers()).map_err(failed)?;
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
        let publisher = unsafe { free(publisher, PUBLISH_FIRST) }?;
        reaped = of_either!(publisher, publisher => publisher.reap_dead_subscribers());
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
        let publisher = unsafe { free(publisher, PUBLISH_FIRST) }?;
        of_either!(publisher, publisher => publisher.check()).map_err(failed)?;
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
