"""What scripts/check-layer --image writes, shows and refuses, without layers and without BitBake."""

import os
import re
import shutil
import time
import unittest
from pathlib import Path
from unittest import mock

from checks.layer.below import bitbake
from checks.layer.below.image import build, conf, failures, mirror, progress, room, root, root_packages
from horus_appliance.console import ApplianceFailed, CannotRun, follow
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY

LAYERS = Path("/layers")
RECIPES = "/layers/openembedded-core/meta"


def request(**options) -> build.Request:
    return build.Request(LAYERS, Path("/work"), **options)


class Configuration(unittest.TestCase):
    def test_local_conf_says_what_kas_yml_says(self):
        text = conf.local_conf(build.chosen(request()))
        self.assertIn('MACHINE = "genericx86-64"\nDISTRO = "horus"\n', text)
        block = (REPOSITORY / "kas.yml").read_text().partition("local_conf_header:\n  horus: |\n")[2]
        self.assertTrue(block)
        self.assertIn("".join(line.removeprefix("    ") for line in block.splitlines(keepends=True)), text)
        for word in ("substitutes", "PREMIRRORS", "BB_NO_NETWORK", "HORUS_OPTIONS"):
            self.assertNotIn(word, text)

    def test_the_option_dev_adds_what_its_file_says(self):
        chosen = build.chosen(request(dev=True))
        self.assertEqual(chosen.title, "generic-x86-64+dev")
        self.assertIn('HORUS_OPTIONS:append = " dev"\n', conf.local_conf(chosen))

    def test_substitutes_come_last_and_bring_their_layer(self):
        chosen = build.chosen(request(dev=True))
        self.assertTrue(conf.local_conf(chosen, substitutes=True).endswith("\nrequire conf/substitutes.conf\n"))
        self.assertTrue((conf.SUBSTITUTES / "conf" / "substitutes.conf").is_file())
        self.assertIn(f' {conf.SUBSTITUTES}"\n', conf.bblayers_conf(LAYERS, chosen, substitutes=True))
        self.assertNotIn("substitutes", conf.bblayers_conf(LAYERS, chosen))

    def test_layers_are_those_of_the_board(self):
        self.assertIn(f'"{RECIPES} /layers/meta-yocto/meta-yocto-bsp {bitbake.META}"', conf.bblayers_conf(LAYERS, build.chosen(request())))
        self.assertEqual(build.checkouts(build.chosen(request())), ["bitbake", "openembedded-core", "meta-yocto"])
        self.assertEqual(build.checkouts(build.chosen(request(only="raspberrypi5"))), ["bitbake", "openembedded-core", "meta-raspberrypi"])

    def test_one_board_is_built(self):
        with self.assertRaisesRegex(CannotRun, "'raspberry' is part of 2 names; they are: generic-x86-64, "):
            build.chosen(request(only="raspberry"))
        self.assertEqual(build.chosen(request(only="agx")).name, "jetson-agx-orin")


class Run(InDirectory):
    """A shell's words in place of BitBake's."""

    def make(self, script: str) -> None:
        workspace = bitbake.Workspace(LAYERS, self.root, "user")
        with mock.patch.object(os, "geteuid", return_value=1000), mock.patch.object(bitbake, "command_line", return_value=["sh", "-c", script]):
            build.make(workspace, self.root / "build", request())

    def log(self) -> str:
        (path,) = (self.root / "logs").iterdir()
        return path.read_text()

    def test_all_that_bitbake_says_is_in_a_log(self):
        self.make("echo one; echo two")
        self.assertEqual(self.log(), "one\ntwo\n")

    def test_a_failure_is_told_with_its_reason_its_log_and_the_remedy(self):
        said = self.error_of(lambda: self.make("echo 'ERROR: Nothing PROVIDES x'; exit 1"), ApplianceFailed)
        self.assertIn("BitBake ended with status 1:\nERROR: Nothing PROVIDES x\n", said)
        self.assertIn(f"{self.root}/logs/", said)
        self.assertIn("Run this again", said)

    def test_only_what_qemu_has_is_booted(self):
        with mock.patch("subprocess.run") as ran:
            self.assertEqual(build.boot(build.chosen(request(only="raspberrypi5")), self.root), 0)
            ran.assert_not_called()
            ran.return_value.returncode = 1
            self.assertEqual(build.boot(build.chosen(request(only="qemuarm64")), self.root), 1)
            self.assertEqual(ran.call_args[0][0][-4:], ["--yocto", str(self.root), "--arch", "arm64"])


