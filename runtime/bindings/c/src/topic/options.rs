//! How a topic is made and joined, as C says it.

use std::ffi::c_char;
use std::slice;
use std::time::Duration;

use horus::service;
use horus::topic::{Options, WaitStrategy};

use crate::handle::text;
use crate::status::{Refusal, misuse};

/// What a topic does when a subscriber is slow.
pub const HORUS_ANY_DELIVERY_POLICY: u32 = 0;
/// The oldest message is overwritten, and every loss is counted.
pub const HORUS_LATEST: u32 = 1;
/// Sending is refused, and nothing is lost.
pub const HORUS_RELIABLE: u32 = 2;

/// Waits as suits the topic.
pub const HORUS_WAIT_DEFAULT: u32 = 0;
/// Waits busily: the fastest, on a CPU of one's own.
pub const HORUS_WAIT_SPIN: u32 = 1;
/// Sleeps at once.
pub const HORUS_WAIT_SLEEP: u32 = 2;
/// Looks once every `wait_strategy_ns`, and sleeps meanwhile.
pub const HORUS_WAIT_POLL: u32 = 3;
/// Waits busily for `wait_strategy_ns`, and then sleeps.
pub const HORUS_WAIT_SPIN_THEN_SLEEP: u32 = 4;

/// How a topic is made and joined. It begins as HORUS_OPTIONS, which is what suits most: `horus_options options = HORUS_OPTIONS;`. A later
/// library may know more fields, behind these: by `size` it sees which of them its caller has.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct horus_options {
    /// `sizeof(horus_options)`, as HORUS_OPTIONS says.
    pub size: usize,
    /// HORUS_LATEST, HORUS_RELIABLE, or HORUS_ANY_DELIVERY_POLICY: a subscriber's as the topic is, a publisher's `latest`.
    pub delivery_policy: u32,
    /// Messages that a publisher's lane holds, a power of two from 1 to 2^20; 0 for 16.
    pub capacity: u32,
    /// Publishers at a time, 1 to 63; 0 for 1. Of a server: clients at a time, 8 to 63; 0 for 8.
    pub publishers: u32,
    /// Of a subscriber: messages sent before it joined that it wants of each publisher.
    pub history: u32,
    /// HORUS_WAIT_DEFAULT, HORUS_WAIT_SPIN, HORUS_WAIT_SLEEP, HORUS_WAIT_POLL or HORUS_WAIT_SPIN_THEN_SLEEP.
    pub wait_strategy: u32,
    /// Of a publisher: 1 to stamp each message with the time of sending.
    pub stamped: u32,
    /// The folder of the topic's file; null for $HORUS_SHM_DIR or /dev/shm/horus.
    pub directory: *const c_char,
    /// The group whose members may use the topic; null for no other user.
    pub group: *const c_char,
    /// Nanoseconds of HORUS_WAIT_POLL and HORUS_WAIT_SPIN_THEN_SLEEP.
    pub wait_strategy_ns: u64,
    /// 1 for a topic whose publishers wake no subscriber, so that sending never makes a system call: its subscribers look for
    /// messages busily or by the clock.
    pub never_wake: u32,
    /// 1 to have who comes late get the newest message of every publisher, living or gone. The topic of such a publisher stays when all its users
    /// are gone. An earlier library refuses it.
    pub latched: u32,
    /// Of a service: 1 to let up to 8 servers serve it, of which each request goes to one. All of its servers and clients say so, or none.
    pub shared: u32,
    /// 0.
    pub spare: u32,
}

/// As HORUS_OPTIONS, for tests.
#[cfg(test)]
pub(crate) const NONE: horus_options = horus_options {
    size: size_of::<horus_options>(),
    delivery_policy: HORUS_ANY_DELIVERY_POLICY,
    capacity: 0,
    publishers: 0,
    history: 0,
    wait_strategy: HORUS_WAIT_DEFAULT,
    stamped: 0,
    directory: std::ptr::null(),
    group: std::ptr::null(),
    wait_strategy_ns: 0,
    never_wake: 0,
    latched: 0,
    shared: 0,
    spare: 0,
};

/// The most that a caller of any later library asks for; what says more, or less than this first version has, was not begun as HORUS_OPTIONS.
const LARGEST: usize = 4096;

