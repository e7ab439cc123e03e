//! Which chains of nodes hand data on, from what they read and write, and how long it is under way in each.
//!
//! A chain begins at a node that reads from no other one, and ends at one from which no other reads. Where nodes feed back, as a simulation and its
//! controller do, the chain is cut where it comes back to a node that it has passed.
//!
//! From the release of the first node to the completion of the last: each node takes its response, and waits for its release before that, a
//! period where it has one ([`crate::admission`] says why that is enough). The response is the predicted one, if there is one; otherwise the
//! deadline, and the sum holds as long as the deadline is met.
//!
//! # What it does not do
//! It knows nodes, and no programs that use topics by themselves. Calls of services are no part of a chain.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::admit::Admitted;
use super::{NodeInfo, ProcessInfo};

/// A node: the number of its program, and its number there.
pub type At = (usize, usize);

/// So many ways are followed; a robot has some dozens.
const MOST_WAYS: usize = 4096;

/// All ways from one node to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// The way that takes longest, or one that has no bound.
    pub nodes: Vec<At>,
    /// How long it may take, or why that is not known.
    pub bound: Result<Bound, String>,
}

/// How long data may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// From the first release to the last completion.
    pub time: Duration,
    /// Whether all of it was predicted. Otherwise it holds while the nodes without a prediction meet their deadlines.
    pub is_predicted: bool,
}

/// The chains of programs whose topics are in one folder, one for each pair of a beginning and an end. `admitted` is what was said of them together.
pub fn end_to_end(processes: &[ProcessInfo], admitted: Option<&Admitted>) -> Vec<EndToEnd> {
    let nodes: Vec<At> = (0..processes.len())
        .flat_map(|process| (0..processes[process].nodes.len()).map(move |node| (process, node)))
        .collect();
    let info = |at: At| &processes[at.0].nodes[at.1];
    let feeds = |from: At, to: At| from != to && topics_between(info(from), info(to)).next().is_some();
    let next: BTreeMap<At, Vec<At>> =
        nodes.iter().map(|&from| (from, nodes.iter().copied().filter(|&to| feeds(from, to)).collect())).collect();
    let is_fed = |at: &At| next.values().any(|fed| fed.contains(at));
    let mut search =
        Search { processes, admitted, next: &next, is_passed: BTreeSet::new(), ways: 0, found: BTreeMap::new() };
    // Where all feed back, the first one that was not passed is a beginning, too.
    let (first, others): (Vec<At>, Vec<At>) = nodes.iter().partition(|at| !is_fed(at));
    for at in first.into_iter().chain(others) {
        if !search.is_passed.contains(&at) || !is_fed(&at) {
            search.follow(&mut vec![at]);
        }
    }
    search.found.into_values().collect()
}

/// Topics that one node writes and another one reads.
fn topics_between<'a>(from: &'a NodeInfo, to: &'a NodeInfo) -> impl Iterator<Item = &'a str> {
    from.outputs.iter().map(|output| output.topic.as_str()).filter(|topic| to.inputs.iter().any(|input| input == topic))
}

struct Search<'a> {
    processes: &'a [ProcessInfo],
    admitted: Option<&'a Admitted>,
    next: &'a BTreeMap<At, Vec<At>>,
    is_passed: BTreeSet<At>,
    ways: usize,
    found: BTreeMap<(At, At), EndToEnd>,
}

impl Search<'_> {
    fn follow(&mut self, way: &mut Vec<At>) {
        let at = way[way.len() - 1];
        self.is_passed.insert(at);
        let mut is_end = true;
        for &next in &self.next[&at] {
            if way.contains(&next) {
                continue;
            }
            is_end = false;
            if self.ways >= MOST_WAYS {
                break;
            }
            way.push(next);
            self.follow(way);
            way.pop();
        }
        if is_end && way.len() > 1 {
            self.ways += 1;
            self.add(way);
        }
    }

    fn add(&mut self, way: &[At]) {
        let bound = self.bound(way);
        let new = EndToEnd { nodes: way.to_vec(), bound };
        let known = self.found.entry((way[0], way[way.len() - 1])).or_insert_with(|| new.clone());
        let is_worse = match (&known.bound, &new.bound) {
            (Ok(known), Ok(new)) => new.time > known.time,
            (known, new) => known.is_ok() && new.is_err(),
        };
        if is_worse {
            *known = new;
        }
    }

    fn bound(&self, way: &[At]) -> Result<Bound, String> {
        let mut bound = Bound { time: Duration::ZERO, is_predicted: true };
        let mut before: Option<&NodeInfo> = None;
        for &at in way {
            let info = &self.processes[at.0].nodes[at.1];
            // With logical execution time, what it sets is sent at the deadline.
            let predicted = self.admitted.and_then(|admitted| admitted.predicted(at.0, at.1));
            let response = if info.logical { Some(info.deadline()) } else { predicted };
            bound.is_predicted &= response.is_some();
            bound.time +=
                response.unwrap_or(info.deadline()) + before.map_or(Ok(Duration::ZERO), |before| wait(before, info))?;
            before = Some(info);
        }
        Ok(bound)
    }
}

