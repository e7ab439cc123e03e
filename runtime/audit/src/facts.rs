//! Facts about the audited machine that rules refer to by name: CPU sets, architecture, kernel release.
//!
//! Every fact is read from the tree, never from the machine that the audit runs on: `uname(2)` and `sysconf(3)` would
//! answer for the wrong machine when the tree is a recorded one.

use std::cell::OnceCell;

use horus::cpus::CpuList;
use serde::Deserialize;

use crate::kernel::{CommandLine, KernelConfig};
use crate::outcome::Machine;
use crate::task::{self, Task};
use crate::tree::{Tree, Unread};

/// A set of CPUs that rules may name; rules never hold CPU numbers, because the split differs by machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSet {
    /// All CPUs that are running.
    Online,
    /// The online CPUs that the kernel keeps free for real-time nodes.
    Isolated,
    /// The online CPUs that are not isolated.
    Housekeeping,
    /// The CPUs that `isolcpus=` on the kernel command line asks for, less those that are switched off.
    Asked,
}

impl CpuSet {
    /// The name in rule files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Isolated => "isolated",
            Self::Housekeeping => "housekeeping",
            Self::Asked => "asked",
        }
    }
}

/// What is known of a machine; each fact is a value or the reason for not knowing it.
pub struct Facts {
    /// `/proc/version`: release, builder and preemption model.
    pub version: Result<String, Unread>,
    /// Kernel release, such as `6.12.107-rt`.
    pub release: Option<String>,
    /// Machine name as `uname -m` prints it.
    pub arch: Option<&'static str>,
    /// Whether a hypervisor runs below; `None` where nothing in the tree tells.
    pub is_virtual: Option<bool>,
    /// What the kernel was started with.
    pub cmdline: Result<CommandLine, Unread>,
    /// What the kernel was built with.
    pub config: Result<KernelConfig, Unread>,
    possible: Result<CpuList, Unread>,
    online: Result<CpuList, Unread>,
    isolated: Result<CpuList, Unread>,
    tasks: OnceCell<Result<Vec<Task>, Unread>>,
}

impl Facts {
    /// Reads all facts from `tree`.
    pub fn read(tree: &Tree) -> Self {
        let version = tree.text("/proc/version");
        let release = tree.text("/proc/sys/kernel/osrelease").ok();
        let release = release.or_else(|| Some(version.as_ref().ok()?.split_whitespace().nth(2)?.to_owned()));
        Self {
            config: KernelConfig::read(tree, release.as_deref()),
            cmdline: tree.text("/proc/cmdline").map(|text| CommandLine::parse(&text)),
            arch: arch(tree),
            is_virtual: is_virtual(tree),
            possible: cpu_list(tree, "possible"),
            online: cpu_list(tree, "online"),
            isolated: cpu_list(tree, "isolated"),
            tasks: OnceCell::new(),
            version,
            release,
        }
    }

    /// The CPUs of `set`.
    ///
    /// # Errors
    /// A reason when the set is not known. With no CPU isolated there is no split, so that `isolated` and
    /// `housekeeping` are not known either: "all interrupts are on housekeeping CPUs" would hold on any untuned machine.
    pub fn cpus(&self, set: CpuSet) -> Result<CpuList, Unread> {
        match set {
            CpuSet::Online => self.online.clone(),
            CpuSet::Isolated => self.split(),
            CpuSet::Housekeeping => Ok(self.online.clone()?.difference(&self.split()?)),
            CpuSet::Asked => {
                let cmdline = self.cmdline.as_ref().map_err(Clone::clone)?;
                match cmdline.get("isolcpus") {
                    Some(Some(value)) => Ok(self.without_offline(&self.kernel_list(value)?)),
                    _ => Err(Unread("the kernel command line has no isolcpus=".to_owned())),
                }
            }
        }
    }

    /// All tasks, read once an audit.
    ///
    /// # Errors
    /// As for [`task::all`].
    pub fn tasks(&self, tree: &Tree) -> Result<&[Task], Unread> {
        self.tasks.get_or_init(|| task::all(tree)).as_deref().map_err(Clone::clone)
    }

    fn split(&self) -> Result<CpuList, Unread> {
        match &self.isolated {
            Ok(isolated) if isolated.is_empty() => {
                Err(Unread("no CPU is isolated: /sys/devices/system/cpu/isolated is empty".to_owned()))
            }
            Ok(isolated) => match self.without_offline(isolated) {
                online if online.is_empty() => {
                    Err(Unread(format!("no CPU is isolated that is online: the kernel isolates {isolated}")))
                }
                online => Ok(online),
            },
            Err(unread) => Err(unread.clone()),
        }
    }

