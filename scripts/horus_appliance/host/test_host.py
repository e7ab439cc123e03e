"""What a machine lacks is said with its remedy before anything is half-done."""

import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance.boot import machine
from horus_appliance.host import binfmt, system
from horus_appliance.host.architecture import ARM64, X86_64
from horus_appliance.image import mkosi, overlay, runtime
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import BUILD, REPOSITORY, SCRIPTS


class WhatAMachineLacks(InDirectory):
    def test_disk_space(self):
        message = self.error_of(lambda: system.require_space(REPOSITORY, needed=1 << 60))
        self.assertIn("GB free", message)
        self.assertIn("Free some space", message)

    def test_package_mirror(self):
        # Nothing listens on the discard port of this machine.
        message = self.error_of(lambda: system.require_mirror("http://127.0.0.1:9/InRelease"))
        self.assertIn("does not answer", message)
        self.assertIn("run this again", message)

    def test_rust(self):
        with mock.patch.object(system.shutil, "which", return_value=None), mock.patch.object(system, "find_cargo"):
            self.assertIn("rustup.rs", self.error_of(system.require_rust))

    def test_rust_that_is_too_old(self):
        old = subprocess.CompletedProcess([], 0, stdout="cargo 1.75.0 (1d8b05cdd 2023-11-20)", stderr="")
        with mock.patch.object(system.subprocess, "run", return_value=old):
            message = self.error_of(system.require_rust)
        self.assertIn("cargo 1.75.0", message)
        self.assertIn("rustup.rs", message)

    def test_rust_whose_pinned_version_cannot_be_had(self):
        cargo = self.write("bin/cargo", "#!/bin/sh\necho 'info: downloading' >&2\necho 'error: toolchain 1.95.0 is not installed' >&2\nexit 1\n")
        cargo.chmod(0o755)
        with mock.patch.dict(system.os.environ, {"PATH": str(cargo.parent)}):
            message = self.error_of(system.require_rust)
        self.assertIn("cargo does not start: toolchain 1.95.0 is not installed. Run 'rustup toolchain install'", message)

    def test_rust_whose_pinned_version_is_missing_is_fetched_by_rustup(self):
        there = self.root / "there"
        self.write("bin/cargo", f"#!/bin/sh\n[ -e {there} ] || exit 1\necho cargo 9.0.0\n").chmod(0o755)
        self.write("bin/rustup", f'#!/bin/sh\n[ "$1 $2" = "toolchain install" ] && > {there}\n').chmod(0o755)
        with mock.patch.dict(system.os.environ, {"PATH": str(self.root / "bin")}):
            system.require_rust()

    def test_rust_of_the_user_who_called_sudo_is_found(self):
        cargo = self.write(".cargo/bin/cargo", "#!/bin/sh\n")
        cargo.chmod(0o755)
        with mock.patch.dict(system.os.environ, {"PATH": "/nowhere", "SUDO_USER": "user"}), \
                mock.patch.object(system.pwd, "getpwnam", return_value=mock.Mock(pw_dir=self.root)), \
                mock.patch.object(system.Path, "home", return_value=Path("/nowhere")):  # fmt: skip
            system.find_cargo()
            self.assertEqual(system.shutil.which("cargo"), str(cargo))
            self.assertEqual(system.os.environ["RUSTUP_HOME"], f"{self.root}/.rustup")

    def test_linker(self):
        with mock.patch.dict(system.FILES, {Path("/no/stdlib.h"): "libc6-dev"}), mock.patch.object(system, "install") as install:
            system.install_packages()
        self.assertIn("libc6-dev", install.call_args[0][0])

    def test_c_library_newer_than_the_image(self):
        with mock.patch.object(system.platform, "libc_ver", return_value=("glibc", "2.99")):
            self.assertIn("2.99", self.error_of(system.require_rust))

    def test_sudo(self):
        with mock.patch.object(system.os, "geteuid", return_value=1000), mock.patch.object(system.shutil, "which", return_value=None):
            self.assertIn("needs root", self.error_of(lambda: system.as_root(["true"])))

    def test_kvm_device_that_runs_no_guest(self):
        """The probe believes only a kernel's first line, not the device file."""
        silent = subprocess.CompletedProcess([], 124, stdout="", stderr="")
        with mock.patch.object(machine.subprocess, "run", return_value=silent), \
                mock.patch.object(machine.Path, "exists", return_value=True):  # fmt: skip
            self.assertFalse(machine.kvm_works(mkosi.Image("appliance", BUILD, "0")))

    def test_kernel_that_runs_no_foreign_programs(self):
        refused = subprocess.CompletedProcess([], 32, stdout="", stderr="mount: permission denied")
        with mock.patch.object(binfmt.subprocess, "run", return_value=refused), mock.patch.object(binfmt, "TABLE", self.root), \
                mock.patch.object(binfmt, "entry_of", return_value=["", "qemu-aarch64", "M", "", r"\x7f", r"\xff", "/qemu", "F"]):  # fmt: skip
            message = self.error_of(binfmt.foreign_programs(ARM64).__enter__)
        self.assertIn("permission denied", message)
        self.assertIn("modprobe binfmt_misc", message)

    def test_rust_without_rustup_for_another_processor(self):
        with mock.patch.object(runtime.shutil, "which", return_value=None):
            self.assertIn("only rustup brings", self.error_of(lambda: runtime.cross(ARM64)))


