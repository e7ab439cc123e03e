//! The subscribing end of a topic.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::topic::{Raw, Received, Sample, Subscriber};

use crate::handle::{Kind, give, wrong_size};
use crate::layout::horus_layout;
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse, quick_call};
use crate::topic::lending::{Lending, close, free, lend, quick, take_back};
use crate::topic::options::horus_options;
use crate::topic::publisher::opening;

/// A subscriber with the message that it has lent.
type Value = Lending<Subscriber<Raw>, Sample<'static, Raw>>;

/// What has to be done before the subscriber is used again.
pub(crate) const RELEASE_FIRST: &str = "a message of this subscriber is lent: release it first";

/// A subscribing end of a topic. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_subscriber {
    _opaque: (),
}

impl Kind for horus_subscriber {
    type Value = Value;
    const MARK: u64 = 0x7475_6f79_616c_0003;
    const NAME: &'static str = "subscriber";
}

/// What is known of a message beside its bytes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct horus_received {
    /// Its number among its publisher's.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher stamps none.
    pub sent_ns: u64,
    /// Number of the publisher that sent it.
    pub publisher: u64,
}

/// Joins a topic; it may come before its publisher. Null when it is refused. `options` may be null.
///
/// # Safety
/// `topic` ends with a zero byte, `layout` is a handle that is not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_open(
    topic: *const c_char,
    layout: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_subscriber {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (topic, layout, options) = unsafe { opening(topic, layout, options) }?;
        let subscriber = Subscriber::<Raw>::open_as(topic, layout, &options).map_err(failed)?;
        let short_bytes = subscriber.short_bytes();
        Ok(give(Lending::new(subscriber, short_bytes)))
    })
}

/// Receives by `receive` into memory of the caller's.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
#[inline(always)]
unsafe fn receive(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
    receive: impl FnOnce(&mut Subscriber<Raw>, &mut [u8]) -> Option<Received<()>>,
) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promises are the same.
    let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
    if message.is_null() {
        return Err(misuse("the place for the message is null"));
    }
    if bytes != subscriber.message_bytes() {
        return Err(wrong_size(bytes, subscriber.message_bytes()));
    }
    // SAFETY: not null, so many bytes may be written, by the caller's promise. They are only written, so it does not matter that C may
    // not have given them a value.
    let into = unsafe { slice::from_raw_parts_mut(message.cast(), bytes) };
    let Some(received) = receive(subscriber, into) else { return Ok(HORUS_EMPTY) };
    // SAFETY: null, or it may be written, by the caller's promise.
    unsafe { tell(about, received.sequence, received.sent_ns, received.publisher) };
    Ok(HORUS_OK)
}

/// # Safety
/// `about` is null or may be written.
#[inline(always)]
pub(crate) unsafe fn tell(about: *mut horus_received, sequence: u64, sent_ns: u64, publisher: usize) {
    if !about.is_null() {
        // SAFETY: not null, and it may be written, by the caller's promise.
        unsafe { about.write(horus_received { sequence, sent_ns, publisher: publisher as u64 }) };
    }
}

/// Receives the next message of `bytes` bytes; HORUS_EMPTY when none was sent yet. `about` may be null. Wait-free, no allocation.
///
/// After HORUS_EMPTY `message` holds what it held, or bytes that no publisher sent: a publisher may have overwritten them while
/// they were read. Use a struct of its own for what is to be kept.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_try_recv(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    let received = unsafe {
        match bytes {
            16 => try_recv_short::<16>(subscriber, message),
            8 => try_recv_short::<8>(subscriber, message),
            _ => None,
        }
    };
    match received {
        Some(Some(received)) => {
            // SAFETY: null, or it may be written, by the caller's promise.
            unsafe { tell(about, received.sequence, received.sent_ns, received.publisher) };
            HORUS_OK
        }
        Some(None) => HORUS_EMPTY,
        // SAFETY: the caller's promises are the same.
        None => unsafe { receive_the_long_way(subscriber, message, bytes, about) },
    }
}

