//! Readers: the small language in which a rule says where its value comes from.
//!
//! | reader | value |
//! |---|---|
//! | `file:/PATH` | the whole file; `*` matches within a name, `{isolated}`, `{housekeeping}` and `{online}` stand for each CPU of the set |
//! | `sysctl:a.b` | the file `/proc/sys/a/b` |
//! | `selected:/PATH` | the word in brackets of a file such as `always [never]` |
//! | `cpumask:/PATH` | a hexadecimal CPU mask, as a CPU list |
//! | `field:/PATH#NAME` | what follows `NAME:` or `NAME=` in each line that has it, or the NAME-th column of the first line |
//! | `cmdline:NAME` | a kernel parameter's value |
//! | `kconfig:A,B` | kernel configuration options, `n` where not set |
//! | `process:NAME` | the processes of that name |
//! | `scan:NAME` | what a function of this crate finds, see [`crate::scan`] |
//!
//! A file that is not there is never a value: the reading is [`Reading::Unknown`] and the rule NA.

use serde::Deserialize;

use crate::facts::{CpuSet, Facts};
use crate::pattern;
use crate::scan::Scan;
use crate::tree::{Tree, Unread};
use crate::value::{Found, Reading, Value, shortened};

/// Where a rule's value comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Reader {
    /// Files, each taken apart by a [`Form`].
    Files(String, Form),
    /// A kernel parameter.
    Cmdline(String),
    /// Kernel configuration options.
    Config(Vec<String>),
    /// A function.
    Scan(Scan),
}

/// How the value stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// The whole text.
    Whole,
    /// The word in brackets.
    Selected,
    /// A CPU mask in hexadecimal.
    Mask,
    /// A named line or a numbered column.
    Field(String),
}

impl TryFrom<String> for Reader {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((&text, ""));
        let path = || match rest.strip_prefix('/') {
            Some(_) => known_sets(rest).map(|()| rest.to_owned()),
            None => Err(format!("reader '{text}' needs an absolute path after '{kind}:'")),
        };
        match kind {
            "file" => Ok(Self::Files(path()?, Form::Whole)),
            "selected" => Ok(Self::Files(path()?, Form::Selected)),
            "cpumask" => Ok(Self::Files(path()?, Form::Mask)),
            "field" => match path()?.split_once('#') {
                Some((path, name)) if !name.is_empty() => {
                    Ok(Self::Files(path.to_owned(), Form::Field(name.to_owned())))
                }
                _ => Err(format!("reader '{text}' needs '#' and the name of a field after its path")),
            },
            _ if rest.is_empty() => Err(format!("reader '{text}' needs a name after '{kind}:'")),
            "sysctl" => Ok(Self::Files(format!("/proc/sys/{}", rest.replace('.', "/")), Form::Whole)),
            "cmdline" => Ok(Self::Cmdline(rest.to_owned())),
            "kconfig" => Ok(Self::Config(rest.split(',').map(|name| name.trim().to_owned()).collect())),
            "process" => Ok(Self::Scan(Scan::Process(rest.to_owned()))),
            "scan" => Scan::named(rest).map(Self::Scan),
            _ => Err(format!(
                "unknown reader '{kind}:'; use file, sysctl, selected, cpumask, field, cmdline, kconfig, process or scan"
            )),
        }
    }
}

/// CPU sets that a path may name in braces.
const SETS: [CpuSet; 3] = [CpuSet::Isolated, CpuSet::Housekeeping, CpuSet::Online];

fn known_sets(path: &str) -> Result<(), String> {
    let rest = SETS.iter().fold(path.to_owned(), |path, set| path.replace(&format!("{{{}}}", set.word()), ""));
    match rest.contains(['{', '}']) {
        true => Err(format!("'{path}': a path may hold {{isolated}}, {{housekeeping}} or {{online}}")),
        false => Ok(()),
    }
}

impl Reader {
    /// Whether it reads a few small files that anybody may write while the machine runs: cheap enough to be read again and again.
    pub fn is_quick(&self) -> bool {
        match self {
            Self::Files(path, _) => ["/proc/sys/", "/proc/irq/", "/sys/"].iter().any(|place| path.starts_with(place)),
            Self::Scan(scan) => scan.is_quick(),
            Self::Cmdline(_) | Self::Config(_) => false,
        }
    }

