//! The kernel's functions by their addresses: `/proc/kallsyms`, read when a name is wanted, since it is some ten megabytes.

use std::collections::BTreeMap;
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
    /// The name of the function that begins at an address. `None` when there is none, or when the kernel hides addresses.
    pub fn name(&mut self, address: u64) -> Option<String> {
        if let Some(name) = self.known.get(&address) {
            return name.clone();
        }
        let name = self.find(address);
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(address, name.clone());
        name
    }

    fn find(&self, address: u64) -> Option<String> {
        let wanted = format!("{address:016x}");
        let mut lines = BufReader::new(File::open(&self.path).ok()?);
        let mut line = String::new();
        while address != 0 && lines.read_line(&mut line).ok()? > 0 {
            if let Some(rest) = line.strip_prefix(&wanted) {
                return rest.split_ascii_whitespace().nth(1).map(str::to_owned);
            }
            line.clear();
        }
        None
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
