"""The builder: a small Debian tree with mkosi, QEMU and UEFI firmware, the same versions on every host.

It is made once for each architecture that is built for, with mmdebstrap, and entered with bubblewrap, so the host's own
mkosi, systemd and QEMU do not matter. Each is a tree of its own, so that a user pays for no architecture that is not built.
"""

import os
import subprocess
from pathlib import Path

from horus_appliance.console import detail, step
from horus_appliance.host import debian, system
from horus_appliance.host.architecture import X86_64, Architecture
from horus_appliance.paths import BUILD, REPOSITORY

# What every builder holds; Architecture.builder_packages adds emulator and firmware.
PACKAGES = [
    "bubblewrap",  # mkosi's own sandbox
    "ca-certificates", "cpio", "debian-archive-keyring", "dosfstools", "e2fsprogs", "erofs-utils", "kmod", "mkosi", "mtools",
    "systemd-boot-efi", "systemd-repart", "systemd-ukify", "util-linux", "zstd",
]  # fmt: skip


def tree(architecture: Architecture) -> Path:
    """Where the builder of an architecture's images is."""
    return BUILD / ("builder" if architecture == X86_64 else f"builder-{architecture.name}")


def ensure(architecture: Architecture, fresh: bool = False) -> None:
    """Makes the builder when it is missing, incomplete, of another package list, or to be `fresh`."""
    packages = sorted([*PACKAGES, *architecture.builder_packages])
    wanted = "\n".join(packages) + "\n"
    complete = tree(architecture)
    stamp = complete / "etc" / "horus-builder"
    if not fresh and stamp.is_file() and stamp.read_text() == wanted:
        return
    step(f"making the builder for {architecture.name}: Debian tree with mkosi, QEMU and UEFI firmware (about 1 minute)")
    system.require_space(BUILD, system.FIRST_BUILD_BYTES)
    log = BUILD / f"{complete.name}.log"

    def write_stamp(partial: Path) -> None:
        place = partial / stamp.relative_to(complete)
        subprocess.run(system.as_root(["tee", str(place)]), input=wanted, stdout=subprocess.DEVNULL, text=True, check=True)

    debian.make_tree(complete, packages, "apt", log, finish=write_stamp)
    detail(f"done; log: {log.relative_to(REPOSITORY)}")


# Ends a command with the process that asked for it. Where that is not root, sudo stands between the two, and outlives a caller that is killed.
LEASH = """
caller=$1
shift
exec 3<&0
"$@" <&3 3<&- &
command=$!
while kill -0 $command 2>/dev/null; do
    kill -0 $caller 2>/dev/null || kill $command
    sleep 0.2
done
wait $command
"""


def command(architecture: Architecture, arguments: list, directory: Path = REPOSITORY, guard: tuple = ()) -> list:
    """The command line that runs `arguments` as root inside a builder, with the repository at its own path.

    All processes in there end with the command, and the command ends with its caller: also when that is killed. `guard`
    is a command that replaces itself with the rest, such as `flock --no-fork`.
    """
    environment = [word for name, _, value in (pair.partition("=") for pair in system.environment_assignments())
                   for word in ("--setenv", name, value)]  # fmt: skip
    leash = [] if os.geteuid() == 0 else ["sh", "-c", LEASH, "leash", str(os.getpid())]
    return system.as_root([
        *leash, *guard, "bwrap", "--die-with-parent", "--unshare-pid",
        "--bind", str(tree(architecture)), "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys",
        "--tmpfs", "/tmp", "--tmpfs", "/run", "--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf",
        "--bind", str(REPOSITORY), str(REPOSITORY), "--chdir", str(directory), "--clearenv",
        "--setenv", "PATH", "/usr/sbin:/usr/bin", "--setenv", "HOME", "/root", "--setenv", "LANG", "C.UTF-8",
        *environment, "--", *arguments,
    ])  # fmt: skip
