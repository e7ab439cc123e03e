//! What the figures were measured on.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::pinning::Cpus;

/// The machine, its software, and the state it was in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The machine's name.
    pub host: String,
    /// Kernel release and version, as `uname -rv` prints them.
    pub kernel: String,
    /// Frequency governor of the first CPU; `none` where the machine does not let Linux choose.
    pub governor: String,
    /// Commit of the source tree, with `+` when files differ from it; `unknown` outside a git checkout.
    pub commit: String,
    /// Model name of the processor.
    pub cpu_model: String,
    /// CPUs that are online.
    pub cpus_online: usize,
    /// The two CPUs that the run used.
    pub cpus: String,
    /// Whether this is a virtual machine; its latencies are the hypervisor's too.
    #[serde(rename = "virtual")]
    pub virtual_machine: bool,
    /// What the kernel keeps time by.
    pub clock_source: String,
    /// Processes that wanted to run on average over the minute before.
    pub load: String,
    /// When the run started, UTC.
    pub date: String,
    /// Whether `--quick` was given.
    pub quick: bool,
}

impl Host {
    /// Whether it is real.
    pub fn kind(&self) -> &'static str {
        if self.virtual_machine { "virtual machine" } else { "machine" }
    }

    /// Looks around.
    pub fn look(cpus: Cpus, quick: bool) -> Self {
        let name = rustix::system::uname();
        let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let load = read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned();
        Self {
            host: text(name.nodename()),
            kernel: format!("{} {}", text(name.release()), text(name.version())),
            governor: non_empty(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "none"),
            commit: non_empty(commit().unwrap_or_default(), "unknown"),
            cpu_model: non_empty(cpu_field(&cpuinfo, "model name"), std::env::consts::ARCH),
            cpus_online: std::thread::available_parallelism().map_or(0, usize::from),
            cpus: cpus.to_string(),
            virtual_machine: is_virtual(&cpuinfo),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            load,
            date: run("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_default(),
            quick,
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn non_empty(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}

fn cpu_field(cpuinfo: &str, name: &str) -> String {
    let value = |line: &str| {
        line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    cpuinfo.lines().find_map(value).unwrap_or_default()
}

/// x86 says so in a CPU flag; elsewhere the firmware's product name often does.
fn is_virtual(cpuinfo: &str) -> bool {
    let product = read("/sys/class/dmi/id/product_name") + &read("/sys/firmware/devicetree/base/hypervisor/compatible");
    cpu_field(cpuinfo, "flags").split(' ').any(|flag| flag == "hypervisor")
        || ["KVM", "QEMU", "VirtualBox", "VMware", "Virtual Machine", "kvm"].iter().any(|name| product.contains(name))
}

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn commit() -> Option<String> {
    let source = env!("CARGO_MANIFEST_DIR");
    let commit = run("git", &["-C", source, "rev-parse", "--short=12", "HEAD"])?;
    let changed = run("git", &["-C", source, "status", "--porcelain", "--untracked-files=no", "..", ":!results"])?;
    Some(if changed.is_empty() { commit } else { commit + "+" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hypervisors_flag_makes_a_machine_virtual() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu vme hypervisor lahf_lm\n";
        assert!(is_virtual(cpuinfo));
        assert_eq!(cpu_field(cpuinfo, "model name"), "Some CPU");
    }

    #[test]
    fn every_field_of_the_record_says_something() {
        let host = serde_json::to_value(Host::look(Cpus::default_pair(), true)).unwrap();
        for field in ["host", "kernel", "governor", "commit", "cpu_model", "date", "clock_source"] {
            assert!(host[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {host}");
        }
    }
}
