//! The kernel's functions by their addresses: `/proc/kallsyms`, read when a name is wanted, since it is some ten megabytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// The most names that are remembered.
const MOST: usize = 1024;

/// Names of functions that were asked for.
#[derive(Debug)]
pub struct Symbols {
    path: PathBuf,
    known: BTreeMap<u64, Option<String>>,
}

impl Default for Symbols {
    fn default() -> Self {
        Self { path: PathBuf::from("/proc/kallsyms"), known: BTreeMap::new() }
    }
}

impl Symbols {
    /// Looks up what is not known yet, all in one reading: a trace holds many functions, and each reading takes the kernel some tenths
    /// of a second.
    pub fn learn(&mut self, addresses: impl Iterator<Item = u64>) {
        let mut wanted: BTreeSet<u64> = addresses.filter(|address| !self.known.contains_key(address)).collect();
        if wanted.is_empty() {
            return;
        }
        if self.known.len().saturating_add(wanted.len()) > MOST {
            self.known.clear();
        }
        while wanted.len() > MOST {
            wanted.pop_last(); // they are looked up when they are asked for
        }
        let mut left = wanted.clone();
        left.remove(&0); // what the kernel says where it hides addresses
        if let Ok(file) = File::open(&self.path) {
            self.read(BufReader::new(file), left);
        }
        for address in wanted {
            self.known.entry(address).or_default(); // without a name, and not to be looked for again
        }
    }

    fn read(&mut self, mut lines: impl BufRead, mut wanted: BTreeSet<u64>) {
        let mut line = String::new();
        while !wanted.is_empty() && lines.read_line(&mut line).is_ok_and(|length| length > 0) {
            let mut words = line.split_ascii_whitespace();
            let address = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            if let (Some(address), Some(name)) = (address, words.nth(1))
                && wanted.remove(&address)
            {
                self.known.insert(address, Some(name.to_owned()));
            }
            line.clear();
        }
    }

    /// The name of the function that begins at an address. `None` when there is none, or when the kernel hides addresses.
    pub fn name(&mut self, address: u64) -> Option<String> {
        self.learn(std::iter::once(address));
        self.known.get(&address).cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_address_and_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kallsyms");
        let text =
            "0000000000000000 A zero\nffffffff81000010 t one\nffffffff81000020 T update_pages_handler\t[module]\n";
        std::fs::write(&path, text).unwrap();
        let mut symbols = Symbols { path: path.clone(), known: BTreeMap::new() };
        assert_eq!(symbols.name(0xffff_ffff_8100_0020).as_deref(), Some("update_pages_handler"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0021), None);
        assert_eq!(symbols.name(0), None, "hidden addresses are all zero");
        std::fs::remove_file(path).unwrap();
        assert_eq!(symbols.name(0xffff_ffff_8100_0020).as_deref(), Some("update_pages_handler"));
    }
}
