"""The list of substitutes, and the reading of the layer that it is made from."""

import unittest

from checks.layer.below import differences, substitutes
from horus_appliance.in_directory import InDirectory

SOURCES = """
[acl]
wanted = "2.3.2"
url = "http://deb.debian.org/debian/pool/main/a/acl/acl_2.3.2.orig.tar.xz"
[busybox]
url = "http://deb.debian.org/debian/pool/main/b/busybox/busybox_1.37.0.orig.tar.bz2"
same = true
[glibc]
wanted = "2.43+git"
url = "http://deb.debian.org/debian/pool/main/g/glibc/glibc_2.43.orig.tar.xz"
[kern-tools]
wanted = "a4a362d9f4"
settings = { SRCREV = "fe67c98d2e9b74af44d0c4b660fa18e3a95e7edd" }
[kernel]
wanted = "6.18.39"
version = "6.18.15"
url = "http://deb.debian.org/debian/pool/main/l/linux/linux_6.18.15.orig.tar.xz"
keep = ["kernel-cache"]
settings = { LINUX_VERSION = "6.18.15" }
[libcap]
drop = ["CVE-2026-4878"]
wanted = "2.77"
version = "2.78"
url = "http://deb.debian.org/debian/pool/main/libc/libcap2/libcap2_2.78.orig.tar.xz"
[regdb]
license = "the package's own file"
wanted = "2026.05.30"
url = "http://deb.debian.org/debian/pool/main/w/regdb/regdb_2026.05.30-1_all.deb"
[shadow]
url = "git://github.com/shadow-maint/shadow.git;protocol=https;nobranch=1"
rev = "115f7aa445f051a413d8b771efaa2ab0ca302770"
same = true
[wpa]
drop = [".patch"]
wanted = "2.11"
version = "2.10"
url = "http://deb.debian.org/debian/pool/main/w/wpa/wpa_2.10.orig.tar.xz"
[zstd]
wanted = "1.5.7"
url = "http://deb.debian.org/debian/pool/main/libz/libzstd/libzstd_1.5.7+dfsg.orig.tar.xz"
"""
CONF = r"""
require conf/machine-natives.inc
# --- the machine's compiler ------
ASSUME_PROVIDED += "\
    gcc-cross-${TARGET_ARCH} \
    rust-native \
"
PREFERRED_PROVIDER_libgcc = "machine-compiler-libs"
PREFERRED_PROVIDER_acl-native \
 = "machine-tools-native"
# --- recipes that nothing in the image is made of ---
ASSUME_PROVIDED += "perl gawk"
export AUTOPOINT = "true"
IMAGE_INSTALL:remove = "linux-firmware-e100"
"""
NATIVES = 'HORUS_MACHINE_NATIVES = "\\\n    xz-native \\\n    acl-native \\\n"\n'
OLDER = 'DESCRIPTION = "Stands in for wic-native 0.3.1, whose repository cannot be reached."\nPV = "0.2"\n'


class Written(InDirectory):
    def setUp(self):
        super().setUp()
        self.write("sources.toml", SOURCES)
        self.write("conf/substitutes.conf", CONF)
        self.write("conf/machine-natives.inc", NATIVES)
        self.write("recipes-older/older-wic/older-wic-native.bb", OLDER)
        self.text = differences.render(self.root)

    def row(self, name: str) -> str:
        return next(line for line in self.text.splitlines() if line.startswith(f"| {name} |"))

    def test_same_bytes_and_same_versions_are_told_apart(self):
        self.assertIn("the same bytes, from Debian's archive", self.row("busybox"))
        self.assertIn("| 2.3.2 | 2.3.2, [acl_2.3.2.orig.tar.xz](http://deb.debian.org/", self.row("acl"))
        self.assertTrue(self.row("acl").endswith("| the same version, as Debian packs it |"))
        self.assertIn("without the files that Debian leaves out", self.row("zstd"))
        self.assertIn("commit [115f7aa445](https://github.com/shadow-maint/shadow) | the same version, from its repository", self.row("shadow"))
        self.assertIn("| 2.43+git | 2.43, [glibc_2.43.orig.tar.xz]", self.row("glibc"))
        self.assertIn("without what its branch got since", self.row("glibc"))

    def test_older_and_newer_versions_with_patches_that_fell_away(self):
        self.assertIn("| 2.11 | 2.10, [wpa_2.10.orig.tar.xz]", self.row("wpa"))
        self.assertTrue(self.row("wpa").endswith("| older version; without its patches |"))
        self.assertTrue(self.row("libcap").endswith("| newer version; without the patches `CVE-2026-4878` |"))
        self.assertTrue(self.row("kernel").endswith("| older version; its other source, kernel-cache, is its own; sets `LINUX_VERSION` |"))
        self.assertEqual(self.row("kern-tools"), "| kern-tools | a4a362d9f4 | commit fe67c98d2e | another commit of the same repository |")
        self.assertIn("the file of Debian's package; licence: the package's own file", self.row("regdb"))
        self.assertIn("| 0.3.1 | 0.2, recipe `older-wic-native` | older version; its repository cannot be reached |", self.row("wic-native"))

    def test_what_the_machine_brings_and_what_is_not_built_are_named(self):
        for heading, names in {
            "The machine's compiler in place of these": "`gcc-cross-${TARGET_ARCH}`, `rust-native`", "Not built, because nothing of it is in the image": "`perl`, `gawk`",
            "The machine's programs in place of these": "`acl-native`, `xz-native`", "Not in the image": "`linux-firmware-e100`",
        }.items():  # fmt: skip
            self.assertIn(f"## {heading}\n{names}\n", self.text)
        self.assertIn("binaries of Debian's gcc", self.row("libgcc"))

    def test_every_other_setting_is_there_as_it_is(self):
        self.assertIn('```\nAUTOPOINT = "true"\n```', self.text)

    def test_a_line_that_would_be_left_out_is_refused(self):
        self.write("conf/substitutes.conf", "include more.conf\n")
        with self.assertRaisesRegex(substitutes.Unreadable, "include more.conf"):
            differences.render(self.root)


class Committed(unittest.TestCase):
    def test_the_list_is_what_the_layer_says(self):
        self.assertEqual(differences.problems(), [])
