//! A look at a file: what its header alleges, and of which generation that is.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use super::generation;
use super::header::{Alleged, Header};
use super::layout::{GENERATION_WORD, GENERATIONS, HEADER_BYTES, MEMBERSHIP, WORD};
use super::rejected::{Reason, Rejected};
use crate::error::OpenError;
use crate::patience::pause;

/// What stood at the beginning of a file.
pub(crate) struct Look {
    first_bytes: Vec<u8>,
    file_bytes: u64,
    generation: u64,
}

/// How often who holds no door looks at a topic that is being remade, and how long after each look. Remaking takes microseconds,
/// unless who did it was killed.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_micros(100);

impl Look {
    /// One look. If the header was written meanwhile, the topic counts as being remade.
    pub fn at(file: &OwnedFd, path: &Path) -> Result<Self, OpenError> {
        let io = |error| OpenError::io("read", path, error);
        let read = |into: &mut [u8], offset: usize| {
            let mut length = 0;
            while length < into.len() {
                match rustix::io::pread(file, &mut into[length..], (offset + length) as u64).map_err(io)? {
                    0 => break,
                    read => length += read,
                }
            }
            Ok::<_, OpenError>(length)
        };
        let generation_of_file = || {
            let mut word = [0; WORD];
            let length = read(&mut word, MEMBERSHIP + GENERATION_WORD * WORD)?;
            Ok::<_, OpenError>(if length == WORD { u64::from_ne_bytes(word) } else { 0 })
        };
        let header = || {
            let mut first_bytes = vec![0; HEADER_BYTES];
            let length = read(&mut first_bytes, 0)?;
            first_bytes.truncate(length);
            let file_bytes = rustix::fs::fstat(file).map_err(io)?.st_size as u64;
            Ok::<_, OpenError>((first_bytes, file_bytes))
        };
        let (generation, (first_bytes, file_bytes)) = generation::look(generation_of_file, header)?;
        Ok(Self { first_bytes, file_bytes, generation })
    }

    /// A look at a topic that is not being remade, for who holds no door: looks again for a while.
    pub fn steady(file: &OwnedFd, path: &Path) -> Result<Self, OpenError> {
        let mut look = Self::at(file, path)?;
        for _ in 1..LOOKS {
            if !look.is_unfinished() {
                break;
            }
            pause(PAUSE);
            look = Self::at(file, path)?;
        }
        Ok(look)
    }

    /// Whether the file is ours by its first bytes; see [`Alleged::is_ours`].
    pub fn is_ours(&self) -> bool {
        Alleged::is_ours(&self.first_bytes)
    }

    /// Whether the topic is being remade, or was when who did it was killed.
    pub fn is_unfinished(&self) -> bool {
        !self.generation.is_multiple_of(2)
    }

    /// The topic's generation.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The header, checked. Of a topic that is being remade, all that stays the same, and the smallest shape.
    pub fn header(&self, path: &Path) -> Result<Header, OpenError> {
        let header = Alleged::new(&self.first_bytes, self.file_bytes).and_then(|alleged| {
            let is_half_written = self.is_ours() && self.is_unfinished();
            let alleged = if is_half_written { alleged.of_the_smallest_shape()? } else { alleged };
            let header = alleged.validate()?;
            let most = 2 * GENERATIONS as u64 - 1;
            if self.generation > most {
                return Err(Reason::Inconsistent { field: "generation", found: self.generation, expected: most });
            }
            Ok(header)
        });
        Ok(header.map_err(|reason| Rejected { path: path.to_owned(), reason })?)
    }
}
