//! What becomes of the profile on this machine: which files with which bytes, which values, which kernel parameters.

use std::path::Path;

use super::boot;
use super::conf::{Conf, Wanted, name_of};
use super::cpus::Split;
use super::snapshot::Role;
use crate::root::{Bytes, Root, Thing};
use crate::tree::Tree;

/// Where the image has a folder, and where a machine's administrator has it. `/usr/lib` belongs to the distribution's packages.
const PLACES: [(&str, &str); 7] = [
    ("/usr/lib/sysctl.d/", "/etc/sysctl.d/"),
    ("/usr/lib/tmpfiles.d/", "/etc/tmpfiles.d/"),
    ("/usr/lib/modprobe.d/", "/etc/modprobe.d/"),
    ("/usr/lib/udev/", "/etc/udev/"),
    ("/usr/lib/systemd/", "/etc/systemd/"),
    ("/usr/lib/horus/", "/usr/local/lib/horus/"),
    ("/etc/", "/etc/"),
];
/// Where links to units stand.
const UNITS: &str = "/etc/systemd/system";

/// All that is to be done.
#[derive(Default)]
pub struct Plan {
    /// Files and links.
    pub items: Vec<Item>,
    /// Values of the running kernel, each with one path.
    pub values: Vec<Wanted>,
    /// Kernel parameters for the next start.
    pub parameters: Vec<String>,
    /// Units to stop now.
    pub stopped: Vec<String>,
    /// Knobs that this machine does not have, and why.
    pub absent: Vec<(String, String)>,
    /// Knobs that cannot be set: why, and what to do.
    pub impossible: Vec<(String, String, String)>,
}

/// One path and what is to stand there.
pub struct Item {
    /// Absolute, below the root.
    pub path: String,
    /// What is to stand there.
    pub thing: Thing,
    /// Whose file it is.
    pub role: Role,
}

impl Plan {
    /// The plan for the machine of `root`; `earlier` are the parameters of the apply before.
    pub fn of(root: &Root, tree: &Tree, conf: &Conf, split: &Split, earlier: &[String]) -> Self {
        let mut plan = Self::default();
        plan.files(conf);
        plan.units(conf);
        plan.values(tree, conf);
        plan.parameters(conf, split);
        plan.command_lines(root, earlier);
        plan.absent.extend(conf.left_out.iter().map(|what| ("board".to_owned(), what.clone())));
        plan
    }

    /// Files to their places. A place that differs from the image's is replaced in the texts that name it.
    fn files(&mut self, conf: &Conf) {
        let moved: Vec<(&str, String)> =
            conf.files.iter().filter_map(|file| Some((file.path.as_str(), place(&file.path)?))).collect();
        for file in &conf.files {
            let Some(path) = place(&file.path) else {
                let reason = "nobody has said where it belongs on another machine".to_owned();
                self.impossible.push((file.path.clone(), reason, "report this to us".to_owned()));
                continue;
            };
            let mut text = String::from_utf8_lossy(&file.bytes).into_owned();
            for (image, here) in &moved {
                text = text.replace(image, here);
            }
            self.file(path, text, if file.is_program { 0o755 } else { 0o644 });
        }
    }

    /// What a preset says, as links: a service that is enabled is wanted by its target, one that must not run is masked.
    fn units(&mut self, conf: &Conf) {
        for unit in &conf.enabled {
            let file = conf.files.iter().find(|file| file.path.ends_with(&format!("/systemd/system/{unit}")));
            let text = file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default();
            let targets: Vec<&str> = text
                .lines()
                .filter_map(|line| line.strip_prefix("WantedBy="))
                .flat_map(str::split_whitespace)
                .collect();
            if targets.is_empty() {
                let remedy = format!("'systemctl enable {unit}', where there is such a unit");
                self.impossible.push((
                    unit.clone(),
                    "the profile does not say which target wants it".to_owned(),
                    remedy,
                ));
            }
            for target in targets {
                self.link(format!("{UNITS}/{target}.wants/{unit}"), &format!("{UNITS}/{unit}"));
            }
        }
        for unit in &conf.disabled {
            self.link(format!("{UNITS}/{unit}"), "/dev/null");
            self.stopped.push(unit.clone());
        }
    }

    /// Values whose files this kernel has.
    fn values(&mut self, tree: &Tree, conf: &Conf) {
        for wanted in &conf.values {
            match tree.glob(&wanted.path) {
                Ok(paths) => {
                    let is_one = paths.len() == 1;
                    self.values.extend(paths.into_iter().map(|path| Wanted {
                        name: if is_one { wanted.name.clone() } else { path.clone() },
                        path,
                        value: wanted.value.clone(),
                    }));
                }
                Err(_) => self.absent.push((wanted.name.clone(), "the running kernel does not have it".to_owned())),
            }
        }
    }

    /// Kernel parameters with CPU numbers; those that need an isolated CPU are left out where there is none.
    fn parameters(&mut self, conf: &Conf, split: &Split) {
        for parameter in &conf.parameters {
            match split {
                Ok(lists) => self.parameters.push(lists.fill(parameter)),
                Err(_) if !parameter.contains('{') => self.parameters.push(parameter.clone()),
                Err(reason) => self.absent.push((name_of(parameter).to_owned(), reason.clone())),
            }
        }
    }

    /// The parameters in every place where a boot loader reads them.
    fn command_lines(&mut self, root: &Root, earlier: &[String]) {
        let files = boot::files(root);
        let has_grub = boot::has_grub_directory(root);
        if files.is_empty() && !has_grub {
            let reason = "no boot configuration that we know was found".to_owned();
            let remedy = format!("add to the kernel command line in your boot loader: {}", self.parameters.join(" "));
            self.impossible.push(("kernel command line".to_owned(), reason, remedy));
        }
        if has_grub {
            self.file(boot::GRUB_DROP_IN.to_owned(), boot::grub_drop_in(&self.parameters), 0o644);
        }
        for path in files {
            match root.read(&path) {
                Ok(Thing::File(file)) => {
                    let text = String::from_utf8_lossy(&file.bytes).into_owned();
                    let bytes = boot::edited(&path, &text, earlier, &self.parameters).into_bytes();
                    self.items.push(Item { path, thing: Thing::File(Bytes { bytes, ..file }), role: Role::Boot });
                }
                Ok(_) => {} // it went since it was found
                Err(error) => {
                    self.impossible.push((path, error.to_string(), "make it a readable text file".to_owned()))
                }
            }
        }
    }

    fn file(&mut self, path: String, text: String, mode: u32) {
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let thing = Thing::File(Bytes { bytes: text.into_bytes(), mode, owner });
        self.items.push(Item { path, thing, role: Role::Ours });
    }

    fn link(&mut self, path: String, target: &str) {
        self.items.push(Item { path, thing: Thing::Link(target.to_owned()), role: Role::Ours });
    }
}

/// Where a file of the image belongs on another machine.
fn place(path: &str) -> Option<String> {
    debug_assert!(Path::new(path).is_absolute());
    PLACES.iter().find_map(|(image, here)| Some(format!("{here}{}", path.strip_prefix(image)?)))
}
