"""A machine is taken from version A to B over SSH, back to A because B has a worse tail, and to C, which stays: as a user does it, with nothing
but `horus update` and restarts. Each boot measures itself, and the gate decides by the reports."""

import io
import json
import shlex
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from checks.boot import boot_test_x86_64
from checks.boot.reach.beside_test_reach import ssh_options
from checks.boot.reach.deploying import HORUS
from checks.boot.update import versions
from horus_appliance.boot import guest, run
from horus_appliance.boot.machine import Machine
from horus_appliance.console import ApplianceFailed, detail
from horus_appliance.flash import settings
from horus_appliance.image import mkosi

SSH = "tcp:22"
DISK = 4 << 30
# Each wait is for a boot or a run of an emulated machine, beside other checks.
PATIENCE = 900
LIFE = 5400
# One phase, which is compared. p99.9 needs more than 10,000 releases.
SECONDS = 14
PLAN = '[[phase]]\nmeasure = "node"\nload = "load"\n'
# As many as the gate compares with, and what tail they have: a busy host makes an emulated machine's tails differ by factors, and the bursts
# of the slow version are longer than any of them.
REPORTS, OLD_TAIL_NS = 20, 100_000_000
# A version is measured in three boots. What the gate holds is measured again, a few times.
BOOTS, MOST_RUNS = 3, 8
PLACE = "/var/lib/horus/reports"
KEPT = "what a user left\n"
# What would take time from each of many boots, and has no part in a trial.
ABSENT = {f"systemd.unit-dropin.horus-{name}.service": "[Unit]\nConditionPathExists=/nowhere\n" for name in ("drift", "watch")}
FILES = {"/var/lib/horus/determinism.toml": PLAN, "/var/lib/horus/kept": KEPT}


