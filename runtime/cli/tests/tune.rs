//! `horus tune` on directories that stand for a machine: what it applies, and that it leaves nothing behind.

#[path = "fixtures/machine.rs"]
mod machine;
#[path = "fixtures/support.rs"]
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;

use machine::{Machine, tune, tune_output};
use support::{records, repository};

#[test]
fn every_value_and_parameter_of_conf_is_applied() {
    let machine = Machine::new();
    assert_eq!(machine.tune(&["apply"]), 0);
    let lib = repository().join("conf/rt/rootfs/usr/lib");
    let settings = |path: &str| -> Vec<String> {
        let text = fs::read_to_string(lib.join(path)).unwrap();
        let lines = text.lines().map(|line| line.split(" #").next().unwrap().trim().to_owned());
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    };
    let sysctls = settings("sysctl.d/60-horus-rt.conf");
    for line in &sysctls {
        let (name, value) = line.split_once(" = ").unwrap();
        assert_eq!(machine.text(&format!("proc/sys/{}", name.replace('.', "/"))).trim(), value, "{name}");
    }
    let writes = settings("tmpfiles.d/60-horus-rt.conf");
    for line in &writes {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(machine.text(&words[1][1..]).trim(), words[6], "{line}");
    }
    assert!(sysctls.len() > 5 && !writes.is_empty(), "the files are read");
    for name in ["sysctl.d/60-horus-rt.conf", "tmpfiles.d/60-horus-rt.conf"] {
        assert_eq!(machine.text(&format!("etc/{name}")), fs::read_to_string(lib.join(name)).unwrap());
    }
    let rt = fs::read_to_string(repository().join("conf/rt/kernel/cmdline")).unwrap();
    let of_board = fs::read_to_string(repository().join("conf/machine/generic-x86-64/cmdline")).unwrap();
    let parameters = rt.lines().chain(of_board.lines()).map(|line| line.split('#').next().unwrap().trim());
    // A console and memory for last words are the image's: another Linux has its own, or no unit that reads them.
    let is_ours = |line: &&str| ["console=", "memmap="].iter().any(|name| line.starts_with(name));
    for parameter in parameters.filter(|line| !line.is_empty() && !is_ours(line)) {
        let wanted = parameter.replace("{isolated}", "1-3").replace("{housekeeping}", "0");
        for file in machine::COMMAND_LINES {
            let text = machine.text(file);
            assert!(text.split([' ', '\n', '"']).any(|word| word == wanted), "{wanted} in {file}: {text}");
        }
    }
}

