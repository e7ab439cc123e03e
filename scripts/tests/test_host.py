"""What a machine lacks is said with its remedy before anything is half-done."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from horus_appliance import builder, host, image, machine
from horus_appliance.console import CannotRun
from horus_appliance.paths import BUILD, REPOSITORY


class WhatAMachineLacks(unittest.TestCase):
    def error_of(self, call) -> str:
        with self.assertRaises(CannotRun) as caught:
            call()
        return str(caught.exception)

    def test_disk_space(self):
        message = self.error_of(lambda: host.require_space(REPOSITORY, needed=1 << 60))
        self.assertIn("GB free", message)
        self.assertIn("Free some space", message)

    def test_package_mirror(self):
        # Nothing listens on the discard port of this machine.
        message = self.error_of(lambda: host.require_mirror("http://127.0.0.1:9/InRelease"))
        self.assertIn("does not answer", message)
        self.assertIn("run this again", message)

    def test_rust(self):
        with mock.patch.object(host.shutil, "which", return_value=None), mock.patch.object(host, "find_cargo"):
            self.assertIn("rustup.rs", self.error_of(host.require_rust))

    def test_rust_that_is_too_old(self):
        old = subprocess.CompletedProcess([], 0, stdout="cargo 1.75.0 (1d8b05cdd 2023-11-20)", stderr="")
        with mock.patch.object(host.subprocess, "run", return_value=old):
            message = self.error_of(host.require_rust)
        self.assertIn("cargo 1.75.0", message)
        self.assertIn("rustup.rs", message)

    def test_rust_of_the_user_who_called_sudo_is_found(self):
        with tempfile.TemporaryDirectory() as home:
            cargo = Path(home, ".cargo/bin/cargo")
            cargo.parent.mkdir(parents=True)
            cargo.write_text("#!/bin/sh\n")
            cargo.chmod(0o755)
            with mock.patch.dict(host.os.environ, {"PATH": "/nowhere", "SUDO_USER": "somebody"}), \
                    mock.patch.object(host.pwd, "getpwnam", return_value=mock.Mock(pw_dir=home)), \
                    mock.patch.object(host.Path, "home", return_value=Path("/nowhere")):  # fmt: skip
                host.find_cargo()
                self.assertEqual(host.shutil.which("cargo"), str(cargo))
                self.assertEqual(host.os.environ["RUSTUP_HOME"], f"{home}/.rustup")

    def test_linker(self):
        failed = subprocess.CompletedProcess([], 1, stdout="", stderr="cannot find Scrt1.o")
        with mock.patch.object(host.subprocess, "run", return_value=failed), mock.patch.object(host, "install") as install:
            host.install_packages()
        self.assertIn("libc6-dev", install.call_args[0][0])

    def test_c_library_newer_than_the_image(self):
        with mock.patch.object(host.platform, "libc_ver", return_value=("glibc", "2.99")):
            self.assertIn("2.99", self.error_of(host.require_rust))

    def test_sudo(self):
        with mock.patch.object(host.os, "geteuid", return_value=1000), mock.patch.object(host.shutil, "which", return_value=None):
            self.assertIn("needs root", self.error_of(lambda: host.as_root(["true"])))

    def test_kvm_device_that_runs_no_guest(self):
        """The probe believes only a kernel's first line, not the device file."""
        silent = subprocess.CompletedProcess([], 124, stdout="", stderr="")
        with tempfile.TemporaryDirectory() as directory, \
                mock.patch.object(machine.subprocess, "run", return_value=silent), \
                mock.patch.object(machine, "BUILD", Path(directory)), \
                mock.patch.object(machine.Path, "exists", return_value=True):  # fmt: skip
            self.assertFalse(machine.kvm_works(image.Image("appliance", BUILD, "0")))


class OneBuildAtATime(unittest.TestCase):
    def test_second_build_of_a_clone_is_refused(self):
        BUILD.mkdir(parents=True, exist_ok=True)
        with image.only_one_build():
            second = subprocess.run([sys.executable, REPOSITORY / "scripts/image", "debian"], capture_output=True, text=True, check=False)
        self.assertEqual(second.returncode, 2)
        self.assertIn("another build", second.stderr)


class UnknownVariant(unittest.TestCase):
    def test_is_refused_with_the_choices(self):
        with self.assertRaises(CannotRun) as caught:
            image.build("nosuch")
        self.assertIn("untuned", str(caught.exception))


class Overlay(unittest.TestCase):
    """What is laid over the packages."""

    def stage(self, variant: str) -> Path:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        with mock.patch.object(image, "BUILD", Path(directory.name)):
            return image.stage_overlay(variant, {"usr/bin/horus": Path(sys.executable)})

    def files(self, overlay: Path) -> list:
        return [str(path.relative_to(overlay)) for path in overlay.rglob("*") if path.is_file()]

    def test_release_has_no_shell_without_a_password(self):
        self.assertTrue([name for name in self.files(self.stage("appliance")) if "autologin" in name])
        self.assertFalse([name for name in self.files(self.stage("release")) if "autologin" in name])

    def test_untuned_has_the_rules_and_none_of_the_tuning(self):
        files = self.files(self.stage("untuned"))
        self.assertTrue([name for name in files if name.startswith("usr/lib/horus/audit/")])
        self.assertNotIn("usr/lib/sysctl.d/60-horus-rt.conf", files)

    def test_modes_do_not_depend_on_the_umask_of_the_clone(self):
        with tempfile.TemporaryDirectory() as directory:
            private = Path(directory, "private")
            private.write_text("x")
            for mode, wanted in ((0o600, 0o644), (0o700, 0o755)):
                private.chmod(mode)
                image.install(private, Path(directory, "installed"))
                self.assertEqual(Path(directory, "installed").stat().st_mode & 0o777, wanted)


class Trees(unittest.TestCase):
    def test_removing_a_tree_that_is_not_there_is_no_error(self):
        builder.remove_tree(REPOSITORY / "out" / "no-such-tree")

