//! A program's start: which values its parameters begin with, and where each came from.

use std::sync::Arc;

use horus_shm::board::{self, Board};
use horus_shm::directory::{Directory, Location};

use super::declaration::{Declaration, starts_only, unknown};
use super::keeper::Keeper;
use super::origin::Origin;
use super::saved::{self, Saved};
use super::sheet::{Description, ORIGIN_WORDS, Sheet};
use super::value::Value;
use super::{Intake, Slot};
use crate::journal::{Entry, Priority};
use crate::topic::Group;

/// The most parameters of a program.
const MOST: usize = 1024;

/// The parameters of all nodes of a program.
pub(crate) struct Assembled {
    description: Description,
    slots: Vec<Arc<Slot>>,
    set: Vec<u64>,
    sheet: Arc<Sheet>,
    /// When each was saved, by number.
    saved: Vec<(usize, u64)>,
}

impl Assembled {
    /// Of these nodes, in their order. What is wrong is told with its node.
    pub fn of(program: &str, nodes: &[(&str, &[Arc<Slot>])]) -> crate::Result<Self> {
        let mut parameters: Vec<Declaration> = Vec::new();
        let mut slots = Vec::new();
        for (node, declared) in nodes {
            for slot in *declared {
                let declaration = Declaration { node: (*node).to_owned(), ..slot.declaration() };
                declaration.check().map_err(|text| crate::Error::new(format!("node {node}: {text}")))?;
                if parameters.iter().any(|known| known.node == *node && known.name == declaration.name) {
                    let text = format!("node {node} has two parameters named {}: give each its own", declaration.name);
                    return Err(crate::Error::new(text));
                }
                parameters.push(declaration);
                slots.push(Arc::clone(slot));
            }
        }
        if parameters.len() > MOST {
            return Err(crate::Error::new(format!(
                "{} parameters are too many for a program: {MOST} are possible",
                parameters.len()
            )));
        }
        let set =
            parameters.iter().flat_map(|known| [&[0; ORIGIN_WORDS], &*known.default].concat()).collect::<Vec<_>>();
        let description = Description { program: program.to_owned(), parameters, settings: String::new() };
        let sheet = Sheet::own(&set);
        Ok(Self { description, slots, set, sheet, saved: Vec::new() })
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Has a parameter begin with another value, by what node.toml says.
    pub fn settle(&mut self, node: &str, name: &str, value: &Value, file: &str) -> Result<(), String> {
        file.clone_into(&mut self.description.settings);
        self.begin_with(node, name, value, Origin::SETTINGS, 0)
    }

    fn begin_with(&mut self, node: &str, name: &str, value: &Value, who: u64, when: u64) -> Result<(), String> {
        let parameters = &self.description.parameters;
        let index = parameters.iter().position(|known| known.node == node && known.name == name);
        let index = index.ok_or_else(|| unknown(node, name, parameters))?;
        self.begin_at(index, value, who, when)
    }

    fn begin_at(&mut self, index: usize, value: &Value, who: u64, when: u64) -> Result<(), String> {
        let words = self.description.parameters[index].words_of(value)?;
        let place = self.description.place(index);
        self.set[place.start - ORIGIN_WORDS..place.start].copy_from_slice(&[who, when]);
        self.set[place].copy_from_slice(&words);
        self.sheet.put(&self.set);
        Ok(())
    }

    /// The loop's side of a node's parameters, if it has any.
    pub fn intake(&self, node: &str) -> Option<Box<Intake>> {
        let known = self.description.parameters.iter().enumerate().zip(&self.slots);
        let mine = known.filter(|((_, known), _)| known.node == node);
        let slots: Vec<_> = mine
            .map(|((index, known), slot)| (Arc::clone(slot), known.clone(), self.description.place(index)))
            .collect();
        (!slots.is_empty()).then(|| Box::new(Intake::new(Arc::clone(&self.sheet), slots)))
    }

    /// Has parameters begin with what was saved of them. Returns what there is to tell: that, and what fits no parameter any more, which
    /// stays in the file.
    pub fn take_saved(&mut self, location: &Location) -> Vec<Entry> {
        let Ok(path) = saved::place(&self.description.program, &location.namespace) else { return Vec::new() };
        let program = self.description.program.clone();
        let warning = |text: String| Entry::plain(Priority::Warning, format!("{program}: {text}"));
        let saved = match Saved::read(&path) {
            Ok(saved) => saved,
            Err(text) => return vec![warning(format!("no saved parameter is taken: {text}"))],
        };
        let (mut entries, mut taken) = (Vec::new(), Vec::new());
        for (node, named) in &saved.0 {
            for (name, entry) in named {
                let known = |known: &Declaration| known.node == *node && known.name == *name;
                let index = self.description.parameters.iter().position(known);
                let index = index.ok_or_else(|| unknown(node, name, &self.description.parameters));
                match index.and_then(|index| {
                    self.begin_at(index, &entry.value, Origin::saved_of(entry.by), entry.at).map(|()| index)
                }) {
                    Ok(index) => {
                        self.saved.push((index, entry.at.max(1)));
                        taken.push(format!("{node}.{name} = {}", entry.value));
                    }
                    Err(text) => entries.push(warning(format!(
                        "saved {node}.{name} = {} is not taken: {text}; it stays in {}: set and save another value, or \
                         `horus param forget {program}`",
                        entry.value,
                        path.display()
                    ))),
                }
            }
        }
        if !taken.is_empty() {
            let text = format!("{program} has saved parameters of {}: {}", path.display(), taken.join(", "));
            entries.push(Entry::plain(Priority::Info, text));
        }
        entries
    }

    /// The parameters where other processes see them, and what saves them. Where a group is named, it alone may set them.
    pub fn publish(&self, location: &Location, setters: Option<&Group>) -> crate::Result<(Arc<Sheet>, Keeper)> {
        let text = serde_json::to_string(&self.description)?;
        let count = self.slots.len();
        let words = Sheet::places(&text, count, self.set.len()).words();
        let name = &self.description.program;
        if words > board::MAX_WORDS {
            let most = board::MAX_WORDS;
            let text = format!("the parameters of {name} take {words} words, and {most} are possible: declare fewer");
            return Err(crate::Error::new(text));
        }
        let setters = setters.map(Group::number).transpose()?;
        let directory = Directory::at(&location.directory)?.in_namespace(&location.namespace)?;
        let board = Board::make_parameters(&directory, &name.parse()?, words, setters)?;
        let board = board
            .ok_or_else(|| crate::Error::new(format!("a program named {name} has its parameters open: stop it")))?;
        let sheet = Sheet::on(board, &text, count, &self.set);
        self.saved.iter().for_each(|(index, when)| sheet.set_saved(*index, *when));
        let keeper = Keeper::new(Arc::clone(&sheet), self.description.clone(), location.clone());
        Ok((sheet, keeper))
    }

    /// Sets a parameter, for a test in virtual time.
    pub fn set(&mut self, node: &str, name: &str, value: &Value) -> Result<(), String> {
        let parameters = &self.description.parameters;
        let index = parameters.iter().position(|known| known.node == node && known.name == name);
        let index = index.ok_or_else(|| unknown(node, name, parameters))?;
        let stays = Value::read(parameters[index].kind, &self.set[self.description.place(index)]);
        let stays =
            |text: String| format!("{text}; it stays {}", stays.map_or_else(String::new, |value| value.to_string()));
        if parameters[index].read_only {
            return Err(stays(starts_only(&parameters[index])));
        }
        self.begin_with(node, name, value, Origin::COMMAND, 0).map_err(stays)
    }
}
