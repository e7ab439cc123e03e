//! Facts are read from trees that the tests write.

use super::*;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

#[test]
fn facts_come_from_the_tree() {
    let root = tree(&[
        ("proc/sys/kernel/random/boot_id", "0f0e0d0c-0b0a-0908-0706-050403020100\n"),
        ("proc/sys/kernel/osrelease", "6.12.9-rt-amd64\n"),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.12.9-1\n"),
        ("proc/cmdline", "isolcpus=3\n"),
        ("etc/os-release", "NAME=x\nIMAGE_ID=\"horus\"\nIMAGE_VERSION='0.1.0'\n"),
        ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse\n"),
    ]);
    let facts = Facts::read(root.path());
    assert_eq!(facts.boot_id, "0f0e0d0c0b0a09080706050403020100");
    assert_eq!(facts.image, "horus 0.1.0");
    assert_eq!(facts.kernel, "6.12.9-rt-amd64 #1 SMP PREEMPT_RT Debian 6.12.9-1");
    assert_eq!(facts.hypervisor.as_deref(), Some("unknown hypervisor"));
    assert!(facts.is_preempt_rt());
}

#[test]
fn preempt_dynamic_is_no_real_time_kernel() {
    let root = tree(&[("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC")]);
    let facts = Facts::read(root.path());
    assert!(!facts.is_preempt_rt());
    assert_eq!((facts.hypervisor, facts.image.as_str()), (None, "unknown"));
}

#[test]
fn a_distribution_without_an_image_is_called_by_its_name() {
    assert_eq!(image("PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"), "Debian GNU/Linux 13 (trixie)");
}

const CORE: &str = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
const FIRMWARE: &str = "sys/devices/platform/soc/soc:firmware/get_throttled";
const TYPE: &str = "sys/class/thermal/cooling_device1/type";
const STATE: &str = "sys/class/thermal/cooling_device1/cur_state";

fn throttling(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    Throttling::read(tree(after).path()).since(&Throttling::read(tree(before).path()))
}

/// The same tree before and after: counters are told apart by their path.
fn changed(file: &str, before: &str, after: &str) -> Vec<String> {
    let root = tree(&[(file, before), (TYPE, "cpufreq-cpu0\n")]);
    let first = Throttling::read(root.path());
    fs::write(root.path().join(file), after).unwrap();
    Throttling::read(root.path()).since(&first)
}

#[test]
fn each_source_of_throttling_is_compared_with_itself() {
    assert!(throttling(&[], &[]).is_empty());
    assert!(changed(CORE, "2\n", "2\n").is_empty());
    assert!(changed(CORE, "2\n", "5\n")[0].contains("throttled 3 times"));
    assert!(changed(FIRMWARE, "0\n", "50000\n")[0].contains("from 0x0 to 0x50000"));
    assert!(changed(STATE, "0\n", "0\n").is_empty());
    // A sum would have fallen here, and hidden the counter that rose.
    let root = tree(&[(CORE, "2\n"), (TYPE, "cpufreq-cpu0\n"), (STATE, "7\n")]);
    let first = Throttling::read(root.path());
    fs::write(root.path().join(CORE), "3\n").unwrap();
    fs::write(root.path().join(STATE), "0\n").unwrap();
    let reasons = Throttling::read(root.path()).since(&first);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[1].contains("state 7 at the start, 0 at the end"), "{reasons:?}");
}

#[test]
fn sticky_bits_from_before_the_run_leave_throttling_in_doubt() {
    assert!(changed(FIRMWARE, "50000\n", "50000\n")[0].contains("cannot be excluded"));
    assert!(changed(FIRMWARE, "50000\n", "50005\n")[0].contains("the machine throttled"));
}
