"""The machine-id of boards whose firmware has none."""

import shutil
import subprocess

from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

SCRIPT = CONF / "base/rootfs/usr/lib/horus/board-identity"
RANDOM = "0123456789abcdef0123456789abcdef\n"


class BoardIdentity(InDirectory):
    def machine_id(self, files: dict) -> str:
        """The machine-id after the script ran on a machine with these files."""
        shutil.rmtree(self.root)
        for name, text in files.items():
            self.write(name, "").write_bytes(text)
        done = subprocess.run([SCRIPT, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.root / "run/machine-id"
        return path.read_text() if path.exists() else ""

    def pi(self, serial: bytes) -> dict:
        return {"run/machine-id": RANDOM.encode(), "sys/firmware/devicetree/base/serial-number": serial}

    def test_a_serial_number_makes_the_same_identity_at_every_boot_and_another_on_another_board(self):
        first = self.machine_id(self.pi(b"10000000abcdef01\0"))
        self.assertRegex(first, r"^[0-9a-f]{32}\n$")
        self.assertEqual(self.machine_id(self.pi(b"10000000abcdef01\0")), first)
        self.assertNotEqual(self.machine_id(self.pi(b"10000000abcdef02\0")), first)
        self.assertNotIn("abcdef01", first)

    def test_an_identity_of_the_firmware_stays(self):
        for name in ("sys/class/dmi/id/product_uuid", "sys/firmware/devicetree/base/vm,uuid"):
            self.assertEqual(self.machine_id({**self.pi(b"1\0"), name: b"x"}), RANDOM)

    def test_without_a_serial_number_nothing_is_made_up(self):
        self.assertEqual(self.machine_id(self.pi(b"\0")), RANDOM)
        self.assertEqual(self.machine_id({"run/machine-id": RANDOM.encode()}), RANDOM)

    def test_an_identity_that_etc_stores_is_left_alone(self):
        self.assertEqual(self.machine_id({"sys/firmware/devicetree/base/serial-number": b"1\0"}), "")
