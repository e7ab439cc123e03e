//! The subscribing end of a topic of bytes.

use horus::topic::{Bytes, Received, Sample, Subscriber};
use std::ffi::{c_char, c_void};
use std::ptr;
use std::time::Duration;

use crate::handle::{Kind, give, text};
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::lending::{Lending, close, free, lend, take_back};
use crate::topic::options::{horus_options, options};
use crate::topic::subscriber::{RELEASE_FIRST, horus_received, tell};

/// A subscriber with the message that it has lent.
type Value = Lending<Subscriber<[u8]>, Sample<'static, [u8]>>;

/// A subscribing end of a topic of bytes. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_bytes_subscriber {
    _opaque: (),
}

impl Kind for horus_bytes_subscriber {
    type Value = Value;
    const MARK: u64 = 0x7475_6f79_616c_000a;
    const NAME: &'static str = "subscriber of bytes";
}

/// Joins a topic of messages of up to `maximum` bytes, as many as its publishers say; null when it is refused. `options` may be null.
///
/// # Safety
/// `topic` ends with a zero byte, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_open(
    topic: *const c_char,
    maximum: usize,
    options: *const horus_options,
) -> *mut horus_bytes_subscriber {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (topic, options) = unsafe { (text(topic, "name of the topic")?, self::options(options)?) };
        let subscriber = Subscriber::<[u8]>::open_as(topic, Bytes::up_to(maximum), options).map_err(failed)?;
        Ok(give(Lending::new(subscriber, 0)))
    })
}

/// Receives by `receive` into memory of the caller's.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile, `room` bytes may be written at `message`, `bytes` may be written, `about` is null
/// or may be written.
unsafe fn receive(
    subscriber: *mut horus_bytes_subscriber,
    message: *mut c_void,
    room: usize,
    bytes: *mut usize,
    about: *mut horus_received,
    receive: impl FnOnce(&mut Subscriber<[u8]>) -> Option<Received<&[u8]>>,
) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promise is the same.
    let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
    if message.is_null() || bytes.is_null() {
        return Err(misuse("the place for the message, or for its length, is null"));
    }
    let maximum = subscriber.message_bytes();
    if room < maximum {
        return Err(misuse(format!("there is room for {room} bytes, and a message of this topic may have {maximum}")));
    }
    let Some(received) = receive(subscriber) else { return Ok(HORUS_EMPTY) };
    // SAFETY: so many bytes may be written there, by the caller's promise: the message has no more than the maximum, in memory of
    // the subscriber's own.
    unsafe { ptr::copy_nonoverlapping(received.message.as_ptr(), message.cast(), received.message.len()) };
    // SAFETY: they may be written, by the caller's promise.
    unsafe {
        bytes.write(received.message.len());
        tell(about, received.sequence, received.sent_ns, received.publisher);
    }
    Ok(HORUS_OK)
}

/// Receives the next message, and its length at `*bytes`; HORUS_EMPTY when none was sent yet. There has to be room for the longest message.
/// `about` may be null. Wait-free, no allocation.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile, `room` bytes may be written at `message`, `bytes` may be written, `about` is null
/// or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_try_recv(
    subscriber: *mut horus_bytes_subscriber,
    message: *mut c_void,
    room: usize,
    bytes: *mut usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    call(|| unsafe { receive(subscriber, message, room, bytes, about, Subscriber::<[u8]>::try_recv) })
}

/// Waits at most `timeout_ns` nanoseconds for the next message; for ever if that is negative.
///
/// # Safety
/// As `horus_bytes_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_recv(
    subscriber: *mut horus_bytes_subscriber,
    message: *mut c_void,
    room: usize,
    bytes: *mut usize,
    about: *mut horus_received,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    // SAFETY: the caller's promises are the same.
    call(|| unsafe { receive(subscriber, message, room, bytes, about, |subscriber| subscriber.recv_timeout(limit)) })
}

/// Lends the next message where it is at `*message`, and its length at `*bytes`, until `horus_bytes_subscriber_release`; HORUS_EMPTY when
/// none was sent yet.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile; `message` and `bytes` may be written, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_borrow(
    subscriber: *mut horus_bytes_subscriber,
    message: *mut *const c_void,
    bytes: *mut usize,
    about: *mut horus_received,
) -> horus_status {
    call(|| {
        if message.is_null() || bytes.is_null() {
            return Err(misuse("the pointer to the message, or to its length, is null"));
        }
        // SAFETY: the caller's promise is the same.
        let own: *mut Subscriber<[u8]> = unsafe { free(subscriber, RELEASE_FIRST) }?;
        // SAFETY: it stays where it is until the sample is dropped; while there is one, `free` refuses every other use.
        let Some(sample) = (unsafe { &mut *own }).borrow() else { return Ok(HORUS_EMPTY) };
        // SAFETY: they may be written, by the caller's promise.
        unsafe {
            *message = sample.as_ptr().cast();
            *bytes = sample.len();
            tell(about, sample.sequence(), sample.sent_ns(), sample.publisher());
        }
        // SAFETY: the caller's promise is the same.
        unsafe { lend(subscriber, sample) }?;
        Ok(HORUS_OK)
    })
}

/// Gives a lent message back.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile. The message is not read any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_release(subscriber: *mut horus_bytes_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        drop(unsafe { take_back(subscriber) }?);
        Ok(HORUS_OK)
    })
}

/// How many messages were overwritten before this subscriber got to them; 0 of what is no subscriber.
///
/// # Safety
/// `subscriber` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_missed(subscriber: *mut horus_bytes_subscriber) -> u64 {
    let mut missed = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        missed = unsafe { free(subscriber, RELEASE_FIRST) }?.missed();
        Ok(HORUS_OK)
    });
    missed
}

/// As `horus_subscriber_is_published`.
///
/// # Safety
/// As `horus_bytes_subscriber_missed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_is_published(subscriber: *mut horus_bytes_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let is_published = unsafe { free(subscriber, RELEASE_FIRST) }?.is_published().map_err(failed)?;
        Ok(if is_published { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// As `horus_subscriber_check`.
///
/// # Safety
/// As `horus_bytes_subscriber_missed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_check(subscriber: *mut horus_bytes_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { free(subscriber, RELEASE_FIRST) }?.check().map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Ends a subscriber. Null is nothing to end.
///
/// # Safety
/// `subscriber` is null or a handle that no other call uses meanwhile, and it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_bytes_subscriber_close(subscriber: *mut horus_bytes_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(subscriber) }
    })
}
