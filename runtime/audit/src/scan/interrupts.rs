//! Device interrupts that are served by isolated CPUs.

use std::collections::HashMap;

use horus::cpus::CpuList;

use crate::facts::{CpuSet, Facts};
use crate::tree::{Tree, Unread};
use crate::value::{Found, Value};

/// The requested interrupts whose effective CPUs include an isolated one.
///
/// Two kinds cannot be moved and are counted in the note instead:
/// - per-CPU interrupts (timers, inter-processor interrupts on Arm): the kernel gives them no effective CPU;
/// - interrupts of a device queue that belongs to isolated CPUs alone: `isolcpus=managed_irq` moves only those whose
///   queue spans a housekeeping CPU too. They fire only when an isolated CPU itself does the input or output. Since
///   Linux 6.12 the kernel takes the write permission from their affinity; on older ones they pass until they fired.
pub fn stray(tree: &Tree, facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let isolated = facts.cpus(CpuSet::Isolated)?;
    let housekeeping = facts.cpus(CpuSet::Housekeeping)?;
    let table = Table::parse(&tree.text("/proc/interrupts")?);
    let mut found = Found::findings(Vec::new());
    let (mut per_cpu, mut own) = (0, 0);
    for number in tree.names("/proc/irq")?.iter().filter(|name| name.parse::<u32>().is_ok()) {
        let Some(line) = table.lines.get(number.as_str()) else { continue }; // no driver has requested it
        let read = |name: &str| tree.text(&format!("/proc/irq/{number}/{name}"));
        let effective = match read("effective_affinity_list").or_else(|_| read("smp_affinity_list")) {
            Ok(text) => text.parse::<CpuList>().unwrap_or_default(),
            Err(unread) => {
                found.gaps.push(unread);
                continue;
            }
        };
        let stray = effective.intersection(&isolated);
        let allowed: CpuList = read("smp_affinity_list").ok().and_then(|text| text.parse().ok()).unwrap_or_default();
        let is_own = !allowed.is_empty() && allowed.is_subset(&isolated);
        let is_fixed = !tree.is_writable(&format!("/proc/irq/{number}/smp_affinity_list"));
        let fired = line.fired_on(&table.cpus, &isolated);
        if effective.is_empty() {
            per_cpu += 1;
        } else if !stray.is_empty() && is_own && (is_fixed || fired == 0) {
            own += 1;
        } else if !stray.is_empty() {
            let text = format!("on CPU {stray}, allowed {allowed}, fired {fired} times there");
            let value = Value::new(format!("interrupt {number} {}", line.name), text);
            let place = format!("/proc/irq/{number}/smp_affinity_list");
            found.values.push(value.put_right_by(place, housekeeping.to_string()));
        }
    }
    let notes = [(per_cpu, "per-CPU, cannot move"), (own, "queues of isolated CPUs themselves")];
    let notes: Vec<String> =
        notes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    found.note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(found)
}

/// `/proc/interrupts`: a head with the CPU columns, then one line an interrupt.
struct Table {
    cpus: Vec<u32>,
    lines: HashMap<String, Line>,
}

struct Line {
    counts: Vec<u64>,
    name: String,
}

impl Table {
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default().split_whitespace();
        let cpus: Vec<u32> = head.filter_map(|column| column.strip_prefix("CPU")?.parse().ok()).collect();
        let lines = lines.filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let words: Vec<&str> = rest.split_whitespace().collect();
            let counts = words.iter().take(cpus.len()).map_while(|word| word.parse().ok()).collect();
            Some((number.trim().to_owned(), Line { counts, name: (*words.last()?).to_owned() }))
        });
        Self { lines: lines.collect(), cpus }
    }
}

impl Line {
    /// How often the interrupt fired on the CPUs of `set` since boot.
    fn fired_on(&self, columns: &[u32], set: &CpuList) -> u64 {
        columns.iter().zip(&self.counts).filter(|(cpu, _)| set.contains(**cpu)).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A tree with one interrupt that only CPU 1 may serve, which fired 5 times, and CPU 1 isolated.
    fn own_queue(mode: u32) -> Found {
        let directory = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write("sys/devices/system/cpu/isolated", "1");
        write("sys/devices/system/cpu/online", "0-1");
        write("proc/interrupts", "    CPU0 CPU1\n 24:  0  5  PCI-MSIX  virtio1-req.1\n");
        write("proc/irq/24/effective_affinity_list", "1");
        let allowed = write("proc/irq/24/smp_affinity_list", "1");
        fs::set_permissions(allowed, fs::Permissions::from_mode(mode)).unwrap();
        let tree = Tree::open(directory.path()).unwrap();
        stray(&tree, &Facts::read(&tree), &[]).unwrap()
    }

    #[test]
    fn a_queue_that_the_kernel_bound_to_an_isolated_cpu_is_explained_and_one_that_a_person_bound_is_found() {
        let bound = own_queue(0o444);
        assert!(bound.values.is_empty() && bound.note.unwrap().contains("1 queues of isolated CPUs"));
        assert_eq!(own_queue(0o644).values.len(), 1);
    }

    #[test]
    fn columns_belong_to_the_cpus_of_the_head_even_when_one_is_offline() {
        let table =
            Table::parse("     CPU0  CPU2\n 24:  5  7  IO-APIC  5-edge  eth0\nLOC:  1  2  Local timer interrupts\n");
        let line = &table.lines["24"];
        assert_eq!((line.name.as_str(), line.fired_on(&table.cpus, &"2-3".parse().unwrap())), ("eth0", 7));
    }
}
