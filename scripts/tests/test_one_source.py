"""The comparison of the two ways to build sees every kind of difference, also in packages."""

import io
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance import one_source, overlay
from horus_appliance.console import ApplianceFailed
from horus_appliance.one_source import Difference

FILES = {"usr/bin/horus": ("0755", "aa"), "etc/fstab": ("0644", "bb"), "usr/lib/x": ("0644", "cc")}


class Comparison(unittest.TestCase):
    def said_of(self, meant: tuple = (), **changes) -> list:
        yocto = {**FILES, **{path.replace("__", "/"): entry for path, entry in changes.items()}}
        return one_source.differences(FILES, {path: entry for path, entry in yocto.items() if entry}, list(meant))

    def test_the_same_is_no_difference(self):
        self.assertEqual(self.said_of(), [])

    def test_a_missing_an_added_a_changed_file_and_another_mode(self):
        self.assertEqual(self.said_of(etc__fstab=None), ["etc/fstab is in the Debian image only"])
        self.assertEqual(self.said_of(etc__new=("0644", "dd")), ["etc/new is in the Yocto image only"])
        self.assertEqual(self.said_of(etc__fstab=("0644", "dd")), ["etc/fstab has another content in the Yocto image"])
        self.assertIn("mode 0644 in the Debian image and 0600", self.said_of(etc__fstab=("0600", "bb"))[0])

    def test_a_meant_difference_covers_its_kind_and_path_only(self):
        meant = [Difference("content", "usr/bin/*", "compiled twice")]
        changed = {"usr__bin__horus": ("0755", "other")}
        self.assertEqual(self.said_of(meant, **changed), [])
        self.assertEqual(len(self.said_of(meant, usr__bin__horus=("0700", "other"))), 1)
        self.assertEqual(len(self.said_of(meant, usr__bin__horus=None)), 1)
        self.assertEqual(len(self.said_of(meant, **changed, usr__lib__x=("0644", "other"))), 1)

    def test_a_meant_difference_that_nothing_needs_is_told(self):
        with mock.patch.object(one_source, "MEANT", [Difference("yocto", "gone/*", "once")]):
            self.assertEqual(len(one_source.unneeded(set(FILES))), 1)
            self.assertEqual(one_source.unneeded({"gone/x"}), [])

    def test_kernel_parameters_differ_by_what_they_are_and_by_their_order(self):
        self.assertEqual(one_source.different_parameters("a b=1", "a  b=1"), [])
        self.assertIn("lacks ['b=1'] and adds ['b=2']", one_source.different_parameters("a b=1", "a b=2")[0])
        self.assertIn("another order", one_source.different_parameters("console=a console=b", "console=b console=a")[0])


class Packages(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def make(self, owner: int = 0) -> Path:
        root = self.directory / "root"
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text("Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n")
        (root / "etc").mkdir()
        (root / "etc/fstab").write_text("text\n")
        (root / "etc/fstab").chmod(0o640)
        package = self.directory / "x_1_all.deb"
        build = ["dpkg-deb", "--build", *(["--root-owner-group"] if owner == 0 else []), str(root), str(package)]
        subprocess.run(build, check=True, capture_output=True)
        return package

    def test_files_of_a_package_have_mode_and_digest(self):
        digest = "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733"
        self.assertEqual(one_source.unpacked(self.make()), {"etc/fstab": ("0640", digest)})

    def test_a_file_that_is_not_roots_is_a_mistake(self):
        package = self.make()
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            entry = tarfile.TarInfo("./etc/fstab")
            entry.uid = 1000
            tar.addfile(entry)
        answer = subprocess.CompletedProcess([], 0, stdout=archive.getvalue(), stderr=b"")
        with mock.patch.object(one_source.subprocess, "run", return_value=answer), self.assertRaises(ApplianceFailed) as caught:
            one_source.unpacked(package)
        self.assertIn("etc/fstab belongs to 1000", str(caught.exception))


class Coverage(unittest.TestCase):
    def test_every_variant_and_every_board_is_compared(self):
        self.assertEqual(set(one_source.VARIANTS), set(overlay.VARIANTS))
        boards = {path.name for path in (one_source.conf.CONF / "machine").iterdir()}
        self.assertEqual(set(one_source.BOARDS.values()), boards)
