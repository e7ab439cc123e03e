//! The systemd generator: what the units of installed nodes have that their template, `horus-node@.service`, has not.
//!
//! A node whose `node.toml` makes no sense gets a unit that says so and fails; the others start.

use std::fmt::{Display, Write as _};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use horus::app::{Installation, Restart};
use horus::outside::Word;

use super::package::title;
use super::store::{SETTINGS, Store};
use super::systemd::unit;

/// All nodes; the boot starts it when `/var` is there.
pub const TARGET: &str = "horus-nodes.target";

/// Writes drop-ins and links for every installed node into `directory`.
pub fn generate(store: &Store, directory: &Path) -> Result<(), String> {
    let wanted = directory.join(format!("{TARGET}.wants"));
    // A folder that no installation can have made is no node: its name would stand in units.
    for name in store.names().into_iter().filter(|name| name.parse::<Word>().is_ok()) {
        let drop_ins = directory.join(format!("{}.d", unit(&name)));
        let text = drop_in(&name, store);
        let written = fs::create_dir_all(&wanted)
            .and_then(|()| fs::create_dir_all(&drop_ins))
            .and_then(|()| fs::write(drop_ins.join("50-node.conf"), text))
            .and_then(|()| symlink("/usr/lib/systemd/system/horus-node@.service", wanted.join(unit(&name))));
        written.map_err(|error| format!("{}: {error}", drop_ins.display()))?;
    }
    Ok(())
}

fn drop_in(name: &str, store: &Store) -> String {
    let settings = store.node(name).join(SETTINGS);
    match Installation::read(&settings) {
        Ok(installation) if installation.program.as_deref() == Some(name) => good(name, &installation),
        // The unit's own journal says what is wrong: file, line and remedy.
        _ => format!(
            "# Generated: the node.toml of this node cannot be used.\n\
             [Service]\nExecStart=\nExecStart=/usr/bin/horus node install --explain {}\nRestart=no\n",
            store.node(name).display()
        ),
    }
}

/// A line of a unit. What would end the line, or what systemd would expand, leaves no line: the code that checks values first may
/// err.
pub fn line(text: &mut String, key: &str, value: impl Display) {
    let value = value.to_string();
    if !value.contains(|character: char| character.is_control() || character == '%') {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{key}={value}");
    }
}

/// When a service is started again, as systemd says it.
pub fn restart(rule: Restart) -> &'static str {
    match rule {
        Restart::OnFailure => "on-failure",
        Restart::Always => "always",
        Restart::No => "no",
    }
}

/// Whether it waits for drivers and network, which come later in a boot than a node that needs neither.
pub fn is_late(installation: &Installation) -> bool {
    installation.network || !installation.devices.is_empty()
}

/// What a program may use, of what its node.toml asks for.
pub fn rights(text: &mut String, installation: &Installation) {
    installation.groups.iter().for_each(|group| line(text, "SupplementaryGroups", group));
    installation.devices.iter().for_each(|device| line(text, "DeviceAllow", format_args!("{} rw", device.display())));
    if installation.network {
        *text += "PrivateNetwork=no\nRestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_CAN\n";
    }
}

fn good(name: &str, installation: &Installation) -> String {
    let mut text = "# Generated from node.toml.\n[Unit]\n".to_owned();
    line(&mut text, "Description", format_args!("HORUS node {}", title(name, Some(installation))));
    if is_late(installation) {
        text += "# Drivers and network come later in a boot than a node that needs neither.\nAfter=basic.target\n";
    }
    text += "[Service]\n";
    line(&mut text, "Restart", restart(installation.restart));
    rights(&mut text, installation);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_makes_no_sense_gets_a_unit_that_says_so_and_the_others_get_theirs() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(root.path());
        for (name, toml) in [
            (
                "arm",
                "program = \"arm\"\nversion = \"1.0\"\nrestart = \"always\"\nnetwork = true\ndevices = [\"/dev/ttyACM0\"]",
            ),
            ("calm", "program = \"calm\""),
            ("bad", "program = \"bad\"\nperiode = 3"),
            ("other", "program = \"arm\""),
        ] {
            fs::create_dir_all(store.node(name)).unwrap();
            fs::write(store.node(name).join(SETTINGS), toml).unwrap();
        }
        let made = tempfile::tempdir().unwrap();
        generate(&store, made.path()).unwrap();
        let drop_in = |name: &str| {
            fs::read_to_string(made.path().join(format!("horus-node@{name}.service.d/50-node.conf"))).unwrap()
        };
        assert!(drop_in("arm").contains("Description=HORUS node arm 1.0\n"));
        assert!(drop_in("arm").contains("After=basic.target\n[Service]\n"));
        assert!(!drop_in("calm").contains("After="), "it needs no device and starts early");
        assert!(drop_in("arm").contains("Restart=always\nDeviceAllow=/dev/ttyACM0 rw\nPrivateNetwork=no\n"));
        for name in ["bad", "other"] {
            assert!(drop_in(name).contains("--explain"), "{name}");
        }
        let wanted = fs::read_dir(made.path().join("horus-nodes.target.wants")).unwrap();
        assert_eq!(wanted.count(), 4);
    }
}
