//! Nodes that ask each other in a circle: A asks B, and B asks A, or through more of them.
//!
//! No step waits for an answer, so nothing hangs. But an answer that a node gives by asking in a circle may wait for itself, so its time has no
//! bound. Under a real-time policy that is a refusal. Elsewhere it is told.
//!
//! # What it does not do
//! It knows who asks and who serves, and not for which answers a node asks. A node that asks and serves, and does not ask in order to answer,
//! is in a circle all the same: its services or its calls belong to a node of their own. A client that a node opens by itself is not known.

use std::collections::VecDeque;
use std::fmt;

/// A node, as far as circles go.
pub(super) struct Asking<'a> {
    /// Its name, as a task's.
    pub name: &'a str,
    /// Its namespace: services of different ones have nothing to do with each other.
    pub namespace: &'a str,
    /// Its scheduling policy, if that is a real-time one.
    pub real_time: Option<&'a str>,
    /// Services that it asks.
    pub asks: &'a [String],
    /// Services that it serves.
    pub serves: &'a [String],
}

/// Nodes that ask each other in a circle. Prints as the screen of `horus node check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// Each asks the next one, and the last one the first one.
    pub calls: Vec<Call>,
    /// The first of its nodes that has a real-time policy, and that policy: the circle is refused.
    pub real_time: Option<(String, String)>,
}

/// A node of a circle, and what it asks the next one for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The node that asks, by its task's name.
    pub node: String,
    /// The service.
    pub service: String,
}

impl Circle {
    /// Whether a program with a node of it must not start.
    pub fn is_refused(&self) -> bool {
        self.real_time.is_some()
    }

    /// Whether a node of it is called by this name.
    pub fn has(&self, node: &str) -> bool {
        self.calls.iter().any(|call| call.node == node)
    }
}

/// The service of `nodes[to]` that `nodes[from]` asks.
fn call(nodes: &[Asking], from: usize, to: usize) -> Option<usize> {
    let (from, to) = (&nodes[from], &nodes[to]);
    let is_theirs = |service: &String| from.namespace == to.namespace && to.serves.contains(service);
    from.asks.iter().position(is_theirs)
}

/// The shortest way on which node `start` asks itself.
fn shortest(nodes: &[Asking], start: usize) -> Option<Vec<usize>> {
    let mut came_from = vec![None; nodes.len()];
    let mut next = VecDeque::from([start]);
    while let Some(from) = next.pop_front() {
        for to in 0..nodes.len() {
            if came_from[to].is_some() || call(nodes, from, to).is_none() {
                continue;
            }
            came_from[to] = Some(from);
            if to == start {
                let mut way = vec![from];
                while let Some(before) = came_from[way[way.len() - 1]].filter(|_| way[way.len() - 1] != start) {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            next.push_back(to);
        }
    }
    None
}

/// All circles: for each node that is in one, the shortest, unless it is told of another node. Those of real-time nodes come first.
pub(super) fn circles(nodes: &[Asking]) -> Vec<Circle> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&node| !nodes[node].asks.is_empty()).collect();
    order.sort_by_key(|&node| nodes[node].real_time.is_none());
    let mut told = vec![false; nodes.len()];
    let mut circles = Vec::new();
    for start in order {
        if told[start] {
            continue;
        }
        let Some(way) = shortest(nodes, start) else { continue };
        way.iter().for_each(|&node| told[node] = true);
        let calls = way.iter().enumerate().map(|(at, &from)| {
            let to = way[(at + 1) % way.len()];
            let service = call(nodes, from, to).expect("the way goes there");
            Call { node: nodes[from].name.to_owned(), service: nodes[from].asks[service].clone() }
        });
        let real_time =
            way.iter().find_map(|&node| Some((nodes[node].name.to_owned(), nodes[node].real_time?.to_owned())));
        circles.push(Circle { calls: calls.collect(), real_time });
    }
    circles
}