/// How long what `before` sends waits for the release of `node`.
fn wait(before: &NodeInfo, node: &NodeInfo) -> Result<Duration, String> {
    if node.period_ns > 0 {
        return Ok(Duration::from_nanos(node.period_ns));
    }
    let is_released = node.on.as_deref().is_some_and(|on| topics_between(before, node).any(|topic| topic == on));
    if !is_released {
        return Err(format!("{} waits for another topic", node.name));
    }
    let distance = if before.period_ns > 0 { before.period_ns } else { before.min_inter_arrival_ns };
    if node.min_inter_arrival_ns > distance {
        return Err(format!("{} is released more seldom than {} sends", node.name, before.name));
    }
    Ok(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::super::OutputInfo;
    use super::*;

    const MS: u64 = 1_000_000;

    /// A node with a period, or released by its first input; its deadline is 1 ms.
    fn node(name: &str, period_ms: u64, inputs: &[&str], outputs: &[&str]) -> NodeInfo {
        let topics = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        NodeInfo {
            name: name.to_owned(),
            period_ns: period_ms * MS,
            on: (period_ms == 0).then(|| inputs[0].to_owned()),
            deadline_ns: MS,
            inputs: topics(inputs),
            outputs: topics(outputs).into_iter().map(|topic| OutputInfo { topic, safe: String::new() }).collect(),
            ..NodeInfo::default()
        }
    }

    fn chains(nodes: Vec<NodeInfo>) -> Vec<(String, Result<u64, String>)> {
        let processes = [ProcessInfo { name: "robot".to_owned(), nodes, chains: Vec::new() }];
        let name = |at: &At| processes[at.0].nodes[at.1].name.clone();
        let found = end_to_end(&processes, None).into_iter().map(|chain| {
            assert!(chain.bound.as_ref().is_ok_and(|bound| !bound.is_predicted) || chain.bound.is_err());
            let names: Vec<_> = chain.nodes.iter().map(name).collect();
            (names.join(" "), chain.bound.map(|bound| bound.time.as_millis() as u64))
        });
        found.collect()
    }

    #[test]
    fn a_node_with_a_period_adds_it_and_one_that_is_released_does_not() {
        let three = |last| {
            vec![node("imu", 5, &[], &["a"]), node("filter", last, &["a"], &["b"]), node("drive", 10, &["b"], &[])]
        };
        assert_eq!(chains(three(0)), [("imu filter drive".to_owned(), Ok(1 + 1 + 11))]);
        assert_eq!(chains(three(20)), [("imu filter drive".to_owned(), Ok(1 + 21 + 11))]);
    }

    #[test]
    fn of_several_ways_the_longest_counts_and_each_end_has_its_own() {
        let nodes = vec![
            node("imu", 5, &[], &["a"]),
            node("slow", 100, &["a"], &["b"]),
            node("drive", 10, &["a", "b"], &["c"]),
            node("log", 50, &["b"], &[]),
        ];
        let wanted = [("imu slow drive", 1 + 101 + 11), ("imu slow log", 1 + 101 + 51)];
        assert_eq!(chains(nodes), wanted.map(|(names, time)| (names.to_owned(), Ok(time))));
    }

    #[test]
    fn a_loop_is_cut_where_it_comes_back() {
        let nodes = vec![node("ping", 10, &["pong"], &["ping"]), node("pong", 10, &["ping"], &["pong"])];
        assert_eq!(chains(nodes), [("ping pong".to_owned(), Ok(1 + 11))]);
    }

    #[test]
    fn a_node_that_another_topic_releases_has_no_bound() {
        let mut nodes =
            vec![node("map", 100, &[], &["m"]), node("goal", 100, &[], &["g"]), node("plan", 0, &["g", "m"], &[])];
        let no_bound = Err("plan waits for another topic".to_owned());
        assert_eq!(chains(nodes.clone()), [("map plan".to_owned(), no_bound), ("goal plan".to_owned(), Ok(2))]);
        nodes[2].min_inter_arrival_ns = 500 * MS;
        assert_eq!(chains(nodes)[1].1, Err("plan is released more seldom than goal sends".to_owned()));
    }

    #[test]
    fn many_ways_end() {
        // Fifteen stages of four nodes that all read from all before: 4^15 ways.
        let stage = |stage: usize| {
            let inputs: Vec<_> = if stage == 0 { Vec::new() } else { vec![format!("t{}", stage - 1)] };
            let inputs: Vec<_> = inputs.iter().map(String::as_str).collect();
            (0..4)
                .map(|number| node(&format!("n{stage}.{number}"), 10, &inputs, &[&format!("t{stage}")]))
                .collect::<Vec<_>>()
        };
        assert!(!chains((0..15).flat_map(stage).collect()).is_empty());
    }
}