class Mirror(InDirectory):
    def test_one_line_stands_for_all_repositories(self):
        expected = 'PREMIRRORS:prepend = "git://.*/.* git:///mirror/MIRRORNAME;protocol=file "\n'
        self.assertEqual(mirror.setting(Path("/mirror")), expected)
        self.assertTrue(conf.local_conf(build.chosen(request()), repositories=Path("/mirror")).endswith(expected))

    def test_a_folder_without_repositories_is_refused_with_the_command_that_makes_one(self):
        self.assertIn(f"git clone --bare https://github.com/systemd/systemd {self.root}/github.com.systemd.systemd.git", self.error_of(lambda: mirror.require(self.root)))
        self.write("github.com.systemd.systemd.git/HEAD", "ref: refs/heads/main\n")
        mirror.require(self.root)

    def test_what_links_lead_to_is_read_too(self):
        target = self.write("elsewhere/repository/HEAD", "").parent
        folder = self.root / "mirror"
        folder.mkdir()
        (folder / "example.org.x.git").symlink_to(target)
        self.assertEqual(mirror.places(folder), (folder, target.resolve()))


class Watch:
    """A clock that is put forward by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class TellsHowFar(unittest.TestCase):
    def setUp(self):
        self.watch = Watch()
        self.progress = progress.Progress(self.watch)

    def task(self, number: int, count: int = 1420, name: str = f"{RECIPES}/recipes-core/glibc/glibc_2.43.bb:do_compile", kind: str = "") -> None:
        self.progress.see(f"NOTE: Running {kind}task {number} of {count} ({name})")

    def test_task_and_time_so_far_without_an_estimate_of_too_little(self):
        self.task(86)
        self.watch.seconds = 3900
        self.task(90)
        self.assertEqual(self.progress.line(), "task 90 of 1420, 1 h 05 min so far; glibc_2.43 do_compile")

    def test_the_end_is_estimated_from_this_runs_tasks_alone(self):
        self.watch.seconds = 600
        self.task(1000, 1420)  # an earlier run finished those before
        self.watch.seconds = 1200
        self.task(1060, 1420)
        self.assertEqual(self.progress.remaining(), 3600)
        noon = time.mktime((2026, 11, 25, 12, 0, 0, 0, 0, -1))
        self.assertEqual(self.progress.line(noon), "task 1060 of 1420, 20 min so far, end about 13:00; glibc_2.43 do_compile")

    def test_an_end_on_another_day_names_the_day(self):
        noon = time.mktime((2026, 11, 25, 12, 0, 0, 0, 0, -1))
        self.assertEqual(progress.clock_time(noon, 14 * 3600), time.strftime("%A 02:00", time.localtime(noon + 14 * 3600)))

    def test_native_recipes_and_tasks_that_do_nothing_count(self):
        self.task(227, name="virtual:native:/layers/opkg-utils_0.7.0.bb:do_patch")
        self.assertIn("opkg-utils_0.7.0 native do_patch", self.progress.line())
        self.task(228, name="/layers/horus.bb:do_configure", kind="noexec ")
        self.assertIn("task 228 of 1420", self.progress.line())

    def test_what_is_taken_from_the_cache_is_no_progress_of_the_build(self):
        self.assertEqual(self.progress.line(), "reading recipes; 0 min so far")
        self.progress.see("Initialising tasks...Sstate summary: Wanted 729 Local 0")
        self.task(12, 837, kind="setscene ")
        self.assertIn("taking up what earlier runs finished, 12 of 837", self.progress.line())
        self.task(5)
        self.task(837, 837, kind="setscene ")
        self.assertIn("task 5 of 1420", self.progress.line())

    def test_a_failed_task_is_told_at_once(self):
        with mock.patch.object(progress, "detail") as said:
            self.progress.see(f"ERROR: Task ({RECIPES}/recipes-core/glibc/glibc_2.43.bb:do_compile) failed with exit code '1'")
        self.assertIn("glibc_2.43 do_compile", said.call_args[0][0])

    def test_a_line_is_shown_while_the_program_is_silent(self):
        with mock.patch.object(progress, "detail") as said, progress.shown(self.progress, every=0.01):
            status, lines = follow(["sh", "-c", f"echo 'NOTE: Running task 7 of 9 (/x/y_1.0.bb:do_compile)'; sleep 0.5"], each=self.progress.see)
        self.assertEqual((status, len(lines)), (0, 1))
        self.assertIn(mock.call("task 7 of 9, 0 min so far; y_1.0 do_compile"), said.call_args_list)


class TellsWhy(unittest.TestCase):
    SAID = f"""NOTE: recipe x-1.0-r0: task do_configure: Started
