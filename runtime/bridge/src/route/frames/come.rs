//! Frames that come from ROS.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use horus::journal::Priority;
use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Broadcaster, SendError, StaticBroadcaster, TOPIC, Transform};
use horus_shm::directory::Directory;
use horus_sys::clock::monotonic_ns;

use super::{OfRos, endpoint};
use crate::clock::Offset;
use crate::convert::Context;
use crate::convert::transforms::{Placed, read};
use crate::route::{Exchange, Source, Took, Transport};

/// A moving frame of which ROS says nothing for so long goes: tf2 forgets after as long.
const SILENT: Duration = Duration::from_secs(10);
/// How soon a frame that was refused is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Frames that are refused and remembered.
const REFUSED: usize = 1024;

/// The frames of `/tf` and `/tf_static`.
#[derive(Default)]
pub struct FramesIn {
    of_ros: OfRos,
    sources: Option<[Box<dyn Source>; 2]>,
    context: Context,
    moving: BTreeMap<String, Moving>,
    fixed: Fixed,
    refused: BTreeMap<String, Instant>,
    counts: Counts,
    told: VecDeque<(Priority, String)>,
}

#[derive(Default)]
struct Counts {
    carried: u64,
    refused: u64,
}

struct Moving {
    parent: String,
    broadcaster: Broadcaster,
    heard: Instant,
}

#[derive(Default)]
struct Fixed {
    broadcaster: Option<StaticBroadcaster>,
    /// Parent and transform of each child.
    frames: BTreeMap<String, (String, Transform)>,
}

impl FramesIn {
    /// Nothing was asked for yet.
    pub fn new(of_ros: &OfRos) -> Self {
        Self { of_ros: of_ros.clone(), ..Self::default() }
    }

    fn tell(&mut self, priority: Priority, text: String) {
        if self.told.len() < 8 {
            self.told.push_back((priority, text));
        }
    }

    fn take(&mut self, placed: &Placed, is_static: bool) {
        let is_refused = self.refused.get(&placed.child).is_some_and(|since| since.elapsed() < AGAIN);
        let done = match (is_refused, is_static) {
            (true, _) => Ok(false),
            (false, true) => self.fixed.put(placed, &self.of_ros),
            (false, false) => self.put(placed),
        };
        match done {
            Ok(true) => {
                self.refused.remove(&placed.child);
                self.counts.carried += 1;
            }
            // The same as before, or a part of the past.
            Ok(false) => self.counts.refused += u64::from(is_refused),
            Err(error) => {
                self.counts.refused += 1;
                if self.refused.len() < REFUSED && self.refused.insert(placed.child.clone(), Instant::now()).is_none() {
                    self.tell(
                        Priority::Warning,
                        format!("{} in {} of ROS was refused: {error}", placed.child, placed.parent),
                    );
                }
            }
        }
    }

    /// A transform of a moving frame; false when it is no later than the one before.
    fn put(&mut self, placed: &Placed) -> Result<bool, SendError> {
        let Placed { parent, child, stamp_ns, transform } = placed;
        if self.moving.get(child).is_some_and(|moving| moving.parent != *parent) {
            self.moving.remove(child);
        }
        if !self.moving.contains_key(child) {
            let broadcaster = Broadcaster::open(parent, child, &Options::default())?;
            self.moving.insert(child.clone(), Moving { parent: parent.clone(), broadcaster, heard: Instant::now() });
            self.of_ros.borrow_mut().insert(child.clone());
        }
        let Some(moving) = self.moving.get_mut(child) else { return Ok(false) };
        moving.heard = Instant::now();
        let stamp_ns = if *stamp_ns == 0 { monotonic_ns() } else { *stamp_ns };
        match moving.broadcaster.send(MonotonicTime::from_nanos(stamp_ns), transform) {
            Ok(()) => Ok(true),
            Err(SendError::NotLater { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Exchange for FramesIn {
    fn name(&self) -> String {
        format!("{TOPIC} from ROS")
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        self.context.offset = Offset::now();
        let Self { moving, of_ros, .. } = self;
        moving.retain(|child, moving| {
            let is_heard = moving.heard.elapsed() < SILENT;
            if !is_heard {
                of_ros.borrow_mut().remove(child);
            }
            is_heard
        });
        self.refused.retain(|_, since| since.elapsed() < 10 * AGAIN);
        if let Some(sources) = &mut self.sources {
            return sources.iter_mut().for_each(|source| source.look());
        }
        let mut source = |is_static| transport.subscribe(&endpoint(directory, is_static)?, None);
        match source(true).and_then(|fixed| Ok([source(false)?, fixed])) {
            Ok(sources) => {
                self.sources = Some(sources);
                self.tell(Priority::Info, "frames come from /tf and /tf_static".to_owned());
            }
            Err(reason) => self.tell(Priority::Warning, reason),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Some(mut sources) = self.sources.take() else { return true };
        let mut is_idle = true;
        for (number, source) in sources.iter_mut().enumerate() {
            for _ in 0..most {
                let mut came = None;
                let took = source.take(&mut |message| came = message.map(|message| read(message, &self.context)));
                match took {
                    Took::Nothing => break,
                    // It went out from here, by this bridge or another one of this machine.
                    Took::Circle | Took::Again => {}
                    Took::Message => match came {
                        Some(Ok(all)) => all.iter().for_each(|placed| self.take(placed, number == 1)),
                        Some(Err(error)) => {
                            self.counts.refused += 1;
                            self.tell(Priority::Warning, error.to_string());
                        }
                        None => self.counts.refused += 1,
                    },
                }
                is_idle = false;
            }
        }
        self.sources = Some(sources);
        is_idle
    }

    fn is_looked_for(&self) -> bool {
        false
    }

    fn is_there(&self) -> bool {
        self.sources.is_some()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.told.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        let Counts { carried, refused } = self.counts;
        let lost: u64 = self.sources.iter().flatten().map(|source| source.damage().0).sum();
        (format!("{carried} transforms carried, {refused} refused, {lost} messages lost"), refused + lost)
    }
}

impl Fixed {
    /// A static frame; false when it is known.
    fn put(&mut self, Placed { parent, child, transform, .. }: &Placed, of_ros: &OfRos) -> Result<bool, SendError> {
        match self.frames.get(child) {
            Some((known, before)) if known == parent && before == transform => return Ok(false),
            // It moved after all: all of them are sent anew, and are not known for a moment.
            Some(_) => {
                self.frames.remove(child);
                self.broadcaster = None;
            }
            None => {}
        }
        let broadcaster = match &mut self.broadcaster {
            Some(broadcaster) => broadcaster,
            None => {
                let mut fresh = StaticBroadcaster::open(&Options::default())?;
                fresh
                    .add_all(self.frames.iter().map(|(child, (parent, at))| (parent.as_str(), child.as_str(), *at)))?;
                self.broadcaster.insert(fresh)
            }
        };
        broadcaster.add(parent, child, transform)?;
        self.frames.insert(child.clone(), (parent.clone(), *transform));
        of_ros.borrow_mut().insert(child.clone());
        Ok(true)
    }
}