/// What C asks for, as far as this library knows it.
///
/// # Safety
/// `given` may be read, as many bytes as its first field says.
unsafe fn known(given: *const horus_options) -> Result<horus_options, Refusal> {
    let own = size_of::<horus_options>();
    // SAFETY: it may be read, by the caller's promise.
    let size = unsafe { (*given).size };
    if !(own..=LARGEST).contains(&size) {
        return Err(misuse(format!(
            "these options say that they have {size} bytes: begin with horus_options options = HORUS_OPTIONS"
        )));
    }
    // SAFETY: at least so many bytes may be read, by the caller's promise, and each pattern of them is a `horus_options`.
    let asked = unsafe { given.read() };
    // SAFETY: as many bytes as it says may be read, by the caller's promise.
    let more = unsafe { slice::from_raw_parts(given.cast::<u8>().add(own), size - own) };
    if more.iter().any(|&byte| byte != 0) {
        return Err(misuse(
            "these options ask for something that this library does not know: install the one that the program was written for",
        ));
    }
    Ok(asked)
}

/// What C asks for.
///
/// # Safety
/// `given` is null or may be read, as many bytes as its first field says, and its texts are null or end with a zero byte.
pub(crate) unsafe fn options(given: *const horus_options) -> Result<Options, Refusal> {
    // SAFETY: the caller's promise is the same.
    Ok(unsafe { options_if_any(given) }?.unwrap_or_default())
}

/// What C says of a service: the clients that a server makes room for stand where publishers do.
///
/// # Safety
/// As [`options`].
pub(crate) unsafe fn of_service(given: *const horus_options) -> Result<service::Options, Refusal> {
    // SAFETY: the caller's promise is the same.
    let of_topic = service::Options::of_topic(unsafe { options(given) }?);
    // SAFETY: null, or it may be read, by the caller's promise: `options` has taken it.
    let Some(given) = (unsafe { given.as_ref() }) else { return Ok(of_topic) };
    let options = of_topic.clients(given.publishers as usize);
    Ok(if given.shared != 0 { options.shared() } else { options })
}

/// As [`options`]; nothing where C gives none.
///
/// # Safety
/// As there.
pub(crate) unsafe fn options_if_any(given: *const horus_options) -> Result<Option<Options>, Refusal> {
    if given.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, so it may be read, by the caller's promise.
    let given = unsafe { known(given) }?;
    let capacity = if given.capacity == 0 { 16 } else { given.capacity as usize };
    let mut options = match given.delivery_policy {
        HORUS_LATEST => Options::latest(capacity),
        HORUS_RELIABLE => Options::reliable(capacity),
        HORUS_ANY_DELIVERY_POLICY if given.capacity == 0 => Options::default(),
        HORUS_ANY_DELIVERY_POLICY => {
            return Err(misuse("a capacity needs a delivery policy: HORUS_LATEST or HORUS_RELIABLE"));
        }
        other => return Err(misuse(format!("there is no delivery policy {other}: HORUS_LATEST or HORUS_RELIABLE"))),
    };
    if given.publishers > 0 {
        options = options.publishers(given.publishers as usize);
    }
    options = options.history(given.history as usize);
    options = match given.wait_strategy {
        HORUS_WAIT_DEFAULT => options,
        HORUS_WAIT_SPIN => options.wait_strategy(WaitStrategy::Spin),
        HORUS_WAIT_SLEEP => options.wait_strategy(WaitStrategy::Sleep),
        HORUS_WAIT_POLL => options.wait_strategy(WaitStrategy::Poll(span(&given)?)),
        HORUS_WAIT_SPIN_THEN_SLEEP => options.wait_strategy(WaitStrategy::SpinThenSleep(span(&given)?)),
        other => return Err(misuse(format!("there is no wait strategy {other}: HORUS_WAIT_SPIN or HORUS_WAIT_SLEEP"))),
    };
    if given.never_wake != 0 {
        options = options.never_wake();
    }
    if given.latched != 0 {
        options = options.latched();
    }
    if given.stamped != 0 {
        options = options.stamped();
    }
    if !given.directory.is_null() {
        // SAFETY: not null, and it ends with a zero byte, by the caller's promise.
        options = options.directory(unsafe { text(given.directory, "directory") }?);
    }
    if !given.group.is_null() {
        // SAFETY: as above.
        options = options.group(unsafe { text(given.group, "group") }?);
    }
    Ok(Some(options))
}

/// The time of a wait strategy that has a time of its own.
fn span(given: &horus_options) -> Result<Duration, Refusal> {
    match given.wait_strategy_ns {
        0 => Err(misuse("this wait strategy needs a time: wait_strategy_ns is 0")),
        wait_strategy_ns => Ok(Duration::from_nanos(wait_strategy_ns)),
    }
}