ERROR: x-1.0-r0 do_configure: meson setup failed
ERROR: Logfile of failure stored in: /build/log.do_configure.1
Log data follows:
| DEBUG: Executing shell function do_configure
| NOTE: Executing meson
| Has header "crypt.h" : NO
| ../meson.build:692:16: ERROR: Problem encountered: Header file crypt.h not found
| WARNING: exit code 1 from a shell command.
ERROR: Task ({RECIPES}/x_1.0.bb:do_configure) failed with exit code '1'
NOTE: Running task 8 of 9 ({RECIPES}/y_1.0.bb:do_fetch)
ERROR: y-1.0-r0 do_fetch: Fetcher failure for URL: 'https://example.org/y'. Unable to fetch URL from any source.
ERROR: Task ({RECIPES}/y_1.0.bb:do_fetch) failed with exit code '1'
"""

    def test_each_failed_task_with_the_line_of_its_log(self):
        told = failures.told(self.SAID, 1)
        for words in ("meson setup failed", "/build/log.do_configure.1", "    ../meson.build:692:16: ERROR: Problem encountered", "'https://example.org/y'"):
            self.assertIn(words, told)
        self.assertNotIn("DEBUG", told)

    def test_of_many_the_first_and_their_number(self):
        told = failures.told("".join(f"ERROR: Task (/x/{number}.bb:do_fetch) failed\n" for number in range(40)), 1)
        self.assertTrue(told.endswith("and 34 more"))

    def test_what_is_no_task_is_told_as_bitbake_tells_it(self):
        self.assertEqual(failures.told("ERROR: Nothing PROVIDES 'x'\n", 1), "ERROR: Nothing PROVIDES 'x'")


class Room(InDirectory):
    def test_a_small_disk_is_refused_before_anything_is_built(self):
        with mock.patch.object(shutil, "disk_usage", return_value=mock.Mock(free=10 * room.GIB)):
            said = self.error_of(lambda: room.require(self.root, room.Want(60 * room.GIB, 30)))
        self.assertIn("11 GB free, and the image wants about 64 GB more", said)
        self.assertIn("--work FOLDER", said)

    def test_what_earlier_runs_left_is_not_wanted_again(self):
        wanted = room.Want(60 * room.GIB, 30)
        with mock.patch.object(shutil, "disk_usage", return_value=mock.Mock(free=10 * room.GIB)), mock.patch.object(room, "held", return_value=52 * room.GIB):
            self.assertIn("of which 56 GB are there", room.require(self.root, wanted))
        with mock.patch.object(shutil, "disk_usage", return_value=mock.Mock(free=room.GIB)), mock.patch.object(room, "held", return_value=60 * room.GIB):
            self.assertIn("wants about 5 GB more", self.error_of(lambda: room.require(self.root, wanted)))

    def test_disk_and_hours_are_said(self):
        said = room.announcement(room.Want(60 * 10**9, 30), 0, 2)
        self.assertTrue(said.startswith("from nothing this takes about 60 GB of disk and about 15 hours on 2 CPUs"), said)
        self.assertEqual(room.hours(room.Want(0, 8), 16), "half an hour")

    def test_a_folder_holds_what_was_written(self):
        self.write("downloads/archive", "x" * 100_000)
        with mock.patch.object(os, "geteuid", return_value=0):  # nothing there needs more
            self.assertGreaterEqual(room.held(self.root), 100_000)


class Root(InDirectory):
    def setUp(self):
        super().setUp()
        self.workspace = bitbake.Workspace(LAYERS, self.root / "work", "root")

    def command(self, readable: tuple = ()) -> list:
        with mock.patch.object(os, "geteuid", return_value=0):
            return root.as_user(self.workspace, ["bitbake"], readable)

    def test_only_the_workspace_is_written(self):
        words = self.command((Path("/mirror"),))
        bound = [tuple(words[at + 1:at + 3]) for at, word in enumerate(words) if word == "--bind"]
        self.assertEqual(bound, [(str(self.root / "work" / "root"), "/"), (str(self.root / "work"),) * 2])
        for path in (REPOSITORY, LAYERS, "/mirror"):
            self.assertIn(f"--ro-bind {path} {path} ", " ".join(words))

    def test_folders_above_what_is_bound_are_open_to_the_user(self):
        self.assertIn(f"--perms 0755 --dir {REPOSITORY.parent} ", " ".join(self.command()))

    def test_bitbake_runs_as_the_user(self):
        self.assertEqual(self.command()[-6:], ["setpriv", "--reuid=0", "--regid=0", "--clear-groups", "--inh-caps=-all", "bitbake"])

    def test_another_list_of_packages_or_another_compiler_makes_another_root(self):
        before = root.stamp("user")
        with mock.patch.object(root_packages, "names", return_value=["gcc"]):
            self.assertNotEqual(root.stamp("user"), before)
        self.assertIn("-dynamic-linker", before)

    def test_the_copied_compilers_run_on_a_pc_and_are_found_first(self):
        self.assertTrue(root.path(Path("/rust/bin")).startswith("/opt/horus-cross-x86_64/bin:/opt/horus-cross-aarch64/bin:/rust/bin:/usr/local/bin:"))
        with self.assertRaisesRegex(CannotRun, "builds on x86-64, for x86-64 and arm64: "):
            root.supported("riscv64")

    def test_what_the_copied_compiler_links_for_this_machine_finds_its_loader_in_the_root(self):
        text = root.CROSS.read_text()
        loaders = re.findall(r"^copy .* (/usr/lib/ld-\S+)$", text, re.MULTILINE)
        self.assertEqual(loaders, ["/usr/lib/ld-linux-aarch64.so.1", "/usr/lib/ld-linux-x86-64.so.2"])
        self.assertRegex(text, rf"(?m)^ln -sf \S+ {loaders[1]}$")

    def test_every_package_is_named_once(self):
        words = [word for group in root_packages.GROUPS.values() for word in group.split()]
        self.assertEqual(sorted(words), root_packages.names())