/// Receives a message of so many bytes, unless something is in the way of doing that at once.
///
/// # Safety
/// As `horus_subscriber_try_recv`.
#[inline(always)]
unsafe fn try_recv_short<const BYTES: usize>(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
) -> Option<Option<Received<()>>> {
    // SAFETY: the caller's promise is the same.
    let subscriber = unsafe { quick::<BYTES, _, _, _>(subscriber) }?;
    // SAFETY: null, or so many bytes may be written, by the caller's promise. They are only written, so it does not matter that C may
    // not have given them a value.
    let into = unsafe { message.cast::<[u8; BYTES]>().as_mut() }?;
    subscriber.try_recv_at_once(into)
}

/// As `horus_subscriber_try_recv` in all cases. Apart, so that it costs the short way no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn receive_the_long_way(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    quick_call(|| unsafe { receive(subscriber, message, bytes, about, Subscriber::<Raw>::try_recv_into) })
}

/// Waits at most `timeout_ns` nanoseconds for the next message; for ever if that is negative.
///
/// # Safety
/// As `horus_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_recv(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    let wait = |subscriber: &mut Subscriber<Raw>, into: &mut [u8]| subscriber.recv_timeout_into(into, limit);
    // SAFETY: the caller's promises are the same.
    call(|| unsafe { receive(subscriber, message, bytes, about, wait) })
}

/// Lends the next message where it is in shared memory at `*message`, until `horus_subscriber_release`; HORUS_EMPTY when none was sent yet.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile; `message` may be written, `about` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_borrow(
    subscriber: *mut horus_subscriber,
    message: *mut *const c_void,
    about: *mut horus_received,
) -> horus_status {
    call(|| {
        if message.is_null() {
            return Err(misuse("the pointer to the message is null"));
        }
        // SAFETY: the caller's promise is the same.
        let own: *mut Subscriber<Raw> = unsafe { free(subscriber, RELEASE_FIRST) }?;
        // SAFETY: it stays where it is until the sample is dropped; while there is one, `free` refuses every other use.
        let Some(sample) = (unsafe { &mut *own }).borrow() else { return Ok(HORUS_EMPTY) };
        // SAFETY: not null, and may be written, by the caller's promise.
        unsafe { *message = sample.as_ptr().cast() };
        // SAFETY: null, or it may be written, by the caller's promise.
        unsafe { tell(about, sample.sequence(), sample.sent_ns(), sample.publisher()) };
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
pub unsafe extern "C" fn horus_subscriber_release(subscriber: *mut horus_subscriber) -> horus_status {
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
pub unsafe extern "C" fn horus_subscriber_missed(subscriber: *mut horus_subscriber) -> u64 {
    let mut missed = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        missed = unsafe { free(subscriber, RELEASE_FIRST) }?.missed();
        Ok(HORUS_OK)
    });
    missed
}

/// Whether a living process publishes the topic: HORUS_OK or HORUS_EMPTY. Makes system calls.
///
/// # Safety
/// As `horus_subscriber_missed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_is_published(subscriber: *mut horus_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let is_published = unsafe { free(subscriber, RELEASE_FIRST) }?.is_published().map_err(failed)?;
        Ok(if is_published { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living process publishes the topic; HORUS_EMPTY when the time is
/// up. Looks once a millisecond.
///
/// # Safety
/// As `horus_subscriber_missed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_wait_until_published(
    subscriber: *mut horus_subscriber,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promise is the same.
        let is_published = unsafe { free(subscriber, RELEASE_FIRST) }?.wait_until_published(limit).map_err(failed)?;
        Ok(if is_published { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// Whether messages can come from who publishes the topic from now on: not when its file was removed, nor after `fork` in the child.
///
/// # Safety
/// As `horus_subscriber_missed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_check(subscriber: *mut horus_subscriber) -> horus_status {
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
pub unsafe extern "C" fn horus_subscriber_close(subscriber: *mut horus_subscriber) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { close(subscriber) }
    })
}
