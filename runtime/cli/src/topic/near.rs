//! Names that were meant, perhaps: those of topics that are nearly called so.

use horus::near::is_near;
use horus_shm::directory::{Directory, EXTENSION};

/// ` (did you mean a or b?)` for topics of `directory` that are nearly called `name`; empty if there are none.
pub fn hint(directory: Option<&Directory>, name: &str) -> String {
    let entries = directory.and_then(|directory| std::fs::read_dir(directory.path()).ok()).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let topics = paths.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    let names = topics.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut near: Vec<_> =
        names.filter(|found| is_near(name, found)).map(|name| horus::outside::printable(&name)).collect();
    near.sort();
    near.truncate(3);
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}
