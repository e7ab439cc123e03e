//! What `horus doctor` says about recorded machines.

#[path = "fixtures/support.rs"]
mod support;

use std::fs;

use support::{audit, rule, rules, tree, with_status};

#[test]
fn a_tuned_machine_passes() {
    let (status, audit) = audit(&tree("tuned-x86"), &rules());
    assert_eq!(status, 0);
    assert!(audit["score"].as_u64().unwrap() >= 97, "score {}", audit["score"]);
    assert_eq!(with_status(&audit, "FAIL"), Vec::<&str>::new());
    let other = ["K10-thp", "K10-numa", "P4-pi"];
    assert_eq!(with_status(&audit, "NA"), other, "what PREEMPT_RT does not have, and what another board has");
    assert_eq!(audit["machine"]["isolated"], "1-3");
    assert_eq!(audit["machine"]["virtual"], false);
}

#[test]
fn siblings_switched_off_by_nosmt_are_isolated_in_name_only_and_cost_no_score() {
    let copy = support::copy_of("tuned-x86");
    let write = |path: &str, text: &str| fs::write(copy.path().join(path), format!("{text}\n")).unwrap();
    write("sys/devices/system/cpu/possible", "0-7");
    write("sys/devices/system/cpu/isolated", "1-7");
    let tuned = audit(&tree("tuned-x86"), &rules()).1;
    let cmdline = fs::read_to_string(copy.path().join("proc/cmdline")).unwrap();
    for asked in ["1-7", "1-N"] {
        let line = cmdline.replace("managed_irq,domain,1-3", &format!("managed_irq,domain,{asked}"));
        write("proc/cmdline", line.replace("rcu_nocbs=1-3", &format!("rcu_nocbs={asked}")).trim());
        let (status, audit) = audit(copy.path(), &rules());
        assert_eq!((status, &audit["score"]), (0, &tuned["score"]), "{:?}", with_status(&audit, "FAIL"));
        assert_eq!(with_status(&audit, "PASS"), with_status(&tuned, "PASS"));
        assert_eq!(audit["machine"]["isolated"], "1-3");
        assert_eq!(audit["machine"]["housekeeping"], "0");
    }
    // A CPU that is running is not forgiven: isolated without having been asked for.
    write("proc/cmdline", &cmdline.replace("managed_irq,domain,1-3", "managed_irq,domain,2-7"));
    let (_, audit) = audit(copy.path(), &rules());
    assert_eq!(rule(&audit, "C1-asked")["status"], "FAIL");
    // Nor are isolated CPUs that are all off any isolation.
    write("sys/devices/system/cpu/isolated", "4-7");
    let (_, audit) = support::audit(copy.path(), &rules());
    assert_eq!(rule(&audit, "C1")["status"], "FAIL");
    assert!(rule(&audit, "C8")["reason"].as_str().unwrap().contains("no CPU is isolated that is online"));
}

#[test]
fn the_appliance_passes_in_an_emulated_machine_but_for_hardware_that_is_not_there() {
    let (status, audit) = audit(&tree("appliance-in-qemu"), &rules());
    assert_eq!(status, 0);
    assert!(audit["score"].as_u64().unwrap() >= 97, "score {}", audit["score"]);
    assert_eq!(audit["machine"]["virtual"], true);
    assert_eq!(with_status(&audit, "FAIL"), ["K7-tick", "C14"], "Debian's kernel, the emulated CPU");
    assert_eq!(rule(&audit, "C2")["observed"], "1-N", "N is the last CPU");
    assert_eq!(rule(&audit, "C1-asked")["status"], "PASS");
    assert_eq!(rule(&audit, "P1")["status"], "NA");
}

#[test]
fn an_untuned_desktop_fails_by_name_of_each_setting() {
    let (status, audit) = audit(&tree("untuned-desktop"), &rules());
    assert_eq!(status, 1);
    assert_eq!(audit["score"], 0);
    let failed = with_status(&audit, "FAIL");
    for id in [
        "K1",
        "K1-config",
        "K4",
        "K7-group",
        "C1",
        "C2",
        "C5",
        "C6",
        "C9",
        "C9-soft",
        "C9-nmi",
        "C10",
        "C13",
        "C15",
        "K10-thp",
        "K10-ksm",
        "K10-compaction",
        "K10-numa",
        "S1",
        "S3-swap",
        "S3-swappiness",
        "S3-stat",
        "P1",
        "P4",
        "I1",
    ] {
        assert!(failed.contains(&id), "{id}: {}", rule(&audit, id));
    }
}

