//! Sets of CPUs in the kernel's list notation (`0-2,5`), and which of this machine's CPUs are isolated.
//!
//! The kernel is the only authority on isolation: what we asked for stands on its command line, what we got stands in
//! `/sys/devices/system/cpu/isolated`, and only the second is read here.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

/// A set of CPU numbers; prints and parses as the kernel's `cpulist` notation.
///
/// ```
/// use horus::cpus::CpuList;
/// let list: CpuList = "0-2,5".parse().unwrap();
/// assert_eq!(list.iter().collect::<Vec<_>>(), [0, 1, 2, 5]);
/// assert_eq!(list.to_string(), "0-2,5");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(BTreeSet<u32>);

/// The highest CPU number that is believed; the kernel's own `NR_CPUS` limit on x86-64 is 8192.
const MAX_CPU: u32 = 8191;

/// Why a text is not a CPU list.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{text}' is not a CPU list: expected numbers and ranges up to {MAX_CPU} such as 0-2,5")]
pub struct CpuListError {
    text: String,
}

impl CpuList {
    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Whether the set holds no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many CPUs the set holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Whether every CPU of this set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// The CPUs of this set that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    /// The CPUs that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    /// Parses `0-2,5`; an empty text (the kernel's way to say "none") is the empty set.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || CpuListError { text: text.to_owned() };
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| error())?;
            let last: u32 = last.trim().parse().map_err(|_| error())?;
            if first > last || last > MAX_CPU {
                return Err(error());
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            write!(out, "{separator}{first}")?;
            if last > first {
                write!(out, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

/// The CPUs that the kernel keeps its scheduler domains away from, read below `root` (`/` on a live machine).
///
/// Empty where the file is missing or unreadable: nothing is isolated that the kernel does not say is. The kernel counts
/// CPUs that are switched off too (siblings under `nosmt`, empty sockets of a virtual machine); nothing can run there, so
/// they are left out if the list of online CPUs can be read.
pub fn isolated(root: &Path) -> CpuList {
    let isolated = read_list(root, "isolated").unwrap_or_default();
    match read_list(root, "online") {
        Some(online) => isolated.intersection(&online),
        None => isolated,
    }
}

/// The online CPUs that are not isolated: where everything without a deadline runs.
pub fn housekeeping(root: &Path) -> CpuList {
    online(root).difference(&isolated(root))
}

/// Which CPUs a node asks for: by role, so that one unit file serves machines with 2, 4 and 8 CPUs, or by number.
///
/// ```
/// use horus::cpus::CpuChoice;
/// assert_eq!("isolated".parse(), Ok(CpuChoice::Isolated(0)));
/// assert_eq!("3".parse(), Ok(CpuChoice::Number(3)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuChoice {
    /// All CPUs where the process may already run; nothing is changed.
    #[default]
    Any,
    /// This CPU.
    Number(u32),
    /// The CPUs from the first to the last of these.
    Range(u32, u32),
    /// The isolated CPU with the lowest number but so many.
    Isolated(u32),
    /// The isolated CPU with the highest number: keeps a second node off the first one's CPU where there are several.
    IsolatedLast,
    /// All CPUs that are not isolated.
    Housekeeping,
}

/// A text is not a CPU choice.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "'{text}' is not a CPU: write any, isolated, isolated:1, isolated-last, housekeeping, 2 or 2-3 (CPUs up to {MAX_CPU})"
)]
pub struct CpuChoiceError {
    text: String,
}

impl CpuChoice {
    /// The CPUs that this choice means on the machine below `root`; empty when the machine has none of the kind.
    ///
    /// [`CpuChoice::Any`] means every online CPU.
    pub fn resolve(self, root: &Path) -> CpuList {
        match self {
            Self::Any => online(root),
            Self::Number(cpu) => CpuList::from_iter([cpu]).intersection(&online(root)),
            Self::Range(first, last) => (first..=last).collect::<CpuList>().intersection(&online(root)),
            Self::Isolated(index) => isolated(root).iter().skip(index as usize).take(1).collect(),
            Self::IsolatedLast => isolated(root).iter().next_back().into_iter().collect(),
            Self::Housekeeping => housekeeping(root),
        }
    }
}

impl CpuChoice {
    /// `isolated:1`, `2` and `2-3`.
    fn by_number(text: &str) -> Option<Self> {
        let cpu = |number: &str| number.trim().parse().ok().filter(|cpu| *cpu <= MAX_CPU);
        if let Some(index) = text.strip_prefix("isolated:") {
            return Some(Self::Isolated(cpu(index)?));
        }
        match text.split_once('-') {
            None => Some(Self::Number(cpu(text)?)),
            Some((first, last)) => {
                let (first, last) = (cpu(first)?, cpu(last)?);
                (first <= last).then_some(Self::Range(first, last))
            }
        }
    }
}

