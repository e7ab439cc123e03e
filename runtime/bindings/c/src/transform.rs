//! Frames: sent by a broadcaster, looked up at a time.

use std::ffi::c_char;
use std::time::Duration;

use horus::messages::{Quaternion, Vector3};
use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Broadcaster, Frames, StaticBroadcaster, Transform};

use crate::handle::{self, Kind, get, give, text};
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::options::{horus_options, options};

/// How a frame is moved and turned in another one: it takes coordinates in the child to those in the parent.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct horus_transform {
    /// From the parent's origin to the child's: x, y, z in metres along the parent's axes.
    pub translation: [f64; 3],
    /// How the child is turned in the parent: a unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
}

impl From<Transform> for horus_transform {
    fn from(of: Transform) -> Self {
        let (Vector3 { x, y, z }, q) = (of.translation, of.rotation);
        Self { translation: [x, y, z], rotation: [q.x, q.y, q.z, q.w] }
    }
}

impl From<horus_transform> for Transform {
    fn from(of: horus_transform) -> Self {
        let ([x, y, z], [i, j, k, w]) = (of.translation, of.rotation);
        Self { translation: Vector3 { x, y, z }, rotation: Quaternion { x: i, y: j, z: k, w } }
    }
}

/// Sends a moving frame. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_broadcaster {
    _opaque: (),
}

impl Kind for horus_broadcaster {
    type Value = Broadcaster;
    const MARK: u64 = 0x7475_6f79_616c_0021;
    const NAME: &'static str = "broadcaster";
}

/// Sends static frames. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_static_broadcaster {
    _opaque: (),
}

impl Kind for horus_static_broadcaster {
    type Value = StaticBroadcaster;
    const MARK: u64 = 0x7475_6f79_616c_0022;
    const NAME: &'static str = "static broadcaster";
}

/// All frames of a namespace, to be looked up. One thread at a time uses it.
#[allow(non_camel_case_types)]
pub struct horus_frames {
    _opaque: (),
}

impl Kind for horus_frames {
    type Value = Frames;
    const MARK: u64 = 0x7475_6f79_616c_0023;
    const NAME: &'static str = "set of frames";
}

/// A transform from C.
///
/// # Safety
/// `transform` is null or may be read.
unsafe fn given(transform: *const horus_transform) -> Result<Transform, Refusal> {
    // SAFETY: null or readable, by the caller's promise, and each pattern of bytes is a `horus_transform`.
    unsafe { transform.as_ref() }.map(|&transform| transform.into()).ok_or_else(|| misuse("the transform is null"))
}

/// Where C wants a transform.
///
/// # Safety
/// `into` is null or may be written.
unsafe fn put(into: *mut horus_transform, found: Transform) -> Result<horus_status, Refusal> {
    if into.is_null() {
        return Err(misuse("the place for the transform is null"));
    }
    // SAFETY: not null, so it may be written, by the caller's promise.
    unsafe { into.write(found.into()) };
    Ok(HORUS_OK)
}

/// Becomes the one that sends the frame `child` in `parent`; null when it is refused: another program sends it, or the tree would have a loop.
/// Of `options`, which may be null, directory and group count.
///
/// # Safety
/// Both names end with a zero byte, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_broadcaster_open(
    parent: *const c_char,
    child: *const c_char,
    options: *const horus_options,
) -> *mut horus_broadcaster {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (parent, child, options) = unsafe { names(parent, child, options) }?;
        Ok(give(Broadcaster::open(parent, child, &options).map_err(failed)?))
    })
}

/// What a broadcaster is opened with.
///
/// # Safety
/// That of `horus_broadcaster_open`.
unsafe fn names<'a>(
    parent: *const c_char,
    child: *const c_char,
    given: *const horus_options,
) -> Result<(&'a str, &'a str, Options), Refusal> {
    // SAFETY: the caller's promises are the same.
    unsafe { Ok((text(parent, "name of the parent")?, text(child, "name of the child")?, options(given)?)) }
}

/// Sends where the frame was at `time_ns`, in nanoseconds on CLOCK_MONOTONIC, which is after that of the transform before. Makes no system call.
///
/// # Safety
/// `broadcaster` is a handle that no other call uses meanwhile, `transform` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_broadcaster_send(
    broadcaster: *mut horus_broadcaster,
    time_ns: u64,
    transform: *const horus_transform,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (broadcaster, transform) = unsafe { (get(broadcaster)?, given(transform)?) };
        broadcaster.send(MonotonicTime::from_nanos(time_ns), &transform).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Withdraws the frame, and ends the broadcaster. Null is none.
///
/// # Safety
/// `broadcaster` is null or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_broadcaster_close(broadcaster: *mut horus_broadcaster) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { handle::close(broadcaster) })
}

