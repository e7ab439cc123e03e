"""./scripts/test --changed: each check says what it depends on, each folder has checks, and a change runs what it can break."""

import subprocess
import unittest
from pathlib import Path
from unittest import mock

from checks import catalogue, changed, imports, manifests
from checks.runner import Check
from horus_appliance.console import CannotRun
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import REPOSITORY

# They read the whole repository, in seconds.
ALWAYS = {"scripts' unit tests", "shell scripts"}
# Pages, their data and CI's own files: what always runs reads them, and no other check need.
READ_BY_THOSE = ("docs", ".github", ".ci")
BOOTS = {"boot tests", "boot tests of other machines", "boots in virtual time", catalogue.IMAGES}


def runs(*files: str) -> set:
    """The names of the checks that run for a change of these files."""
    return {check.name for check in changed.choose(catalogue.CHECKS, changed.of(list(files)))[0]}


class Statements(unittest.TestCase):
    def test_every_check_says_what_it_depends_on_or_always_runs(self):
        self.assertEqual({check.name for check in catalogue.CHECKS if not changed.states(check)}, ALWAYS)
        self.assertEqual(runs(), ALWAYS)

    def test_what_is_named_is_there(self):
        for check in catalogue.CHECKS:
            self.assertEqual([place for place in (*check.on, *check.through) if not (REPOSITORY / place).exists()], [], check.name)
            self.assertTrue(not check.slow or changed.states(check), check.name)

    def test_every_folder_of_the_repository_has_a_check_that_its_change_runs(self):
        folders = {}
        for file in manifests.tracked():
            folders.setdefault(str(Path(file).parent), []).append(file)
        self.assertGreater(len(folders), 300)
        unseen = set(changed.seen_by_none(catalogue.CHECKS, changed.of(list(manifests.tracked()))))
        alone = [folder for folder, files in folders.items() if unseen.issuperset(files) and not changed.below(folder, READ_BY_THOSE) and folder != "."]
        self.assertEqual(alone, [])

    def test_every_crate_is_tested_when_it_changes(self):
        for crate in set(manifests.crates()) - {"benchmarks/compare", "runtime/fuzz"}:
            names = runs(f"{crate}/Cargo.toml")
            self.assertTrue(any(word in name for name in names for word in ("tests", "Python")), f"{crate}: {names}")


