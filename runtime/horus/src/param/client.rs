//! Parameters of programs that run, seen and set from another process.
//!
//! # What it does not do
//! It does not wait for a node to take a set: a node does at the start of its next cycle.

mod ask;
mod set;
mod watch;

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex};

use horus_shm::board::{self, View};
use horus_shm::directory::{Directory, Location, TopicName};
use horus_shm::error::OpenError;
use thiserror::Error;

use super::declaration::Declaration;
use super::declaration::unknown;
use super::origin::Origin;
use super::sheet::{Description, HEAD_WORDS, NUMBER, ORIGIN_WORDS, Places, TEXT, VERSION};
use super::value::Value;

pub use watch::{Change, Watch};

/// How often a set is read that others write to meanwhile.
const TRIES: usize = 100;

/// A parameter with its value at one moment.
#[derive(Clone, Debug)]
pub struct Current {
    /// What its program says of it.
    pub declaration: Declaration,
    /// Its value; `None` where the board holds none that it can be.
    pub value: Option<Value>,
    /// Where that came from.
    pub origin: Origin,
    /// When the value was set that the program has saved, in seconds since 1970; `None` where it has saved none. It may be another one
    /// than [`value`](Self::value), which the program then begins with when it starts again.
    pub saved: Option<u64>,
}

/// Why nothing was set.
#[derive(Debug, Error)]
pub enum SetError {
    /// What a value may be, or which parameters there are. A sentence without its beginning: the command says `refused: `.
    #[error("{0}")]
    Refused(String),
    /// The program does not run, or what it shows is no set of parameters.
    #[error("{0} has ended: start it, and set its parameters again")]
    Ended(String),
    /// Another process stopped while it set parameters.
    #[error("another process has set parameters of {0} for a second: end it, and try again")]
    Busy(String),
    /// This user may read the parameters, and not set them.
    #[error(
        "parameters of {program} are set by the group {group} alone: add your user to it (sudo usermod -aG {group} \"$USER\") and log \
         in again, or ask one of its members"
    )]
    NotPermitted {
        /// The program.
        program: String,
        /// The group, by name where it has one.
        group: String,
    },
    /// The program does not answer.
    #[error(
        "{0} does not answer: its thread beside the loops has no CPU time, or the program is stopped; look at `horus top`"
    )]
    Silent(String),
    /// The kernel refused.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// The parameters of a program that runs, or those of one of its nodes.
#[derive(Clone)]
pub struct Params {
    view: Arc<View>,
    description: Arc<Description>,
    places: Places,
    node: Option<String>,
    /// The kernel's lock keeps processes apart, and not threads that share what they opened.
    turn: Arc<Mutex<()>>,
}

/// All programs of a directory that have parameters.
///
/// # Errors
/// When the directory cannot be read. A program that cannot be looked at is left out.
pub fn list(directory: &Directory) -> Result<Vec<Params>, OpenError> {
    let paths = board::list_parameters(directory)?;
    let views = paths.iter().filter_map(|path| View::open(path).ok().flatten());
    Ok(views.filter_map(|view| Params::of(view, None)).collect())
}

impl Params {
    /// Those of `PROGRAM`, or of `PROGRAM/NODE`.
    ///
    /// # Errors
    /// When no living program of this name has parameters, or this user may not see them.
    pub fn open(name: &str) -> crate::Result<Self> {
        Self::open_at(&Location::from_environment()?, name)
    }

