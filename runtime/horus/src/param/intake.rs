//! The loop's side: at the start of each cycle a node takes the set that holds, or keeps the one that it has.
//!
//! A cycle whose set is the one of before costs one load. Another one is copied, and each value compared with what its parameter may be:
//! who may write to the board may write anything. No lock, no system call, no allocation; as many tries as [`TRIES`], after which the
//! node goes on with the set that it has, and looks again in its next cycle.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Slot;
use super::declaration::Declaration;
use super::sheet::Sheet;

/// How often a set is copied that setters write to meanwhile.
const TRIES: usize = 3;

/// The parameters of one node.
pub(crate) struct Intake {
    sheet: Arc<Sheet>,
    taken: Option<u64>,
    /// The words of the node's parameters in a set.
    part: Range<usize>,
    mine: Vec<Mine>,
    copied: Vec<u64>,
}

struct Mine {
    slot: Arc<Slot>,
    declaration: Declaration,
    /// Within `part`.
    place: Range<usize>,
}

impl Intake {
    /// Of parameters that stand one behind the other in a set, each with its place there.
    pub(super) fn new(sheet: Arc<Sheet>, slots: Vec<(Arc<Slot>, Declaration, Range<usize>)>) -> Self {
        let first = slots.first().map_or(0, |(_, _, place)| place.start);
        let part = first..slots.last().map_or(0, |(_, _, place)| place.end);
        let within = |place: Range<usize>| place.start - first..place.end - first;
        let mine = slots.into_iter().map(|(slot, declaration, place)| Mine { slot, declaration, place: within(place) });
        let (mine, copied) = (mine.collect(), vec![0; part.len()]);
        let mut intake = Self { sheet, taken: None, part, mine, copied };
        intake.look();
        intake
    }

    /// From now on by this sheet, which has what the other one had.
    pub fn attach(&mut self, sheet: Arc<Sheet>) {
        self.sheet = sheet;
        self.taken = None;
        self.look();
    }

    /// At the start of a cycle.
    #[inline]
    pub fn look(&mut self) {
        if self.taken != Some(self.sheet.number()) {
            self.take();
        }
    }

    #[inline(never)]
    fn take(&mut self) {
        for _ in 0..TRIES {
            let number = self.sheet.number();
            if self.sheet.copy(number, self.part.clone(), &mut self.copied) {
                self.taken = Some(number);
                self.adopt();
                return;
            }
        }
    }

    /// All of the set, or nothing of it.
    fn adopt(&mut self) {
        if self.mine.iter().any(|mine| !mine.declaration.allows(&self.copied[mine.place.clone()])) {
            return;
        }
        for mine in &self.mine {
            for (place, word) in mine.slot.words.iter().zip(&self.copied[mine.place.clone()]) {
                place.store(*word, Ordering::Relaxed); // read by this thread
            }
        }
    }
}
