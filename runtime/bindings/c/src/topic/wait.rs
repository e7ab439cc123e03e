//! Waiting for several topics at once.

use std::slice;
use std::time::Duration;

use horus::topic::wait_any;

use crate::payload::of_either;
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{call, horus_status, misuse};
use crate::topic::lending::free;
use crate::topic::subscriber::{RELEASE_FIRST, horus_subscriber};

/// The most subscribers that one call waits for.
pub const HORUS_MAX_WAIT: usize = 64;

/// Waits until one of `count` subscribers, of messages or of bytes, has something to receive; its place in the array is then at `*ready`.
/// HORUS_EMPTY when `timeout_ns` nanoseconds have passed; it waits for ever if that is negative. While an earlier one has messages, later ones
/// are not looked at.
///
/// # Safety
/// `count` handles may be read at `subscribers`, which no other call uses meanwhile; `ready` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_wait_any(
    subscribers: *const *mut horus_subscriber,
    count: usize,
    timeout_ns: i64,
    ready: *mut usize,
) -> horus_status {
    call(|| {
        if subscribers.is_null() || ready.is_null() {
            return Err(misuse("the array of subscribers, or the place for the answer, is null"));
        }
        if !(1..=HORUS_MAX_WAIT).contains(&count) {
            return Err(misuse(format!("wait for 1 to {HORUS_MAX_WAIT} subscribers, and not for {count}")));
        }
        // SAFETY: not null, and so many may be read, by the caller's promise.
        let handles = unsafe { slice::from_raw_parts(subscribers, count) };
        let mut waitables = Vec::with_capacity(count);
        for (place, &handle) in handles.iter().enumerate() {
            if handles[..place].contains(&handle) {
                return Err(misuse(format!("subscriber {place} of the array is there twice")));
            }
            // SAFETY: no other call uses it, by the caller's promise, and no other place of the array is the same.
            let subscriber = unsafe { free(handle, RELEASE_FIRST) }?;
            waitables.push(of_either!(subscriber, end => end.waitable()));
        }
        let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
        let Some(found) = wait_any(&mut waitables, limit) else { return Ok(HORUS_EMPTY) };
        // SAFETY: not null, and it may be written, by the caller's promise.
        unsafe { ready.write(found) };
        Ok(HORUS_OK)
    })
}