    /// As [`open`](Self::open), on the topics of another place.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn open_at(location: &Location, name: &str) -> crate::Result<Self> {
        let (program, node) = name.split_once('/').map_or((name, None), |(program, node)| (program, Some(node)));
        let known = crate::outside::shown(program, 64);
        let gone = || crate::Error::new(format!("no living program {known} has parameters: see `horus param list`"));
        let file = program.parse::<TopicName>()?;
        let directory = Directory::find(location.path())?.ok_or_else(gone)?;
        let view = View::open(&board::parameters(&directory, &file))?.ok_or_else(gone)?;
        let params = Self::of(view, node.map(str::to_owned)).ok_or_else(gone)?;
        match node {
            Some(node) if !params.description.parameters.iter().any(|known| known.node == node) => {
                let node = crate::outside::shown(node, 64);
                Err(crate::Error::new(format!(
                    "{known} has no node {node} with parameters: see `horus param list {known}`"
                )))
            }
            _ => Ok(params),
        }
    }

    /// What the owner alleges is checked: the text by its parser, sizes and declarations here.
    fn of(view: View, node: Option<String>) -> Option<Self> {
        let mut head = [0; HEAD_WORDS];
        if !view.read(0, &mut head) || head[0] != VERSION {
            return None;
        }
        // What follows was written before the version, which this process has seen.
        fence(Ordering::Acquire); // SYNC POINT: parameters
        if !view.read(0, &mut head) {
            return None;
        }
        let bytes = usize::try_from(head[1]).ok()?;
        let end = TEXT.checked_add(bytes.div_ceil(8)).filter(|end| *end <= view.words())?;
        let mut text = vec![0; end - TEXT];
        if !view.read(TEXT, &mut text) {
            return None;
        }
        let text: Vec<u8> = text.iter().flat_map(|word: &u64| word.to_le_bytes()).take(bytes).collect();
        let description: Description = serde_json::from_slice(&text).ok()?;
        let set_words = description.set_words();
        let places = Places::behind(bytes.div_ceil(8), description.parameters.len(), set_words);
        let is_whole = head[2] == set_words as u64 && places.words() <= view.words();
        let is_good = description.parameters.iter().all(|known| known.check().is_ok());
        (is_whole && is_good).then(|| Self {
            view: Arc::new(view),
            description: Arc::new(description),
            places,
            node,
            turn: Arc::default(),
        })
    }

    /// The program.
    pub fn program(&self) -> &str {
        &self.description.program
    }

    /// The parameters that are looked at, each with its number in the program.
    fn chosen(&self) -> impl Iterator<Item = (usize, &Declaration)> {
        let chosen = |known: &Declaration| self.node.as_ref().is_none_or(|node| *node == known.node);
        self.description.parameters.iter().enumerate().filter(move |(_, known)| chosen(known))
    }

    /// Their values at one moment: all of one set.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn list(&self) -> Result<Vec<Current>, SetError> {
        let (_, set) = self.read().filter(|_| self.view.is_owned()).ok_or_else(|| self.ended())?;
        Ok(self.all(&set))
    }

    fn all(&self, set: &[u64]) -> Vec<Current> {
        self.chosen().map(|(index, known)| self.current(index, known, set)).collect()
    }

    fn current(&self, index: usize, known: &Declaration, set: &[u64]) -> Current {
        let place = self.description.place(index);
        let [who, when] = [set[place.start - ORIGIN_WORDS], set[place.start - 1]];
        let mut saved = [0];
        let is_read = self.view.read(self.places.saved().start + index, &mut saved);
        Current {
            declaration: known.clone(),
            value: Value::read(known.kind, &set[place]),
            origin: Origin::read(who, when, &self.description),
            saved: Some(saved[0]).filter(|when| is_read && *when > 0),
        }
    }

    /// One of them: `NAME`, or `NODE.NAME` where all nodes of a program are looked at and several have it.
    ///
    /// # Errors
    /// When there is none of this name, or the program has ended.
    pub fn get(&self, name: &str) -> Result<Current, SetError> {
        let (index, known) = self.find(name)?;
        let (_, set) = self.read().filter(|_| self.view.is_owned()).ok_or_else(|| self.ended())?;
        Ok(self.current(index, known, &set))
    }

    fn find(&self, name: &str) -> Result<(usize, &Declaration), SetError> {
        let is_it = |known: &Declaration| {
            known.name == name
                || name.strip_prefix(&*known.node).and_then(|rest| rest.strip_prefix('.')) == Some(&known.name)
        };
        let mut found = self.chosen().filter(|(_, known)| is_it(known));
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(found),
            (Some((_, one)), Some((_, other))) => Err(SetError::Refused(format!(
                "{name} is a parameter of {} and of {}: name one, such as {}/{}",
                one.node, other.node, self.description.program, one.node
            ))),
            (None, _) => {
                let nodes = self.chosen().map(|(_, known)| known.node.as_str());
                let node = self.node.as_deref().or_else(|| nodes.min()).unwrap_or_default();
                Err(SetError::Refused(unknown(node, name, &self.description.parameters)))
            }
        }
    }

    /// The set that holds, and its number.
    fn read(&self) -> Option<(u64, Vec<u64>)> {
        let mut set = vec![0; self.description.set_words()];
        for _ in 0..TRIES {
            let (mut before, mut after) = ([0], [0]);
            let is_read = self.view.read(NUMBER, &mut before)
                && self.view.read(self.places.set(before[0]), &mut set)
                && self.view.read(NUMBER, &mut after);
            if !is_read {
                return None;
            }
            if before == after {
                return Some((before[0], set));
            }
        }
        None
    }

    fn ended(&self) -> SetError {
        SetError::Ended(self.description.program.clone())
    }
}
