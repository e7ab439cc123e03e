//! A program's start: which values its parameters begin with, and where each came from.

use std::sync::Arc;

use horus_shm::board::{self, Board};

use super::declaration::Declaration;
use super::origin::Origin;
use super::sheet::{Description, ORIGIN_WORDS, Sheet};
use super::value::Value;
use super::{Intake, Slot};
use crate::near::is_near;
use crate::topic::Directory;

/// The most parameters of a program.
const MOST: usize = 1024;

/// The parameters of all nodes of a program.
pub(crate) struct Assembled {
    description: Description,
    slots: Vec<Arc<Slot>>,
    set: Vec<u64>,
    sheet: Arc<Sheet>,
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
        let sheet = Sheet::own("", &set);
        Ok(Self { description, slots, set, sheet })
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
        let words = parameters[index].words_of(value)?;
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

    /// The parameters where other processes see them.
    pub fn publish(&self, directory: &Directory) -> crate::Result<Arc<Sheet>> {
        let text = serde_json::to_string(&self.description)?;
        let words = Sheet::words(&text, self.set.len());
        let name = &self.description.program;
        if words > board::MAX_WORDS {
            let most = board::MAX_WORDS;
            let text = format!("the parameters of {name} take {words} words, and {most} are possible: declare fewer");
            return Err(crate::Error::new(text));
        }
        let board = Board::make_parameters(directory, &name.parse()?, words, directory.access()?)?;
        let board = board
            .ok_or_else(|| crate::Error::new(format!("a program named {name} has its parameters open: stop it")))?;
        Ok(Sheet::on(board, &text, &self.set))
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

/// `frame changes at the program's start alone (…)`.
pub(super) fn starts_only(known: &Declaration) -> String {
    let (name, about) = (&known.name, known.about_in_brackets());
    format!("{name} changes at the program's start alone{about}: [node.{}.params] of node.toml sets it", known.node)
}

/// That there is no such parameter, with those that may be meant.
pub(super) fn unknown(node: &str, name: &str, known: &[Declaration]) -> String {
    let names: Vec<_> = known.iter().filter(|known| known.node == node).map(|known| known.name.as_str()).collect();
    let shown = crate::outside::shown(name, 64);
    match names.iter().find(|known| is_near(name, known)) {
        Some(near) => format!("node {node} has no parameter {shown}: did you mean {near}?"),
        None if names.is_empty() => format!("node {node} has no parameter {shown}: it has none"),
        None => format!("node {node} has no parameter {shown}: it has {}", names.join(", ")),
    }
}
