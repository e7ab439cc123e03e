//! Whether all programs of a robot can share one virtual time, and what releases their nodes.

use std::collections::BTreeMap;

use horus::graph::ProcessInfo;
use horus_shm::directory::Location;

use crate::admit::{Asking, twice};
use crate::digest::Name;
use crate::robot::Robot;

/// The programs of a robot that can run on one virtual clock.
#[derive(Clone, Debug)]
pub struct Cast {
    /// In the order of the robot's programs.
    pub(crate) roles: Vec<Role>,
}

/// What is known of one program before it starts.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// Its name on its topics.
    pub process: String,
    pub namespace: String,
    /// Its nodes.
    pub nodes: Vec<String>,
    /// Topics that release nodes of it.
    pub hears: Vec<Name>,
}

impl Cast {
    /// One sentence about all of it.
    pub fn sentence(&self) -> String {
        let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let nodes = self.roles.iter().map(|role| role.nodes.len()).sum();
        let whole = format!("{} of {}", of(nodes, "node"), of(self.roles.len(), "program"));
        format!(
            "{whole} share one virtual clock, which begins when all are ready; nothing of it is promised of this machine"
        )
    }
}

impl Robot {
    /// Asks the programs what their nodes are: only what has nodes can run in virtual time.
    ///
    /// # Errors
    /// Why the robot must not start so: a program without nodes, one that cannot tell them, one that would run twice on the same topics.
    pub fn cast(&self) -> Result<Cast, String> {
        let location = Location::from_environment().map_err(|error| error.to_string())?;
        let (mut asked, mut strangers) = (Vec::new(), Vec::new());
        for (program, described) in self.programs.iter().zip(self.described(&Asking::default())?) {
            match described {
                Some(Ok(info)) => asked.push((program, info)),
                Some(Err(reason)) => {
                    strangers.push(format!("{} does not say what its nodes are: {reason}", program.name))
                }
                None => strangers.push(format!("{} is no program of nodes", program.name)),
            }
        }
        if !strangers.is_empty() {
            return Err(format!(
                "not all programs can run on a virtual clock, which programs of nodes alone look at:\n  {}\n\
                 leave them out by --group NAME, a group without them, or make nodes of them (docs/nodes.md)",
                strangers.join("\n  ")
            ));
        }
        twice(&asked, &location)?;
        let role = |(program, info): (&crate::robot::Program, ProcessInfo)| {
            let namespace = program.namespace.clone().unwrap_or_else(|| location.namespace.to_string());
            let topics: BTreeMap<_, _> = info.nodes.iter().filter_map(|node| Some((node.on.clone()?, ()))).collect();
            Role {
                process: info.name,
                hears: topics.into_keys().map(|topic| (namespace.clone(), topic)).collect(),
                namespace,
                nodes: info.nodes.into_iter().map(|node| node.name).collect(),
            }
        };
        Ok(Cast { roles: asked.into_iter().map(role).collect() })
    }
}
