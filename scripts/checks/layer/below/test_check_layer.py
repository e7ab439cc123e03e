"""What scripts/check-layer says about layers that are missing or wrong, and what it reads from our own kas files."""

import json
import subprocess
import unittest
from unittest import mock

from checks.layer import boards
from checks.layer.below import bitbake, report, sources
from horus_appliance.console import ApplianceFailed, CannotRun
from horus_appliance.in_directory import InDirectory
from horus_appliance.yocto import crates, kas

import horus_conf


class Layers(InDirectory):
    def complaint(self) -> str:
        return self.error_of(lambda: sources.require(self.root))

    def checkout(self, name: str) -> str:
        """Makes a checkout; returns its commit."""
        directory = self.write(f"{name}/file", name).parent
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        for command in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "--message=test"]):
            subprocess.run(["git", "-C", str(directory), *command], check=True, capture_output=True)
        return sources.commit(directory)

    def test_checkouts_at_their_pins_are_accepted(self):
        pins = {name: self.checkout(name) for name in sources.pins()}
        with mock.patch.object(sources, "pins", return_value=pins):
            sources.require(self.root)

    def test_missing_layer_is_named_with_the_command_that_fetches_it(self):
        checkout, pinned = self.root / "meta-tegra", sources.pins()["meta-tegra"]
        self.assertIn(f"git init --quiet {checkout} && git -C {checkout} fetch --depth 1 https://github.com/OE4T/meta-tegra {pinned} && ", self.complaint())

    def test_other_commit_than_the_pinned_one_is_named_with_the_pinned_one(self):
        self.checkout("meta-yocto")
        self.assertIn(f"checkout --quiet {sources.pins()['meta-yocto']}", self.complaint())


class OurFiles(unittest.TestCase):
    def test_every_repository_of_the_layers_is_pinned(self):
        self.assertEqual(set(sources.pins()), set(sources.urls()))

    def test_options_bring_their_settings(self):
        titles = {board.title: board.settings for board in boards.builds()}
        self.assertIn('HORUS_OPTIONS:append = " untuned"', titles["generic-x86-64+untuned"])
        (secure,) = [options for options in boards.OPTION_SETS if "secure" in options]
        self.assertIn('HORUS_IMAGE_CLASSES = "horus_verity"', titles["+".join(["generic-x86-64", *secure])])

    def test_every_option_is_checked(self):
        self.assertLessEqual(set(horus_conf.description()["options"]), set(kas.OPTIONS))
        self.assertEqual(sorted(option for options in boards.OPTION_SETS for option in options), kas.OPTIONS)


class WhatBitBakeSays(unittest.TestCase):
    def test_an_end_without_a_word_is_told_too(self):
        self.assertIn("status 137", bitbake.errors("", 137))
        self.assertIn("stopped after", bitbake.errors("NOTE: Running task 1", bitbake.TIMED_OUT))

    def test_an_error_is_told_with_the_lines_that_explain_it(self):
        said = "Parsing recipes...\nERROR:  the sanity checker found something.\n    Either fix it,\n\n    Error, an invalid character\nSummary: over"
        told = "ERROR:  the sanity checker found something.\n    Either fix it,\n    Error, an invalid character"
        self.assertEqual(bitbake.errors(said, 1), told)

    def test_without_an_error_its_end_is_told(self):
        self.assertEqual(bitbake.errors("one\ntwo", 1), "one\ntwo")


class Findings(InDirectory):
    def test_json_tells_what_failed(self):
        findings = [report.Finding("one", "kernel", True, 1.0, ""), report.Finding("two", "kernel", False, 2.0, "wrong")]
        path = self.root / "findings.json"
        report.write(path, findings, {"bitbake": "abc"}, complete=True)
        written = json.loads(path.read_text())
        report.write(path, findings[:1], {}, complete=False)
        self.assertFalse(json.loads(path.read_text())["passed"], "a run that was cut short has not passed")
        self.assertEqual((written["passed"], written["layers"], len(written["findings"])), (False, {"bitbake": "abc"}, 2))


class Delivery(InDirectory):
    """What a build leaves is found by its board, whatever was built last."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.multiple(kas, WORK=self.root, REPOSITORY=self.root)
        patch.start()
        self.addCleanup(patch.stop)
        for name in ("images/genericx86-64/pc.wic.zst", "images/raspberrypi5/pi.wic.zst", "sdk/nodes.sh"):
            self.write(f"build/tmp/deploy/{name}", "")

    def test_the_board_that_was_asked_for(self):
        self.assertEqual([path.name for path in kas.deliver("generic-x86-64", is_sdk=False)], ["pc.wic.zst"])
        self.assertEqual([path.name for path in kas.deliver("raspberrypi5", is_sdk=False)], ["pi.wic.zst"])

    def test_an_sdk_is_no_image(self):
        self.assertEqual([path.name for path in kas.deliver("generic-x86-64", is_sdk=True)], ["nodes.sh"])

    def test_nothing_is_no_success(self):
        with self.assertRaisesRegex(ApplianceFailed, "left nothing in .*/jetson-orin-nano-devkit"):
            kas.deliver("jetson-orin-nano", is_sdk=False)


class Crates(InDirectory):
    def packages(self, text: str) -> list:
        with mock.patch.object(crates, "REPOSITORY", self.root):
            return crates.packages(self.write("Cargo.lock", text))

    def test_crate_from_elsewhere_than_crates_io_is_refused(self):
        with self.assertRaisesRegex(CannotRun, "released version"):
            self.packages('[[package]]\nname = "x"\nversion = "1.0.0"\nsource = "git+https://example.org/x#1"\n')

    def test_members_of_the_workspace_are_no_crates_to_fetch(self):
        theirs = f'[[package]]\nname = "theirs"\nversion = "2.0.0"\nsource = "{crates.REGISTRY}"\nchecksum = "ab"\n'
        self.assertEqual(self.packages(f'[[package]]\nname = "ours"\nversion = "1.0.0"\n\n{theirs}'), [("theirs", "2.0.0", "ab")])