class ForeignPrograms(InDirectory):
    """The kernel's entry for an emulator, as /proc/sys/fs/binfmt_misc shows it."""

    def works(self, text: str) -> bool:
        entry = ["", "qemu-aarch64", "M", "", r"\x7fELF", r"\xff", "/qemu", "F"]
        self.write("another", text)
        with mock.patch.object(binfmt, "TABLE", self.root), mock.patch.object(binfmt, "entry_of", return_value=entry):
            return binfmt.works(ARM64)

    def test_is_believed_only_if_it_holds_inside_of_other_trees(self):
        text = "enabled\ninterpreter /usr/bin/qemu\nflags: {}\noffset 0\nmagic 7fELF\nmask ff\n"
        self.assertTrue(self.works(text.format("OPF")))
        self.assertFalse(self.works(text.format("OP")))
        self.assertFalse(self.works(text.format("F").replace("enabled", "disabled")))
        self.assertFalse(self.works(text.format("F").replace("7fELF", "00")))


class OneBuildAtATime(unittest.TestCase):
    def test_second_build_of_a_clone_says_that_it_waits_and_takes_its_turn(self):
        BUILD.mkdir(parents=True, exist_ok=True)
        program = "from horus_appliance.image import mkosi\nwith mkosi.only_one_build():\n    print('its turn', flush=True)\n"
        with mkosi.only_one_build():
            second = subprocess.Popen([sys.executable, "-c", program], cwd=SCRIPTS, stdout=subprocess.PIPE, text=True)
            self.addCleanup(second.kill)
            self.assertIn("waiting for its end", second.stdout.readline())
            self.assertIsNone(second.poll())
        said, _ = second.communicate(timeout=60)
        self.assertEqual((said, second.returncode), ("its turn\n", 0))


class Packages(InDirectory):
    """Packages of another builder in place of conf/ and the runtime built here."""

    TREES = ["base", "rt", "audit"]
    NAMES = ["horus_1_amd64", "horus-board_1_amd64", *(f"horus-conf-{tree}_1_all" for tree in TREES)]

    def find(self, names: list) -> list:
        for name in names:
            self.write(f"{name}.deb", "")
        return [path.name for path in overlay.find_packages(self.TREES, self.root, X86_64)]

    def test_those_of_the_variant_are_taken_and_no_others(self):
        others = ["horus-dbg_1_amd64", "horus-ptest_1_amd64", "horus_1_arm64", "glibc_2_amd64"]
        self.assertEqual(sorted(self.find([*self.NAMES, *others])), sorted(f"{name}.deb" for name in self.NAMES))

    def test_missing_one_is_named_with_what_builds_it(self):
        message = self.error_of(lambda: self.find([name for name in self.NAMES if "conf-rt" not in name]))
        self.assertIn("no package 'horus-conf-rt'", message)
        self.assertIn("bitbake horus-conf", message)

    def test_two_of_a_name_are_refused(self):
        self.assertIn("more than one package 'horus'", self.error_of(lambda: self.find([*self.NAMES, "horus_2_amd64"])))

    def test_unpacking_needs_nothing_that_was_built_before(self):
        given, tree = self.root / "given", self.root / "tree"
        given.mkdir()
        for name in self.NAMES:
            package, _, kind = name.split("_")
            self.write("tree/DEBIAN/control", f"Package: {package}\nVersion: 1\nArchitecture: {kind}\nMaintainer: test\nDescription: test\n")
            self.write(f"tree/usr/bin/{package}", "")
            subprocess.run(["dpkg-deb", "--build", tree, given / f"{name}.deb"], check=True, capture_output=True)
        with mock.patch.object(overlay, "BUILD", self.root / "build"), mock.patch.object(system, "as_root", lambda command: command):
            unpacked = overlay.stage_packages(self.TREES, given, X86_64, "x")
        self.assertTrue((unpacked / "usr/bin/horus").is_file())
