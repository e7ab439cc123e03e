//! Installed nodes that do not run: what `horus node list` shows beside those that do.

use std::path::Path;

use serde::Serialize;

use crate::installed::package::title;
use crate::installed::store::Store;
use crate::installed::systemd;

/// An installed node that does not run.
#[derive(Debug, Serialize)]
pub struct Idle {
    /// Its name.
    pub name: String,
    /// Its name and version.
    pub title: String,
    /// What systemd says of its unit: `inactive`, `failed`, `activating`, …; empty where nothing starts units.
    pub unit_state: String,
}

/// What is installed below `root` and is not among the programs that run.
pub fn idle(root: &Path, running: &[String]) -> Vec<Idle> {
    let store = Store::at(root);
    let names = store.names().into_iter().filter(|name| !running.contains(name));
    names
        .map(|name| Idle {
            title: title(&name, store.installation(&name).as_ref()),
            unit_state: systemd::state(&name),
            name,
        })
        .collect()
}

/// These nodes as text, a line each.
pub fn text(nodes: &[Idle]) -> String {
    let line = |node: &Idle| {
        let Idle { name, title, unit_state } = node;
        match unit_state.as_str() {
            "failed" => format!("{title} is installed and failed: journalctl --unit=horus-node@{name} says why\n"),
            "" => format!("{title} is installed and does not run\n"),
            "inactive" => format!("{title} is installed and stopped: horus node start {name}\n"),
            state => format!("{title} is installed and {state}\n"),
        }
    };
    nodes.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_installed_and_does_not_run_is_listed_with_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        for name in ["arm", "leg"] {
            let folder = Store::at(root.path()).node(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("node.toml"), format!("program = \"{name}\"\nversion = \"1.2\"")).unwrap();
        }
        let found = idle(root.path(), &["leg".to_owned()]);
        let [arm] = &found[..] else { panic!("{found:?}") };
        assert_eq!((arm.name.as_str(), arm.title.as_str()), ("arm", "arm 1.2"));
        let said = |state: &str| {
            text(&[Idle { unit_state: state.to_owned(), name: arm.name.clone(), title: arm.title.clone() }])
        };
        assert!(said("failed").contains("journalctl --unit=horus-node@arm"));
        assert!(said("inactive").contains("horus node start arm"));
        assert!(said("activating").starts_with("arm 1.2 is installed and activating"));
    }
}