#[test]
fn every_knob_that_a_rule_proves_and_a_file_can_set_is_in_the_plan() {
    let machine = Machine::new();
    let output = tune_output(machine.root(), &["apply", "--dry-run"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for record in records() {
        for knob in record.proves.iter().filter(|knob| !knob.starts_with("kconfig:")) {
            let name = knob.split_once(':').unwrap().1;
            assert!(text.contains(name), "{} proves {knob}, of which the plan says nothing:\n{text}", record.id);
        }
    }
}

#[test]
fn every_board_of_conf_can_be_planned() {
    let machine = Machine::new();
    for entry in fs::read_dir(repository().join("conf/machine")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let isolate = ["apply", "--dry-run", "--isolate", "3", "--board", &name];
        assert_eq!(tune(machine.root(), &isolate), 0, "{name}");
    }
}

#[test]
fn a_unit_finds_its_program_where_it_was_put() {
    let machine = Machine::new();
    machine.tune(&["apply"]);
    let unit = machine.text("etc/systemd/system/horus-tune-cpus.service");
    let program = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert_eq!(program, "/usr/local/lib/horus/tune-cpus");
    let mode = fs::metadata(machine.root().join(&program[1..])).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let link = machine.root().join("etc/systemd/system/multi-user.target.wants/horus-tune-cpus.service");
    assert_eq!(fs::read_link(link).unwrap().to_str().unwrap(), "/etc/systemd/system/horus-tune-cpus.service");
    let masked = machine.root().join("etc/systemd/system/irqbalance.service");
    assert_eq!(fs::read_link(masked).unwrap().to_str().unwrap(), "/dev/null");
}

#[test]
fn revert_leaves_the_tree_as_it_was() {
    let machine = Machine::new();
    let before = machine.everything();
    machine.tune(&["apply"]);
    assert_ne!(machine.everything(), before);
    assert_eq!(machine.tune(&["revert"]), 0);
    assert_eq!(machine.everything(), before);
    assert_eq!(machine.tune(&["revert"]), 0, "a second revert has nothing to do");
    assert_eq!(machine.everything(), before);
}

#[test]
fn a_dry_run_changes_nothing() {
    let machine = Machine::new();
    let before = machine.everything();
    assert_eq!(machine.tune(&["apply", "--dry-run"]), 0);
    assert_eq!(machine.everything(), before);
}

#[test]
fn a_second_apply_changes_nothing_and_one_with_other_cpus_keeps_the_first_snapshot() {
    let machine = Machine::new();
    let before = machine.everything();
    machine.tune(&["apply"]);
    let once = machine.everything();
    machine.tune(&["apply"]);
    assert_eq!(machine.everything(), once);
    machine.tune(&["apply", "--isolate", "2-3"]);
    let line = machine.text("boot/firmware/cmdline.txt");
    assert!(line.contains("isolcpus=managed_irq,domain,2-3 ") && !line.contains("1-3"), "{line}");
    machine.tune(&["revert"]);
    assert_eq!(machine.everything(), before);
}

#[test]
fn whatever_step_apply_is_killed_at_revert_restores_everything() {
    let pristine = Machine::new().everything();
    for step in 1.. {
        let machine = Machine::new();
        let output = tune_output(machine.root(), &["apply", "--die-at-step", &step.to_string()]);
        let was_killed = output.status.signal() == Some(9);
        assert!(was_killed || output.status.success(), "step {step}: {output:?}");
        if step % 3 == 0 {
            assert_eq!(machine.tune(&["apply"]), 0, "a killed apply is finished by the next, step {step}");
        }
        assert_eq!(machine.tune(&["revert"]), 0, "step {step}");
        assert_eq!(machine.everything(), pristine, "step {step}");
        if !was_killed {
            assert!(step > 100, "apply has more steps than {step}");
            break;
        }
    }
}

#[test]
fn whatever_step_revert_is_killed_at_the_next_one_restores_everything() {
    let pristine = Machine::new().everything();
    let applied = Machine::new();
    applied.tune(&["apply"]);
    for step in 1.. {
        let machine = applied.copy();
        let output = tune_output(machine.root(), &["revert", "--die-at-step", &step.to_string()]);
        let was_killed = output.status.signal() == Some(9);
        assert_eq!(machine.tune(&["revert"]), 0, "step {step}");
        assert_eq!(machine.everything(), pristine, "step {step}");
        if !was_killed {
            assert!(step > 30, "revert has more steps than {step}");
            break;
        }
    }
}

#[test]
fn what_somebody_changed_since_is_kept_and_named() {
    let machine = Machine::new();
    machine.tune(&["apply"]);
    machine.write("etc/sysctl.d/60-horus-rt.conf", "vm.swappiness = 5\n");
    let line = machine.text("boot/firmware/cmdline.txt");
    machine.write("boot/firmware/cmdline.txt", &format!("{} added=1\n", line.trim()));
    fs::remove_file(machine.root().join("boot/loader/entries/debian.conf")).unwrap();
    let output = tune_output(machine.root(), &["revert"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(machine.text("etc/sysctl.d/60-horus-rt.conf"), machine::OLD_SYSCTLS);
    assert_eq!(machine.text("etc/sysctl.d/60-horus-rt.conf.horus-kept"), "vm.swappiness = 5\n");
    assert!(text.contains("it is kept as /etc/sysctl.d/60-horus-rt.conf.horus-kept"), "{text}");
    assert_eq!(machine.text("boot/firmware/cmdline.txt"), "console=tty1 root=PARTUUID=1-2 rootwait added=1\n");
    assert!(!machine.root().join("boot/loader/entries/debian.conf").exists(), "a kernel that was removed");
}

#[test]
fn the_entry_of_a_kernel_that_was_installed_since_loses_our_parameters() {
    let machine = Machine::new();
    machine.tune(&["apply"]);
    let entry = machine.text("boot/loader/entries/debian.conf");
    machine.write("boot/loader/entries/newer.conf", &entry);
    machine.write("boot/loader/entries/foreign.conf", "title other\noptions root=x quiet\n");
    machine.tune(&["revert"]);
    assert_eq!(machine.text("boot/loader/entries/newer.conf"), "title Debian\noptions root=UUID=1 ro\n");
    assert_eq!(machine.text("boot/loader/entries/foreign.conf"), "title other\noptions root=x quiet\n");
}

#[test]
fn what_cannot_be_applied_is_said_and_the_rest_is_applied() {
    let machine = Machine::new();
    fs::create_dir(machine.root().join("etc/tmpfiles.d")).unwrap();
    fs::create_dir(machine.root().join("etc/tmpfiles.d/60-horus-rt.conf")).unwrap();
    fs::remove_file(machine.root().join("proc/sys/vm/stat_interval")).unwrap();
    let before = machine.everything();
    let output = tune_output(machine.root(), &["apply"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("/etc/tmpfiles.d/60-horus-rt.conf: NOT DONE: it is neither a file nor a link; "), "{text}");
    assert!(text.contains("vm.stat_interval: left out: the running kernel does not have it"), "{text}");
    assert!(text.contains("vm.swappiness: 60 → 1"), "{text}");
    machine.tune(&["revert"]);
    assert_eq!(machine.everything(), before);
}

#[test]
fn a_link_out_of_the_root_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    symlink(outside.path(), machine.root().join("etc/tmpfiles.d")).unwrap();
    assert_eq!(machine.tune(&["apply"]), 1);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn cpus_that_cannot_be_isolated_are_refused_before_anything_changes() {
    let machine = Machine::new();
    let before = machine.everything();
    for asked in ["0", "0-3", "4", "1-9", ""] {
        let output = tune_output(machine.root(), &["apply", "--isolate", asked]);
        assert_eq!(output.status.code(), Some(2), "{asked}: {output:?}");
    }
    for (cpu, siblings) in [(1, "0-1"), (2, "2-3"), (3, "2-3")] {
        machine.write(&format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), siblings);
    }
    assert_eq!(machine.tune(&["apply", "--isolate", "1,3"]), 2, "nosmt would leave none of them");
    assert_eq!(machine.tune(&["apply", "--isolate", "2-3", "--dry-run"]), 0);
    for cpu in 1..4 {
        fs::remove_dir_all(machine.root().join(format!("sys/devices/system/cpu/cpu{cpu}"))).unwrap();
    }
    assert_eq!(machine.everything(), before);
}

#[test]
fn a_machine_with_one_cpu_gets_all_but_isolation() {
    let machine = Machine::new();
    machine.write("sys/devices/system/cpu/present", "0\n");
    assert_eq!(machine.tune(&["apply"]), 0);
    let line = machine.text("boot/firmware/cmdline.txt");
    assert!(line.contains(" audit=0 ") && !line.contains("isolcpus") && !line.contains('{'), "{line}");
}

#[test]
fn our_own_image_is_refused() {
    let machine = Machine::new();
    machine.write("etc/os-release", "ID=debian\nIMAGE_ID=horus\n");
    for command in ["apply", "revert"] {
        let output = tune_output(machine.root(), &[command]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains("tuned already"));
    }
}

#[test]
fn a_machine_without_a_boot_loader_that_we_know_is_told_what_to_do() {
    let machine = Machine::new();
    for path in ["boot", "etc/default", "etc/kernel"] {
        fs::remove_dir_all(machine.root().join(path)).unwrap();
    }
    let output = tune_output(machine.root(), &["apply"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("add to the kernel command line in your boot loader: isolcpus=managed_irq,domain,1-3 "),
        "{text}"
    );
}

#[test]
fn verify_tells_what_waits_for_a_restart_from_what_the_boot_loader_did_not_take() {
    let machine = Machine::new();
    let verify = |machine: &Machine| String::from_utf8(tune_output(machine.root(), &["verify"]).stdout).unwrap();
    assert!(verify(&machine).contains("The profile is not applied"));
    machine.tune(&["apply"]);
    let text = verify(&machine);
    assert!(
        text.contains("kernel parameters wait for a restart, and so do these rules: ") && text.contains("C13"),
        "{text}"
    );
    machine.write("proc/sys/kernel/random/boot_id", "another\n");
    let text = verify(&machine);
    assert!(text.contains("its kernel was started without isolcpus, "), "{text}");
    machine.write("proc/cmdline", &machine.text("boot/firmware/cmdline.txt"));
    assert!(verify(&machine).contains("was started with all of its parameters"));
    machine.write("etc/sysctl.d/60-horus-rt.conf", "");
    assert!(verify(&machine).contains("60-horus-rt.conf: somebody changed or removed it"));
}
