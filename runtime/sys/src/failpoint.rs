//! Places at which a process can be made to kill itself, for tests of what its peers, or its next start, find then.
//!
//! `failpoint!("publish:half")` stands where a step is half done. It compiles to nothing unless all of our crates have
//! `--cfg failpoints`, which `scripts/checks/runtime/failpoints` gives them; there, an environment variable such as
//! `HORUS_FAILPOINT=publish:half:3` makes the process send itself SIGKILL the third time it comes by. The signal is a real one: nothing is unwound, no destructor runs, and
//! what the process held of the kernel's (file locks, mappings) the kernel takes back, as after any `kill -9`.
//!
//! A crate that has such places has a module `failpoint` with their list and the name of its variable, and, with `--cfg failpoints`, a
//! static `POINTS` made of both.

/// Marks a place where a process can be made to kill itself; nothing unless built with `--cfg failpoints`.
// `crate` and not `$crate`: the list is that of the crate in which the place is.
#[allow(clippy::crate_in_macro_def)]
#[macro_export]
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(failpoints)]
        crate::failpoint::POINTS.pass($name);
    };
}

/// The failpoints of a crate.
#[cfg(failpoints)]
pub struct Failpoints {
    variable: &'static str,
    names: &'static [&'static str],
    armed: std::sync::OnceLock<Option<Armed>>,
}

/// Where this process is to die.
#[cfg(failpoints)]
struct Armed {
    name: &'static str,
    passages: std::sync::atomic::AtomicU64,
}

#[cfg(failpoints)]
impl Failpoints {
    /// Those of this list, of which the environment variable names one and at which passage to die: `publish:half:3`.
    pub const fn new(variable: &'static str, names: &'static [&'static str]) -> Self {
        Self { variable, names, armed: std::sync::OnceLock::new() }
    }

    /// Dies here if the variable says so.
    ///
    /// # Panics
    /// When it is set and names no failpoint and passage: a test that kills no process must not succeed.
    pub fn pass(&self, name: &str) {
        let Some(armed) = self.armed.get_or_init(|| self.asked_for()) else { return };
        // Relaxed: only which passage is the last matters, and a counter has one order.
        if armed.name == name && armed.passages.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            unreachable!("a process does not return from killing itself");
        }
    }

    fn asked_for(&self) -> Option<Armed> {
        let text = std::env::var(self.variable).ok()?;
        let parsed = parse(&text, self.names);
        let (name, passage) =
            parsed.unwrap_or_else(|| panic!("{}={text} is no failpoint with a passage", self.variable));
        Some(Armed { name, passages: passage.into() })
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
    use super::parse;

    #[test]
    fn what_names_no_failpoint_and_passage_is_not_understood() {
        const NAMES: [&str; 2] = ["publish:half", "hold:held"];
        for name in NAMES {
            assert_eq!(parse(&format!("{name}:3"), &NAMES), Some((name, 3)));
            assert_eq!(parse(name, &NAMES), None);
            assert_eq!(parse(&format!("{name}:0"), &NAMES), None);
        }
        assert_eq!(parse("nowhere:at-all:1", &NAMES), None);
    }
}
