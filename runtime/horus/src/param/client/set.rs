//! Setting parameters of another program: all that are named, or none.

use std::sync::{MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use horus_shm::board::Writing;
use rustix::process::getuid;

use super::{Current, Params, SetError};
use crate::param::declaration::Declaration;
use crate::param::declaration::starts_only;
use crate::param::origin::Origin;
use crate::param::saved::Entry;
use crate::param::sheet::{NUMBER, ORIGIN_WORDS};
use crate::param::value::Value;

/// What stands before a value, and what gives its words.
struct Wanted<W> {
    name: String,
    who: u64,
    when: u64,
    words: W,
}

impl Params {
    /// Sets several, all of them or none; returns what they were.
    ///
    /// # Errors
    /// When one of them may not have its value, or there is none of its name; when this user may not set them; or when the program has
    /// ended. Nothing changes then.
    pub fn set(&self, wanted: &[(&str, Value)]) -> Result<Vec<Current>, SetError> {
        self.set_by(wanted.iter().map(|(name, value)| by_this_user(name, |known: &Declaration| known.words_of(value))))
    }

    /// As [`set`](Self::set), of what a person wrote.
    ///
    /// # Errors
    /// As there.
    pub fn set_text(&self, wanted: &[(&str, &str)]) -> Result<Vec<Current>, SetError> {
        let each =
            wanted.iter().map(|(name, text)| by_this_user(name, |known: &Declaration| known.words_of_text(text)));
        self.set_by(each)
    }

    /// As [`set`](Self::set), of what was saved.
    pub(in crate::param) fn set_saved(&self, wanted: Vec<(&Declaration, &Entry)>) -> Result<(), SetError> {
        let each = wanted.into_iter().map(|(known, entry)| Wanted {
            name: format!("{}.{}", known.node, known.name),
            who: Origin::saved_of(entry.by),
            when: entry.at,
            words: |known: &Declaration| known.words_of(&entry.value),
        });
        self.set_by(each).map(drop)
    }

    fn set_by<W: Fn(&Declaration) -> Result<Vec<u64>, String>>(
        &self,
        wanted: impl Iterator<Item = Wanted<W>>,
    ) -> Result<Vec<Current>, SetError> {
        let alone = self.alone()?;
        let (number, mut set) = self.read().filter(|_| self.view.is_owned()).ok_or_else(|| self.ended())?;
        let mut before = Vec::new();
        for Wanted { name, who, when, words } in wanted {
            let (index, known) = self.find(&name)?;
            let current = self.current(index, known, &set);
            if before.iter().any(|(named, _)| *named == index) {
                return Err(SetError::Refused(format!("{name} is set twice: give it one value")));
            }
            let stays = |text: String| {
                let stays = current.value.as_ref().map_or_else(String::new, ToString::to_string);
                SetError::Refused(format!("{text}; it stays {stays}"))
            };
            if known.read_only {
                return Err(stays(starts_only(known)));
            }
            let words = words(known).map_err(stays)?;
            // Later than what is saved, whatever the clock says: by the two times `horus param list` tells whether this very value is saved.
            let saved = current.saved.filter(|_| Origin::is_command(who));
            let when = saved.map_or(when, |saved| when.max(saved.saturating_add(1)));
            let place = self.description.place(index);
            set[place.start - ORIGIN_WORDS..place.start].copy_from_slice(&[who, when]);
            set[place].copy_from_slice(&words);
            before.push((index, current));
        }
        // The set that holds is not touched. The kernel orders one call after the other.
        let next = number.wrapping_add(1);
        if !self.view.write_all(self.places.set(next), &set) {
            return Err(self.ended());
        }
        self.view.write(NUMBER, next);
        drop(alone);
        Ok(before.into_iter().map(|(_, current)| current).collect())
    }

    /// Keeps other setters out until what it returns is dropped.
    pub(super) fn alone(&self) -> Result<Alone<'_>, SetError> {
        if !self.view.is_writable() {
            let group = group_name(self.view.owner().1);
            return Err(SetError::NotPermitted { program: self.description.program.clone(), group });
        }
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let writing = self.view.write_alone()?.ok_or_else(|| SetError::Busy(self.description.program.clone()))?;
        Ok(Alone { _writing: writing, _turn: turn })
    }
}

/// No other setter writes while this is there. Dropped in this order: the kernel's lock first.
pub(super) struct Alone<'a> {
    _writing: Writing<'a>,
    _turn: MutexGuard<'a, ()>,
}

fn by_this_user<W>(name: &str, words: W) -> Wanted<W> {
    let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Wanted { name: name.to_owned(), who: Origin::command_of(getuid().as_raw()), when, words }
}

/// The name that `/etc/group` has for a group, or its number.
fn group_name(number: u32) -> String {
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let is_it = |line: &&str| line.split(':').nth(2) == Some(number.to_string().as_str());
    let name = groups.lines().find(is_it).and_then(|line| line.split(':').next());
    name.map_or_else(|| number.to_string(), str::to_owned)
}
