"""The boards of conf/machine: each is complete, and none gets what only another architecture knows."""

import unittest

from horus_appliance.paths import CONF, REPOSITORY

import horus_conf

BOARDS = sorted(path.name for path in (CONF / "machine").iterdir())
PC = {"generic-x86-64", "qemux86-64"}


def names(parameters: list) -> set:
    return {parameter.partition("=")[0] for parameter in parameters}


def own_parameters(board: str) -> list:
    return horus_conf.parameters(CONF / "machine" / board / "cmdline", horus_conf.cpu_split(board))


class Boards(unittest.TestCase):
    def test_the_boards_of_the_product_are_there(self):
        arm = {"qemuarm64", "raspberrypi4", "raspberrypi5", "jetson-orin-nano", "jetson-agx-orin"}
        self.assertLessEqual(PC | arm, set(BOARDS))

    def test_every_board_has_a_command_line_that_isolates_cpus_and_ends_in_a_serial_console(self):
        for board in BOARDS:
            with self.subTest(board=board):
                line = horus_conf.kernel_command_line(board, tuned=True, version="1.2.3").split()
                split = horus_conf.cpu_split(board)
                self.assertIn(f"isolcpus=managed_irq,domain,{split['isolated']}", line)
                self.assertIn(f"irqaffinity={split['housekeeping']}", line)
                consoles = [parameter for parameter in line if parameter.startswith("console=")]
                self.assertRegex(consoles[-1], r"^console=tty(S|AMA|TCU)[0-9]+,115200$", "the last console is /dev/console")

    def test_every_board_has_a_page_that_names_its_folder_and_its_console(self):
        pages = {"generic-x86-64": "x86-64", "qemux86-64": "qemu", "qemuarm64": "qemu"}
        for board in BOARDS:
            with self.subTest(board=board):
                page = (REPOSITORY / "docs/boards" / f"{pages.get(board, board)}.md").read_text()
                self.assertIn(f"conf/machine/{board}", page)
                console = [one for one in own_parameters(board) if one.startswith("console=")][-1]
                index = (REPOSITORY / "docs/boards/README.md").read_text()
                self.assertIn(console.removeprefix("console=").partition(",")[0], index)
                self.assertIn(f"({pages.get(board, board)}.md)", index)
                self.assertIn("| booted in emulation |", page)

    def test_no_parameter_but_the_console_stands_twice(self):
        for board in BOARDS:
            found = [parameter.partition("=")[0] for parameter in horus_conf.kernel_command_line(board, tuned=True, version="1.2.3").split()]
            self.assertEqual({name for name in found if found.count(name) > 1} - {"console"}, set(), board)

    def test_what_only_a_pc_knows_reaches_no_arm_board(self):
        pc = names(own_parameters("generic-x86-64")) - {"console"}
        self.assertIn("tsc", pc)
        for board in set(BOARDS) - PC:
            self.assertEqual(names(horus_conf.kernel_command_line(board, tuned=True, version="1.2.3").split()) & pc, set(), board)

    def test_every_line_has_its_reason(self):
        for file in [*CONF.glob("machine/*/cmdline"), *CONF.glob("*/kernel/cmdline")]:
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if line.strip() and not line.startswith("#"):
                    self.assertRegex(line, r"\S\s+# \S+ \S+", f"{file.relative_to(REPOSITORY)}:{number} gives no reason")

    def test_links_between_boards_lead_to_files_inside_conf(self):
        for path in CONF.rglob("*"):
            if path.is_symlink():
                self.assertTrue(path.resolve().is_file() and path.resolve().is_relative_to(CONF), path)
                self.assertFalse(path.readlink().is_absolute(), path)

    def test_no_link_leads_out_of_a_rootfs_which_builders_copy_alone(self):
        self.assertEqual([path for path in CONF.glob("**/rootfs/**/*") if path.is_symlink()], [])

    def test_files_of_the_same_path_are_the_same_on_every_board_but_where_boards_differ(self):
        # The number of a power mode is each board's own.
        differing = {"usr/lib/systemd/system/nvpmodel.service.d/60-horus.conf"}
        seen = {}
        for path in sorted(CONF.glob("machine/*/rootfs/**/*")):
            if path.is_file():
                place = str(path).partition("/rootfs/")[2]
                same = seen.setdefault(place, path).read_bytes() == path.read_bytes()
                self.assertTrue(same or place in differing, f"{path} differs from {seen[place]}")
        self.assertIn("usr/lib/systemd/system/horus-jetson-clocks.service", seen)

    def test_firmware_files_hold_only_whole_comment_lines_and_settings(self):
        files = sorted(CONF.glob("machine/*/config.txt"))
        self.assertEqual([file.parent.name for file in files], ["raspberrypi4", "raspberrypi5"])
        for file in files:
            lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
            self.assertEqual(lines[0], "[all]", "a filter of the file that this is appended to would still be in force")
            for line in lines[1:]:
                self.assertRegex(line, r"^[a-z_0-9]+=[a-z_0-9=,-]+$", f"the firmware knows no comment behind a value: {file}")
            self.assertNotIn("over_voltage", " ".join(lines), "with force_turbo it voids the warranty")
