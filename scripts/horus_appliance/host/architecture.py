"""The processor architectures that the appliance is built for: all that differs between them besides conf/ and recipes/."""

import platform
from dataclasses import dataclass

from horus_appliance.console import CannotRun


class CannotCross(CannotRun):
    """This machine cannot build for another processor than its own, and no script can change that."""


@dataclass(frozen=True)
class Cross:
    """What it takes to build Rust programs for a processor that is not this machine's."""

    target: str  # Rust's name of it
    linker: str
    packages: tuple  # Debian's, which bring the linker


@dataclass(frozen=True)
class Architecture:
    """One architecture, by the name that users and mkosi give it."""

    name: str
    machine: str  # the kernel's name of it (uname -m), which is also QEMU's
    debian_name: str
    board: str  # the folder of conf/machine whose image the recipe makes
    emulated: tuple  # QEMU's machine and its CPU under emulation
    accelerated: tuple  # the same under KVM
    console: str  # the serial port's device
    firmware: str  # UEFI firmware in the builder, and the store of its variables
    firmware_variables: str
    firmware_loads_kernels: bool  # also a kernel that QEMU is given goes through the firmware
    builder_packages: tuple
    cross: Cross | None = None

    @property
    def emulator(self) -> str:
        """The program of QEMU that emulates such a machine."""
        return f"qemu-system-{self.machine}"

    @property
    def counted(self) -> tuple:
        """The same under emulation where an instruction takes a nanosecond of the machine's time, and waiting none of ours."""
        return (*self.emulated[:-1], "tcg,thread=single", "-icount", "shift=0,sleep=off")

    @property
    def foreign(self) -> bool:
        """Whether this machine's own processor is another."""
        return platform.machine() != self.machine


X86_64 = Architecture(
    name="x86-64",
    machine="x86_64",
    debian_name="amd64",
    board="generic-x86-64",
    emulated=("-machine", "q35", "-cpu", "max", "-accel", "tcg,thread=multi"),
    accelerated=("-machine", "q35", "-cpu", "host", "-accel", "kvm"),
    console="ttyS0",
    firmware="usr/share/OVMF/OVMF_CODE_4M.fd",
    firmware_variables="usr/share/OVMF/OVMF_VARS_4M.fd",
    firmware_loads_kernels=False,
    builder_packages=("ovmf", "qemu-system-x86"),
)

ARM64 = Architecture(
    name="arm64",
    machine="aarch64",
    debian_name="arm64",
    board="qemuarm64",
    # The Raspberry Pi 5's core: it has the atomic instructions (LSE) that newer cores run in place of exclusive loads.
    emulated=("-machine", "virt", "-cpu", "cortex-a76", "-accel", "tcg,thread=multi"),
    accelerated=("-machine", "virt,gic-version=host", "-cpu", "host", "-accel", "kvm"),
    console="ttyAMA0",
    firmware="usr/share/AAVMF/AAVMF_CODE.no-secboot.fd",
    firmware_variables="usr/share/AAVMF/AAVMF_VARS.fd",
    firmware_loads_kernels=True,  # without it this machine has no SMBIOS, which carries the credentials
    # qemu-user runs the programs of the image's packages while it is built.
    builder_packages=("qemu-efi-aarch64", "qemu-system-arm", "qemu-user", "qemu-user-binfmt"),
    cross=Cross("aarch64-unknown-linux-gnu", "aarch64-linux-gnu-gcc", ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross")),
)

ARCHITECTURES = {architecture.name: architecture for architecture in (X86_64, ARM64)}
