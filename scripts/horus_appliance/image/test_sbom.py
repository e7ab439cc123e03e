"""The list of what an image is made of: crates as cargo tells them, packages as dpkg did, and a release that names its vendor."""

import json
import os
import subprocess
import sys
import unittest
from datetime import date
from unittest import mock

from horus_appliance.console import CannotRun
from horus_appliance.host.architecture import X86_64
from horus_appliance.image import sbom, vendor
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import RECIPE, RUNTIME

import horus_conf

VENDOR = {"name": "Example Robotics", "security": "security@example.com", "support_until": "2031-12-31"}


def named(**said):
    """conf/ with these words about the vendor."""
    return mock.patch.object(horus_conf, "description", lambda whole=horus_conf.description(): {**whole, "vendor": {**VENDOR, **said}})


class Crates(unittest.TestCase):
    def test_crates_are_those_that_are_linked_with_the_digests_of_the_lock_file(self):
        found = {one["name"]: one for one in sbom.crates(RUNTIME, horus_conf.cargo_arguments(), X86_64).values()}
        self.assertEqual(found["ring"]["hashes"][0]["content"], sbom.checksums(RUNTIME / "Cargo.lock")[("ring", found["ring"]["version"])])
        self.assertEqual(found["ring"]["purl"], f"pkg:cargo/ring@{found['ring']['version']}")
        self.assertNotIn("purl", found["horus-cli"])
        # A macro runs in the compiler, and tests' crates in tests.
        self.assertLessEqual({"serde", "clap"}, set(found))
        self.assertEqual({"serde_derive", "clap_derive", "loom", "proptest"} & set(found), set())

    def test_a_licence_with_a_stroke_is_told_as_spdx_has_it(self):
        self.assertEqual(sbom.component("old v1.0.0\tMIT/Apache-2.0", {})["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        self.assertNotIn("licenses", sbom.component("ours v0.1.0 (/a/b)\t", {}))


class Parts(InDirectory):
    def test_the_recipe_joins_packages_and_crates_and_leaves_one_list(self):
        root = self.root / "root"
        self.write("root/usr/lib/os-release", 'VERSION_ID="13"\nVENDOR_NAME="Example Robotics"\n')
        self.write("root/usr/share/horus/crates.json", json.dumps([{"type": "library", "name": "ring", "version": "1"}]))
        self.write("packages.tsv", "systemd\t1:257.9-1\tamd64\tsystemd\t257.9-1\nlibstdc++6\t14.2.0-19+x\tamd64\tgcc-14\t14.2.0-19+x\n")
        environment = {"BUILDROOT": str(root), "ARTIFACTDIR": str(self.root), "OUTPUTDIR": str(self.root), "IMAGE_ID": "horus", "IMAGE_VERSION": "0.2.0"}
        subprocess.run([sys.executable, RECIPE / "mkosi.finalize.d" / "50-parts"], env={**os.environ, **environment}, check=True)
        inside, beside = (path.read_text() for path in (root / "usr/share/horus/sbom.cdx.json", self.root / "horus_0.2.0.cdx.json"))
        self.assertEqual(inside, beside)
        self.assertFalse((root / "usr/share/horus/crates.json").exists())
        parts = json.loads(inside)
        self.assertEqual([part["name"] for part in parts["components"]], ["debian", "libstdc++6", "systemd", "ring"])
        self.assertEqual(parts["metadata"]["component"]["supplier"], {"name": "Example Robotics"})
        self.assertEqual(
            parts["components"][1]["purl"], "pkg:deb/debian/libstdc%2B%2B6@14.2.0-19%2Bx?arch=amd64&distro=debian-13&upstream=gcc-14%4014.2.0-19%2Bx"
        )


class Vendor(unittest.TestCase):
    def test_os_release_has_what_is_said_and_a_shell_reads_it_as_it_is_written(self):
        with named(name="O'Brien & Robots #1"):
            read = subprocess.run(["sh", "-c", f'{vendor.lines()}echo "$VENDOR_NAME, $HORUS_SECURITY_CONTACT, $SUPPORT_END"'], capture_output=True, text=True, check=True)
            self.assertEqual(read.stdout, "O'Brien & Robots #1, security@example.com, 2031-12-31\n")
        with named(name="", security="", support_until=""):
            self.assertEqual(vendor.lines(), "")

    def test_what_os_release_cannot_say_is_refused_with_the_remedy(self):
        days = [("support_until", day, "Write it as 2031-12-31") for day in ("31.12.2031", "20311231", "2031-W01-1")]
        for field, value, words in (*days, ("name", 'a"b', "in quotation marks"), ("support_until", date(2031, 12, 31), "in quotation marks"), ("other", "a", "nothing else")):
            with named(**{field: value}), self.assertRaisesRegex(horus_conf.BadConf, words):
                horus_conf.vendor()

    def test_a_release_without_contact_and_end_of_support_is_refused(self):
        with named(security="", support_until=""):
            for variant, has_keys in (("release", False), ("release", True), ("full", True)):
                with self.assertRaisesRegex(CannotRun, "set security and support_until of .vendor. in conf/image.toml"):
                    vendor.require(variant, has_keys)
            vendor.require("appliance", True)
            vendor.require("full", False)
        with named(security=""), self.assertRaisesRegex(CannotRun, "set security of"):
            vendor.require("release", True)
        with named():
            vendor.require("release", True)
