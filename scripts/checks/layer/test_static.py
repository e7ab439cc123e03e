"""The checks of the Yocto layer find what they are for: each is shown a mistake."""

import unittest

from checks.layer import lint, tuning, wic
from checks.layer.lint import Accepted
from horus_appliance.image import mkosi
from horus_appliance.in_directory import InDirectory

import horus_conf

FIRST = horus_conf.system_label(mkosi.version())
LAYOUT = f"""# short-description: test
part /boot --source bootimg_partition --fstype=vfat --part-name horus-esp --fixed-size 512M
part / --source rootfs --fstype=ext4 --part-name {FIRST} --fixed-size ${{SLOT}} --exclude-path var/
part --fstype=none --part-name _empty --fixed-size ${{SLOT}}
part --source rootfs --change-directory=var --fstype=ext4 --part-name horus-data --fixed-size 512M
bootloader --ptable gpt
"""


class PartitionLayouts(InDirectory):
    def said_of(self, text: str, variables: dict = None) -> str:
        path = self.write("some.wks.in", text)
        return "\n".join(wic.problems_of(path, {"SLOT": "1024M"} if variables is None else variables))

    def test_a_sound_layout_passes(self):
        self.assertEqual(self.said_of(LAYOUT), "")

    def test_each_mistake_is_named_with_its_line(self):
        for before, after, expected in (
            (f"--fstype=ext4 --part-name {FIRST} ", f"--fstyp=ext4 --part-name {FIRST} ", ":3: unrecognized arguments: --fstyp=ext4"),
            ("--source rootfs --fstype", "--source rootfsy --fstype", "invalid choice: 'rootfsy'"),
            ("horus-data", "horus-dta", "names the partition 'horus-data', which is not in the layout"),
            ("_empty", FIRST, "stands twice"),
            ("--part-name _empty", "--part-name other", "two slots"),
            (f"{FIRST} --fixed-size ${{SLOT}}", f"{FIRST} --fixed-size 2G", "two slots"),
            ("horus-esp --fixed-size 512M", "horus-esp --fixed-size 256M", "horus-esp has 256M, and 00-esp.conf wants 260M"),
            ("bootloader", "part --fstype=ext4 --part-name more --fixed-size 1M\nbootloader", "5 partitions, and 4 in"),
            ("512M\nbootloader", "512MB\nbootloader", "size '512MB' is not understood"),
            ("bootloader --ptable gpt\n", "", "0 bootloader lines"),
            ("--ptable gpt", "--ptable msdos", "no partition names"),
            ("part --fstype=none", "prt --fstype=none", "knows no command 'prt'"),
        ):
            text = LAYOUT.replace(before, after)
            self.assertNotEqual(text, LAYOUT, before)
            self.assertIn(expected, self.said_of(text), after)

    def test_a_variable_that_nobody_sets_is_named(self):
        self.assertIn("${SLOT} is not set", self.said_of(LAYOUT, {}))


class TuningValues(InDirectory):
    def said_of(self, text: str, name: str = "meta-horus/conf/distro/horus.conf") -> str:
        self.write(name, text)
        return "\n".join(tuning.problems(self.root))

    def test_a_parameter_a_sysctl_an_option_and_a_firmware_setting_outside_conf_are_found(self):
        for text, name in (
            ('APPEND += "isolcpus=2-3"', "isolcpus"),
            ('KERNEL = "quiet nosmt"', "nosmt"),
            ("rcu_nocbs=1", "rcu_nocbs"),
            ("echo -1 > /proc/sys/kernel/sched_rt_runtime_us", "kernel.sched_rt_runtime_us"),
            ("vm.swappiness = 10", "vm.swappiness"),
            ("CONFIG_PREEMPT_RT=y", "CONFIG_PREEMPT_RT"),
            ('RPI_EXTRA_CONFIG = "force_turbo=1"', "force_turbo"),
            ('ENABLE_UART = "1"', "enable_uart"),
        ):
            self.assertIn(f"horus.conf:1: {name} stands in conf/", self.said_of(text), text)

    def test_comments_prose_and_words_that_only_contain_a_name_are_none(self):
        for text in ("# isolcpus=2 belongs to conf", "my_isolcpus=1", "x.audit=1", 'PN = "horus"', "CONFIG_PREEMPT_RT_X=y", "panic=1"):
            self.assertEqual(self.said_of(text), "", text)
        self.assertEqual(self.said_of("isolcpus=2", "meta-horus/README.md").count("README"), 0)

    def test_recipes_of_other_builders_are_looked_at_too(self):
        self.assertIn("recipes/debian/mkosi.conf:1", self.said_of("KernelCommandLine=skew_tick=1", "recipes/debian/mkosi.conf"))


class Lint(unittest.TestCase):
    found = [("recipes-a/b.bb", "3", "oelint.some.rule", "'X' is odd"), ("recipes-a/c.bb", "1", "oelint.other", "no Y")]

    def test_what_is_not_accepted_is_a_problem_with_its_place(self):
        problems = lint.judge(self.found, [Accepted("oelint.some.*", "recipes-a/*", "because", "'X'*")])
        self.assertEqual(problems, ["meta-horus/recipes-a/c.bb:1: oelint.other: no Y"])

    def test_an_entry_that_nothing_needs_is_a_problem(self):
        accepted = [Accepted("*", "*", "because"), Accepted("oelint.gone", "*", "once")]
        self.assertIn("nothing needs the entry oelint.gone", lint.judge(self.found, accepted)[0])

    def test_every_entry_has_a_reason(self):
        for entry in lint.ACCEPTED:
            self.assertGreater(len(entry.reason), 7, entry)