impl FromStr for CpuChoice {
    type Err = CpuChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "any" => Ok(Self::Any),
            "isolated" => Ok(Self::Isolated(0)),
            "isolated-last" => Ok(Self::IsolatedLast),
            "housekeeping" => Ok(Self::Housekeeping),
            text => Self::by_number(text).ok_or_else(|| CpuChoiceError { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for CpuChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any"),
            Self::Number(cpu) => write!(out, "{cpu}"),
            Self::Range(first, last) => write!(out, "{first}-{last}"),
            Self::Isolated(0) => out.write_str("isolated"),
            Self::Isolated(index) => write!(out, "isolated:{index}"),
            Self::IsolatedLast => out.write_str("isolated-last"),
            Self::Housekeeping => out.write_str("housekeeping"),
        }
    }
}

fn online(root: &Path) -> CpuList {
    read_list(root, "online").unwrap_or_default()
}

fn read_list(root: &Path, name: &str) -> Option<CpuList> {
    let path = root.join("sys/devices/system/cpu").join(name);
    std::fs::read_to_string(path).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with the given contents of `/sys/devices/system/cpu/{online,isolated}`.
    fn machine(online: &str, isolated: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join("sys/devices/system/cpu");
        std::fs::create_dir_all(&cpu).unwrap();
        std::fs::write(cpu.join("online"), format!("{online}\n")).unwrap();
        std::fs::write(cpu.join("isolated"), format!("{isolated}\n")).unwrap();
        root
    }

    #[test]
    fn a_choice_by_role_means_the_right_cpus_of_each_machine() {
        let meant = |choice: CpuChoice, online, isolated| choice.resolve(machine(online, isolated).path()).to_string();
        for (online, isolated, first, last, housekeeping) in [
            ("0-1", "1", "1", "1", "0"),
            ("0-3", "2-3", "2", "3", "0-1"),
            ("0-7", "4-7", "4", "7", "0-3"),
            ("0-1", "", "", "", "0-1"),
        ] {
            assert_eq!(meant(CpuChoice::Isolated(0), online, isolated), first);
            assert_eq!(meant(CpuChoice::IsolatedLast, online, isolated), last);
            assert_eq!(meant(CpuChoice::Housekeeping, online, isolated), housekeeping);
            assert_eq!(meant(CpuChoice::Any, online, isolated), online);
        }
        assert_eq!(meant(CpuChoice::Isolated(1), "0-3", "2-3"), "3");
        assert_eq!(meant(CpuChoice::Isolated(1), "0-1", "1"), "");
        assert_eq!(meant(CpuChoice::Range(1, 9), "0-3", ""), "1-3");
        assert_eq!(meant(CpuChoice::Number(1), "0-1", ""), "1");
        assert_eq!(meant(CpuChoice::Number(2), "0-1", ""), "", "CPU 2 is not online");
    }

    #[test]
    fn cpus_that_are_switched_off_are_not_isolated() {
        let nosmt = machine("0-3", "1-7");
        assert_eq!(isolated(nosmt.path()).to_string(), "1-3");
        assert_eq!(housekeeping(nosmt.path()).to_string(), "0");
        assert_eq!(CpuChoice::IsolatedLast.resolve(nosmt.path()).to_string(), "3", "7 is off");
        std::fs::remove_file(nosmt.path().join("sys/devices/system/cpu/online")).unwrap();
        assert_eq!(isolated(nosmt.path()).to_string(), "1-7", "as the kernel says");
    }

    #[test]
    fn choices_print_as_they_were_read() {
        for text in ["any", "isolated", "isolated:1", "isolated-last", "housekeeping", "0", "17", "2-3"] {
            assert_eq!(text.parse::<CpuChoice>().unwrap().to_string(), text);
        }
        for text in ["", "first", "-1", "8192", "2-1", "isolated:", "1-"] {
            assert!(text.parse::<CpuChoice>().unwrap_err().to_string().contains("isolated-last"));
        }
    }

    #[test]
    fn lists_print_as_they_were_read() {
        for text in ["", "0", "0-3", "0,2", "0-1,3,5-7"] {
            assert_eq!(text.parse::<CpuList>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_text() {
        for text in ["a", "3-1", "1-", "-", "0,,1", "0-99999999", "1-N"] {
            let error = text.parse::<CpuList>().unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
