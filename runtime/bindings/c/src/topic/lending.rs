//! An end of a topic, with what it has lent of the topic's memory.

use crate::status::{Refusal, misuse};

/// An end of type `E`, and what it lends, of type `L`. One thing at a time is lent; meanwhile the end is not used otherwise.
pub(crate) struct Lending<E, L> {
    /// What is lent. Before the end, because it is dropped first: it borrows from it.
    pub lent: Option<L>,
    /// In a box of its own, so that it stays where it is while something borrows from it.
    end: Box<E>,
}

impl<E, L> Lending<E, L> {
    pub fn new(end: E) -> Self {
        Self { lent: None, end: Box::new(end) }
    }

    /// The end, if nothing is lent; `first` says what to do otherwise.
    #[inline(always)]
    pub fn free(&mut self, first: &str) -> Result<&mut E, Refusal> {
        match self.lent {
            None => Ok(&mut self.end),
            Some(_) => Err(misuse(first)),
        }
    }
}
