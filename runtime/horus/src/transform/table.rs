//! The tree as a reader knows it: who is in whom, and where the transforms are. Has all its room from the beginning.

use super::MAX_FRAMES;
use super::name::FrameName;
use super::pose::Transform;

/// Places of the index by name: a power of two, and at least twice the frames.
const PLACES: usize = 2 * MAX_FRAMES;
const NONE: u16 = u16::MAX;

/// How a frame is known in its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Link {
    /// It has no parent.
    Root,
    /// Once and for all.
    Static(Transform),
    /// By the transforms of a lane that come after number `first`.
    Moving { lane: usize, first: u64 },
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub name: FrameName,
    parent: u16,
    pub link: Link,
}

impl Frame {
    pub fn parent(&self) -> Option<usize> {
        (self.parent != NONE).then_some(self.parent.into())
    }
}

/// All frames.
pub(super) struct Table {
    frames: Vec<Frame>,
    /// The frame of a name, from the place of its hash on.
    index: Box<[u16; PLACES]>,
    left_out: usize,
}

impl Table {
    pub fn new() -> Self {
        Self { frames: Vec::with_capacity(MAX_FRAMES), index: Box::new([NONE; PLACES]), left_out: 0 }
    }

    pub fn clear(&mut self) {
        self.frames.clear();
        self.index.fill(NONE);
        self.left_out = 0;
    }

    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// How many frames there was no room for.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.place(name).ok().map(usize::from)
    }

    /// Puts `child` into `parent`, unless it has a parent already or would be above itself.
    pub fn put(&mut self, parent: &FrameName, child: &FrameName, link: Link) {
        let (Some(parent), Some(child)) = (self.frame(parent), self.frame(child)) else {
            self.left_out += 1;
            return;
        };
        if self.frames[child].parent == NONE && !self.path(parent).any(|above| above == child) {
            (self.frames[child].parent, self.frames[child].link) = (parent as u16, link);
        }
    }

    /// A frame and those above it.
    pub fn path(&self, from: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(from), |&frame| self.frames[frame].parent())
    }

    /// The frame without a parent above this one.
    pub fn root(&self, of: usize) -> usize {
        self.path(of).last().unwrap_or(of)
    }

    /// How many frames are above this one.
    pub fn depth(&self, of: usize) -> usize {
        self.path(of).count() - 1
    }

    /// The name that takes the fewest edits.
    pub fn nearest(&self, name: &str) -> Option<FrameName> {
        self.frames.iter().min_by_key(|frame| frame.name.edits_to(name)).map(|frame| frame.name)
    }

    /// The number of this frame, which is new if need be.
    fn frame(&mut self, name: &FrameName) -> Option<usize> {
        match self.place(name.as_str()) {
            Ok(frame) => Some(frame.into()),
            Err(place) => (self.frames.len() < MAX_FRAMES).then(|| {
                self.index[place] = self.frames.len() as u16;
                self.frames.push(Frame { name: *name, parent: NONE, link: Link::Root });
                self.frames.len() - 1
            }),
        }
    }

    /// The frame of this name, or the free place for it. There always is one: half of the places are free.
    fn place(&self, name: &str) -> Result<u16, usize> {
        let mut place = FrameName::hash(name) as usize % PLACES;
        loop {
            match self.index[place] {
                NONE => return Err(place),
                frame if self.frames[usize::from(frame)].name.as_str() == name => return Ok(frame),
                _ => place = (place + 1) % PLACES,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> FrameName {
        FrameName::new(text).unwrap()
    }

    #[test]
    fn what_comes_first_counts_and_no_frame_gets_above_itself() {
        let mut table = Table::new();
        for (parent, child) in [("map", "odom"), ("odom", "base"), ("base", "map"), ("map", "base")] {
            table.put(&name(parent), &name(child), Link::Static(Transform::IDENTITY));
        }
        let base = table.find("base").unwrap();
        let path: Vec<_> = table.path(base).map(|frame| table.frames()[frame].name.to_string()).collect();
        assert_eq!(path, ["base", "odom", "map"]);
        assert_eq!((table.depth(base), table.nearest("bse").unwrap().as_str()), (2, "base"));
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut table = Table::new();
        for number in 0..MAX_FRAMES {
            table.put(&name("map"), &name(&format!("f{number}")), Link::Static(Transform::IDENTITY));
        }
        assert_eq!((table.frames().len(), table.left_out(), table.find("nothing")), (MAX_FRAMES, 1, None));
        table.clear();
        assert_eq!((table.find("map"), table.left_out()), (None, 0));
    }
}
