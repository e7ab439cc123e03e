//! What the run has to know about the machine: which boot, image and kernel, whether it is virtual, whether it
//! throttled. What identifies it is in `identity`, what it was like second by second in `watch`, which
//! units failed and who was killed for want of memory in `units` and `memory`, which ask the journal through `events`.

pub(crate) mod events;
pub mod identity;
pub(crate) mod memory;
pub mod units;
pub mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child;
use crate::record::schema::Tool;

/// What a question to another program may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Facts that do not change while the machine is up.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The boot's identifier, 32 hexadecimal digits.
    pub boot_id: String,
    /// Image name and version.
    pub image: String,
    /// Release and version of the kernel.
    pub kernel: String,
    /// The kernel's command line.
    pub cmdline: String,
    /// The hypervisor; `None` on real hardware.
    pub hypervisor: Option<String>,
}

impl Facts {
    /// Reads the files below `root`.
    pub fn read(root: &Path) -> Self {
        let text = |name: &str| read_trimmed(&root.join(name)).unwrap_or_default();
        let release = text("proc/sys/kernel/osrelease");
        Self {
            boot_id: boot_id(root),
            image: image_of(root),
            kernel: format!("{release} {}", text("proc/sys/kernel/version")).trim().to_owned(),
            cmdline: text("proc/cmdline"),
            hypervisor: hypervisor(root),
        }
    }

    /// Whether the kernel is a real-time kernel. `/sys/kernel/realtime` exists on patched kernels only and is not
    /// asked.
    pub fn is_preempt_rt(&self) -> bool {
        self.kernel.contains("PREEMPT_RT") || self.kernel.contains("PREEMPT RT")
    }
}

