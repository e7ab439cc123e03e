//! Which board's folder fits the machine, and which of its CPUs are for real-time nodes.

use horus::cpus::CpuList;

use super::conf::{Conf, name_of};
use crate::tree::Tree;

/// What the person at the command line chose.
pub struct Choice<'a> {
    /// CPUs to isolate.
    pub isolate: Option<&'a CpuList>,
    /// A folder of `conf/machine`.
    pub board: Option<&'a str>,
}

/// The two CPU lists; none where nothing can be isolated, with the reason.
pub type Split = Result<Lists, String>;

/// The two CPU lists in the kernel's notation. Numbers, not `N` for the last CPU: kernels before 5.12 do not know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    /// CPUs for all that has no deadline.
    pub housekeeping: CpuList,
    /// CPUs for real-time nodes.
    pub isolated: CpuList,
}

/// Boards by a word in their device tree's `compatible`.
const COMPATIBLE: [(&str, &str); 4] = [
    ("brcm,bcm2711", "raspberrypi4"),
    ("brcm,bcm2712", "raspberrypi5"),
    ("nvidia,p3767", "jetson-orin-nano"),
    ("nvidia,p3701", "jetson-agx-orin"),
];

/// The folder of `conf/machine` for this machine; none for a board that we do not know.
pub fn board(tree: &Tree, choice: &Choice) -> Option<String> {
    if let Some(name) = choice.board {
        return Some(name.to_owned());
    }
    let compatible = tree.text("/proc/device-tree/compatible").unwrap_or_default();
    if let Some((_, name)) = COMPATIBLE.iter().find(|(word, _)| compatible.contains(word)) {
        return Some((*name).to_owned());
    }
    let cpuinfo = tree.text("/proc/cpuinfo").unwrap_or_default();
    cpuinfo.contains("vendor_id").then(|| "generic-x86-64".to_owned())
}

/// The split of this machine's CPUs.
///
/// # Errors
/// When the CPUs asked for cannot be isolated; what to ask for instead.
pub fn split(tree: &Tree, conf: &Conf, choice: &Choice) -> Result<Split, String> {
    let Some(present) = present(tree) else {
        return Ok(Err("the machine's CPUs cannot be read from /sys/devices/system/cpu".to_owned()));
    };
    let isolated = match (choice.isolate, &conf.housekeeping) {
        (Some(asked), _) => {
            if asked.is_empty() || !asked.is_subset(&present) || asked.contains(0) {
                return Err(format!(
                    "--isolate {asked}: choose from the CPUs {present}, at least one and not CPU 0, which starts the machine and serves its interrupts"
                ));
            }
            asked.clone()
        }
        (None, Some(housekeeping)) => {
            let kept: CpuList =
                housekeeping.parse().map_err(|error| format!("conf: housekeeping={housekeeping}: {error}"))?;
            present.difference(&kept)
        }
        (None, None) => {
            return Ok(Err("this board has no folder in conf/machine: choose its CPUs with --isolate".to_owned()));
        }
    };
    let lists = Lists { housekeeping: present.difference(&isolated), isolated };
    if lists.isolated.is_empty() {
        return Ok(Err(format!("of the CPUs {present} none is left beside those that do everything else")));
    }
    let switches_off = conf.parameters.iter().any(|word| name_of(word) == "nosmt");
    if switches_off && lists.isolated.iter().all(|cpu| is_sibling(tree, cpu)) {
        let reason =
            format!("nosmt switches off all of the CPUs {}: each is the second thread of a core", lists.isolated);
        return if choice.isolate.is_some() { Err(format!("{reason}; choose first threads")) } else { Ok(Err(reason)) };
    }
    Ok(Ok(lists))
}

fn present(tree: &Tree) -> Option<CpuList> {
    let read = |name: &str| tree.text(&format!("/sys/devices/system/cpu/{name}")).ok()?.parse::<CpuList>().ok();
    read("present").or_else(|| read("online")).filter(|cpus| !cpus.is_empty())
}

/// Whether the CPU is not the first thread of its core.
fn is_sibling(tree: &Tree, cpu: u32) -> bool {
    let siblings = tree.text(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")).ok();
    let first = siblings.and_then(|list| list.parse::<CpuList>().ok()?.iter().next());
    first.is_some_and(|first| first != cpu)
}

impl Lists {
    /// A parameter with its placeholders filled in.
    pub fn fill(&self, parameter: &str) -> String {
        let with = parameter.replace("{housekeeping}", &self.housekeeping.to_string());
        with.replace("{isolated}", &self.isolated.to_string())
    }
}
