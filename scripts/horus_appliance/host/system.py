"""The machine that builds: its packages, its space, its way to the package mirror, and how to become root on it."""

import fcntl
import os
import platform
import pwd
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

from horus_appliance.console import CannotRun, detail, step
from horus_appliance.paths import BUILD, RUNTIME

MIRROR = "http://deb.debian.org/debian"

# Debian's name of a package by the command that it brings. Everything else runs inside the builder (builder.py).
COMMANDS = {
    "mmdebstrap": "mmdebstrap",  # makes the builder, a small Debian tree
    "bwrap": "bubblewrap",  # runs commands inside the builder
    "mount": "mount",  # used by mmdebstrap
    "flock": "util-linux",  # one build at a time, also for what root still ends
    "cc": "gcc",  # the linker of Rust programs
}
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# The same for packages that bring no command. gcc only recommends libc6-dev, and nothing links without it.
FILES = {KEYRING: "debian-archive-keyring", Path("/usr/include/stdlib.h"): "libc6-dev"}

# Measured: builder 0.5 GB, package caches 1 GB, two image variants 1 GB, cargo 1 GB; rounded up.
FIRST_BUILD_BYTES = 6 * 1024**3
# One more image beside its predecessor, with mkosi's workspace.
NEXT_BUILD_BYTES = 3 * 1024**3

# What a command run through sudo still has to know: sudo passes nothing on by itself.
PASSED_ON = ["DEBIAN_FRONTEND", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]

# The image's C library (Debian trixie). A program linked on a newer system may not start there.
IMAGE_GLIBC = (2, 41)


def as_root(command: list) -> list:
    """The command line that runs `command` as root: itself for root, through sudo for others."""
    if os.geteuid() == 0:
        return list(command)
    if not shutil.which("sudo"):
        raise CannotRun(f"'{' '.join(map(str, command))[:200]}' needs root. Run this as root, or install and configure sudo.")
    return ["sudo", "--", "env", *environment_assignments(), *command]


def write_as_root(path: Path, text: str) -> None:
    """Writes a file of root's, and the folders that it is in."""
    subprocess.run(as_root(["install", "-D", "--mode=644", "/dev/stdin", str(path)]), input=text, text=True, check=True)


def environment_assignments() -> list:
    """NAME=VALUE of each variable that goes along to root and into the builder."""
    return [f"{name}={os.environ[name]}" for name in PASSED_ON if name in os.environ]


def install_packages() -> None:
    """Installs the packages of COMMANDS and FILES that are missing here."""
    missing = {package for command, package in COMMANDS.items() if not shutil.which(command)}
    missing |= {package for file, package in FILES.items() if not file.exists()}
    if missing:
        install(sorted(missing))


