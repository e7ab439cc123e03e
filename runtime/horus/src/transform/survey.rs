//! The tree as people look at it: all frames with their parents, who sends them, and how old they are. Allocates and makes system calls.

use super::error::LookupError;
use super::frames::{Frames, Reader};
use super::name::FrameName;
use super::table;
use crate::time::MonotonicTime;
use crate::topic::OpenError;

/// How a frame is known in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Once and for all.
    Static,
    /// By transforms, of which the newest has this time; `None` before the first.
    Moving(Option<MonotonicTime>),
}

/// A frame in its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The frame.
    pub child: FrameName,
    /// Its parent.
    pub parent: FrameName,
    /// How it is known.
    pub known: Known,
    /// The living program that sends it, in words; `None` when it was killed.
    pub sender: Option<String>,
}

/// All frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Each frame that has a parent, by name.
    pub links: Vec<Link>,
    /// The frames without a parent, by name.
    pub roots: Vec<FrameName>,
    /// How many frames are left out, since a program knows 1,024 at most.
    pub left_out: usize,
}

impl Frames {
    /// All frames as they are now.
    ///
    /// # Errors
    /// When the kernel refuses to tell who lives.
    pub fn survey(&self) -> Result<Survey, OpenError> {
        let mut reader = self.0.borrow_mut();
        reader.read_table();
        let living = reader.subscription.publishers()?;
        let sender = |lane: usize| living.iter().find(|(living, _)| *living == lane).map(|(_, who)| who.to_string());
        let mut survey = Survey { left_out: reader.table.left_out(), ..Survey::default() };
        for frame in 0..reader.table.frames().len() {
            let Some(mut link) = reader.link(frame) else {
                survey.roots.push(reader.table.frames()[frame].name);
                continue;
            };
            // The newest claim is the one that counts.
            let claim = reader.claims.iter().find(|claim| claim.child == link.child && claim.parent == link.parent);
            link.sender = claim.and_then(|claim| sender(claim.lane));
            survey.links.push(link);
        }
        survey.links.sort_by(|one, other| one.child.as_str().cmp(other.child.as_str()));
        survey.roots.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        Ok(survey)
    }

    /// The links on the way from `target` to `source`, in this order; those up to the common ancestor first. Without their senders.
    ///
    /// # Errors
    /// Those of [`at`](Self::at) that no time has.
    pub fn way(&self, target: &str, source: &str) -> Result<Vec<Link>, LookupError> {
        self.look(|reader| {
            let (target, source, common) = reader.ends(target, source)?;
            let links = |from| {
                let frames = reader.table.path(from).take_while(|&frame| frame != common);
                frames.filter_map(|frame| reader.link(frame)).collect::<Vec<_>>()
            };
            let (mut way, mut down) = (links(target), links(source));
            down.reverse();
            way.append(&mut down);
            Ok(way)
        })
    }
}

impl Reader {
    fn link(&self, frame: usize) -> Option<Link> {
        let child = self.table.frames()[frame];
        let parent = self.table.frames()[child.parent()?].name;
        let known = match child.link {
            table::Link::Moving { lane, first } => {
                Known::Moving(self.lane(lane, first).newest_ns().ok().map(MonotonicTime::from_nanos))
            }
            table::Link::Static(_) | table::Link::Root => Known::Static,
        };
        Some(Link { child: child.name, parent, known, sender: None })
    }
}
