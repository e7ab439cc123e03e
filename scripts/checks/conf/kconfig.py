"""Merges conf/rt/kernel/rt.cfg and the layer's fragments into a real kernel's configuration and names every option that did not stick:
python3 -m checks.conf.kconfig.

Kconfig drops an option whose conditions are not met, or that it does not know, without a word; an image whose kernel "was not
real-time after all" comes from that. The kernel is Debian's 6.12 (linux-source-6.12 of trixie), on which the quick appliance
runs; a board's own kernel is another version, which only a build of that board can check.

Exit status: 0 every option stuck, 1 one did not, 2 this machine cannot tell, 77 skipped (no network and nothing cached).
"""

import re
import shutil
import subprocess
from pathlib import Path

from horus_appliance.console import ApplianceFailed, CannotRun, Skipped, detail, run_command
from horus_appliance.host import debian, system
from horus_appliance.paths import BUILD, CONF, REPOSITORY

PACKAGE = "linux-source-6.12"
WORK = BUILD / "kconfig"
TREE = WORK / "linux"
FRAGMENT = CONF / "rt" / "kernel" / "rt.cfg"
LAYER_FRAGMENTS = REPOSITORY / "meta-horus/recipes-kernel/linux/files"

# Kconfig's name of each architecture, with its default configuration. Our boards are of these two.
ARCHITECTURES = {"x86": "x86_64_defconfig", "arm64": "defconfig"}

# Fragments for the boards of one architecture alone; the others are for all.
ONLY = {"pc.cfg": "x86"}

# All that Kconfig itself reads of 1.5 GB of kernel source.
EXTRACTED = ["*/Kconfig*", "*/scripts/*", "*/Makefile", "*/arch/*/configs/*", "*/kernel/configs/*", "*/include/config/*"]

# The control: an option that no kernel has. A run that does not find exactly this one missing, too, proves nothing.
CONTROL = "HORUS_OPTION_THAT_NO_KERNEL_HAS"


def read_options(path: Path) -> dict:
    """What each option of a fragment or configuration is to be, `n` where it is not set; other lines are refused, comments excepted."""
    options = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.fullmatch(r"CONFIG_(\w+)=(\S.*)|# CONFIG_(\w+) is not set", line.rstrip()):
            options[match[1] or match[3]] = match[2] or "n"
        elif line.strip() and not line.startswith("#"):
            raise CannotRun(f"{path}:{number}: '{line}' is no Kconfig line. Write CONFIG_NAME=y or # CONFIG_NAME is not set")
    if not options:
        raise CannotRun(f"{path} sets no option. Write CONFIG_NAME=y, one a line.")
    return options


def dropped(wanted: dict, found: dict) -> list:
    """The options that a configuration does not have as wanted, each with what it has instead."""
    return [f"CONFIG_{name}: wanted {value}, is {found.get(name, 'n')}" for name, value in wanted.items() if found.get(name, "n") != value]


def merged(architecture: str, fragment: str) -> dict:
    """The options of the configuration that Kconfig makes of the architecture's default one with the fragment behind it."""
    config = WORK / architecture / ".config"
    config.parent.mkdir(parents=True, exist_ok=True)
    # Of an option that stands twice the last line counts, which is how kernels' own merge_config.sh works too.
    config.write_text((TREE / "arch" / architecture / "configs" / ARCHITECTURES[architecture]).read_text() + fragment)
    command = ["make", "-s", f"ARCH={architecture}", "CC=gcc", "HOSTCC=gcc", f"O={config.parent}", "olddefconfig"]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"'{' '.join(command)}' failed in {TREE}:\n{done.stderr.strip()[-2000:]}")
    return read_options(config)


def ensure_tools() -> None:
    """What Kconfig's own program is built with."""
    missing = [name for name in ("make", "gcc", "flex", "bison") if not shutil.which(name)]
    if missing:
        system.install([*missing, *(["libc6-dev"] if "gcc" in missing else [])])


def ensure_tree() -> None:
    """Fetches the kernel's Kconfig files, once."""
    if TREE.is_dir():
        return
    try:
        system.require_mirror()
    except CannotRun as reason:
        raise Skipped(f"the kernel's Kconfig files cannot be fetched: {reason}") from reason
    detail(f"fetching {PACKAGE} from the Debian mirror (about 150 MB, once a clone)")
    debian.make_tree(WORK / "package", [PACKAGE], "extract", BUILD / "kconfig.log")
    detail("unpacking its Kconfig files (about a minute)")
    partial = TREE.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    archive = WORK / "package/usr/src" / f"{PACKAGE}.tar.xz"
    command = ["tar", "-xJf", str(archive), "-C", str(partial), "--strip-components=1", "--wildcards", *EXTRACTED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # tar complains about a pattern that found nothing, which one kernel has and another has not.
    if not (partial / "Kconfig").is_file() or not (partial / "scripts" / "kconfig").is_dir():
        raise CannotRun(f"{archive} could not be unpacked: {done.stderr.strip()[-1000:]}\nDelete {WORK} and run this again.")
    partial.rename(TREE)  # only now, because a tree of this name is a complete one
    system.remove_tree(WORK / "package")


def main() -> int:
    fragments = [FRAGMENT, *sorted(LAYER_FRAGMENTS.glob("*.cfg"))]
    options = {fragment: read_options(fragment) for fragment in fragments}
    system.install_packages()
    ensure_tools()
    ensure_tree()
    version = re.search(r"VERSION = (\d+)\nPATCHLEVEL = (\d+)\nSUBLEVEL = (\d+)", (TREE / "Makefile").read_text())
    failures = []
    for architecture in ARCHITECTURES:
        own = {fragment: wanted for fragment, wanted in options.items() if ONLY.get(fragment.name, architecture) == architecture}
        text = "\n".join(fragment.read_text() for fragment in own)
        found = merged(architecture, f"\n{text}\nCONFIG_{CONTROL}=y\n")
        if not dropped({CONTROL: "y"}, found):
            raise CannotRun(f"the control option {CONTROL} is said to have stuck on {architecture}: this check sees nothing")
        for fragment, wanted in own.items():
            lost = dropped(wanted, found)
            detail(f"{architecture}, Linux {'.'.join(version.groups())}, {fragment.name}: {len(wanted) - len(lost)} of {len(wanted)} options stuck")
            failures += [f"{architecture}: {fragment.name}: {complaint}" for complaint in lost]
    if failures:
        raise ApplianceFailed(f"these options did not stick; their conditions stand in the Kconfig files of {TREE}:\n  " + "\n  ".join(failures))
    return 0


if __name__ == "__main__":
    run_command(main)
