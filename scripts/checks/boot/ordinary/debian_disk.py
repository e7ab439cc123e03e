"""A disk with an ordinary Debian as its installer leaves it on a PC: real-time kernel, GRUB, irqbalance, and a file system that can be written."""

import subprocess
from pathlib import Path

from horus_appliance.host import builder, debian, system
from horus_appliance.host.architecture import X86_64
from horus_appliance.paths import BUILD

SIZE, START = 3 << 30, 2 << 20
PACKAGES = ["linux-image-rt-amd64", "grub-pc", "systemd-sysv", "udev", "irqbalance", "initramfs-tools", "e2fsprogs", "procps", "kmod"]
# Room for GRUB's second stage, and the system.
PARTITIONS = f"label: gpt\nstart=1MiB, size=1MiB, type=21686148-6449-6E6F-744E-656564454649\nstart={START >> 20}MiB, type=linux\n"
PARAMETERS = "root=LABEL=debian rw console=ttyS0"
# A person isolated a CPU before; the names of CPUs that are not there do no harm.
GRUB = (
    'GRUB_TIMEOUT=0\nGRUB_DISTRIBUTOR=Debian\nGRUB_CMDLINE_LINUX_DEFAULT="quiet isolcpus=3"\n'
    'GRUB_CMDLINE_LINUX="console=ttyS0"\nGRUB_TERMINAL=serial\nGRUB_DISABLE_OS_PROBER=true\n'
)  # fmt: skip
# The installer's last step, which needs the machine's own disk.
INSTALL = """\
[Unit]
Description=Installs the boot loader and ends
ConditionKernelCommandLine=install
Before=trial.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'grub-install --target=i386-pc /dev/vda && update-grub && systemctl disable install-grub.service && systemctl poweroff'
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=multi-user.target
"""
SECONDS = 900


def text(content: str, mode: int = 0o644) -> tuple:
    """A file of text."""
    return content.encode(), mode


def copied(path: Path) -> tuple:
    """A file as it is here."""
    return path.read_bytes(), path.stat().st_mode & 0o777


def tree(directory: Path, files: dict) -> Path:
    """The system's files, without a boot loader: each of `files` is bytes and mode by path."""
    place = directory / "debian"
    if not place.exists():
        debian.make_tree(place, PACKAGES, "apt", directory / "debian.log")
    given = {
        "etc/fstab": text("LABEL=debian / ext4 defaults 0 1\n"), "etc/default/grub": text(GRUB), "etc/hostname": text("workshop\n"),
        "etc/systemd/system/install-grub.service": text(INSTALL), **files,
    }  # fmt: skip
    for name, (content, mode) in given.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    units = place / "etc/systemd/system"
    for link, target in {
        "multi-user.target.wants/install-grub.service": "../install-grub.service",
        "multi-user.target.wants/trial.service": "../trial.service",
        "serial-getty@ttyS0.service": "/dev/null",  # a login there hangs up on programs that write to the line
    }.items():
        (units / link).parent.mkdir(parents=True, exist_ok=True)
        (units / link).unlink(missing_ok=True)
        (units / link).symlink_to(target)
    return place


def boot(disk: Path, serial: Path, *more: str) -> None:
    """Runs a machine with the disk until it switches itself off."""
    machine = [
        "timeout", "--kill-after=5", str(SECONDS), X86_64.emulator, "-nodefaults", "-display", "none", *X86_64.emulated, "-smp", "2", "-m", "1024",
        "-drive", f"file={disk},format=raw,if=virtio,cache=unsafe", "-serial", f"file:{serial}", *more,
    ]  # fmt: skip
    subprocess.run(builder.command(X86_64, machine), check=True)


def make(name: str, files: dict) -> Path:
    """Makes the disk, which starts by itself from then on; `trial.service` among the files is enabled."""
    system.ensure_command("sfdisk", "fdisk")
    builder.ensure(X86_64)
    directory = BUILD / "machines" / name
    directory.mkdir(parents=True, exist_ok=True)
    disk, place = directory / "debian.raw", tree(directory, files)
    disk.unlink(missing_ok=True)
    with disk.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run(["sfdisk", "--quiet", disk], input=PARTITIONS, text=True, check=True)
    blocks = (SIZE - START - (1 << 20)) >> 12
    subprocess.run(
        ["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-L", "debian", "-E", f"offset={START}", "-d", place, disk, str(blocks)], check=True
    )
    (kernel,), (initrd,) = (list((place / "boot").glob(pattern)) for pattern in ("vmlinuz-*", "initrd.img-*"))
    boot(disk, directory / "install.log", "-kernel", str(kernel), "-initrd", str(initrd), "-append", f"{PARAMETERS} install")
    return disk
