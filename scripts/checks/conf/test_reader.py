"""The reader of conf/: the description of the image, and a mistake in conf/ as an error that names file, line and remedy."""

from unittest import mock

from horus_appliance.host.architecture import ARCHITECTURES
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import RUNTIME

import horus_conf


class Description(InDirectory):
    def test_options_add_and_remove_trees_whatever_their_order(self):
        self.assertEqual(horus_conf.trees(), ["base", "rt", "horus", "audit"])
        self.assertEqual(horus_conf.trees(["untuned", "dev"]), ["base", "horus", "audit", "dev"])
        self.assertEqual(horus_conf.trees(["dev", "untuned"]), horus_conf.trees(["untuned", "dev"]))
        with self.assertRaisesRegex(horus_conf.BadConf, "no option 'fast'; its options are dev, untuned, python, bridge"):
            horus_conf.trees(["fast"])

    def test_every_folder_of_conf_is_in_some_image_and_every_board_is_described(self):
        folders = {path.parent.name for path in horus_conf.CONF.glob("*/rootfs")}
        self.assertEqual(folders | {"audit"}, set(horus_conf.all_trees()))
        self.assertEqual({path.name for path in (horus_conf.CONF / "machine").iterdir()}, set(horus_conf.boards()))

    def test_every_variant_is_audited_and_only_those_for_robots_have_no_shell_without_a_password(self):
        variants = horus_conf.variants()
        self.assertEqual([name for name, trees in variants.items() if "audit" not in trees], [])
        self.assertEqual([name for name, trees in variants.items() if "dev" not in trees], ["release", "full"])
        self.assertEqual([name for name in variants for option in ("python", "bridge") if horus_conf.has_option(name, option)], ["full", "full"])

    def test_a_machine_belongs_to_one_board_or_to_none(self):
        self.assertEqual(horus_conf.board_of("jetson-orin-nano-devkit-nvme"), "jetson-orin-nano")
        self.assertEqual(horus_conf.board_of("toaster"), "")
        machines = [machine for board in horus_conf.boards().values() for machine in board.machines]
        self.assertEqual(len(machines), len(set(machines)))

    def test_every_board_is_of_an_architecture_that_the_builder_knows(self):
        boards = horus_conf.boards()
        self.assertEqual({board.architecture for board in boards.values()}, set(ARCHITECTURES))
        for name, architecture in ARCHITECTURES.items():
            self.assertEqual(boards[architecture.board].architecture, name)

    def test_every_program_is_cargos(self):
        for program in horus_conf.programs():
            manifests = [path for path in RUNTIME.glob("*/Cargo.toml") if f'[package]\nname = "{program.package}"' in path.read_text()]
            self.assertEqual(len(manifests), 1, program)
        self.assertIn(f'name = "{horus_conf.description()["bridge"]["name"]}"', (horus_conf.bridge_folder() / "Cargo.toml").read_text())

    def test_a_description_that_is_none_is_an_error(self):
        self.write("image.toml", "[image\n")
        with mock.patch.object(horus_conf, "CONF", self.root), self.assertRaisesRegex(horus_conf.BadConf, "restore it from git"):
            horus_conf.trees()


class KernelCommandLine(InDirectory):
    def test_untuned_image_has_no_parameter_of_conf_rt(self):
        untuned = set(horus_conf.kernel_command_line("generic-x86-64", tuned=False, version="1.2.3").split())
        tuning = horus_conf.parameters(horus_conf.CONF / "rt/kernel/cmdline", horus_conf.cpu_split("generic-x86-64"))
        self.assertFalse(untuned & set(tuning))

    def test_kernel_image_names_the_partition_of_its_own_version_as_repart_labels_it(self):
        label = horus_conf.system_label("1.2.3")
        self.assertIn("1.2.3", label)
        self.assertIn(f"root=PARTLABEL={label}", horus_conf.kernel_command_line("generic-x86-64", tuned=True, version="1.2.3").split())
        first = (horus_conf.CONF / "base/rootfs/usr/lib/repart.d/10-root-first.conf").read_text()
        self.assertIn(f"\nLabel={label.replace('1.2.3', '%A')}\n", first)


class BadConf(InDirectory):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(horus_conf, "CONF", self.root / "conf")
        patch.start()
        self.addCleanup(patch.stop)

    def refusal(self, call) -> str:
        return self.error_of(call, horus_conf.BadConf)

    def test_cpu_split_that_is_not_understood(self):
        for text in ("housekeeping=1", "housekeeping=0-", "isolated=2", "housekeeping=all"):
            self.write("conf/machine/board/cpus", f"# comment\n{text}\n")
            message = self.refusal(lambda: horus_conf.cpu_split("board"))
            self.assertIn("conf/machine/board/cpus:2", message)
            self.assertIn("Write housekeeping=0", message)

    def test_empty_cpu_split(self):
        self.write("conf/machine/board/cpus", "# nothing\n")
        self.assertIn("Write one line: housekeeping=0", self.refusal(lambda: horus_conf.cpu_split("board")))

    def test_wider_housekeeping_range_moves_the_isolated_cpus(self):
        self.write("conf/machine/board/cpus", "housekeeping=0-3\n")
        self.assertEqual(horus_conf.cpu_split("board"), {"housekeeping": "0-3", "isolated": "4-N"})

    def test_two_parameters_on_a_line_and_unknown_placeholders(self):
        for text in ("quiet splash  # two", "isolcpus={islated}", "a={0}", "b={"):
            path = self.write("conf/machine/board/cmdline", f"ro\n\n{text}\n")
            self.assertIn("conf/machine/board/cmdline:3", self.refusal(lambda path=path: horus_conf.parameters(path, {"isolated": "1-N"})))

    def test_command_line_that_names_no_partition_of_the_system(self):
        self.write("conf/base/kernel/cmdline", "root=/dev/sda2\n")
        self.assertIn("conf/base/kernel/cmdline has no line root=PARTLABEL=", self.refusal(lambda: horus_conf.system_label("1.2.3")))

    def test_missing_and_binary_files(self):
        self.assertIn("conf/machine/other/cpus cannot be read", self.refusal(lambda: horus_conf.cpu_split("other")))
        self.write("conf/machine/board/cpus", "").write_bytes(b"\xff\xfe\x00")
        self.assertIn("conf/machine/board/cpus cannot be read", self.refusal(lambda: horus_conf.cpu_split("board")))