    /// Reads from `tree`; `ignore` holds the names that scans leave out.
    pub fn read(&self, tree: &Tree, facts: &Facts, ignore: &[String]) -> Reading {
        match self {
            Self::Files(path, form) => match places(path, tree, facts) {
                Ok(paths) => files(tree, &paths, form),
                Err(unread) => unread.into(),
            },
            Self::Cmdline(name) => match facts.cmdline.as_ref().map(|line| line.get(name)) {
                Ok(Some(value)) => {
                    Found { values: vec![Value::new(name, value.unwrap_or("set"))], ..Found::default() }.into()
                }
                Ok(None) => Reading::Absent(format!("{name} is not on the kernel command line")),
                Err(unread) => unread.clone().into(),
            },
            Self::Config(names) => match &facts.config {
                Ok(config) => {
                    let values = names.iter().map(|name| Value::new(name, config.get(name))).collect();
                    Found { values, ..Found::default() }.into()
                }
                Err(unread) => unread.clone().into(),
            },
            Self::Scan(scan) => scan.run(tree, facts, ignore),
        }
    }
}

/// The files that `path` stands for: each CPU of a set in braces, then every match of a wildcard.
fn places(path: &str, tree: &Tree, facts: &Facts) -> Result<Vec<String>, Unread> {
    let mut paths = vec![path.to_owned()];
    for set in SETS {
        let name = format!("{{{}}}", set.word());
        if path.contains(&name) {
            let cpus = facts.cpus(set)?;
            paths =
                paths.iter().flat_map(|path| cpus.iter().map(|cpu| path.replace(&name, &cpu.to_string()))).collect();
        }
    }
    if !pattern::is_pattern(path) {
        return Ok(paths);
    }
    let mut matched = Vec::new();
    for path in paths {
        matched.extend(tree.glob(&path)?);
    }
    Ok(matched)
}

fn files(tree: &Tree, paths: &[String], form: &Form) -> Reading {
    let mut found = Found::default();
    for path in paths {
        match tree.text(path).and_then(|text| form.take(path, &text)) {
            Ok(texts) => found.values.extend(texts.into_iter().map(|text| Value::new(path, text))),
            Err(unread) => found.gaps.push(unread),
        }
    }
    match found.gaps.first() {
        Some(gap) if found.values.is_empty() => gap.clone().into(),
        _ => found.into(),
    }
}

impl Form {
    /// The values in the text of the file at `path`.
    ///
    /// # Errors
    /// When the text does not have this form.
    fn take(&self, path: &str, text: &str) -> Result<Vec<String>, Unread> {
        let other = |what: &str| Unread(format!("{path} holds no {what}: '{}'", shortened(text)));
        match self {
            Self::Whole => Ok(vec![text.to_owned()]),
            Self::Selected => {
                let word = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
                Ok(vec![word.ok_or_else(|| other("word in brackets"))?.to_owned()])
            }
            Self::Mask => Ok(vec![mask(text).ok_or_else(|| other("CPU mask"))?]),
            Self::Field(name) => {
                let values = match name.parse::<usize>() {
                    Ok(column) => text.split_whitespace().nth(column.saturating_sub(1)).into_iter().collect(),
                    Err(_) => lines_named(text, name),
                };
                if values.is_empty() {
                    return Err(other(&format!("field {name}")));
                }
                Ok(values.into_iter().map(str::to_owned).collect())
            }
        }
    }
}

/// What follows `name:` or `name=` in each line that starts with it; a leading dot, as in `/proc/timer_list`, does not count.
fn lines_named<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let fields = text.lines().filter_map(|line| line.trim_start_matches(['.', ' ', '\t']).split_once([':', '=']));
    fields.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).collect()
}

/// A mask such as `f` or `ffffffff,00000003` as a CPU list.
fn mask(text: &str) -> Option<String> {
    let mut cpus = Vec::new();
    for (word, digits) in text.split(',').rev().enumerate() {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let first = u32::try_from(word).ok()?.checked_mul(32)?;
        cpus.extend((0..32).filter(|bit| bits & (1 << bit) != 0).map(|bit| first + bit));
    }
    Some(cpus.into_iter().collect::<horus::cpus::CpuList>().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_read_from_the_right() {
        assert_eq!(mask("f").as_deref(), Some("0-3"));
        assert_eq!(mask("00000001,80000000").as_deref(), Some("31-32"));
        assert_eq!(mask("x"), None);
    }

    #[test]
    fn fields_are_lines_by_name_or_columns_by_number() {
        let take = |name: &str, text| Form::Field(name.to_owned()).take("/f", text);
        assert_eq!(take("hres_active", "cpu: 0\n  .hres_active    : 1\n  .hres_active : 0").unwrap(), ["1", "0"]);
        assert_eq!(take("1", "4\t4\t1\t7").unwrap(), ["4"]);
        assert_eq!(take("state", "state=ram\nreason=state: unknown\n").unwrap(), ["ram"]);
        assert!(take("Cpus", "Cpus_allowed_list:\t0").is_err());
    }

    #[test]
    fn a_reader_that_does_not_exist_is_refused_with_the_list_of_those_that_do() {
        for text in
            ["uname:-v", "file:proc/version", "field:/proc/self/status", "file:/x/{cpus}", "scan:nothing", "cmdline:"]
        {
            assert!(Reader::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
