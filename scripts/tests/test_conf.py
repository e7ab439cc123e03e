"""The kernel command line and the CPU split that come out of conf/."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance import conf
from horus_appliance.console import CannotRun


class KernelCommandLine(unittest.TestCase):
    def test_tuned_image_isolates_all_cpus_but_the_housekeeping_ones(self):
        parameters = conf.kernel_command_line("generic-x86-64", tuned=True).split()
        self.assertIn("isolcpus=managed_irq,domain,1-N", parameters)
        self.assertIn("rcu_nocbs=1-N", parameters)
        self.assertIn("irqaffinity=0", parameters)
        self.assertIn("root=PARTLABEL=horus-root", parameters)

    def test_untuned_image_has_no_parameter_of_conf_rt(self):
        untuned = conf.kernel_command_line("generic-x86-64", tuned=False).split()
        split = conf.cpu_split("generic-x86-64")
        self.assertFalse(set(untuned) & set(conf.parameters(conf.CONF / "rt/kernel/cmdline", split)))

    def test_no_parameter_stands_twice(self):
        names = [parameter.partition("=")[0] for parameter in conf.kernel_command_line("generic-x86-64", True).split()]
        self.assertEqual(sorted({name for name in names if names.count(name) > 1 and name != "console"}), [])


class BadConf(unittest.TestCase):
    """A mistake in conf/ is an error that names file, line and remedy."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        for name, value in (("CONF", root / "conf"), ("REPOSITORY", root)):
            patch = mock.patch.object(conf, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.board = root / "conf/machine/board"
        self.board.mkdir(parents=True)

    def error_of(self, call) -> str:
        with self.assertRaises(CannotRun) as caught:
            call()
        return str(caught.exception)

    def test_cpu_split_that_is_not_understood(self):
        for text in ("housekeeping=1", "housekeeping=0-", "isolated=2", "housekeeping=all"):
            (self.board / "cpus").write_text(f"# comment\n{text}\n")
            message = self.error_of(lambda: conf.cpu_split("board"))
            self.assertIn("conf/machine/board/cpus:2", message)
            self.assertIn("Write housekeeping=0", message)

    def test_empty_cpu_split(self):
        (self.board / "cpus").write_text("# nothing\n")
        self.assertIn("Write one line: housekeeping=0", self.error_of(lambda: conf.cpu_split("board")))

    def test_wider_housekeeping_range_moves_the_isolated_cpus(self):
        (self.board / "cpus").write_text("housekeeping=0-3\n")
        self.assertEqual(conf.cpu_split("board"), {"housekeeping": "0-3", "isolated": "4-N"})

    def test_two_parameters_on_a_line_and_unknown_placeholders(self):
        path = self.board / "cmdline"
        for text in ("quiet splash  # two", "isolcpus={islated}", "a={0}", "b={"):
            path.write_text(f"ro\n\n{text}\n")
            self.assertIn("conf/machine/board/cmdline:3", self.error_of(lambda: conf.parameters(path, {"isolated": "1-N"})))

    def test_missing_and_binary_files(self):
        self.assertIn("conf/machine/other/cpus cannot be read", self.error_of(lambda: conf.cpu_split("other")))
        (self.board / "cpus").write_bytes(b"\xff\xfe\x00")
        self.assertIn("conf/machine/board/cpus cannot be read", self.error_of(lambda: conf.cpu_split("board")))
