//! Places at which a process can be made to kill itself, for tests of what its peers find then.
//!
//! `failpoint!("publish:half")` stands where a step is half done. It compiles to nothing unless the whole build has
//! `--cfg failpoints` (as `RUSTFLAGS`); there, the environment variable `HORUS_FAILPOINT=publish:half:3` makes the process
//! send itself SIGKILL the third time it comes by. The signal is a real one: nothing is unwound, no destructor runs, and
//! what the process held of the kernel's (file locks, mappings) the kernel takes back, as after any `kill -9`.
//!
//! Random kills alone do not test this: most steps of joining and leaving last some nanoseconds and would be hit once in
//! thousands of attempts. `horus/tests/kill_matrix.rs` kills at each of [`NAMES`], and at random times too: at those of remaking a topic in a
//! test of their own, at all others in the matrix.

/// Every failpoint of the sources, each once; a test compares this list with them. The part before the colon says
/// whose step it is; the test of all failpoints chooses who gets killed by it.
pub const NAMES: &[&str] = &[
    "create:unnamed",
    "create:header",
    "create:locked",
    "create:named",
    "claim:free",
    "claim:owner",
    "claim:lane",
    "publish:marked",
    "publish:payload",
    "publish:even",
    "publish:position",
    "publish:unless-held",
    "publish:half",
    "publish:rung",
    "stage:marked",
    "stage:filled",
    "stage:released",
    "stage:position",
    "release:owner",
    "release:free",
    "remove:locked",
    "remove:removed",
    "remake:grown",
    "remake:begun",
    "remake:header",
    "remake:cleared",
    "remake:remade",
    "join:free",
    "join:identity",
    "join:cursor",
    "join:member",
    "join:joined",
    "take:copied",
    "take:advanced",
    "hold:raised",
    "hold:held",
    "sleep:down",
    "sleep:awake",
    "leave:member",
    "leave:bits",
];

/// Environment variable with the name of a failpoint and at which passage to die: `publish:half:3`.
pub const VARIABLE: &str = "HORUS_FAILPOINT";

/// Marks a place where a process can be made to kill itself; nothing unless built with `--cfg failpoints`.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(failpoints)]
        $crate::failpoint::pass($name);
    };
}
pub(crate) use failpoint;

/// Dies here if [`VARIABLE`] says so.
///
/// # Panics
/// When the variable is set and names no failpoint and passage: a test that kills no process must not succeed.
#[cfg(failpoints)]
pub fn pass(name: &'static str) {
    static ARMED: std::sync::OnceLock<Option<Armed>> = std::sync::OnceLock::new();
    if let Some(armed) = ARMED.get_or_init(|| Armed::by(VARIABLE, NAMES)) {
        armed.pass(name);
    }
}

/// Where this process is to die.
#[cfg(failpoints)]
pub struct Armed {
    name: &'static str,
    passages: std::sync::atomic::AtomicU64,
}

#[cfg(failpoints)]
impl Armed {
    /// What the environment variable says, which names one of these failpoints; `None` without it.
    ///
    /// # Panics
    /// When it names none: a test that kills no process must not succeed.
    pub fn by(variable: &str, names: &[&'static str]) -> Option<Self> {
        let text = std::env::var(variable).ok()?;
        let parsed = parse(&text, names).unwrap_or_else(|| panic!("{variable}={text} is no failpoint with a passage"));
        Some(Self { name: parsed.0, passages: parsed.1.into() })
    }

    /// Dies if it is to be here and now.
    pub fn pass(&self, name: &str) {
        // Relaxed: only which passage is the last matters, and a counter has one order.
        if self.name == name && self.passages.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            unreachable!("a process does not return from killing itself");
        }
    }
}

/// Name and number of the passage, from 1, at which to die.
#[cfg(any(failpoints, test))]
fn parse(text: &str, names: &[&'static str]) -> Option<(&'static str, u64)> {
    let (name, passage) = text.rsplit_once(':')?;
    let name = names.iter().find(|known| **known == name)?;
    Some((name, passage.parse().ok().filter(|&passage| passage > 0)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(directory: &Path) -> Vec<PathBuf> {
        let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_failpoint_of_the_sources_is_listed_and_every_listed_one_stands_in_the_sources_once() {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = std::fs::read_to_string(path).unwrap();
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for call in line.split("failpoint!(\"").skip(1) {
                    let name = call.split('"').next().unwrap();
                    *found.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        let listed = NAMES.iter().map(|name| ((*name).to_owned(), 1)).collect::<BTreeMap<_, _>>();
        assert_eq!(listed.len(), NAMES.len(), "a name is listed twice");
        assert_eq!(found, listed);
    }

    #[test]
    fn what_names_no_failpoint_and_passage_is_not_understood() {
        for name in NAMES {
            assert_eq!(parse(&format!("{name}:3"), NAMES), Some((*name, 3)));
            assert_eq!(parse(name, NAMES), None);
            assert_eq!(parse(&format!("{name}:0"), NAMES), None);
        }
        assert_eq!(parse("nowhere:at-all:1", NAMES), None);
    }
}
