"""Boots an image on a machine with 3 CPUs, where deadlines are broken and told, and whose data partition holds something else."""

from checks.boot import disks, machines
from checks.boot.provoked import disk as provoked
from checks.boot.provoked import misses
from horus_appliance.host.architecture import X86_64

# What is provoked on this processor alone.
CULPRITS_OF_X86 = {r"ping interrupt irq/\d+-ttyS0": [r"interrupt irq/\d+-ttyS0", "move it to a housekeeping CPU"]}


class ThreeCpus(machines.OtherMachines):
    """Each boot carries several questions."""

    def test_3_cpus_a_provoked_deadline_miss_and_a_data_partition_that_holds_something_else(self):
        answers = self.boot_on(
            3, disks.make_swap, misses.provocations(), firmware=False, extra_parameters=machines.UNMEASURED, during=misses.stop_for_a_while,
            disks={provoked.DISK: provoked.make_disk(X86_64)},
        )  # fmt: skip
        self.assertEqual((answers["isolated"], answers["pid1"]), ("1-2", "0"))
        self.assert_misses_are_told(CULPRITS_OF_X86)

        self.assertEqual(answers["data-state"], "ram")
        self.assertTrue(answers["data"].startswith("horus-ram"), answers["data"])
        self.assertIn("HORUS: /var:", self.serial)
        self.assertEqual(answers["doctor"], "1", "the audit finds that /var is in memory")
