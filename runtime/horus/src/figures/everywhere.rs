//! What runs in all namespaces of a machine: programs of different namespaces see none of each other's topics, and share its CPUs.

use horus_shm::directory::{Directory, Location, Namespace};

use super::{ProcessFigures, list};
use crate::graph::ProcessInfo;

/// The programs of all namespaces of a directory.
#[derive(Default)]
pub struct Everywhere {
    /// Those of the namespace that was asked from.
    pub own: Vec<ProcessFigures>,
    /// The others, with their namespaces.
    pub others: Vec<(Namespace, ProcessFigures)>,
    /// The namespaces that this user may not look into: what runs there is not known.
    pub unseen: Vec<Namespace>,
}

impl Everywhere {
    /// Looks into all namespaces beside that of `location`, and into that one. What is not there is empty.
    pub fn look(location: &Location) -> Self {
        let mut found = Self::default();
        for namespace in Namespace::all_in(&location.directory) {
            let directory = Directory::find(namespace.path_in(&location.directory));
            let listed = directory.map(|found| found.map_or_else(|| Ok(Vec::new()), |directory| list(&directory)));
            match listed {
                Ok(Ok(processes)) if namespace == location.namespace => found.own = processes,
                Ok(Ok(processes)) => {
                    found.others.extend(processes.into_iter().map(|process| (namespace.clone(), process)));
                }
                Ok(Err(_)) | Err(_) => found.unseen.push(namespace),
            }
        }
        found
    }

    /// What their programs say of themselves. Those of other namespaces are named with theirs, as `lab:balance`: a robot and its simulation are
    /// the same program.
    pub fn programs(&self) -> Vec<ProcessInfo> {
        let named = |(namespace, process): &(Namespace, ProcessFigures)| {
            let info = process.info();
            ProcessInfo { name: format!("{namespace}:{}", info.name), ..info.clone() }
        };
        self.own.iter().map(|process| process.info().clone()).chain(self.others.iter().map(named)).collect()
    }

    /// That there are namespaces of which nothing is known, in a sentence.
    pub fn unseen(&self) -> Option<String> {
        let names: Vec<_> = self.unseen.iter().map(Namespace::as_str).collect();
        (!names.is_empty()).then(|| {
            format!(
                "not counted: nodes of the namespaces {}, which may run on the same CPUs: their folders are another user's (ask as root), or open to everybody \
                 (chmod o-w)",
                names.join(", ")
            )
        })
    }
}
