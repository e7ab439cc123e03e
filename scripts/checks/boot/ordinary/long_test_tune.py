"""Tunes an ordinary Debian, restarts it, takes the tuning back and restarts it again: `horus tune` on a running machine."""

import os
import re
import subprocess
import unittest

from checks.boot.ordinary import debian_disk
from horus_appliance.paths import CONF, RUNTIME

UNIT = """\
[Unit]
Description=One step of the trial
After=multi-user.target irqbalance.service
ConditionKernelCommandLine=!install
[Service]
Type=oneshot
ExecStart=/usr/local/bin/trial
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=graphical.target multi-user.target
"""
# Rules of the audit that ask for another kernel, another machine, or what this one's firmware does.
NOT_OURS = {"C9-hardware", "K7-tick", "C14"}
# Each boot does its step, and says what it finds as "NAME: VALUE" lines.
TRIAL = r"""#!/bin/sh
# All of the system but what any boot changes by itself.
paths() {
    find / -xdev \( -path /var/log -o -path /var/lib/systemd -o -path /root/trial -o -path /var/lib/dbus -o -path /tmp -o -path /var/tmp \
        -o -path /boot/grub/grubenv -o -path /etc/machine-id -o -path /var/lib/horus/tune \) -prune -o "$@"
}
tree() { { paths -printf '%y %m %u %g %l %p\n'; paths -type f -exec sha256sum {} +; } | sort; }
values() { sysctl --all 2> /dev/null | grep -E '^(kernel|vm|net\.core)\.' | grep -vE 'random|\.ns_last_pid|nr_open|pty\.nr|stat_|dmesg|seccomp|usermodehelper|reserve_kbytes' | sort; }
found() {
    echo "command line: $(cat /proc/cmdline)"
    echo "isolated: $(cat /sys/devices/system/cpu/isolated)"
    echo "irqbalance: $(systemctl is-active irqbalance)"
    echo "tune-cpus: $(systemctl is-active horus-tune-cpus.service)"
    journalctl --boot --unit horus-tune-cpus.service --output cat --no-pager
    echo "dirty: $(cat /proc/sys/vm/dirty_bytes /proc/sys/vm/dirty_ratio | tr '\n' ' ')"
}
mkdir -p /root/trial
step=$(cat /root/trial/step 2> /dev/null || echo untouched)
{
    echo "=== $step"
    found
    case $step in
        untouched)
            tree > /root/trial/tree; values > /root/trial/values
            horus tune apply --conf /usr/local/share/conf; echo "apply: $?"
            next=tuned ;;
        tuned)
            horus tune verify --conf /usr/local/share/conf; echo "verify: $?"
            horus tune revert --conf /usr/local/share/conf; echo "revert: $?"
            echo "dirty after revert: $(cat /proc/sys/vm/dirty_bytes /proc/sys/vm/dirty_ratio | tr '\n' ' ')"
            next=reverted ;;
        reverted)
            tree | diff /root/trial/tree - | sed 's/^/tree: /'
            values | diff /root/trial/values - | sed 's/^/values: /'
            next=end ;;
    esac
    echo "=== end of $step"
} 2>&1
echo "$next" > /root/trial/step
sync
case $next in end) systemctl poweroff ;; *) systemctl reboot ;; esac
"""


class OrdinaryDebian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("the files of a system are root's")
        subprocess.run(["cargo", "build", "--locked", "--quiet", "--package", "horus-cli"], cwd=RUNTIME, check=True)
        profile = {f"usr/local/share/conf/{path.relative_to(CONF)}": debian_disk.copied(path) for path in CONF.rglob("*") if path.is_file()}
        disk = debian_disk.make("test-tune", {
            **profile,
            "usr/local/bin/horus": debian_disk.copied(RUNTIME / "target/debug/horus"),
            "usr/local/bin/trial": debian_disk.text(TRIAL, 0o755),
            "etc/systemd/system/trial.service": debian_disk.text(UNIT),
        })  # fmt: skip
        serial = disk.with_name("serial.log")
        debian_disk.boot(disk, serial)
        said = serial.read_text(errors="replace").replace("\r", "")
        cls.steps = {name: text for name, text in re.findall(r"=== (\w+)\n(.*?)=== end of \1", said, re.DOTALL)}
        if list(cls.steps) != ["untouched", "tuned", "reverted"]:
            raise AssertionError(f"the machine did {list(cls.steps)}; see {serial}")

    def found(self, step: str, name: str) -> str:
        (value,) = re.findall(rf"^{name}: (.*)$", self.steps[step], re.MULTILINE)
        return value.strip()

    def test_apply_says_that_it_did_all(self):
        self.assertEqual(self.found("untouched", "apply"), "0", self.steps["untouched"])

    def test_after_the_restart_the_kernel_has_the_profile(self):
        line = self.found("tuned", "command line")
        self.assertEqual(len(re.findall(r"\bisolcpus=", line)), 1, line)
        self.assertEqual((self.found("untouched", "isolated"), self.found("tuned", "isolated")), ("", "1"))
        self.assertEqual((self.found("untouched", "irqbalance"), self.found("tuned", "irqbalance")), ("active", "inactive"))
        self.assertEqual(self.found("tuned", "tune-cpus"), "active")

    def test_verify_finds_the_tuning_at_work(self):
        said = self.steps["tuned"]
        self.assertIn("The profile is applied, and this kernel was started with all of its parameters.", said)
        failed = set(re.findall(r"FAIL\S* +([A-Z]\d\S*) \(", said))
        self.assertLessEqual(failed, NOT_OURS, said)

    def test_revert_and_a_restart_leave_the_machine_as_it_was(self):
        self.assertEqual(self.found("tuned", "revert"), "0", self.steps["tuned"])
        for name in ("command line", "isolated", "irqbalance", "dirty"):
            self.assertEqual(self.found("reverted", name), self.found("untouched", name))
        self.assertEqual(self.found("tuned", "dirty after revert"), self.found("untouched", "dirty"))
        self.assertEqual(re.findall(r"^(?:tree|values): .*", self.steps["reverted"], re.MULTILINE), [])
