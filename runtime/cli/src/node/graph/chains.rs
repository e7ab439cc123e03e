//! How long data is under way: what is told of chains of nodes, at their ends and below the drawing.

use std::time::Duration;

use horus::graph::chains::{At, Bound, EndToEnd, end_to_end};
use horus::graph::{Machine, ProcessInfo, admit};
use horus::outside::printable;
use horus_measure::units;

/// The most lines at a node; the longest times stand there.
const MOST_AT_A_NODE: usize = 2;
/// The most sentences below a drawing.
const MOST_SENTENCES: usize = 32;

/// What is told of chains.
#[derive(Debug, Default)]
pub struct Chains {
    /// Below the drawing: first the chains that programs name, then those that follow from topics.
    pub sentences: Vec<String>,
    /// The program and the node at the end of each chain, with what stands there.
    ends: Vec<(String, String, String)>,
}

impl Chains {
    /// What stands at a node in which chains end.
    pub fn ends_at(&self, program: &str, node: &str) -> impl Iterator<Item = &String> {
        let is_there = move |(of, name, _): &&(String, String, String)| of == program && name == node;
        self.ends.iter().filter(is_there).map(|(_, _, line)| line).take(MOST_AT_A_NODE)
    }
}

/// The chains of programs that run together here.
pub fn of(infos: &[ProcessInfo]) -> Chains {
    let admitted = admit(infos, &Machine::here()).ok();
    let declared = admitted.iter().flat_map(|admitted| &admitted.chains).map(|chain| printable(&chain.to_string()));
    let mut sentences: Vec<_> = declared.collect();
    let mut found = end_to_end(infos, admitted.as_ref());
    // The longest first, and those without a bound at the end.
    found.sort_by_key(|chain| std::cmp::Reverse(chain.bound.as_ref().map_or(Duration::ZERO, |bound| bound.time)));
    let sentence = |chain: &EndToEnd| sentence(infos, chain);
    let all = found.len();
    sentences.extend(found.iter().take(MOST_SENTENCES).map(sentence));
    if all > MOST_SENTENCES {
        sentences.push(format!("{} more chains", all - MOST_SENTENCES));
    }
    let ends = found.iter().filter_map(|chain| {
        let (first, last) = (*chain.nodes.first()?, *chain.nodes.last()?);
        let bound = chain.bound.as_ref().ok()?;
        let line = format!("{} after {}", told(*bound), name(infos, first));
        Some((infos[last.0].name.clone(), infos[last.0].nodes[last.1].name.clone(), line))
    });
    Chains { ends: ends.collect(), sentences }
}

fn sentence(infos: &[ProcessInfo], chain: &EndToEnd) -> String {
    let names: Vec<_> = chain.nodes.iter().map(|at| name(infos, *at)).collect();
    let names = names.join(" → ");
    match &chain.bound {
        Ok(bound) => format!("{names}: {} end to end", told(*bound)),
        Err(reason) => format!("{names}: no bound: {}", printable(reason)),
    }
}

fn told(bound: Bound) -> String {
    let time = units::time(bound.time);
    if bound.is_predicted { format!("predicted {time}") } else { format!("{time} by deadlines") }
}

fn name(infos: &[ProcessInfo], at: At) -> String {
    printable(&format!("{}/{}", infos[at.0].name, infos[at.0].nodes[at.1].name))
}

#[cfg(test)]
mod tests {
    use horus::graph::{NodeInfo, OutputInfo};

    use super::*;

    /// A program of one node with a period of 10 ms, and a deadline of 5 ms, which reads and writes these topics.
    fn program(name: &str, inputs: &[&str], outputs: &[&str]) -> ProcessInfo {
        let node = NodeInfo {
            name: "step".to_owned(),
            period_ns: 10_000_000,
            deadline_ns: 5_000_000,
            cpu: "any".to_owned(),
            scheduling_policy: "other".to_owned(),
            inputs: inputs.iter().map(|name| (*name).to_owned()).collect(),
            outputs: outputs.iter().map(|name| OutputInfo { topic: (*name).to_owned(), safe: String::new() }).collect(),
            ..NodeInfo::default()
        };
        ProcessInfo { name: name.to_owned(), nodes: vec![node], chains: Vec::new() }
    }

    #[test]
    fn a_chain_through_programs_is_told_at_its_end_and_below() {
        let infos =
            [program("base", &["cmd"], &[]), program("sim", &[], &["odom"]), program("nav", &["odom"], &["cmd"])];
        let chains = of(&infos);
        assert_eq!(chains.sentences, ["sim/step → nav/step → base/step: 35 ms by deadlines end to end"]);
        let at = |program| chains.ends_at(program, "step").cloned().collect::<Vec<_>>();
        assert_eq!(at("base"), ["35 ms by deadlines after sim/step"]);
        assert!(at("sim").is_empty() && at("nav").is_empty());
    }

    #[test]
    fn a_robot_of_many_chains_shows_the_longest_and_says_how_many_more() {
        let outputs: Vec<_> = (0..40).map(|number| format!("t{number}")).collect();
        let names: Vec<_> = outputs.iter().map(String::as_str).collect();
        let ends = names.iter().map(|name| program(name, &[name], &[]));
        let infos: Vec<_> = std::iter::once(program("sim", &[], &names)).chain(ends).collect();
        assert_eq!(of(&infos).sentences.last().unwrap(), "8 more chains");
    }
}
