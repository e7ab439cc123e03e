"""Boots what is rare, or takes long: other kinds of disks, little memory, two copies of one disk, restarts by emergency mode, a night's run."""

import os

from checks.boot import boot_test_x86_64, disks, machines
from horus_appliance.boot import guest, run
from horus_appliance.image import mkosi


class OtherDisks(boot_test_x86_64.BootTest):
    """Each boot has to come from its own kind of disk: the machine has no other."""

    def boot_from(self, bus: str, device: str, cpus: int = 2, **options) -> None:
        self.done = run.boot(
            mkosi.build("appliance"), f"test-{bus}", cpus, 0, boot_test_x86_64.started("horus-probe.service"), collect_after="horus-probe.service",
            extra_parameters="systemd.mask=horus-determinism.timer", bus=bus, **options,
        )  # fmt: skip
        self.assertEqual(self.done.failed_units, [])
        self.assertEqual(self.answers()["disks"].split(), [f"{device}2", f"{device}4"])
        self.assertEqual({guest.text(entry, "HORUS_NODE") for entry in self.of_kind("NODE_START")}, {"ping", "pong"})
        self.assert_clean_power_off()

    def test_nvme(self):
        self.boot_from("nvme", "/dev/nvme0n1p")

    def test_ahci(self):
        self.boot_from("ahci", "/dev/sda")

    def test_scsi(self):
        self.boot_from("scsi", "/dev/sda")

    def test_usb(self):
        self.boot_from("usb", "/dev/sda")

    def test_sd_card(self):
        """Its size is a power of two. QEMU's firmware reads no SD card, so that QEMU loads the kernel."""
        self.boot_from("sd", "/dev/mmcblk0p", firmware=False, prepare=lambda disk: os.truncate(disk, 2 << 30))

    def test_8_cpus(self):
        """Emulating eight takes as long as all other boots of the quick tests."""
        self.boot_from("virtio", "/dev/vda", cpus=8)
        self.assertEqual(self.answers()["isolated"], "1-7")

    def test_256_mib(self):
        self.boot_from("virtio", "/dev/vda", memory=256)


class TwoCopies(boot_test_x86_64.BootTest):
    def test_of_two_copies_system_and_data_come_from_one(self):
        image = mkosi.build("appliance")
        self.done = run.boot(
            image, "test-two-copies", 2, 0, boot_test_x86_64.started("horus-probe.service"), collect_after="horus-probe.service",
            disks={"other": image.disk}, disks_first=True,
        )  # fmt: skip
        self.assertEqual(self.done.failed_units, [])
        system, data = self.answers()["disks"].split()
        self.assertEqual(system[:-1], data[:-1])
        self.assertTrue([entry for entry in self.done.entries if "another disk holds HORUS partitions" in guest.text(entry)])


class Emergency(boot_test_x86_64.BootTest):
    def test_third_emergency_restarts_the_machine_and_the_next_stays_up(self):
        self.done = run.boot(
            mkosi.build("appliance"), "test-emergency", 2, 0, guest.merge(boot_test_x86_64.started("horus-probe.service"), machines.NO_SUCH_DISK),
            collect_after="horus-probe.service", firmware=False, extra_parameters="systemd.mask=horus-determinism.timer", restarts=True,
            prepare=lambda disk: disks.write_into_data(disk, "lib/horus/emergencies", "2\n"),
        )  # fmt: skip
        serial = (self.done.directory / "serial.log").read_text(errors="replace")
        for said in ("Restart 3 of 3", "The machine stays up with what it has"):
            self.assertIn(said, serial)
        self.assertNotIn("ended without a shutdown", serial)
        self.assert_clean_power_off()


class Night(boot_test_x86_64.BootTest):
    def test_a_short_night_measures_every_phase(self):
        night = {
            "systemd.unit-dropin.horus-night.service": "[Service]\nEnvironment=HORUS_DETERMINISM_DURATION=120s\n",
            "systemd.unit-dropin.multi-user.target": "[Unit]\nWants=horus-night.service\n",
        }
        self.done = run.boot(
            mkosi.build("appliance"), "test-night", 4, 120, night, collect_after="horus-night.service", firmware=False,
            extra_parameters="systemd.mask=horus-determinism.timer",
        )  # fmt: skip
        self.assertEqual(self.done.failed_units, [])
        phases = {phase["name"]: phase for phase in self.done.report["phases"]}
        self.assertEqual(self.done.report["problems"], [])
        # In the sandbox of its unit: the tracer's files, sockets, the disk. Messages may starve in an emulator, which the report says.
        missing = {name: phase["reason"] for name, phase in phases.items() if not phase["measured"] and not name.startswith("message-")}
        self.assertEqual(missing, {})
        for load in ("idle", "cpu", "membw", "sched", "io", "net", "irq", "mixed"):
            self.assertIn(f"node-10khz-{load}", phases)
        self.assertEqual([reason for reason in self.done.report["invalid_reasons"] if "load" in reason], [])
        progress = [guest.text(entry) for entry in self.done.with_field("_SYSTEMD_UNIT", "horus-night.service")]
        self.assertTrue([line for line in progress if f"phase 2 of {len(phases)}, hwlat-idle" in line])
