//! Whether all programs of a robot can share one virtual time, and what releases their nodes.

use std::collections::BTreeSet;

use horus::graph::ProcessInfo;
use horus_shm::directory::Location;

use crate::admit::{Asking, twice};
use crate::digest::Name;
use crate::robot::{Program, Robot};

/// The programs of a robot that can run on one virtual clock.
#[derive(Clone, Debug)]
pub struct Cast {
    /// In the order of the robot's programs.
    pub(crate) roles: Vec<Role>,
    /// Optional programs that are left out, and why.
    pub notes: Vec<String>,
}

/// What is known of one program before it starts.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// Its name on its topics.
    pub process: String,
    pub namespace: String,
    /// How many nodes it has.
    pub nodes: usize,
    /// Topics that release nodes of it.
    pub hears: Vec<Name>,
}

impl Cast {
    /// One sentence about all of it.
    pub fn sentence(&self) -> String {
        let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let nodes = self.roles.iter().map(|role| role.nodes).sum();
        let whole = format!("{} of {}", of(nodes, "node"), of(self.roles.len(), "program"));
        format!(
            "{whole} share one virtual clock, which begins when all are ready; nothing of it is promised of this machine"
        )
    }
}

impl Robot {
    /// Asks the programs what their nodes are: only what has nodes can run in virtual time. What is optional and has none is left out.
    ///
    /// # Errors
    /// Why the robot must not start so: a program without nodes, one that cannot tell them, one that would run twice on the same topics.
    pub fn cast(self, asking: &Asking) -> Result<(Self, Cast), String> {
        let location = Location::from_environment().map_err(|error| error.to_string())?;
        let left_out = self.left_out.iter().map(|(name, reason)| format!("{name} is left out: {reason}"));
        let mut notes: Vec<_> = left_out.collect();
        let (mut asked, mut places, mut strangers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (program, described)) in self.programs.iter().zip(self.described(asking)?).enumerate() {
            let reason = match described {
                Some(Ok(info)) => {
                    asked.push((program, info));
                    places.push(place);
                    continue;
                }
                Some(Err(reason)) => format!("does not say what its nodes are: {reason}"),
                None => "is no program of nodes".to_owned(),
            };
            match program.is_optional {
                true => notes.push(format!("{} is left out: it {reason}", program.name)),
                false => strangers.push(format!("{} {reason}", program.name)),
            }
        }
        if !strangers.is_empty() {
            return Err(format!(
                "not all programs can run on a virtual clock, which programs of nodes alone look at:\n  {}\n\
                 write optional = true for what may be left out, choose a group without it by --group NAME, or make a node of it (docs/nodes.md)",
                strangers.join("\n  ")
            ));
        }
        if asked.is_empty() {
            return Err("no program is left that has nodes, and a virtual clock is for nodes".to_owned());
        }
        twice(&asked, &location)?;
        let role = |(program, info): (&Program, ProcessInfo)| {
            let namespace = program.namespace.clone().unwrap_or_else(|| location.namespace.to_string());
            let topics: BTreeSet<_> = info.nodes.iter().filter_map(|node| node.on.clone()).collect();
            Role {
                process: info.name,
                hears: topics.into_iter().map(|topic| (namespace.clone(), topic)).collect(),
                namespace,
                nodes: info.nodes.len(),
            }
        };
        let roles = asked.into_iter().map(role).collect();
        Ok((self.only(&places), Cast { roles, notes }))
    }
}
