"""Bundles of made-up parts: what is in them, in which order, and what is refused."""

import subprocess
import tarfile
from unittest import mock

from horus_appliance.console import CannotRun
from horus_appliance.host import system
from horus_appliance.image import bundle, keys, pe
from horus_appliance.in_directory import InDirectory


def kernel_image(sections: dict) -> bytes:
    """A file with the headers of a unified kernel image, and nothing that starts."""
    header, optional = 64, 16
    table = header + 24 + optional
    place = table + 40 * len(sections)
    data = bytearray(place)
    data[0x3C:0x40] = header.to_bytes(4, "little")
    data[header + 6 : header + 8] = len(sections).to_bytes(2, "little")
    data[header + 20 : header + 22] = optional.to_bytes(2, "little")
    for number, (name, text) in enumerate(sections.items()):
        entry = table + 40 * number
        data[entry : entry + len(name)] = name.encode()
        for at, value in zip(range(entry + 8, entry + 24, 4), (len(text), 0, len(text), len(data))):
            data[at : at + 4] = value.to_bytes(4, "little")
        data += text.encode()
    return bytes(data)


class Bundles(InDirectory):
    def setUp(self):
        super().setUp()
        system.ensure_command("openssl", "openssl")
        self.kernel, self.system, self.private = self.root / "kernel.efi", self.root / "root.xz", self.root / "our.key"
        self.write_kernel("root=PARTLABEL=horus_0.2.0 quiet")
        self.system.write_bytes(b"system" * 1000)
        self.public = keys.make(self.private)

    def write_kernel(self, command_line: str, release: str = 'VARIANT_ID=generic-x86-64\nIMAGE_VERSION="0.2.0"\n') -> None:
        self.kernel.write_bytes(kernel_image({".osrel": release, ".cmdline": command_line}))

    def assemble(self, version: str = "0.2.0"):
        return bundle.assemble("generic-x86-64", version, self.kernel, self.system, self.private, self.root)

    def test_a_bundle_holds_the_signed_list_before_what_it_lists(self):
        made = self.assemble()
        self.assertEqual(made.name, "horus_generic-x86-64_0.2.0.update")
        with tarfile.open(made) as archive:
            archive.extractall(self.root / "parts", filter="data")
            names = archive.getnames()
        self.assertEqual(names, ["SHA256SUMS", "SHA256SUMS.sig", "horus_generic-x86-64_0.2.0.efi", "horus_generic-x86-64_0.2.0.root.xz"])
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.root / "parts", check=True, capture_output=True)
        # As anyone can verify it.
        verify = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", self.public, "-rawin", "-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"]
        subprocess.run(verify, cwd=self.root / "parts", check=True, capture_output=True)

    def test_two_bundles_of_the_same_are_the_same(self):
        self.assertEqual(self.assemble().read_bytes(), self.assemble().read_bytes())

    def test_a_kernel_image_that_names_its_disk_and_a_version_that_is_no_name_are_refused(self):
        for version in ("", "../1", "1_2", "1~rc1", "0" * 31):
            with self.subTest(version=version), self.assertRaises(CannotRun):
                self.assemble(version)
        self.write_kernel("horus.disk=1234 quiet")
        with self.assertRaisesRegex(CannotRun, "names its disk"):
            self.assemble()

    def test_board_and_version_are_those_of_the_kernel_image(self):
        self.assertEqual(bundle.names(self.kernel), ("generic-x86-64", "0.2.0"))
        self.write_kernel("quiet", "ID=debian\n")
        with self.assertRaisesRegex(CannotRun, "which board"):
            bundle.names(self.kernel)
        self.assertEqual(pe.section(self.kernel, ".cmdline"), "quiet")

    def test_a_pair_that_is_there_stays_and_is_its_users_alone(self):
        before = self.private.read_bytes()
        self.public.unlink()
        keys.make(self.private)
        self.assertTrue(self.public.is_file())
        self.assertEqual(self.private.read_bytes(), before)
        self.assertEqual(self.private.stat().st_mode & 0o777, 0o600)

    def test_only_a_public_key_that_is_kept_with_care_goes_into_a_release(self):
        keys.check_public(self.public)
        with self.assertRaisesRegex(CannotRun, "development key"):
            keys.check_public(self.root / "development.pub")
        for wrong in (self.private, self.root / "missing.pub"):
            with self.assertRaises(CannotRun):
                keys.check_public(wrong)

    def test_a_development_key_refuses_to_sign_for_others(self):
        with mock.patch.object(keys, "DEVELOPMENT", self.root / "development.key"):
            public = keys.development()
            with self.assertRaisesRegex(CannotRun, "development key"):
                keys.check_public(public)