class Updates(boot_test_x86_64.BootTest):
    record = False  # whether all writes of its disk are kept

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(dir=mkosi.BUILD)
        cls.addClassCleanup(directory.cleanup)
        cls.home = Path(directory.name)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.home / "key"], check=True)
        cls.image = mkosi.build("appliance")
        (cls.bundles, cls.kernels), cls.refused = versions.make(cls.image, cls.home), versions.make_refused(cls.home)
        cls.said, cls.seen, cls.runs = {}, {}, {}

        def prepare(disk: Path) -> None:
            with disk.open("r+b") as stream:
                stream.truncate(DISK)
            settings.write(disk, settings.Wishes(ssh_keys=(cls.home / "key.pub",)).text())
            if cls.record:
                subprocess.run(["cp", "--sparse=always", disk, cls.home / "before.raw"], check=True)

        credentials = {
            "tmpfiles.extra": "".join(f"f {path} 0644 - - - {text!r}\n".replace("'", "") for path, text in FILES.items()),
            "systemd.unit-dropin.horus-settings.service": "[Service]\nTimeoutStartSec=10min\n",
            **ABSENT,
        }
        cls.done = run.boot(
            cls.image, "test-update", 2, SECONDS, guest.merge(credentials, boot_test_x86_64.started("slow.service", versions.SLOW_UNIT)),
            patience=LIFE, restarts=True, record=cls.record, forward=(SSH,), disks={"stick": cls.bundles[versions.GOOD]}, prepare=prepare, during=cls.take_through,
        )  # fmt: skip

    @classmethod
    def take_through(cls, machine: Machine):
        """What a user does, from the first report of A to the end of the trial of C."""
        cls.machine = machine
        cls.wait("ssh", lambda: cls.ssh("true").returncode == 0)
        cls.leave_reports()
        cls.refusals = {why: cls.ssh("horus update install -", given=bundle) for why, bundle in cls.refused.items()}
        cls.seen["after refusals"] = cls.ssh("horus update status; ls /boot/EFI/Linux; ls /var/lib/horus/update").stdout
        host = ["--host", "127.0.0.1", "--ssh", shlex.join(cls.way())]
        cls.window = [len(machine.journal.entries)]
        cls.said["B"] = subprocess.run(
            [HORUS, "update", "install", cls.bundles[versions.WORSE], *host], capture_output=True, text=True, check=False, timeout=PATIENCE
        )  # fmt: skip
        machine.journal.read_new()
        cls.window.append(len(machine.journal.entries))
        cls.seen["B is installed"] = cls.ssh("ls /boot/EFI/Linux; horus update install /dev/disk/by-id/virtio-stick").stdout
        cls.end_of("B", cls.trial(versions.WORSE))
        cls.restart()
        cls.seen["A is back"] = cls.ssh("horus update status; cat /var/lib/horus/kept; systemctl --failed --no-legend").stdout
        cls.said["C"] = cls.ssh("horus update install /dev/disk/by-id/virtio-stick")
        cls.end_of("C", cls.trial(versions.GOOD))
        cls.seen["C stays"] = cls.ssh("horus update status; ls /boot/EFI/Linux; cat /var/lib/horus/kept; systemctl --failed --no-legend").stdout

    @classmethod
    def end_of(cls, name: str, runs: int):
        cls.runs[name] = runs
        cls.seen[f"end of {name}"] = cls.ssh("horus update status; horus greeting").stdout

    @classmethod
    def trial(cls, version: str) -> int:
        """Restarts the machine until the trial of a version is over; gives the number of runs that it took."""
        for count in range(1, MOST_RUNS + 1):
            cls.restart()
            while not (told := cls.told_of(version, since=cls.booted)):
                time.sleep(1)
                cls.ensure_alive(f"run {count} of {version}")
            detail(f"        {told}")
            if "comes with the next start" not in told and "held:" not in told:
                return count
        raise ApplianceFailed(f"version {version} is not decided after {MOST_RUNS} boots: {told}")

    @classmethod
    def told_of(cls, version: str, since: int) -> str:
        """What the updater said of a version after its determinism run in this boot."""
        cls.machine.journal.read_new()
        said = [guest.text(entry) for entry in cls.machine.journal.entries[since:] if guest.text(entry, "HORUS_VERSION") == version]
        return next((text for text in said if "is not measured yet" not in text), "")

    @classmethod
    def restart(cls):
        """Restarts the machine, and waits until it can be reached again."""
        before = cls.ssh("cat /proc/sys/kernel/random/boot_id; systemctl --no-block reboot").stdout.strip()
        cls.machine.journal.read_new()
        cls.booted = len(cls.machine.journal.entries)
        cls.deadline = time.monotonic() + PATIENCE
        cls.wait("restart", lambda: (now := cls.ssh("cat /proc/sys/kernel/random/boot_id").stdout.strip()) and now != before)

    @classmethod
    def wait(cls, what: str, is_so):
        cls.deadline = time.monotonic() + PATIENCE
        while not is_so():
            time.sleep(3)
            cls.ensure_alive(what)

    @classmethod
    def ensure_alive(cls, what: str):
        if time.monotonic() > cls.deadline or not cls.machine.running():
            raise ApplianceFailed(f"{what}: not within {PATIENCE} s.\n{run.post_mortem(cls.machine)}")

    @classmethod
    def way(cls) -> list:
        return ["ssh", *map(str, ssh_options(cls.home, "key")), "-p", str(cls.machine.ports[SSH])]

    @classmethod
    def ssh(cls, command: str, given: bytes = b"") -> subprocess.CompletedProcess:
        done = subprocess.run([*cls.way(), "root@127.0.0.1", command], input=given, capture_output=True, check=False, timeout=PATIENCE)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    @classmethod
    def leave_reports(cls):
        """Puts reports of A in the place of boots that no test waits for: its own, with other boots' names and one tail."""
        report = json.loads(cls.ssh(f"cat {PLACE}/latest.json").stdout)
        cls.first = report["valid"], [phase["name"] for phase in report["phases"]]
        report["valid"], report["invalid_reasons"] = True, []
        report["phases"][0]["p999_ns"] = OLD_TAIL_NS
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for number in range(REPORTS):
                report["boot_id"], report["run_id"] = f"{number:032x}", f"{number:032x}"
                data = json.dumps(report).encode()
                about = tarfile.TarInfo(f"{number + 100:08}-{report['boot_id']}-{report['run_id']}.json")
                about.size = len(data)
                archive.addfile(about, io.BytesIO(data))
        done = cls.ssh(f"tar -C {PLACE} -xf -", given=packed.getvalue())
        assert done.returncode == 0, done.stderr

    def test_the_first_report_is_of_the_phase_that_is_compared(self):
        self.assertEqual(self.first[1], ["node-load"])

    def test_what_is_not_for_this_machine_is_refused_with_the_reason_and_changes_nothing(self):
        for why, done in self.refusals.items():
            self.assertIn(why, done.stderr)
            self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.seen["after refusals"].split("\n")[:2], ["version 0.1.0 runs; no update is on trial", "horus_0.1.0.efi"])
        self.assertNotIn("staged", self.seen["after refusals"])

    def test_an_update_comes_over_ssh_and_starts_with_the_next_restart(self):
        done = self.said["B"]
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"received \d+ MB")
        self.assertIn("version 0.2.0 is installed beside 0.1.0, signed by development: it starts with the next restart, on trial", done.stdout)
        self.assertIn("horus_0.2.0+3.efi", self.seen["B is installed"])

    def test_a_second_update_waits_for_the_end_of_the_trial(self):
        self.assertNotIn("0.3.0", self.seen["B is installed"])

    def test_no_node_missed_a_deadline_for_the_programs_that_install(self):
        start, end = self.window
        missed = [guest.text(entry).partition("\n")[0] for entry in self.done.entries[start:end] if guest.text(entry, "MESSAGE_ID") == boot_test_x86_64.message_id("DEADLINE_MISS")]
        self.assertTrue(any("kept by" in text or "by:" in text or "missed by" in text for text in missed) or not missed, "no culprit is named: is there no witness?")
        print(f"deadlines missed while an update was received and written: {len(missed)} entries")
        names = ("task horus", "task systemd-import", "task systemd-sysupd", "task xz", "task sshd")
        self.assertEqual([text for text in missed if any(name in text for name in names)], [])

    def test_a_version_with_a_worse_tail_goes_back_after_three_boots_and_says_why(self):
        self.assertGreaterEqual(self.runs["B"], BOOTS)
        why = "0.1.0 starts with the next restart: back: p99.9 of node-load was"
        self.assertIn(why, self.seen["end of B"])
        self.assertIn("version 0.1.0 runs; no update is on trial; the last one: version 0.2.0 goes", self.seen["A is back"])
        (entry,) = self.of_kind("UPDATE_BACK")
        self.assertIn(why, guest.text(entry))

    def test_a_version_that_is_as_good_stays_and_is_not_counted_any_more(self):
        self.assertEqual(self.said["C"].returncode, 0, self.said["C"].stderr)
        self.assertGreaterEqual(self.runs["C"], BOOTS)
        self.assertIn("version 0.3.0 runs; no update is on trial; the last one: version 0.3.0 stays: good", self.seen["C stays"])
        self.assertIn("horus_0.1.0.efi\nhorus_0.3.0.efi\n", self.seen["C stays"])

    def test_data_stay_and_no_unit_fails_in_any_version(self):
        for place in ("A is back", "C stays"):  # a unit that failed would stand behind what was kept
            self.assertTrue(self.seen[place].endswith(KEPT), self.seen[place])

    def test_each_step_has_an_entry_of_its_kind(self):
        for kind, fewest in (("UPDATE_INSTALLED", 2), ("UPDATE_TRIAL", 2 * BOOTS), ("UPDATE_BACK", 1), ("UPDATE_KEPT", 1)):
            self.assertGreaterEqual(len(self.of_kind(kind)), fewest, kind)