impl fmt::Display for Circle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = |at: usize| match self.calls.len() {
            1 => "itself",
            count => &self.calls[(at + 1) % count].node,
        };
        let calls: Vec<_> = self
            .calls
            .iter()
            .enumerate()
            .map(|(at, call)| format!("{} asks {} ({})", call.node, asked(at), call.service))
            .collect();
        let calls = calls.join(", ");
        let remedy = "so an answer may wait for itself, without a bound: let another node serve or ask one of them";
        match &self.real_time {
            Some((node, policy)) => {
                write!(out, "refused: {calls}: a circle with a real-time node ({node}, {policy}), {remedy}")
            }
            None => write!(out, "no bound: {calls}: a circle, {remedy}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each node asks, and what it serves.
    fn told(nodes: &[(&str, &[&str], &[&str])], real_time: &[&str]) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let nodes: Vec<_> = nodes.iter().map(|(name, asks, serves)| (*name, owned(asks), owned(serves))).collect();
        let asking: Vec<_> = nodes
            .iter()
            .map(|(name, asks, serves)| Asking {
                name,
                namespace: name.split_once(':').map_or("", |(namespace, _)| namespace),
                real_time: real_time.contains(name).then_some("fifo:80"),
                asks,
                serves,
            })
            .collect();
        circles(&asking).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_chain_of_calls_is_no_circle() {
        assert_eq!(told(&[("a", &["b"], &[]), ("b", &["c"], &["b"]), ("c", &[], &["c"])], &["a", "b", "c"]), [""; 0]);
        // Two that ask the same one, and one that no node serves.
        assert_eq!(told(&[("a", &["c", "d"], &["a"]), ("b", &["c", "a"], &[]), ("c", &[], &["c"])], &[]), [""; 0]);
    }

    #[test]
    fn a_circle_is_told_with_each_call_of_it() {
        let nodes: [(&str, &[&str], &[&str]); 4] =
            [("watch", &["a"], &[]), ("a", &["b"], &["a"]), ("b", &["c"], &["b"]), ("c", &["a"], &["c"])];
        assert_eq!(
            told(&nodes, &[]),
            [
                "no bound: a asks b (b), b asks c (c), c asks a (a): a circle, so an answer may wait for itself, without a bound: let another node \
              serve or ask one of them"
            ]
        );
        let refused = told(&nodes, &["watch", "c"]);
        assert_eq!(refused.len(), 1);
        assert!(
            refused[0].starts_with(
                "refused: c asks a (a), a asks b (b), b asks c (c): a circle with a real-time node (c, fifo:80), "
            ),
            "{refused:?}"
        );
    }

    #[test]
    fn a_node_that_asks_itself_is_a_circle() {
        let refused = told(&[("a", &["a.state"], &["a.state"])], &["a"]);
        assert!(refused[0].starts_with("refused: a asks itself (a.state): "), "{refused:?}");
    }

    #[test]
    fn each_circle_is_told_once_and_by_its_shortest_way() {
        let nodes: [(&str, &[&str], &[&str]); 5] = [
            ("a", &["b"], &["a"]),
            ("b", &["a", "c"], &["b"]),
            ("c", &["a"], &["c"]),
            ("d", &["e"], &["d"]),
            ("e", &["d"], &["e"]),
        ];
        let told = told(&nodes, &[]);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("no bound: a asks b (b), b asks a (a): "), "{told:?}");
        assert!(told[1].starts_with("no bound: c asks a (a), a asks b (b), b asks c (c): "), "{told:?}");
        assert!(told[2].starts_with("no bound: d asks e (e), e asks d (d): "), "{told:?}");
    }

    #[test]
    fn services_of_two_namespaces_are_two() {
        assert_eq!(told(&[("lab:x/a", &["b"], &["a"]), ("x/b", &["a"], &["b"])], &[]), [""; 0]);
    }
}
