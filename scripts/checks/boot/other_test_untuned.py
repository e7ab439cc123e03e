"""Boots the image without conf/rt, where programs crash, a disk is full and memory is short."""

from checks.boot.boot_test_x86_64 import DETERMINISM_SECONDS, SUMMARY, BootTest, started
from horus_appliance.boot import delivery, guest, run
from horus_appliance.image import mkosi


class UntunedAppliance(BootTest):
    """The control arm: the same image without conf/rt, with a unit that crashes, a full disk, and little memory that a hog takes."""

    @classmethod
    def setUpClass(cls):
        built = mkosi.build("untuned")
        crash = (
            "[Unit]\nDescription=Crashing node\n"
            "[Service]\nExecStart=/bin/sh -c 'echo the last words of a node; kill -SEGV $$$$'\n"
        )
        credentials = {}
        for more in (started("crash.service", crash), *map(started, ("fill.service", "hog.service", "horus-probe.service"))):
            credentials = guest.merge(credentials, more)
        cls.done = run.boot(built, "test-untuned", 2, DETERMINISM_SECONDS, credentials, firmware=False, memory=512)

    def test_audit_fails(self):
        audit = self.done.report["audit"]
        failed = {rule["id"] for rule in audit["rules"] if rule["status"] == "FAIL"}
        self.assertLessEqual({"C1", "S1"}, failed)
        self.assertGreater(audit["fatal"] + audit["high"], 0)
        self.assertEqual(self.answers()["doctor"], "1")

    def test_crashed_unit_is_in_the_summary_with_its_last_words(self):
        (crashed,) = [unit for unit in self.done.report["failed_units"] if unit["unit"] == "crash.service"]
        self.assertIn("the last words of a node", "\n".join(crashed["log"]))
        (summary,) = self.of_kind(SUMMARY)
        self.assertIn("crash.service", guest.text(summary))
        self.assertNotEqual(guest.text(summary, "HORUS_VERDICT"), "pass")

    def test_nodes_run_and_the_report_tells_of_the_full_disk(self):
        self.assertLess(int(self.answers()["room"]) * 4096, 32 << 20, "the journal made room for itself, and no more")
        starts = {guest.text(entry, "HORUS_NODE") for entry in self.of_kind("NODE_START")}
        self.assertEqual(starts, {"ping", "pong"})
        said = "\n".join(guest.text(entry) for entry in self.done.with_field("_SYSTEMD_UNIT", "horus-determinism.service"))
        self.assertIn("journalctl --vacuum-size", said)
        self.assertEqual(sorted(unit["unit"] for unit in self.done.failed_units), ["crash.service", "hog.service"])

    def test_memory_hog_is_killed_and_named_and_no_node_with_it(self):
        kills = self.done.report["memory_kills"]
        self.assertEqual(([kill["name"] for kill in kills["processes"]], [kill["name"] for kill in kills["units"]]), (["tail"], ["hog.service"]))
        (summary,) = self.of_kind(SUMMARY)
        self.assertIn("hog.service", guest.text(summary, "HORUS_MEMORY_KILL_NAMES"))
        starts = [guest.text(entry, "HORUS_NODE") for entry in self.of_kind("NODE_START")]
        self.assertEqual(sorted(starts), ["ping", "pong"])

    def test_crashed_unit_makes_the_whole_run_fail(self):
        findings = "\n".join(delivery.check(self.done))
        self.assertIn("crash.service failed", findings)
        self.assertIn("the last words of a node", findings)

    def test_clean_power_off(self):
        self.assert_clean_power_off()
