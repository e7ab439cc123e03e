//! The steps of a log's writing at which a process can be made to kill itself ([`horus_sys::failpoint`](mod@horus_sys::failpoint)).
//!
//! `tests/log_steps.rs` kills at each of [`NAMES`].

/// Every failpoint of this crate's sources, each once; a test compares this list with them.
pub const NAMES: &[&str] = &[
    "record:end",
    "record:word",
    "record:message",
    "record:head",
    "record:whole",
    "append:noted",
    "append:counted",
    "segment:file",
    "segment:nothing",
    "segment:word",
    "segment:header",
    "segment:begun",
    "segment:renamed",
    "segment:synced",
    "segment:named",
    "segment:sealed",
    "segment:removed",
    "open:cleared",
    "open:again",
    "open:opened",
    "sync:before",
    "sync:after",
    "thread:before",
    "thread:after",
    "commit:kept",
    "end:synced",
];

/// Environment variable with the name of a failpoint and at which passage to die: `record:head:3`.
pub const VARIABLE: &str = "HORUS_LOG_FAILPOINT";

/// What [`horus_sys::failpoint!`] passes by.
#[cfg(failpoints)]
pub static POINTS: horus_sys::failpoint::Failpoints = horus_sys::failpoint::Failpoints::new(VARIABLE, NAMES);

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn every_failpoint_of_the_log_is_listed_once_and_every_listed_one_stands_in_its_sources_once() {
        let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/log");
        let files = std::fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
        let calls = texts.iter().flat_map(|text| text.split("failpoint!(\"").skip(1));
        let mut found: Vec<&str> = calls.map(|call| call.split('"').next().unwrap()).collect();
        let mut listed = NAMES.to_vec();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
