"""The power is cut at any moment of a machine's way from A to B, back to A, and to C: each time one whole version starts, and /var is there.

States of the disk are made from all that the machine wrote, with writes that were dropped or torn since the last flush.
"""

import json
import os
import random
import subprocess
import unittest
from collections import Counter

from checks.boot import cuts, disks, slots
from checks.boot.update import update_test_versions, whole
from horus_appliance.image import sizes

COUNT = 200
SEED = 29


class Cuts(update_test_versions.Updates):
    record = True

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("loop devices are root's")
        super().setUpClass()

    def test_a_cut_at_any_moment_leaves_one_whole_version_and_what_the_user_left(self):
        """The systems of B and C are the same bytes in the same slot, so of C's no part can be missing: B's is what is looked for."""
        directory = self.done.directory / "cuts"
        directory.mkdir()
        replay = cuts.Replay(self.home / "before.raw", (0, update_test_versions.DISK), self.done.directory / "writes", directory)
        self.addCleanup(replay.close)
        seen, was_kept, known = Counter(), False, self.known
        for number, cut in enumerate(replay.states(COUNT, SEED, self.moments(replay))):
            with self.subTest(cut=number):
                version, fault = whole.started(cut, self.image, known)
                seen[version] += 1
                self.assertEqual(fault, "", f"it would start {version}")
                with disks.mounted(self.data(cut)) as (state, place):
                    self.assertIn(state["state"], ("clean", "repaired"))
                    kept, trial = place / "lib/horus/kept", place / "lib/horus/update/trial.json"
                    is_kept = kept.is_file() and kept.read_text() == update_test_versions.KEPT
                    self.assertTrue(is_kept or not was_kept, "what a user left is gone")
                    was_kept |= is_kept
                    if trial.is_file():
                        json.loads(trial.read_text())
        print(f"{COUNT} power cuts; the disk started {dict(seen)}, each whole")
        self.assertEqual(set(seen), set(known))

    @property
    def known(self) -> dict:
        start, _ = sizes.partition(self.image.disk, self.image.system_label)
        count = sizes.root_bytes(self.image)
        root = whole.root_digest(self.image.disk, start, count)
        kernels = {self.image.version: self.image.unified_kernel, **self.kernels}
        return {number: whole.Version(whole.digest(kernel), root, count) for number, kernel in kernels.items()}

    def moments(self, replay: cuts.Replay) -> list:
        """Points of the log behind writes of names and kernel images, and as many behind those of systems; what goes to /var only is seldom of interest."""
        parts = {name: (start, start + size) for name, start, size in slots.layout(self.home / "before.raw", self.image)}
        # As large as the machine has made it.
        start, size = sizes.partition(self.done.directory / self.image.disk.name, "horus-data")
        data, end = start // sizes.SECTOR, (start + size) // sizes.SECTOR
        slot = parts["horus-esp"][1]
        outside = [(at + 1, write.sector) for at, write in enumerate(replay.writes) if write.sectors and not data <= write.sector < end]
        names = [at for at, sector in outside if sector < slot or sector >= end]
        systems = [at for at, sector in outside if slot <= sector < data]
        self.assertGreater(min(len(names), len(systems)), COUNT // 2, "too little was written for so many cuts")
        return names + random.Random(SEED).sample(systems, min(len(systems), len(names)))

    def data(self, cut):
        """The data partition of a disk, in a file."""
        start, size = sizes.partition(cut, "horus-data")
        file = cut.with_name("data")
        subprocess.run(
            ["dd", f"if={cut}", f"of={file}", "bs=1M", f"skip={start}", f"count={size}", "iflag=fullblock,skip_bytes,count_bytes", "conv=sparse", "status=none"],
            check=True,
        )  # fmt: skip
        return file