def install(packages: list) -> None:
    """Installs Debian packages on this machine, saying so."""
    if not shutil.which("apt-get"):
        raise CannotRun(
            f"this command installs {', '.join(packages)} with apt-get, which this machine has not. "
            "Install them by hand, or use Debian 12 or 13 or Ubuntu 24.04."
        )
    detail(f"installing packages on this machine: {' '.join(packages)}")
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # checks run side by side, and apt-get refuses a second one of its kind
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", *packages]):
            done = subprocess.run(as_root(command), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise CannotRun(
                    f"'{' '.join(command)}' failed:\n{done.stderr.strip()[-2000:]}\n"
                    "Repair the machine's package sources (or its network), then run this again."
                )


def ensure_command(command: str, package: str) -> None:
    """Installs the package of a command that is missing; those for root are looked for too."""
    if not shutil.which(command, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
        install([package])


def remove_tree(path: Path) -> None:
    """Removes a tree that root may own."""
    if not path.exists():
        return
    try:
        shutil.rmtree(path)
    except OSError:
        subprocess.run(as_root(["rm", "-rf", "--one-file-system", str(path)]), check=True)


def require_space(directory: Path, needed: int) -> None:
    """Refuses to start what would fail half-way for want of disk space."""
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise CannotRun(
            f"{directory} has {free / 1e9:.1f} GB free and a build needs {needed / 1e9:.1f} GB. "
            "Free some space (out/build can be deleted), or clone the repository onto a larger disk."
        )


def require_mirror(url: str = f"{MIRROR}/dists/trixie/InRelease") -> None:
    """Refuses to start a build that needs the package mirror when the mirror cannot be reached."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            answer.read(1)
    except (urllib.error.URLError, OSError) as error:
        raise CannotRun(
            f"the Debian mirror does not answer ({url}: {error}). A first build downloads about 250 MB from it. "
            "Check the network, or set http_proxy, then run this again: what is finished is kept."
        ) from error


def require_rust() -> None:
    """Refuses to start without a cargo that is new enough, or where programs built here do not run in the image."""
    find_cargo()
    if not shutil.which("cargo"):
        raise CannotRun("cargo was not found. Install Rust from https://rustup.rs, open a new shell and run this again.")
    wanted = rust_version()
    ask = partial(subprocess.run, ["cargo", "--version"], cwd=RUNTIME, capture_output=True, text=True, check=False)
    said = ask()
    if said.returncode != 0 and shutil.which("rustup"):  # rustup's cargo, which has not the version that rust-toolchain.toml pins
        step("installing the pinned Rust: rustup toolchain install")
        subprocess.run(["rustup", "toolchain", "install", "--no-self-update"], cwd=RUNTIME, capture_output=True, check=False)
        said = ask()
    if said.returncode != 0:
        errors = [line.removeprefix("error: ") for line in said.stderr.splitlines() if line.startswith("error: ")]
        raise CannotRun(
            f"cargo does not start: {errors[0] if errors else said.stderr.strip()}. "
            "Run 'rustup toolchain install' in this repository, with the network at hand, then run this again."
        )
    found = re.match(r"cargo ([0-9.]+)", said.stdout)
    if not found or numbers(found[1]) < numbers(wanted):
        raise CannotRun(
            f"cargo {wanted} or newer is needed, and this machine has {said.stdout.strip() or 'something else'}. "
            "Distributions often carry an older one: install Rust from https://rustup.rs, which fetches the pinned version."
        )
    name, version = platform.libc_ver()
    if name == "glibc" and numbers(version) > IMAGE_GLIBC:
        raise CannotRun(
            f"programs built here need glibc {version}, and the image has {'.'.join(map(str, IMAGE_GLIBC))}. "
            "Build on Debian 12 or 13 or Ubuntu 24.04, for example in a container."
        )


def add_rust_target(target: str) -> None:
    """Brings Rust's standard library for a target, which only rustup does."""
    detail(f"Rust's standard library for {target}")
    added = subprocess.run(["rustup", "target", "add", target], cwd=RUNTIME, capture_output=True, text=True, check=False)
    if added.returncode != 0:
        raise CannotRun(f"'rustup target add {target}' failed:\n{added.stderr.strip()}\nCheck the network, then run this again.")


def rust_version() -> str:
    """The oldest Rust that the runtime promises to be built by."""
    return re.search(r'rust-version = "([0-9.]+)"', (RUNTIME / "Cargo.toml").read_text())[1]


def find_cargo() -> None:
    """Under `sudo ./scripts/…` the search path lacks the calling user's Rust: looks for it at its usual place."""
    homes = [Path.home()]
    if "SUDO_USER" in os.environ:
        homes.append(Path(pwd.getpwnam(os.environ["SUDO_USER"]).pw_dir))
    for home in homes:
        if not shutil.which("cargo") and (home / ".cargo/bin/cargo").exists():
            os.environ["PATH"] += f":{home / '.cargo/bin'}"
            os.environ.setdefault("RUSTUP_HOME", str(home / ".rustup"))


def numbers(version: str) -> tuple:
    """A version as numbers that compare."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
