//! What can stand in a unit, of all that a `robot.toml` says: asked before a robot is sent, when it is received, and when its units are made.

use horus::outside::{Word, printable};

use crate::manifest::{Entry, Manifest};
use crate::reader::Mistake;

/// The most bytes of a value: a unit's line has an end.
const MOST_BYTES: usize = 64 << 10;

impl Manifest {
    /// Refuses what a machine cannot run as units of systemd.
    ///
    /// # Errors
    /// The first word that cannot stand in a unit.
    pub fn fits_units(&self) -> Result<(), Mistake> {
        for entry in &self.entries {
            let mistake = |text: String| self.mistake(Some(entry.line), format!("[programs.{}] {text}", entry.name));
            if !is_of_a_unit(&entry.name) {
                return Err(mistake("cannot be the name of a unit: use A-Z a-z 0-9 . _ -".to_owned()));
            }
            program(entry).map_err(mistake)?;
        }
        match self.groups.keys().find(|group| !is_of_a_unit(group)) {
            None => Ok(()),
            Some(group) => Err(self.mistake(
                None,
                format!(
                    "the group `{}` cannot be the name of a unit: use 1 to 64 of A-Z a-z 0-9 . _ -",
                    printable(group)
                ),
            )),
        }
    }
}

/// Whether it can stand in the name of a unit.
fn is_of_a_unit(name: &str) -> bool {
    name.parse::<Word>().is_ok() && !name.contains(['+', '~'])
}

fn program(entry: &Entry) -> Result<(), String> {
    if let Some(argument) = entry.args.iter().find(|argument| !is_plain(argument)) {
        return Err(format!("has the argument '{}', which {}", printable(argument), NOT_PLAIN));
    }
    for (name, value) in &entry.env {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !name.bytes().all(is_name) || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!(
                "sets the variable '{}', which is no name: use letters, digits and _",
                printable(name)
            ));
        }
        if !is_plain(value) {
            return Err(format!("sets {name} to a value that {NOT_PLAIN}"));
        }
    }
    Ok(())
}

const NOT_PLAIN: &str = "no unit can hold: leave out control characters, and what is longer than 64 KiB";

fn is_plain(text: &str) -> bool {
    text.len() <= MOST_BYTES && !text.contains(char::is_control)
}
