//! The subscribing end of a topic.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::topic::{Bytes, InPlace, Payload, Raw, Received, Sample, Subscriber};

use crate::handle::{Kind, give, wrong_size};
use crate::layout::horus_layout;
use crate::payload::{Of, of_either};
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse, quick_call};
use crate::topic::lending::{Lending, close, free, lend, quick, take_back};
use crate::topic::options::horus_options;
use crate::topic::publisher::opening;

/// A subscriber with the message that it has lent.
type Value = Lending<Of<Subscriber<Raw>, Subscriber<[u8]>>, Of<Sample<'static, Raw>, Sample<'static, [u8]>>>;

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

/// What is known of a message beside what it says.
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
    /// How many bytes it has.
    pub bytes: u64,
}

/// Joins a topic; it may come before its publisher. Null when it is refused. `layout` says whether its messages are those of a struct or bytes of
/// any length, up to the maximum of its publishers. `options` may be null.
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
        Ok(give(match layout {
            Of::Messages(layout) => {
                let subscriber = Subscriber::<Raw>::open_as(topic, layout, &options).map_err(failed)?;
                let short_bytes = subscriber.short_bytes();
                Lending::of_messages(subscriber, short_bytes)
            }
            Of::Bytes(maximum) => {
                Lending::of_bytes(Subscriber::<[u8]>::open_as(topic, Bytes::up_to(*maximum), &options).map_err(failed)?)
            }
        }))
    })
}

/// Receives into memory of the caller's, at once where there is no limit.
///
/// # Safety
/// `subscriber` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `message`, `about` is null or may be written.
#[inline(always)]
unsafe fn receive(
    subscriber: *mut horus_subscriber,
    message: *mut c_void,
    bytes: usize,
    about: *mut horus_received,
    limit: Option<Duration>,
) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promises are the same.
    let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
    if message.is_null() {
        return Err(misuse("the place for the message is null"));
    }
    let received = match subscriber {
        Of::Messages(end) => {
            if bytes != end.message_bytes() {
                return Err(wrong_size(bytes, end.message_bytes()));
            }
            // SAFETY: not null, so many bytes may be written, by the caller's promise. They are only written, so it does not matter that
            // C may not have given them a value.
            let into = unsafe { slice::from_raw_parts_mut(message.cast(), bytes) };
            received(end, into, limit).map(|received| received.map(|()| bytes))
        }
        Of::Bytes(end) => {
            let longest = end.message_bytes();
            check_room(bytes, longest, about)?;
            // SAFETY: as above, and there are no fewer.
            let into = unsafe { slice::from_raw_parts_mut(message.cast(), longest) };
            received(end, into, limit)
        }
    };
    let Some(received) = received else { return Ok(HORUS_EMPTY) };
    // SAFETY: null, or it may be written, by the caller's promise.
    unsafe { tell(about, received) };
    Ok(HORUS_OK)
}

#[inline(always)]
fn received<P: Payload<Place = [u8]> + ?Sized>(
    end: &mut Subscriber<P>,
    into: &mut [u8],
    limit: Option<Duration>,
) -> Option<Received<P::Placed>> {
    match limit {
        None => end.try_recv_into(into),
        Some(limit) => end.recv_timeout_into(into, limit),
    }
}

/// Why bytes are not received where their length cannot be told.
const NO_LENGTH: &str =
    "a message of bytes has a length of its own: give a place for horus_received, whose field `bytes` tells it";

/// Refuses to receive bytes where the longest message has no room, or its length cannot be told.
#[inline(always)]
pub(crate) fn check_room(bytes: usize, longest: usize, about: *mut horus_received) -> Result<(), Refusal> {
    match about.is_null() {
        _ if bytes < longest => Err(no_room(bytes, longest)),
        true => Err(misuse(NO_LENGTH)),
        false => Ok(()),
    }
}

#[cold]
fn no_room(bytes: usize, longest: usize) -> Refusal {
    misuse(format!("there is room for {bytes} bytes, and a message of this topic may have {longest}"))
}

/// Tells what is known of a message, which has as many bytes as `received` has for it.
///
/// # Safety
/// `about` is null or may be written.
#[inline(always)]
pub(crate) unsafe fn tell(about: *mut horus_received, received: Received<usize>) {
    if !about.is_null() {
        let Received { message: bytes, sequence, sent_ns, publisher } = received;
        let told = horus_received { sequence, sent_ns, publisher: publisher as u64, bytes: bytes as u64 };
        // SAFETY: not null, and it may be written, by the caller's promise.
        unsafe { about.write(told) };
    }
}

/// Receives the next message; HORUS_EMPTY when none was sent yet. Wait-free, no allocation. A message of a struct has `bytes` bytes, and `about`
/// may be null. For one of bytes there are `bytes` bytes of room, as many as the longest message has, and `about` tells how many came.
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
            unsafe { tell(about, received.map(|()| bytes)) };
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
    let subscriber = unsafe { quick::<BYTES, _, _, _, _>(subscriber) }?;
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
    quick_call(|| unsafe { receive(subscriber, message, bytes, about, None) })
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
    // SAFETY: the caller's promises are the same.
    call(|| unsafe { receive(subscriber, message, bytes, about, Some(limit)) })
}

/// Lends the next message where it is in shared memory at `*message`, until `horus_subscriber_release`; HORUS_EMPTY when none was sent yet. `about`
/// tells how many bytes it has, and may be null unless the messages are bytes.
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
        let own: *mut Of<_, _> = unsafe { free(subscriber, RELEASE_FIRST) }?;
        // SAFETY: it stays where it is until the sample is dropped; while there is one, `free` refuses every other use.
        let sample = match unsafe { &mut *own } {
            Of::Messages(subscriber) => subscriber.borrow().map(Of::Messages),
            Of::Bytes(_) if about.is_null() => return Err(misuse(NO_LENGTH)),
            Of::Bytes(subscriber) => subscriber.borrow().map(Of::Bytes),
        };
        let Some(sample) = sample else { return Ok(HORUS_EMPTY) };
        let (at, received) = of_either!(&sample, sample => (sample.as_ptr(), known(sample)));
        // SAFETY: not null, and may be written, by the caller's promise.
        unsafe { *message = at.cast() };
        // SAFETY: null, or it may be written, by the caller's promise.
        unsafe { tell(about, received) };
        // SAFETY: the caller's promise is the same.
        unsafe { lend(subscriber, sample) }?;
        Ok(HORUS_OK)
    })
}

/// What is known of a message that is lent.
fn known<P: InPlace<Value = [u8]> + ?Sized>(sample: &Sample<'_, P>) -> Received<usize> {
    let (sequence, sent_ns, publisher) = (sample.sequence(), sample.sent_ns(), sample.publisher());
    Received { message: sample.len(), sequence, sent_ns, publisher }
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
        let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
        missed = of_either!(subscriber, subscriber => subscriber.missed());
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
        let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
        let is_published = of_either!(subscriber, subscriber => subscriber.is_published()).map_err(failed)?;
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
        let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
        let is_published =
            of_either!(subscriber, subscriber => subscriber.wait_until_published(limit)).map_err(failed)?;
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
        let subscriber = unsafe { free(subscriber, RELEASE_FIRST) }?;
        of_either!(subscriber, subscriber => subscriber.check()).map_err(failed)?;
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
