//! Sends a moving frame.

use std::time::Duration;

use horus_shm::directory::Scope;
use horus_sys::clock::{is_virtual, stamp_ns};

use super::claim::check;
use super::error::SendError;
use super::name::FrameName;
use super::pose::Transform;
use super::sample::{ANNOUNCED, FrameSample, MOVING, WITHDRAWN};
use super::{HELD, MAX_BROADCASTERS, TOPIC};
use crate::time::MonotonicTime;
use crate::topic::{Options, Publisher};

/// How far in the future a transform may be: some localizers date theirs ahead, and one second is much.
const MOST_AHEAD: Duration = Duration::from_secs(10);

/// Sends where a moving frame is in its parent. The frame goes when this is dropped; when its program is killed, its last transforms stay
/// until another broadcaster takes the lane.
///
/// It may move to another thread and is not shared between two.
pub struct Broadcaster {
    publisher: Publisher<FrameSample>,
    sample: FrameSample,
    child: FrameName,
    last_ns: u64,
    /// Whether times are those of the machine: a virtual world has its own.
    is_by_the_machine: bool,
}

impl Broadcaster {
    /// Becomes the one that sends the frame `child` in `parent`. Of `options`, directory and group count.
    ///
    /// # Errors
    /// [`SendError`]: another living program sends the frame, `parent` is below `child`, one of them is no name, or the topic cannot be opened.
    pub fn open(parent: &str, child: &str, options: &Options) -> Result<Self, SendError> {
        let (parent, child) = (frame_name(parent)?, frame_name(child)?);
        let mut publisher = Publisher::<FrameSample>::open(TOPIC, options.for_transforms())?;
        // What is refused anyway, no reader sees.
        check(options, publisher.lane(), &[(parent, child)])?;
        let first = publisher.position();
        let sample = FrameSample::new(&parent, &child, MOVING, first);
        // Of the same clock as what another broadcaster of the frame left, so that the later of them counts.
        let announced = FrameSample { kind: ANNOUNCED, ..sample };
        publisher.try_send_stamped(announced, stamp_ns()).map_err(|_| SendError::Full { child })?;
        let is_by_the_machine = !Scope::is_entered() && !is_virtual();
        let broadcaster = Self { publisher, sample, child, last_ns: 0, is_by_the_machine };
        // Refused, it withdraws what it announced.
        check(options, broadcaster.publisher.lane(), &[(parent, child)])?;
        Ok(broadcaster)
    }

    /// Sends where the frame was at `time`, which is after that of the transform before.
    ///
    /// Wait-free, no allocation, no system call.
    ///
    /// # Errors
    /// [`SendError`]: the time is not later, or far in the future; the rotation is none.
    #[inline]
    pub fn send(&mut self, time: MonotonicTime, transform: &Transform) -> Result<(), SendError> {
        let (nanos, child) = (time.as_nanos().max(1), self.child);
        let Some(transform) = transform.normalized() else { return Err(no_rotation(child, transform)) };
        if nanos <= self.last_ns {
            return Err(SendError::NotLater { child, by: Duration::from_nanos(self.last_ns - nanos) });
        }
        if self.is_by_the_machine {
            let by = time.since(MonotonicTime::now());
            if by > MOST_AHEAD {
                return Err(SendError::Future { child, by });
            }
        }
        self.sample.transform = transform;
        self.publisher.try_send_stamped(self.sample, nanos).map_err(|_| SendError::Full { child })?;
        self.last_ns = nanos;
        Ok(())
    }
}

impl Drop for Broadcaster {
    fn drop(&mut self) {
        withdraw(&mut self.publisher, &self.sample);
    }
}

/// Says that the frames of this lane are no more.
pub(super) fn withdraw(publisher: &mut Publisher<FrameSample>, sample: &FrameSample) {
    // In a forked child the topic is not there.
    if publisher.check().is_ok() {
        let withdrawn = FrameSample { kind: WITHDRAWN, ..*sample };
        // Where there is no room, the frame stays until the lane is taken, as that of a killed program.
        let _ = publisher.try_send_stamped(withdrawn, stamp_ns());
    }
}

/// The name, checked.
pub(super) fn frame_name(name: &str) -> Result<FrameName, SendError> {
    FrameName::new(name).ok_or_else(|| SendError::Name { name: name.to_owned() })
}

/// Why a transform is none.
#[cold]
pub(super) fn no_rotation(child: FrameName, transform: &Transform) -> SendError {
    let rotation = &transform.rotation;
    let length = [rotation.x, rotation.y, rotation.z, rotation.w].iter().map(|part| part * part).sum::<f64>().sqrt();
    SendError::NoRotation { child, length }
}

impl Options {
    /// The topic of all frames, where these options would have a topic be.
    pub(super) fn for_transforms(&self) -> Self {
        let topic = Self::latest(HELD).publishers(MAX_BROADCASTERS).never_wake();
        self.place_of(topic)
    }
}