class Choice(unittest.TestCase):
    def test_a_page_runs_no_compiler_unless_a_crate_reads_it(self):
        self.assertEqual(runs("docs/decisions/0015-checks-side-by-side.md"), ALWAYS)
        self.assertIn("rust unit, doc and process tests", runs("docs/topics.md"))
        self.assertIn("languages: the library's tests", runs("docs/languages.md"))

    def test_a_crate_runs_what_uses_it_and_no_boot(self):
        names = runs("runtime/shm/src/lib.rs")
        wanted = {
            "rust model tests (loom)", "topics under the thread sanitizer", "rust unit, doc and process tests", "the command's tests",
            "gateway: its own tests", "languages: the library's tests", "benchmarks' lints",
        }  # fmt: skip
        self.assertEqual(wanted - names, set())
        self.assertFalse(BOOTS & names)
        command = runs("runtime/cli/src/main.rs")
        self.assertIn("the command's tests", command)
        self.assertFalse({"rust model tests (loom)", "gateway: its own tests", "rust unit, doc and process tests", "peers killed at every step"} & command)
        self.assertNotIn("rust lints", runs("runtime/bridge/src/main.rs"))

    def test_a_knob_runs_the_doctor_the_layer_and_the_boots(self):
        names = runs("conf/rt/rootfs/usr/lib/sysctl.d/60-horus-rt.conf")
        self.assertEqual({"the command's tests", "the Yocto layer, without the layers below it", "units verified by systemd", *BOOTS} - names, set())
        self.assertNotIn("rust model tests (loom)", names)

    def test_a_lock_file_and_the_compiler_are_of_all_crates(self):
        self.assertLess({"rust model tests (loom)", "the command's tests", "crate advisories"}, runs("runtime/Cargo.lock"))
        self.assertLess({"benchmarks' tests", "rust unit, doc and process tests", "ros2: the bridge's lints and tests"}, runs("rust-toolchain.toml"))

    def test_scripts_run_the_checks_that_import_them_and_slow_ones_for_their_own_room(self):
        self.assertEqual(runs("scripts/checks/gateway/kills.py") - ALWAYS, {"gateway: killed a thousand times while it writes"})
        self.assertIn("ros2: messages by Zenoh", runs("scripts/checks/ros2/nodes/ros.py"))
        self.assertNotIn("ros2: messages by Zenoh", runs("scripts/horus_appliance/console.py"))
        self.assertIn("units verified by systemd", runs("scripts/horus_appliance/console.py"))
        self.assertIn("crate advisories", runs("scripts/checks/runtime/deny.txt"))
        self.assertEqual(runs("scripts/checks/conf/test_boards.py"), ALWAYS)

    def test_what_is_left_out_has_its_reason(self):
        slow = Check("slow", ["true"], on=("conf",), through=("runtime/shm",), slow="an hour")
        for file, reason in (("conf/install", ""), ("runtime/shm/src/lib.rs", "too slow for a change of runtime/shm, which they only use: slow (an hour)"), ("README.md", "nothing")):
            chosen, left_out = changed.choose([slow], changed.of([file]))
            self.assertEqual(len(chosen), not reason)
            self.assertIn(reason, changed.told(left_out, []))
        self.assertIn("look at: docs/topics.md", changed.told([], ["docs/topics.md"]))


class Manifests(unittest.TestCase):
    def test_users_are_found_by_path_and_by_workspace(self):
        users = manifests.with_users({"runtime/shm"})
        self.assertLess({"runtime/horus", "runtime/bridge", "runtime/fuzz", "benchmarks", "benchmarks/compare", "runtime/bindings/c"}, users)
        self.assertFalse({"runtime/shm", "runtime/measure"} & manifests.with_users({"runtime/horus"}))

    def test_what_sources_name_outside_of_their_crate_is_found(self):
        self.assertLess({"README.md", "docs/topics.md"}, manifests.reads("runtime/horus"))
        self.assertFalse({"runtime", "runtime/horus"} & manifests.reads("runtime/horus"))

    def test_modules_are_followed_to_what_they_import(self):
        check = next(check for check in catalogue.CHECKS if check.name == "the Yocto layer against the layers below it")
        names = {str(path.relative_to(REPOSITORY)) for path in imports.closure(imports.roots(check))}
        self.assertLess({"scripts/check-layer", "scripts/checks/layer/below/bitbake.py", "scripts/horus_appliance/console.py"}, names)


class Against(InDirectory):
    def git(self, *words: str) -> None:
        user = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *user, *words], cwd=self.root, check=True, capture_output=True)

    def test_commits_edits_and_new_files_are_the_change_and_mains_own_commits_are_not(self):
        with mock.patch.object(changed, "REPOSITORY", self.root), mock.patch.object(changed, "of", tuple):
            self.git("init", "-q", "-b", "main")
            for name in ("kept", "edited", "gone"):
                self.write(name, name)
            self.git("add", ".")
            self.git("commit", "-qm", "first")
            self.git("checkout", "-qb", "mine")
            self.write("committed", "a")
            self.git("add", ".")
            self.git("commit", "-qm", "second")
            self.write("edited", "b")
            self.write("new", "c")
            (self.root / "gone").unlink()
            self.assertEqual(set(changed.against_main()), {"committed", "edited", "gone", "new"})
            self.git("branch", "-m", "main", "other")
            with self.assertRaisesRegex(CannotRun, "git fetch origin main"):
                changed.against_main()
            self.git("update-ref", "refs/remotes/origin/main", "other")
            self.assertIn("committed", changed.against_main())
