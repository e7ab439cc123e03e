//! How a topic is made, for who joined it as it is.

use horus::topic::DeliveryPolicy;

use crate::payload::of_either;
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, call, horus_status, misuse};
use crate::topic::lending::free;
use crate::topic::options::{HORUS_LATEST, HORUS_RELIABLE};
use crate::topic::publisher::{PUBLISH_FIRST, horus_publisher};
use crate::topic::subscriber::{RELEASE_FIRST, horus_subscriber};

/// How a topic is made.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct horus_shape {
    /// Bytes of a message; of a topic of bytes, the most that a message may have.
    pub message_bytes: u64,
    /// HORUS_LATEST or HORUS_RELIABLE.
    pub delivery_policy: u32,
    /// Messages that it holds of each publisher.
    pub capacity: u32,
}

/// # Safety
/// `shape` is null or may be written.
unsafe fn tell(
    shape: *mut horus_shape,
    (message_bytes, policy, capacity): (usize, DeliveryPolicy, usize),
) -> Result<horus_status, Refusal> {
    if shape.is_null() {
        return Err(misuse("the place for the shape is null"));
    }
    let delivery_policy = match policy {
        DeliveryPolicy::Latest => HORUS_LATEST,
        DeliveryPolicy::Reliable => HORUS_RELIABLE,
    };
    // A topic has at most 2^20 messages.
    let found = horus_shape { message_bytes: message_bytes as u64, delivery_policy, capacity: capacity as u32 };
    // SAFETY: not null, so it may be written, by the caller's promise.
    unsafe { shape.write(found) };
    Ok(HORUS_OK)
}

/// Tells how the topic is made that this end is of.
///
/// # Safety
/// `publisher` is a handle that no other call uses meanwhile; `shape` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_publisher_shape(
    publisher: *mut horus_publisher,
    shape: *mut horus_shape,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let end = unsafe { free(publisher, PUBLISH_FIRST) }?;
        let asked = of_either!(end, end => (end.message_bytes(), end.delivery_policy(), end.capacity()));
        // SAFETY: as above.
        unsafe { tell(shape, asked) }
    })
}

/// As `horus_publisher_shape`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_subscriber_shape(
    subscriber: *mut horus_subscriber,
    shape: *mut horus_shape,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let end = unsafe { free(subscriber, RELEASE_FIRST) }?;
        let asked = of_either!(end, end => (end.message_bytes(), end.delivery_policy(), end.capacity()));
        // SAFETY: as above.
        unsafe { tell(shape, asked) }
    })
}
