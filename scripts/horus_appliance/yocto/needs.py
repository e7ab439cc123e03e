"""What BitBake wants of the machine that it runs on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, detail
from horus_appliance.host import system

# What BitBake calls, by the Debian package that brings it.
COMMANDS = {
    "gawk": "gawk", "chrpath": "chrpath", "cpio": "cpio", "diffstat": "diffstat", "lz4": "lz4", "file": "file", "git": "git", "make": "make",
    "g++": "g++", "patch": "patch", "wget": "wget", "zstd": "zstd", "bzip2": "bzip2", "xz": "xz-utils", "runuser": "util-linux", "perl": "perl",
    "rpcgen": "rpcsvc-proto", "locale-gen": "locales", "unzip": "unzip", "python3": "python3",
}  # fmt: skip
LOCALE = "en_US.UTF-8"


def missing_packages() -> list:
    """Debian packages that bring what BitBake calls and this machine lacks."""
    everywhere = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"  # a normal user's path on Debian leaves these out
    return sorted({package for command, package in COMMANDS.items() if not shutil.which(command, path=everywhere)})


def refuse_path(path: Path) -> None:
    """BitBake splits its lists of paths at blanks, and some of its shell commands know no other separator."""
    if re.search(r"\s", str(path)):
        raise CannotRun(f"BitBake takes no path with blanks: '{path}'. Move it, then run this again.")


def has_locale() -> bool:
    """Whether this machine has the one locale that BitBake takes."""
    listed = subprocess.run(["locale", "--all-locales"], capture_output=True, text=True, check=False).stdout
    return "en_us.utf8" in listed.lower().replace("utf-8", "utf8")


def make_locale() -> None:
    """Generates the locale where it is missing."""
    if not has_locale():
        detail(f"making the locale {LOCALE}")
        subprocess.run(system.as_root(["sed", "-i", f"s/^# *{LOCALE}/{LOCALE}/", "/etc/locale.gen"]), check=True)
        subprocess.run(system.as_root(["locale-gen"]), capture_output=True, check=True)
