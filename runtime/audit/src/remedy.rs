//! What puts a rule that fails right: writes to files of the running kernel, kernel parameters, another kernel, or a person.

use horus::cpus::CpuList;

use crate::facts::{CpuSet, Facts};
use crate::read::{Form, Reader};
use crate::rule::Rule;
use crate::tree::Tree;
use crate::value::{Reading, Value, Write};

/// What puts a rule that fails right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Files that hold the wrong value, and the right one.
    Writes(Vec<Write>),
    /// Parameters on the kernel command line, by name: the kernel reads them at its start alone.
    Parameters(Vec<String>),
    /// A kernel that is built in another way.
    Kernel,
    /// What the rule's `fix` says.
    Person,
}

/// The remedy for `rule` on this machine.
pub fn remedy(rule: &Rule, tree: &Tree, facts: &Facts) -> Remedy {
    let writes = writes(rule, tree, facts);
    let parameters = rule.kernel_parameters();
    match &rule.read {
        _ if !writes.is_empty() => Remedy::Writes(writes),
        _ if !parameters.is_empty() => Remedy::Parameters(parameters),
        Reader::Config(_) => Remedy::Kernel,
        _ => Remedy::Person,
    }
}

fn writes(rule: &Rule, tree: &Tree, facts: &Facts) -> Vec<Write> {
    let Reading::Found(found) = rule.read.read(tree, facts, &rule.ignore) else { return Vec::new() };
    let odd = rule.expect.odd(&found, facts).unwrap_or_default();
    let mut writes: Vec<Write> = odd.iter().flat_map(|value| of_value(rule, value, facts)).collect();
    writes.dedup(); // several lines of one file
    writes
}

fn of_value(rule: &Rule, value: &Value, facts: &Facts) -> Vec<Write> {
    match (&rule.read, &rule.set) {
        (Reader::Files(_, form), Some(set)) => {
            let text = filled(set, form, facts);
            text.map(|text| Write { path: value.place.clone(), text }).into_iter().collect()
        }
        _ => value.writes.clone(),
    }
}

/// `set` with a set of CPUs as the file wants it; `None` where the set is not known.
fn filled(set: &str, form: &Form, facts: &Facts) -> Option<String> {
    let cpus = match set {
        "{housekeeping}" => facts.cpus(CpuSet::Housekeeping).ok()?,
        "{isolated}" => facts.cpus(CpuSet::Isolated).ok()?,
        _ => return Some(set.to_owned()),
    };
    Some(if *form == Form::Mask { mask(&cpus) } else { cpus.to_string() })
}

/// The mask of a CPU list, such as `f` or `3,00000000`.
fn mask(cpus: &CpuList) -> String {
    let last = cpus.iter().max().unwrap_or(0);
    let word = |first: u32| cpus.iter().filter(|cpu| cpu / 32 == first).fold(0_u32, |word, cpu| word | 1 << (cpu % 32));
    let words: Vec<u32> = (0..=last / 32).rev().map(word).collect();
    let text =
        words.iter().enumerate().map(|(at, word)| if at == 0 { format!("{word:x}") } else { format!("{word:08x}") });
    text.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_word_for_every_thirty_two_cpus() {
        let mask = |list: &str| mask(&list.parse().unwrap());
        assert_eq!([mask("0-1"), mask("0,33"), mask("64")], ["3", "2,00000001", "1,00000000,00000000"]);
    }
}