    /// `list` less the CPUs that are switched off.
    ///
    /// The kernel's lists name every *possible* CPU, also siblings under `nosmt` and empty sockets. A CPU that the machine
    /// cannot have stays in: to ask for it is a mistake. Where `possible` was not recorded, what the kernel isolated is.
    pub fn without_offline(&self, list: &CpuList) -> CpuList {
        match (self.possible.as_ref().or(self.isolated.as_ref()), &self.online) {
            (Ok(possible), Ok(online)) => list.difference(&possible.difference(online)),
            _ => list.clone(),
        }
    }

    /// Reads a CPU list as the kernel's own parameters take it: flags before the list (`domain,2-3`), `all`, `N` for the
    /// last possible CPU, and `(null)`, which is how the kernel prints a list that was never set.
    ///
    /// # Errors
    /// When `text` is no CPU list, or uses `N` or `all` and the machine's CPUs are not known.
    pub fn kernel_list(&self, text: &str) -> Result<CpuList, Unread> {
        let parts =
            text.trim().split(',').filter(|part| !matches!(*part, "domain" | "managed_irq" | "nohz" | "(null)" | ""));
        let mut parts: Vec<String> = parts.map(str::to_owned).collect();
        if parts.iter().any(|part| part.contains(['N', 'a'])) {
            let known = self.possible.as_ref().or(self.online.as_ref()).map_err(Clone::clone)?;
            let last = known.iter().next_back().unwrap_or_default().to_string();
            let all = format!("0-{last}");
            parts.iter_mut().for_each(|part| *part = part.replace("all", &all).replace('N', &last));
        }
        parts.join(",").parse().map_err(|error| Unread(format!("{error}")))
    }

    /// The facts that a report keeps.
    pub fn machine(&self, tree: &Tree) -> Machine {
        let list = |set| self.cpus(set).map(|cpus| cpus.to_string()).unwrap_or_default();
        Machine {
            kernel: self.version.clone().unwrap_or_default(),
            arch: self.arch.unwrap_or_default().to_owned(),
            is_virtual: self.is_virtual.unwrap_or_default(),
            cmdline: tree.text("/proc/cmdline").unwrap_or_default(),
            isolated: list(CpuSet::Isolated),
            housekeeping: self
                .cpus(CpuSet::Housekeeping)
                .map_or_else(|_| list(CpuSet::Online), |cpus| cpus.to_string()),
        }
    }
}

fn cpu_list(tree: &Tree, name: &str) -> Result<CpuList, Unread> {
    let path = format!("/sys/devices/system/cpu/{name}");
    let text = tree.text(&path)?;
    text.parse().map_err(|error| Unread(format!("{path}: {error}")))
}

/// The architecture by `/proc/sys/kernel/arch` (Linux 6.1 and later), else by what `/proc/cpuinfo` looks like.
fn arch(tree: &Tree) -> Option<&'static str> {
    let cpuinfo = || tree.text("/proc/cpuinfo").unwrap_or_default();
    match tree.text("/proc/sys/kernel/arch").ok().as_deref() {
        Some("x86_64") => Some("x86_64"),
        Some("aarch64") => Some("aarch64"),
        Some(_) => None,
        None if cpuinfo().contains("vendor_id") => Some("x86_64"),
        None if cpuinfo().contains("CPU implementer") => Some("aarch64"),
        None => None,
    }
}

/// Whether a hypervisor runs below: the `hypervisor` CPU flag on x86, the device tree or firmware names on Arm.
fn is_virtual(tree: &Tree) -> Option<bool> {
    let cpuinfo = tree.text("/proc/cpuinfo").ok()?;
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    if let Some(flags) = flags {
        return Some(flags.split_whitespace().any(|flag| flag == "hypervisor"));
    }
    let below =
        |path: &str, names: &[&str]| tree.text(path).is_ok_and(|text| names.iter().any(|name| text.contains(name)));
    let guest = tree.names("/sys/hypervisor/properties").is_ok()
        || tree.names("/proc/device-tree/hypervisor").is_ok()
        || below("/proc/device-tree/compatible", &["dummy-virt", "qemu"])
        || below("/sys/class/dmi/id/sys_vendor", &["QEMU", "VMware", "Xen", "Parallels", "Amazon EC2"]);
    Some(guest)
}