#[test]
fn without_isolation_the_isolation_rule_fails_and_rules_about_isolated_cpus_say_why_they_cannot_tell() {
    let (_, audit) = audit(&tree("untuned-desktop"), &rules());
    assert_eq!(rule(&audit, "C1")["status"], "FAIL");
    assert_eq!(rule(&audit, "C2")["status"], "FAIL", "a missing parameter is missing whatever else is");
    for id in ["C4", "C4-effective", "S2", "S5", "U2", "U3", "I3", "C7", "C8"] {
        let rule = rule(&audit, id);
        assert_eq!(rule["status"], "NA", "{rule}");
        assert!(rule["reason"].as_str().unwrap().contains("no CPU is isolated"), "{rule}");
    }
}

#[test]
fn isolation_that_leaks_fails_where_it_leaks() {
    let (status, audit) = audit(&tree("leaky-isolation"), &rules());
    assert_eq!(status, 1);
    let observed = |id: &str| {
        let rule = rule(&audit, id);
        assert_eq!(rule["status"], "FAIL", "{rule}");
        rule["observed"].as_str().unwrap().to_owned()
    };
    assert_eq!(observed("C1-asked"), "2-3");
    assert!(observed("C2-threads").contains("cpu3"));
    assert!(observed("C7").contains("cpu2: shares its core with 0,2"));
    assert!(observed("U3").contains("0-3"));
    assert!(observed("C8").contains("400"));
    assert!(observed("S2").contains("50000000"));
    assert!(observed("I3").contains("multipathd (503)"), "a thread, not only the main one: {}", observed("I3"));
    assert!(observed("U2").contains("8388608"));
    let interrupts = observed("C4-effective");
    assert!(interrupts.contains("interrupt 36 eth0: on CPU 2, allowed 0-3, fired 77 times there"), "{interrupts}");
    assert!(
        !interrupts.contains("interrupt 38"),
        "a silent queue of an isolated CPU is explained, not accused: {interrupts}"
    );
    assert!(interrupts.contains("1 queues of isolated CPUs themselves"), "{interrupts}");
}

#[test]
fn a_raspberry_pi_is_not_asked_for_what_only_a_pc_has() {
    let (status, audit) = audit(&tree("raspberry-pi-5"), &rules());
    assert_eq!(status, 0);
    for id in ["C10-watchdog", "C11", "K5", "P2", "P4"] {
        let rule = rule(&audit, id);
        assert_eq!(rule["status"], "NA", "{rule}");
        assert_eq!(rule["reason"], "only for x86_64, this machine is aarch64");
    }
    assert_eq!(rule(&audit, "P4-pi")["status"], "PASS");
    assert_eq!(rule(&audit, "K11")["observed"], "16 kB");
    assert_eq!(rule(&audit, "C10")["observed"], "arch_sys_counter");
    assert_eq!(rule(&audit, "C9-nmi")["reason"], "/proc/sys/kernel/nmi_watchdog does not exist");
}

#[test]
fn a_virtual_machine_is_known_as_one_and_missing_hardware_is_not_a_pass() {
    let (status, audit) = audit(&tree("virtual-machine"), &rules());
    assert_eq!(status, 1);
    assert_eq!(audit["machine"]["virtual"], true);
    for id in ["P1", "P1-range", "P4", "C11", "C15-usb"] {
        assert_eq!(rule(&audit, id)["status"], "NA", "{}", rule(&audit, id));
    }
    assert!(with_status(&audit, "FAIL").contains(&"K1"));
}

#[test]
fn a_tree_is_judged_the_same_as_one_file_and_as_a_directory() {
    for name in support::TREES {
        let copy = support::copy_of(name);
        assert_eq!(audit(copy.path(), &rules()), audit(&tree(name), &rules()), "{name}");
    }
}

