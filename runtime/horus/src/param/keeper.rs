//! The program's side of saving: it writes, reads and drops what was saved, when a process that may set its parameters asks for it.
//!
//! The thread beside the loops looks ten times a second whether something is asked. What it takes a disk for is done by a thread of its
//! own, of which there is one at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use horus_shm::directory::Location;

use super::client::{Params, SetError};
use super::origin::Origin;
use super::saved::{Entry, Saved, place};
use super::sheet::{ANSWER_BYTES, Description, ORIGIN_WORDS, Sheet};
use super::value::Value;
use crate::time::MonotonicTime;

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Save the values of the marked parameters.
    Save = 1,
    /// Set the marked parameters to what is saved.
    Load = 2,
    /// Drop what is saved of the marked parameters.
    Forget = 3,
    /// Drop all that is saved.
    ForgetAll = 4,
}

/// A request: a number, and a wish.
pub(super) fn request(number: u32, wish: Wish) -> u64 {
    u64::from(number) << 8 | wish as u64
}

/// The number of a request, or of an answer.
pub(super) fn number(word: u64) -> u32 {
    (word >> 8) as u32
}

/// An answer: the number of the request, whether it was done, and how long the text is.
fn answer(number: u32, is_done: bool, bytes: usize) -> u64 {
    (bytes as u64) << 48 | u64::from(number) << 8 | u64::from(is_done)
}

/// Whether it was done, and the length of the text.
pub(super) fn outcome(answer: u64) -> (bool, usize) {
    (answer & 1 == 1, usize::try_from(answer >> 48).unwrap_or(0).min(ANSWER_BYTES))
}

const STACK_BYTES: usize = 256 * 1024;

/// What the program's supervising thread has of it.
pub(crate) struct Keeper {
    work: Arc<Work>,
    running: Option<(u32, JoinHandle<Result<String, String>>)>,
    answered: u32,
}

struct Work {
    sheet: Arc<Sheet>,
    description: Description,
    location: Location,
    file: Result<PathBuf, String>,
}

impl Keeper {
    pub(super) fn new(sheet: Arc<Sheet>, description: Description, location: Location) -> Self {
        let file = place(&description.program, &location.namespace);
        Self { work: Arc::new(Work { sheet, description, location, file }), running: None, answered: 0 }
    }

    /// Looks whether something is asked, or has been done; at its last call it waits for what is being done.
    pub fn look(&mut self, now: MonotonicTime) {
        let is_last = now == MonotonicTime::MAX;
        if let Some((number, running)) = self.running.take_if(|(_, running)| is_last || running.is_finished()) {
            let outcome = running.join().unwrap_or_else(|_| Err("saving has panicked: see the journal".to_owned()));
            self.answer(number, &outcome);
        }
        let word = self.work.sheet.request();
        let number = number(word);
        if is_last || self.running.is_some() || number == self.answered {
            return;
        }
        let work = Arc::clone(&self.work);
        let started = thread::Builder::new()
            .name("saving".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || work.run(word & 0xff));
        match started {
            Ok(running) => self.running = Some((number, running)),
            Err(error) => self.answer(number, &Err(format!("no thread to save with: {error}"))),
        }
    }

    /// Refuses what is asked, and says why.
    pub fn refuse(&mut self, reason: &str) {
        let number = number(self.work.sheet.request());
        if number != self.answered {
            self.answer(number, &Err(reason.to_owned()));
        }
    }

    fn answer(&mut self, number: u32, outcome: &Result<String, String>) {
        let (Ok(text) | Err(text)) = outcome;
        let text = &text[..text.floor_char_boundary(ANSWER_BYTES)];
        self.work.sheet.answer(answer(number, outcome.is_ok(), text.len()), text);
        self.answered = number;
    }
}

impl Work {
    fn run(&self, wish: u64) -> Result<String, String> {
        let path = self.file.clone()?;
        let mut saved = Saved::read(&path)?;
        let marked = self.sheet.marked();
        let program = &self.description.program;
        match wish {
            wish if wish == Wish::Save as u64 => {
                let count = self.save(&marked, &mut saved)?;
                saved.write(program, &path)?;
                marked.iter().for_each(|&index| self.note(index, &saved));
                Ok(format!("{} in {}", values(count), path.display()))
            }
            wish if wish == Wish::Load as u64 => {
                let count = self.load(&marked, &saved, &path)?;
                Ok(format!("{} of {}", values(count), path.display()))
            }
            _ => {
                let count = if wish == Wish::ForgetAll as u64 {
                    let count = saved.0.values().map(|named| named.len()).sum();
                    saved = Saved::default();
                    count
                } else {
                    let known = marked.iter().map(|&index| &self.description.parameters[index]);
                    known.filter(|known| saved.remove(&known.node, &known.name)).count()
                };
                saved.write(program, &path)?;
                (0..self.description.parameters.len()).for_each(|index| self.note(index, &saved));
                Ok(format!("{} of {}", values(count), path.display()))
            }
        }
    }

    fn note(&self, index: usize, saved: &Saved) {
        let known = &self.description.parameters[index];
        self.sheet.set_saved(index, saved.get(&known.node, &known.name).map_or(0, |entry| entry.at.max(1)));
    }

    fn save(&self, marked: &[usize], saved: &mut Saved) -> Result<usize, String> {
        let set = self.set().ok_or("others set parameters all the time: try again")?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        for &index in marked {
            let known = &self.description.parameters[index];
            let place = self.description.place(index);
            let [who, when] = [set[place.start - ORIGIN_WORDS], set[place.start - 1]];
            let (by, at) = Origin::read(who, when, &self.description).set_by();
            // Any process of the group can write any word.
            if let Some(value) = Value::read(known.kind, &set[place]).filter(|value| known.words_of(value).is_ok()) {
                saved.insert(&known.node, &known.name, Entry { value, at: at.unwrap_or(now), by });
            }
        }
        Ok(marked.len())
    }

    fn set(&self) -> Option<Vec<u64>> {
        let mut set = vec![0; self.description.set_words()];
        let mut copy = |_| {
            let number = self.sheet.number();
            self.sheet.copy(number, 0..set.len(), &mut set)
        };
        (0..100).any(&mut copy).then_some(set)
    }

    fn load(&self, marked: &[usize], saved: &Saved, path: &Path) -> Result<usize, String> {
        let known = marked.iter().map(|&index| &self.description.parameters[index]).filter(|known| !known.read_only);
        let wanted: Vec<_> = known.filter_map(|known| Some((known, saved.get(&known.node, &known.name)?))).collect();
        let params = Params::open_at(&self.location, &self.description.program).map_err(|error| error.to_string())?;
        let count = wanted.len();
        params.set_saved(wanted).map_err(|error| match error {
            SetError::Refused(text) => {
                format!("{}: {text}; nothing changes, and nothing in it is lost", path.display())
            }
            error => error.to_string(),
        })?;
        Ok(count)
    }
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}