/// The identifier of this boot, 32 hexadecimal digits as journald prints it; empty where it cannot be read.
pub fn boot_id(root: &Path) -> String {
    read_trimmed(&root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default().replace('-', "")
}

/// A random identifier of one run, 32 hexadecimal digits: the kernel makes one for each reader.
pub fn run_id() -> String {
    read_trimmed(Path::new("/proc/sys/kernel/random/uuid")).unwrap_or_default().replace('-', "")
}

/// Name and version of the image.
pub fn image_of(root: &Path) -> String {
    let text = |name: &str| read_trimmed(&root.join(name)).unwrap_or_default() + "\n";
    image(&["etc/os-release", "usr/lib/os-release"].map(text).concat())
}

fn read_trimmed(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// `IMAGE_ID` and `IMAGE_VERSION` of os-release, else its `PRETTY_NAME`.
fn image(os_release: &str) -> String {
    let value = |key: &str| {
        let of_line =
            |line: &str| Some(line.strip_prefix(key)?.strip_prefix('=')?.trim_matches(['"', '\'']).to_owned());
        os_release.lines().find_map(of_line).filter(|value| !value.is_empty())
    };
    match (value("IMAGE_ID"), value("IMAGE_VERSION")) {
        (Some(id), Some(version)) => format!("{id} {version}"),
        (Some(id), None) => id,
        _ => value("PRETTY_NAME").unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// Asks systemd-detect-virt; a tree that is not this machine's, or a machine without it, is judged by its files.
fn hypervisor(root: &Path) -> Option<String> {
    if root == Path::new("/")
        // Exit status 1 together with "none" is an answer, so the status is not looked at.
        && let Ok(answer) = child::answer("systemd-detect-virt", &["--vm"], ANSWER)
    {
        match answer.trim() {
            "" => {}
            "none" => return None,
            name => return Some(name.to_owned()),
        }
    }
    let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    let flagged =
        cpuinfo.lines().any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"));
    (flagged || root.join("proc/device-tree/hypervisor").exists()).then(|| "unknown hypervisor".to_owned())
}

/// What slows this machine down, source by source, at one moment.
///
/// x86: the counters of `thermal_throttle`. Raspberry Pi: the firmware's `get_throttled`. Others: the cooling devices
/// that act on a CPU's clock. Never a sum of them: one that falls would hide one that rises.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throttling {
    /// Counters that only rise: path and value.
    counters: BTreeMap<PathBuf, u64>,
    /// Bits 0 to 3: now; bits 16 to 19: at some time since boot.
    raspberry: Option<u64>,
    /// Cooling devices of CPUs, and how far each is in use.
    cooling: BTreeMap<PathBuf, u64>,
}

/// The bits of `get_throttled` that tell what happens now.
const RASPBERRY_NOW: u64 = 0xf;

/// The sticky bits of `get_throttled`.
const RASPBERRY_STICKY: u64 = 0xf_0000;

impl Throttling {
    /// Reads all sources below `root`.
    pub fn read(root: &Path) -> Self {
        let number = |path: &Path| read_trimmed(path).and_then(|text| text.parse::<u64>().ok());
        let below = |name: &str| {
            let entries = fs::read_dir(root.join(name)).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let counters = below("sys/devices/system/cpu").into_iter().flat_map(|cpu| {
            ["core_throttle_count", "package_throttle_count"].map(|name| cpu.join("thermal_throttle").join(name))
        });
        let cooling = below("sys/class/thermal").into_iter().filter(|device| {
            read_trimmed(&device.join("type")).is_some_and(|kind| kind.contains("cpufreq") || kind == "Processor")
        });
        let read = |path: PathBuf| number(&path).map(|value| (path, value));
        let firmware = root.join("sys/devices/platform/soc/soc:firmware/get_throttled");
        Self {
            counters: counters.filter_map(read).collect(),
            raspberry: read_trimmed(&firmware)
                .and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()),
            cooling: cooling.map(|device| device.join("cur_state")).filter_map(read).collect(),
        }
    }

    /// Whether this machine has any source that tells of throttling.
    pub(crate) fn is_known(&self) -> bool {
        !self.counters.is_empty() || self.raspberry.is_some() || !self.cooling.is_empty()
    }

    /// Whether the machine slowed itself down after `before`, or does so now. Unlike [`since`](Self::since) it does not ask what
    /// cannot be excluded.
    pub(crate) fn has_begun_since(&self, before: &Self) -> bool {
        let rose = |(path, count): (&PathBuf, &u64)| before.counters.get(path).is_some_and(|old| count > old);
        let (old, new) = (before.raspberry.unwrap_or(0), self.raspberry.unwrap_or(0));
        self.counters.iter().any(rose)
            || self.cooling.values().any(|state| *state > 0)
            || new & RASPBERRY_NOW != 0
            || new & !old & RASPBERRY_STICKY != 0
    }

    /// Why the time from `before` to now was not free of throttling, or cannot be shown to be; empty when it was.
    pub fn since(&self, before: &Self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (path, count) in &self.counters {
            let risen = count.saturating_sub(before.counters.get(path).copied().unwrap_or(0));
            if risen > 0 {
                reasons.push(format!("the machine throttled {risen} times during the run ({})", path.display()));
            }
        }
        for path in self.cooling.keys().chain(before.cooling.keys().filter(|path| !self.cooling.contains_key(*path))) {
            let state = |at: &Self| at.cooling.get(path).copied().unwrap_or(0);
            if state(self).max(state(before)) > 0 {
                let (from, to) = (state(before), state(self));
                let path = path.display();
                reasons.push(format!(
                    "the machine throttled: cooling state {from} at the start, {to} at the end ({path})"
                ));
            }
        }
        let (old, new) = (before.raspberry.unwrap_or(0), self.raspberry.unwrap_or(0));
        if new & !old & RASPBERRY_STICKY != 0 || (old | new) & RASPBERRY_NOW != 0 {
            reasons.push(format!("the machine throttled: the firmware's get_throttled went from {old:#x} to {new:#x}"));
        } else if old & RASPBERRY_STICKY != 0 {
            reasons.push(format!(
                "throttling cannot be excluded: the firmware's get_throttled was {old:#x} before the run, and its bits \
                 stay set until the next boot"
            ));
        }
        reasons
    }
}

/// Versions of the programs that take part; `loads` are those of the loads.
pub fn tools<'a>(loads: impl Iterator<Item = &'a str>) -> Vec<Tool> {
    let tool = |name: &str, version: String| Tool { name: name.to_owned(), version };
    let ask = |name: &str, argument: &str| {
        let text = child::output(name, &[argument], ANSWER).unwrap_or_default();
        text.lines().find(|line| !line.trim().is_empty()).unwrap_or("not available").trim().to_owned()
    };
    let mut tools =
        vec![tool("horus", env!("CARGO_PKG_VERSION").to_owned()), tool("cyclictest", ask("cyclictest", "--help"))];
    for program in loads {
        if !tools.iter().any(|tool| tool.name == program) {
            tools.push(tool(program, ask(program, "--version")));
        }
    }
    tools
}

#[cfg(test)]
mod tests;