#[test]
fn every_result_that_is_not_applicable_says_why_and_every_other_what_was_read() {
    for name in support::TREES {
        let (_, audit) = audit(&tree(name), &rules());
        for rule in audit["rules"].as_array().unwrap() {
            let said = if rule["status"] == "NA" { &rule["reason"] } else { &rule["observed"] };
            assert!(said.as_str().is_some_and(|text| !text.is_empty()), "{name}: {rule}");
            assert!(rule["expected"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {rule}");
        }
    }
}

#[test]
fn efi_services_that_a_pc_was_asked_for_are_found_and_the_last_word_about_them_counts() {
    let copy = support::copy_of("tuned-x86");
    let line = fs::read_to_string(copy.path().join("proc/cmdline")).unwrap();
    for (more, status) in
        [("efi=runtime", "FAIL"), ("efi=debug,runtime", "FAIL"), ("efi=runtime efi=noruntime", "PASS")]
    {
        fs::write(copy.path().join("proc/cmdline"), format!("{} {more}\n", line.trim_end())).unwrap();
        let (_, audit) = support::audit(copy.path(), &rules());
        assert_eq!(rule(&audit, "K5-asked")["status"], status, "{more}");
    }
}

#[test]
fn a_jetson_has_no_deadline_servers_and_may_use_efi_services_which_its_firmware_needs() {
    let (status, audit) = audit(&tree("jetson-orin"), &rules());
    assert_eq!((status, with_status(&audit, "FAIL")), (0, Vec::new()));
    assert_eq!(audit["machine"]["isolated"], "4-5");
    for id in ["S2", "S2-ext"] {
        assert_eq!(rule(&audit, id)["reason"], "kernels before 6.12 do not have this setting");
    }
    assert_eq!(rule(&audit, "C8")["status"], "PASS", "the deep state is switched off");
    assert_eq!(rule(&audit, "K5-asked")["status"], "NA");
    // Its firmware does not tell whether it throttled.
    assert_eq!(rule(&audit, "P4-pi")["status"], "NA");

    let copy = support::copy_of("jetson-orin");
    fs::write(copy.path().join("sys/devices/system/cpu/cpu5/cpuidle/state1/disable"), "0\n").unwrap();
    let (_, audit) = support::audit(copy.path(), &rules());
    assert_eq!(with_status(&audit, "FAIL"), ["C8"]);
}

#[test]
fn with_one_cpu_the_remedy_is_more_cpus_and_no_parameter() {
    let copy = support::copy_of("untuned-desktop");
    let fix = |id: &str| {
        let (_, audit) = support::audit(copy.path(), &rules());
        let rule = rule(&audit, id).clone();
        assert_eq!(rule["status"], "FAIL", "{rule}");
        rule["fix"].as_str().unwrap().to_owned()
    };
    assert!(fix("C1").starts_with("Add isolcpus="), "{}", fix("C1"));
    assert!(fix("C5").starts_with("Correct the names"), "{}", fix("C5"));
    for name in ["possible", "online"] {
        fs::write(copy.path().join("sys/devices/system/cpu").join(name), "0\n").unwrap();
    }
    assert!(fix("C1").contains("more CPUs") && !fix("C1").contains("isolcpus="), "{}", fix("C1"));
    assert!(fix("C5").contains("use a machine with more CPUs"), "{}", fix("C5"));
}

#[test]
fn a_second_disk_and_a_var_in_ram_are_found_and_told_before_the_rules() {
    let (_, audit) = audit(&tree("leaky-isolation"), &rules());
    assert_eq!(rule(&audit, "D1")["observed"], "ram");
    assert_eq!(rule(&audit, "D2")["observed"], "/dev/sdb2 horus_0.1.0; /dev/sdb4 horus-data");
    let root = tree("leaky-isolation");
    let output = support::doctor(&["--root".as_ref(), root.as_os_str(), "--rules".as_ref(), rules().as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = words.find("BOOT data: /var is in RAM: nothing that is stored now survives a restart").unwrap();
    let disks = words.find("BOOT disks: another disk carries HORUS partitions too: /dev/sdb2 horus_0.1.0").unwrap();
    assert!(told < disks && disks < words.find("FAIL").unwrap(), "{text}");
}

#[test]
fn without_a_look_at_the_disks_nothing_is_said_about_them() {
    let copy = support::copy_of("tuned-x86");
    let (_, audit) = support::audit(copy.path(), &rules());
    assert_eq!((&rule(&audit, "D1")["status"], &rule(&audit, "D2")["status"]), (&"PASS".into(), &"PASS".into()));
    fs::write(copy.path().join("run/horus/data"), "rubbish\n").unwrap();
    let (_, audit) = support::audit(copy.path(), &rules());
    for id in ["D1", "D2"] {
        assert!(
            rule(&audit, id)["reason"].as_str().unwrap().contains("/run/horus/data holds no"),
            "{}",
            rule(&audit, id)
        );
    }
}