/// Opens what sends static frames; null when it is refused. Of `options`, which may be null, directory and group count.
///
/// # Safety
/// `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_static_broadcaster_open(given: *const horus_options) -> *mut horus_static_broadcaster {
    // SAFETY: the caller's promise is the same.
    make(|| Ok(give(StaticBroadcaster::open(&unsafe { options(given) }?).map_err(failed)?)))
}

/// Adds the frame `child` in `parent`. When it is refused, the frames are as before.
///
/// # Safety
/// `broadcaster` is a handle that no other call uses meanwhile, both names end with a zero byte, `transform` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_static_broadcaster_add(
    broadcaster: *mut horus_static_broadcaster,
    parent: *const c_char,
    child: *const c_char,
    transform: *const horus_transform,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (broadcaster, transform) = unsafe { (get(broadcaster)?, given(transform)?) };
        // SAFETY: as above.
        let (parent, child) = unsafe { (text(parent, "name of the parent")?, text(child, "name of the child")?) };
        broadcaster.add(parent, child, &transform).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Adds the fixed joints of a URDF file, all of them or none.
///
/// # Safety
/// `broadcaster` is a handle that no other call uses meanwhile, `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_static_broadcaster_add_urdf(
    broadcaster: *mut horus_static_broadcaster,
    path: *const c_char,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (broadcaster, path) = unsafe { (get(broadcaster)?, text(path, "path of the file")?) };
        broadcaster.add_urdf(path).map_err(failed)?;
        Ok(HORUS_OK)
    })
}

/// Withdraws the frames, and ends what sends them. Null is none.
///
/// # Safety
/// `broadcaster` is null or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_static_broadcaster_close(broadcaster: *mut horus_static_broadcaster) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { handle::close(broadcaster) })
}

/// Opens all frames of a namespace; null when it is refused. Of `options`, which may be null, directory and group count.
///
/// # Safety
/// `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_frames_open(given: *const horus_options) -> *mut horus_frames {
    // SAFETY: the caller's promise is the same.
    make(|| Ok(give(Frames::open(&unsafe { options(given) }?).map_err(failed)?)))
}

/// The frame `source` in the frame `target` at `time_ns`, in nanoseconds on CLOCK_MONOTONIC. HORUS_FAILED when it is not known there and then:
/// `horus_error` says which frame is in the way, and by how much the time is outside of what is held. Makes no system call.
///
/// # Safety
/// `frames` is a handle that no other call uses meanwhile, both names end with a zero byte, `found` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_frames_at(
    frames: *mut horus_frames,
    target: *const c_char,
    source: *const c_char,
    time_ns: u64,
    found: *mut horus_transform,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (frames, target, source) = unsafe { asked(frames, target, source) }?;
        let transform = frames.at(target, source, MonotonicTime::from_nanos(time_ns)).map_err(failed)?;
        // SAFETY: as above.
        unsafe { put(found, transform) }
    })
}

/// As horus_frames_at, at the latest time for which every frame between the two is known. That time goes to `time_ns`, which may be null: 0 where
/// all of them are static.
///
/// # Safety
/// As there, and `time_ns` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_frames_newest(
    frames: *mut horus_frames,
    target: *const c_char,
    source: *const c_char,
    time_ns: *mut u64,
    found: *mut horus_transform,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (frames, target, source) = unsafe { asked(frames, target, source) }?;
        let (transform, time) = frames.newest(target, source).map_err(failed)?;
        // SAFETY: null or writable, by the caller's promise.
        if let Some(time_ns) = unsafe { time_ns.as_mut() } {
            *time_ns = time.map_or(0, MonotonicTime::as_nanos);
        }
        // SAFETY: as above.
        unsafe { put(found, transform) }
    })
}

/// As horus_frames_at, but waits until the transform is known: at most `timeout_ns`, or as long as that takes if it is negative. Not for a step
/// of a node.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_frames_wait(
    frames: *mut horus_frames,
    target: *const c_char,
    source: *const c_char,
    time_ns: u64,
    timeout_ns: i64,
    found: *mut horus_transform,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promises are the same.
        let (frames, target, source) = unsafe { asked(frames, target, source) }?;
        let transform = frames.wait(target, source, MonotonicTime::from_nanos(time_ns), limit).map_err(failed)?;
        // SAFETY: as above.
        unsafe { put(found, transform) }
    })
}

/// Which frames are looked up.
///
/// # Safety
/// That of `horus_frames_at`.
unsafe fn asked<'a>(
    frames: *mut horus_frames,
    target: *const c_char,
    source: *const c_char,
) -> Result<(&'a Frames, &'a str, &'a str), Refusal> {
    // SAFETY: the caller's promises are the same.
    unsafe { Ok((get(frames)?, text(target, "name of the target")?, text(source, "name of the source")?)) }
}

/// Ends them. Null is nothing to end.
///
/// # Safety
/// `frames` is null or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_frames_close(frames: *mut horus_frames) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { handle::close(frames) })
}
