//! Signs beside the traces that the machine was not running: a hypervisor that took the CPU, firmware that took all of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Where Intel's processors count system management interrupts (Software Developer's Manual, volume 4: MSR_SMI_COUNT).
const SMI_COUNT: u64 = 0x34;
/// One of `/proc/stat`'s ticks: USER_HZ is 100 on every architecture of ours.
const TICK_MS: u64 = 10;

/// What the counters said at a moment.
#[derive(Clone, Debug, Default)]
struct Sample {
    /// Ticks stolen from each CPU.
    steal: BTreeMap<u32, u64>,
    smi: Option<u64>,
}

/// Looks at counters that grow while the machine does not run.
#[derive(Debug)]
pub struct Watch {
    stat: PathBuf,
    msr: Option<File>,
    /// One and two looks ago.
    before: [Sample; 2],
}

impl Watch {
    /// Firmware stops all CPUs at once, so the housekeeping CPU's counter is read: reading another one's would interrupt that.
    pub fn new(housekeeping_cpu: u32) -> Self {
        let msr = File::open(format!("/dev/cpu/{housekeeping_cpu}/msr")).ok();
        let mut watch = Self { stat: PathBuf::from("/proc/stat"), msr, before: Default::default() };
        let now = watch.sample();
        watch.before = [now.clone(), now];
        watch
    }

    /// Remembers how far the counters are: called about once a second, so that a growth is at most two seconds old.
    pub fn look(&mut self) {
        let now = self.sample();
        self.before.swap(0, 1);
        self.before[0] = now;
    }

    /// What says that a CPU was not running lately.
    pub fn seen(&self, cpu: u32) -> Vec<String> {
        grown(&self.before[1], &self.sample(), cpu)
    }

    fn sample(&self) -> Sample {
        let mut word = [0; 8];
        let read = self.msr.as_ref().and_then(|msr| msr.read_at(&mut word, SMI_COUNT).ok());
        let smi = (read == Some(8)).then(|| u64::from_ne_bytes(word) & u64::from(u32::MAX));
        Sample { steal: steal(&fs::read_to_string(&self.stat).unwrap_or_default()), smi }
    }
}

/// Each CPU's eighth number of `/proc/stat`: `cpu1 user nice system idle iowait irq softirq steal …`.
fn steal(stat: &str) -> BTreeMap<u32, u64> {
    let line = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        Some((words.next()?.parse().ok()?, words.nth(7)?.parse().ok()?))
    };
    stat.lines().filter_map(line).collect()
}

fn grown(before: &Sample, now: &Sample, cpu: u32) -> Vec<String> {
    let mut seen = Vec::new();
    if let (Some(before), Some(now)) = (before.steal.get(&cpu), now.steal.get(&cpu))
        && now > before
    {
        seen.push(format!("the hypervisor took {} ms of the CPU at about this time", (now - before) * TICK_MS));
    }
    if let (Some(before), Some(now)) = (before.smi, now.smi)
        && now > before
    {
        seen.push(format!("the firmware interrupted the machine {} times at about this time", now - before));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  1 2 3 4 5 6 7 30 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 22 0 0\nintr 5\n";

    #[test]
    fn stolen_time_is_each_cpus_eighth_number() {
        assert_eq!(steal(STAT), BTreeMap::from([(0, 8), (1, 22)]));
        assert_eq!(steal("cpu0 1 2\ncpuX 1 2 3 4 5 6 7 8\n"), BTreeMap::new());
    }

    #[test]
    fn only_a_counter_that_grew_is_a_sign() {
        let before = Sample { steal: steal(STAT), smi: Some(3) };
        assert_eq!(grown(&before, &before.clone(), 1), Vec::<String>::new());
        let now = Sample { steal: BTreeMap::from([(0, 8), (1, 42)]), smi: Some(5) };
        assert_eq!(
            grown(&before, &now, 1),
            [
                "the hypervisor took 200 ms of the CPU at about this time",
                "the firmware interrupted the machine 2 times at about this time"
            ]
        );
        assert_eq!(
            grown(&Sample::default(), &now, 1),
            Vec::<String>::new(),
            "without a look before there is no growth"
        );
    }
}
