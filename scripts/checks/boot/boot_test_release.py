"""Boots the image for robots, which nobody can enter."""

from checks.boot import boot_test_x86_64
from horus_appliance.boot import delivery, run
from horus_appliance.image import mkosi


class ReleaseAppliance(boot_test_x86_64.BootTest):
    """The image for robots: nobody gets in, and the report is made all the same."""

    @classmethod
    def setUpClass(cls):
        cls.done = run.boot(mkosi.build("release"), "test-release", 2, boot_test_x86_64.DETERMINISM_SECONDS, boot_test_x86_64.started("horus-probe.service"))

    def test_report_is_complete(self):
        self.assertEqual(delivery.check(self.done), [])

    def test_there_is_no_shell_no_password_and_no_listener(self):
        self.assertTrue(self.answers()["shells"].endswith("0 on the serial line"), self.answers()["shells"])
        self.assertEqual(self.answers()["passwords"], "0")
        # The one of UDP is the DHCP client's, which asks for an address.
        self.assertIn(self.answers()["listeners"], ("0 tcp, 0 udp", "0 tcp, 1 udp", "0 tcp, 2 udp"))
        self.assertNotIn("root@horus", (self.done.directory / "serial.log").read_text(errors="replace"))

    def test_console_greets_with_what_to_ask(self):
        self.assertIn("horus report", (self.done.directory / "serial.log").read_text(errors="replace"))

    def test_clean_power_off(self):
        self.assert_clean_power_off()
