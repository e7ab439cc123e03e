//! Frames that go to ROS.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use horus::journal::Priority;
use horus::message::Message;
use horus::topic::Options;
use horus::transform::{FrameSample, Frames, Known, TOPIC};
use horus::zerocopy::{FromZeros, IntoBytes};
use horus_shm::directory::Directory;
use horus_shm::ends::observe::{Observation, Start};

use super::{OfRos, endpoint};
use crate::cdr::Writer;
use crate::clock::Offset;
use crate::config::Transforms;
use crate::convert::Context;
use crate::convert::transforms::{Placed, write};
use crate::route::mark::{Mark, sending};
use crate::route::{Endpoint, Exchange, Sent, Sink, Transport};

/// Transforms in a message of `/tf`.
const A_MESSAGE: usize = 64;
/// Static frames in all.
const STATICS: usize = 1024;

/// All frames of this namespace but those that the bridge has from ROS.
pub struct FramesOut {
    of_ros: OfRos,
    every: Duration,
    moving: Option<Moving>,
    fixed: Option<Fixed>,
    context: Context,
    carried: u64,
    missed: u64,
    lost: u64,
    trouble: VecDeque<(Priority, String)>,
}

/// `/tf`.
struct Moving {
    sink: Marked,
    observation: Option<Observation>,
    missed_before: u64,
    /// When the last transform of a frame was that went.
    last: BTreeMap<String, u64>,
    placed: Vec<Placed>,
    cdr: Vec<u8>,
    /// The message in `cdr` waits for room.
    is_waiting: bool,
}

/// `/tf_static`.
struct Fixed {
    sink: Marked,
    frames: Frames,
    sent: Vec<Placed>,
}

/// What sends, with the mark by which a bridge that takes frames from ROS knows that these are of here.
struct Marked {
    sink: Box<dyn Sink>,
    file: String,
    marked: Option<(Option<Mark>, [u8; 16])>,
}

impl Marked {
    fn new(endpoint: &Endpoint, transport: &mut dyn Transport) -> Result<Self, String> {
        let mut marked = Self { sink: transport.advertise(endpoint)?, file: endpoint.file.clone(), marked: None };
        marked.look();
        Ok(marked)
    }

    fn look(&mut self) {
        self.sink.look();
        let sender = self.sink.sender();
        if self.marked.as_ref().is_none_or(|(_, known)| *known != sender) {
            self.marked = Some((Mark::set(&sending(&sender, &self.file)).ok().flatten(), sender));
        }
    }
}

impl FramesOut {
    /// Nothing was looked at yet.
    pub fn new(settings: &Transforms, of_ros: &OfRos) -> Self {
        Self {
            of_ros: of_ros.clone(),
            every: Duration::from_millis(settings.every_ms.unwrap_or(0).into()),
            moving: None,
            fixed: None,
            context: Context::default(),
            carried: 0,
            missed: 0,
            lost: 0,
            trouble: VecDeque::new(),
        }
    }

    fn begin(&mut self, directory: &Directory, transport: &mut dyn Transport) -> Result<(), String> {
        let frames = Frames::open(&Options::default()).map_err(|error| error.to_string())?;
        let sink = Marked::new(&endpoint(directory, true)?, transport)?;
        self.fixed = Some(Fixed { sink, frames, sent: Vec::new() });
        let sink = Marked::new(&endpoint(directory, false)?, transport)?;
        self.moving = Some(Moving {
            sink,
            observation: None,
            missed_before: 0,
            last: BTreeMap::new(),
            placed: Vec::with_capacity(A_MESSAGE),
            cdr: Vec::new(),
            is_waiting: false,
        });
        self.trouble.push_back((Priority::Info, "frames go to /tf and /tf_static".to_owned()));
        Ok(())
    }
}

impl Exchange for FramesOut {
    fn name(&self) -> String {
        format!("{TOPIC} to ROS")
    }

    fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        self.context.offset = Offset::now();
        if self.fixed.is_none()
            && let Err(reason) = self.begin(directory, transport)
        {
            (self.fixed, self.moving) = (None, None);
            self.trouble.push_back((Priority::Warning, reason));
        }
        if let Some(moving) = &mut self.moving {
            moving.sink.look();
            if let Err(reason) = moving.watch(directory) {
                self.trouble.push_back((Priority::Warning, reason));
            }
        }
        let Some(fixed) = &mut self.fixed else { return };
        fixed.sink.look();
        match fixed.survey(&self.of_ros) {
            Ok(Some(all)) => {
                let mut cdr = Vec::new();
                write(&all, &mut Writer::new(&mut cdr), &self.context);
                match fixed.sink.sink.send(&cdr, 0, 0) {
                    Sent::Taken => {
                        self.carried += all.len() as u64;
                        fixed.sent = all;
                    }
                    Sent::Full => {} // with the next look
                    Sent::Lost => self.lost += all.len() as u64,
                }
            }
            Ok(None) => {}
            Err(reason) => self.trouble.push_back((Priority::Warning, reason)),
        }
    }

    fn carry(&mut self, most: usize) -> bool {
        let Self { moving: Some(moving), of_ros, every, context, carried, lost, missed, .. } = self else {
            return true;
        };
        if !moving.is_waiting && !moving.gather(most.min(A_MESSAGE), *every, of_ros, context) {
            return true;
        }
        *missed = moving.missed_before + moving.observation.as_ref().map_or(0, Observation::missed);
        match moving.sink.sink.send(&moving.cdr, 0, 0) {
            Sent::Full => {
                moving.is_waiting = true;
                return true;
            }
            Sent::Taken => *carried += moving.placed.len() as u64,
            Sent::Lost => *lost += moving.placed.len() as u64,
        }
        moving.is_waiting = false;
        false
    }

    fn is_looked_for(&self) -> bool {
        self.moving.as_ref().is_some_and(|moving| moving.observation.is_some())
    }

    fn is_there(&self) -> bool {
        self.fixed.is_some()
    }

    fn told(&mut self) -> Option<(Priority, String)> {
        self.trouble.pop_front()
    }

    fn figures(&self) -> (String, u64) {
        let Self { carried, missed, lost, .. } = self;
        (format!("{carried} transforms carried, {missed} missed, {lost} lost"), missed + lost)
    }
}

impl Moving {
    /// Watches the topic of all frames, if there is one.
    fn watch(&mut self, directory: &Directory) -> Result<(), String> {
        if let Some(observation) = &self.observation {
            if observation.is_current() {
                return Ok(());
            }
            self.missed_before += observation.missed();
            self.observation = None;
        }
        let found =
            Observation::open(&directory.file(&super::topic()), Start::Back(0)).map_err(|error| error.to_string())?;
        let Some(found) = found else { return Ok(()) };
        if found.header().layout_hash != FrameSample::LAYOUT_HASH {
            return Err(format!("{TOPIC} is no topic of frames, or one of another version: end its programs"));
        }
        self.observation = Some(found);
        Ok(())
    }

    /// Makes a message of the transforms that came; false if there is none.
    fn gather(&mut self, most: usize, every: Duration, of_ros: &OfRos, context: &Context) -> bool {
        let Self { observation: Some(observation), placed, last, .. } = self else { return false };
        placed.clear();
        let mut sample = FrameSample::new_zeroed();
        while placed.len() < most {
            let Some(received) = observation.try_take(sample.as_mut_bytes()) else { break };
            let Some((parent, child)) = sample.moving() else { continue };
            let (child, stamp_ns) = (child.to_string(), received.sent_ns);
            if of_ros.borrow().contains(&child) {
                continue;
            }
            let before = last.get(&child).copied().unwrap_or(0);
            if before != 0 && stamp_ns > before && u128::from(stamp_ns - before) < every.as_nanos() {
                continue;
            }
            if last.len() < STATICS {
                last.insert(child.clone(), stamp_ns);
            }
            placed.push(Placed { parent: parent.to_string(), child, stamp_ns, transform: sample.transform });
        }
        if placed.is_empty() {
            return false;
        }
        write(placed, &mut Writer::new(&mut self.cdr), context);
        true
    }
}

impl Fixed {
    /// All static frames, if they are others than those that were sent.
    fn survey(&self, of_ros: &OfRos) -> Result<Option<Vec<Placed>>, String> {
        let survey = self.frames.survey().map_err(|error| error.to_string())?;
        let links = survey.links.iter().filter(|link| link.known == Known::Static).take(STATICS);
        let placed = links.filter(|link| !of_ros.borrow().contains(link.child.as_str())).filter_map(|link| {
            let (parent, child) = (link.parent.to_string(), link.child.to_string());
            let (transform, _) = self.frames.newest(&parent, &child).ok()?;
            Some(Placed { parent, child, stamp_ns: 0, transform })
        });
        let placed: Vec<_> = placed.collect();
        Ok((placed != self.sent).then_some(placed))
    }
}
