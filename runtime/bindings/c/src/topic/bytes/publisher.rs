//! The publishing end of a topic of bytes.

use horus::topic::{Bytes, Loan, Publisher, SendError};
use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use crate::handle::{Kind, give, text};
use crate::status::horus_status::{HORUS_FULL, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::lending::{Lending, close, free, lend, take_back};
use crate::topic::options::{horus_options, options};
use crate::topic::publisher::PUBLISH_FIRST;

/// A publisher with the place that it has lent, and its bytes.
type Value = Lending<Publisher<[u8]>, (Loan<'static, [u8]>, usize)>;

/// The publishing end of a topic of bytes. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_bytes_publisher {
    _opaque: (),
}

impl Kind for horus_bytes_publisher {
    type Value = Value;
    const MARK: u64 = 0x7475_6f79_616c_0009;
    const NAME: &'static str = "publisher of bytes";
}

/// Opens a topic of messages of up to `maximum` bytes for publishing; null when it is refused. `options` may be null.
///
/// # Safety
/// `topic` ends with a zero byte, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_open(
    topic: *const c_char,
    maximum: usize,
    options: *const horus_options,
) -> *mut horus_bytes_publisher {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (topic, options) = unsafe { (text(topic, "name of the topic")?, self::options(options)?) };
        let publisher = Publisher::<[u8]>::open_as(topic, Bytes::up_to(maximum), options).map_err(failed)?;
        Ok(give(Lending::new(publisher, 0)))
    })
}

/// Bytes in the caller's memory; null is allowed where there are none.
///
/// # Safety
/// `message` is null, or `bytes` bytes may be read there, and do not change meanwhile.
unsafe fn bytes_at<'a>(message: *const c_void, bytes: usize) -> Result<&'a [u8], Refusal> {
    match message.is_null() {
        true if bytes == 0 => Ok(&[]),
        true => Err(misuse("the message is null")),
        // SAFETY: not null, and so many bytes may be read, by the caller's promise; no object has more than `isize::MAX`.
        false => Ok(unsafe { slice::from_raw_parts(message.cast(), bytes.min(isize::MAX as usize)) }),
    }
}

fn told(sent: Result<(), SendError>) -> Result<horus_status, Refusal> {
    match sent {
        Ok(()) => Ok(HORUS_OK),
        Err(SendError::Full) => Ok(HORUS_FULL),
        Err(error) => Err(misuse(error)),
    }
}

/// Sends `bytes` bytes; HORUS_FULL when there is no room. Wait-free, no allocation.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile, and `bytes` bytes may be read at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_try_send(
    publisher: *mut horus_bytes_publisher,
    message: *const c_void,
    bytes: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (publisher, message) = unsafe { (free(publisher, PUBLISH_FIRST)?, bytes_at(message, bytes)?) };
        told(publisher.try_send(message))
    })
}

/// Sends bytes; waits for room on a reliable topic at most `timeout_ns` nanoseconds, for ever if that is negative. On a latest topic
/// no subscriber is waited for without a limit.
///
/// # Safety
/// As `horus_bytes_publisher_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_send(
    publisher: *mut horus_bytes_publisher,
    message: *const c_void,
    bytes: usize,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (publisher, message) = unsafe { (free(publisher, PUBLISH_FIRST)?, bytes_at(message, bytes)?) };
        told(publisher.send_timeout(message, limit))
    })
}

/// Lends the place of the next message, of `bytes` bytes, at `*place`. What stands there is of some older message, or zeros.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile; `place` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_loan(
    publisher: *mut horus_bytes_publisher,
    bytes: usize,
    place: *mut *mut c_void,
) -> horus_status {
    call(|| {
        if place.is_null() {
            return Err(misuse("the pointer to the place is null"));
        }
        // SAFETY: the caller's promise is the same.
        let own: *mut Publisher<[u8]> = unsafe { free(publisher, PUBLISH_FIRST) }?;
        // SAFETY: it stays where it is until the loan is dropped; while there is one, `free` refuses every other use.
        let mut loan = match unsafe { &mut *own }.loan_of(bytes) {
            Ok(loan) => loan,
            Err(refused) => return told(Err(refused)),
        };
        // SAFETY: not null, and may be written, by the caller's promise.
        unsafe { *place = loan.as_mut_ptr().cast() };
        // SAFETY: the caller's promise is the same.
        unsafe { lend(publisher, (loan, bytes)) }?;
        Ok(HORUS_OK)
    })
}

/// Sends the first `bytes` bytes of the place that was lent.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile. The place is not written any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_publish(
    publisher: *mut horus_bytes_publisher,
    bytes: usize,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        match unsafe { take_back(publisher) }? {
            None => Err(misuse("no place of this publisher is lent: call horus_bytes_publisher_loan first")),
            Some((loan, lent)) if bytes > lent => {
                // SAFETY: the caller's promise is the same.
                unsafe { lend(publisher, (loan, lent)) }?;
                Err(misuse(format!("the place has {lent} bytes, and not {bytes}")))
            }
            Some((loan, _)) => {
                loan.publish_first(bytes);
                Ok(HORUS_OK)
            }
        }
    })
}

/// Gives a lent place back without sending anything.
///
/// # Safety
/// As `horus_bytes_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_discard(publisher: *mut horus_bytes_publisher) -> horus_status {
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
pub unsafe extern "C" fn horus_bytes_publisher_subscribers(publisher: *mut horus_bytes_publisher) -> usize {
    let mut subscribers = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        subscribers = unsafe { free(publisher, PUBLISH_FIRST) }?.subscribers().map_err(failed)?;
        Ok(HORUS_OK)
    });
    subscribers
}

/// Takes dead subscribers off the topic; returns how many. Makes system calls.
///
/// # Safety
/// As `horus_bytes_publisher_subscribers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_reap(publisher: *mut horus_bytes_publisher) -> usize {
    let mut reaped = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        reaped = unsafe { free(publisher, PUBLISH_FIRST) }?.reap_dead_subscribers();
        Ok(HORUS_OK)
    });
    reaped
}

/// As `horus_publisher_check`.
///
/// # Safety
/// As `horus_bytes_publisher_subscribers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_publisher_check(publisher: *mut horus_bytes_publisher) -> horus_status {
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
pub unsafe extern "C" fn horus_bytes_publisher_close(publisher: *mut horus_bytes_publisher) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(publisher) }
    })
}
