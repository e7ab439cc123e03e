//! Sends static frames: how a sensor is mounted, and all else that never moves.

use std::path::Path;

use super::broadcaster::{frame_name, no_rotation, withdraw};
use super::claim::check;
use super::error::SendError;
use super::name::FrameName;
use super::pose::Transform;
use super::sample::{FrameSample, STATIC};
use super::{HELD, TOPIC, urdf};
use crate::topic::{Options, Publisher};

/// Most static frames of a broadcaster: all of them twice are held, so that no reader sees a part while they are sent anew.
const MOST: usize = HELD / 2 - 1;

/// Sends where static frames are, each once. They are known at every time, as long as this lives; when its program is killed, until
/// another broadcaster takes the lane.
pub struct StaticBroadcaster {
    publisher: Publisher<FrameSample>,
    options: Options,
    sent: Vec<FrameSample>,
    /// The number of the first message that counts.
    first: u64,
}

impl StaticBroadcaster {
    /// Opens the topic of all frames. Of `options`, directory and group count.
    ///
    /// # Errors
    /// [`SendError::Open`].
    pub fn open(options: &Options) -> Result<Self, SendError> {
        let publisher = Publisher::<FrameSample>::open(TOPIC, options.for_transforms())?;
        let first = publisher.position();
        let mut broadcaster = Self { publisher, options: options.clone(), sent: Vec::new(), first };
        if first > 0 {
            // The lane was a dead one's, whose frames would be taken for this living one's.
            broadcaster.withdraw();
            broadcaster.first = broadcaster.publisher.position();
        }
        Ok(broadcaster)
    }

    /// Adds the frame `child` in `parent`.
    ///
    /// # Errors
    /// [`SendError`]; then the frames are as before.
    pub fn add(&mut self, parent: &str, child: &str, transform: &Transform) -> Result<(), SendError> {
        self.add_all([(parent, child, *transform)])
    }

    /// Adds frames: parent, child, and the child in the parent. All of them or none.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_all<'a>(
        &mut self,
        frames: impl IntoIterator<Item = (&'a str, &'a str, Transform)>,
    ) -> Result<(), SendError> {
        let before = self.sent.len();
        let added = frames.into_iter().map(|(parent, child, transform)| {
            let (parent, child) = (frame_name(parent)?, frame_name(child)?);
            let transform = transform.normalized().ok_or_else(|| no_rotation(child, &transform))?;
            Ok(FrameSample { transform, ..FrameSample::new(&parent, &child, STATIC, 0) })
        });
        let added = added.collect::<Result<Vec<_>, SendError>>()?;
        if added.is_empty() {
            return Ok(());
        }
        self.sent.extend(added);
        if self.sent.len() > MOST {
            self.sent.truncate(before);
            return Err(SendError::TooMany { most: MOST });
        }
        let names: Vec<_> = self.sent.iter().filter_map(FrameSample::names).collect();
        // What is refused anyway, no reader sees.
        check(&self.options, self.publisher.lane(), &names).inspect_err(|_| self.sent.truncate(before))?;
        let checked = self.send(before).and_then(|()| check(&self.options, self.publisher.lane(), &names));
        checked.inspect_err(|_| {
            self.sent.truncate(before);
            // What was refused stands before the new beginning. Those that stay were sent before: where there is no room now, they are known.
            if before > 0 {
                let _ = self.send_anew();
            } else {
                self.withdraw();
                self.first = self.publisher.position();
            }
        })
    }

    /// Adds the fixed joints of a URDF file, and says how many there are. All of them or none.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`SendError::Urdf`].
    pub fn add_urdf(&mut self, path: impl AsRef<Path>) -> Result<usize, SendError> {
        let path = path.as_ref();
        let joints = urdf::read(path).map_err(|source| SendError::Urdf { path: path.to_owned(), source })?;
        self.add_all(joints.iter().map(|joint| (joint.parent.as_str(), joint.child.as_str(), joint.transform)))?;
        Ok(joints.len())
    }

    /// Sends the frames from number `from` on behind the others, or all anew where the others would be overwritten.
    fn send(&mut self, from: usize) -> Result<(), SendError> {
        let behind = (self.publisher.position() - self.first) as usize + self.sent.len() - from;
        if behind >= HELD {
            return self.send_anew();
        }
        (from..self.sent.len()).try_for_each(|number| self.send_one(number, self.first))
    }

    /// Sends all frames anew. The last of them says where they begin: until then, readers find those that were sent before.
    fn send_anew(&mut self) -> Result<(), SendError> {
        let (before, last) = (self.first, self.sent.len() - 1);
        self.first = self.publisher.position();
        (0..=last).try_for_each(|number| self.send_one(number, if number == last { self.first } else { before }))
    }

    fn send_one(&mut self, number: usize, first: u64) -> Result<(), SendError> {
        let sample = FrameSample { first, ..self.sent[number] };
        let child = || FrameName::of_field(&sample.child).expect("it was checked");
        let now = horus_sys::clock::stamp_ns();
        self.publisher.try_send_stamped(sample, now).map_err(|_| SendError::Full { child: child() })
    }

    fn withdraw(&mut self) {
        withdraw(&mut self.publisher, &FrameSample::zeroed());
    }
}

impl Drop for StaticBroadcaster {
    fn drop(&mut self) {
        self.withdraw();
    }
}
