//! What the program itself does when it is asked: it saves values, loads them, and forgets them.

use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use super::{Params, SetError};
use crate::param::keeper::{Wish, number, outcome, request};
use crate::param::origin::Origin;
use crate::param::sheet::{ANSWER, ANSWER_BYTES, HEAD_WORDS, REQUEST};
use crate::time::{MonotonicTime, pause};

/// The longest wait for an answer: the program looks ten times a second, and a disk takes its time.
const LIMIT: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(5);

impl Params {
    /// Has the program save the values of these parameters, so that it begins with them when it starts again; of those that were set
    /// or loaded, where none is named. Returns which file they are in.
    ///
    /// # Errors
    /// When there is none of a name; when this user may not set parameters; or when the program cannot write its file, or has ended.
    /// What was saved before stays then.
    pub fn save(&self, names: &[&str]) -> Result<String, SetError> {
        let mut wanted = self.numbers(names)?;
        if names.is_empty() {
            let (_, set) = self.read().filter(|_| self.view.is_owned()).ok_or_else(|| self.ended())?;
            let parameters = &self.description.parameters;
            let is_set = |index: &usize| {
                let current = self.current(*index, &parameters[*index], &set);
                match current.origin {
                    Origin::Command { .. } => true,
                    Origin::Saved { .. } => current.saved.is_some(), // one that is forgotten since stays so
                    Origin::Program | Origin::Settings(_) => false,
                }
            };
            wanted.retain(is_set);
            if wanted.is_empty() {
                let text =
                    "no value differs from what the program and its node.toml say: name the parameters to be saved";
                return Err(SetError::Refused(text.to_owned()));
            }
        }
        self.ask(Wish::Save, &wanted)
    }

    /// Has the program set these parameters to what is saved; all of them where none is named. All change together, or none. Read-only ones
    /// are left as they are. Returns of which file they are.
    ///
    /// # Errors
    /// As [`save`](Self::save), and when a saved value fits its parameter no more.
    pub fn load(&self, names: &[&str]) -> Result<String, SetError> {
        self.ask(Wish::Load, &self.numbers(names)?)
    }

    /// Has the program drop what is saved of these parameters; all that is saved where none is named. Their values stay until the program
    /// ends. Returns of which file they were.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn forget(&self, names: &[&str]) -> Result<String, SetError> {
        let wish = if names.is_empty() && self.node.is_none() { Wish::ForgetAll } else { Wish::Forget };
        self.ask(wish, &self.numbers(names)?)
    }

    fn numbers(&self, names: &[&str]) -> Result<Vec<usize>, SetError> {
        match names {
            [] => Ok(self.chosen().map(|(index, _)| index).collect()),
            names => names.iter().map(|name| Ok(self.find(name)?.0)).collect(),
        }
    }

    fn ask(&self, wish: Wish, wanted: &[usize]) -> Result<String, SetError> {
        let until = MonotonicTime::now().plus(LIMIT);
        let number = loop {
            if let Some(number) = self.try_to_ask(wish, wanted)? {
                break number;
            }
            self.wait(until)?;
        };
        while self.answered()? != number {
            self.wait(until)?;
        }
        // The text was written before the number of the answer, which this process has seen.
        fence(Ordering::Acquire); // SYNC POINT: answer
        let (mut answer, mut text) = ([0], [0; ANSWER_BYTES / 8]);
        if !self.view.read(ANSWER, &mut answer) || !self.view.read(HEAD_WORDS, &mut text) {
            return Err(self.ended());
        }
        let (is_done, bytes) = outcome(answer[0]);
        let text: Vec<u8> = text.iter().flat_map(|word: &u64| word.to_le_bytes()).take(bytes).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        if is_done { Ok(text) } else { Err(SetError::Refused(text)) }
    }

    /// The number of the request; `None` while the program works at another one.
    fn try_to_ask(&self, wish: Wish, wanted: &[usize]) -> Result<Option<u32>, SetError> {
        let _alone = self.alone()?;
        let mut last = [0];
        if !self.view.read(REQUEST, &mut last) {
            return Err(self.ended());
        }
        if self.answered()? != number(last[0]) {
            return Ok(None);
        }
        let mut marks = vec![0_u64; self.places.marks().len()];
        wanted.iter().for_each(|index| marks[index / 64] |= 1 << (index % 64));
        if !self.view.write_all(self.places.marks().start, &marks) {
            return Err(self.ended());
        }
        let next = number(last[0]).wrapping_add(1);
        // Who sees the request sees the marks. The kernel orders the two calls; the fence keeps the compiler from it, too.
        fence(Ordering::Release); // SYNC POINT: request
        self.view.write(REQUEST, request(next, wish));
        Ok(Some(next))
    }

    fn answered(&self) -> Result<u32, SetError> {
        let mut answer = [0];
        match self.view.read(ANSWER, &mut answer) && self.view.is_owned() {
            true => Ok(number(answer[0])),
            false => Err(self.ended()),
        }
    }

    fn wait(&self, until: MonotonicTime) -> Result<(), SetError> {
        if MonotonicTime::now() >= until {
            return Err(SetError::Silent(self.description.program.clone()));
        }
        pause(INTERVAL);
        Ok(())
    }
}
