//! Every named synchronization point of this crate, of `horus-sys` and of `horus` has two ends.
#![cfg(not(loom))]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a line of code does at a synchronization point.
#[derive(Default)]
struct Ends {
    publishes: usize,
    observes: usize,
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_sync_point_has_an_end_that_publishes_and_one_that_observes() {
    let folders = ["src", "../sys/src", "../horus/src"];
    let sources = folders.map(|folder| files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)));
    let mut points: BTreeMap<String, Ends> = BTreeMap::new();
    for path in sources.into_iter().flatten() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let place = format!("{}:{}: {line}", path.display(), number + 1);
            let (code, name) = line.split_once("// SYNC POINT: ").unwrap_or((line, ""));
            let publishes = code.contains("Ordering::Release") || code.contains("Ordering::SeqCst");
            let observes = code.contains("Ordering::Acquire") || code.contains("Ordering::SeqCst");
            if name.is_empty() {
                assert!(!publishes && !observes, "an ordering without a SYNC POINT name: {place}");
                continue;
            }
            assert!(publishes || observes, "a SYNC POINT that orders nothing: {place}");
            let ends = points.entry(name.trim().to_owned()).or_default();
            ends.publishes += usize::from(publishes);
            ends.observes += usize::from(observes);
        }
    }
    assert!(points.len() >= 5, "the check looks at the wrong files: {:?}", points.keys());
    for (name, ends) in points {
        // A lone SeqCst fence has both roles; a pair of them is two lines.
        let paired = ends.publishes >= 1 && ends.observes >= 1 && ends.publishes + ends.observes >= 2;
        assert!(paired, "{name}: {} ends publish, {} observe", ends.publishes, ends.observes);
    }
}
