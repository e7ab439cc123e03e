//! The steps of topics at which a process can be made to kill itself ([`horus_sys::failpoint`](mod@horus_sys::failpoint)), for tests of what
//! its peers find then.
//!
//! Random kills alone do not test this: most steps of joining and leaving last some nanoseconds and would be hit once in
//! thousands of attempts. `horus/tests/kill_matrix.rs` kills at each of [`NAMES`], and at random times too: at those of remaking a topic in a
//! test of their own, at those of boards in `horus/tests/param_kills.rs`, at all others in the matrix.

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
    "board:alone",
    "board:half",
    "board:word",
];

/// Environment variable with the name of a failpoint and at which passage to die: `publish:half:3`.
pub const VARIABLE: &str = "HORUS_FAILPOINT";

/// What [`horus_sys::failpoint!`] passes by.
#[cfg(failpoints)]
pub static POINTS: horus_sys::failpoint::Failpoints = horus_sys::failpoint::Failpoints::new(VARIABLE, NAMES);

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
}
