"""Builds the official image with kas and Yocto: hours, tens of gigabytes and the internet, for every board of meta-horus/kas."""

import os
import subprocess

from horus_appliance.console import ApplianceFailed, CannotRun, Skipped, detail, step
from horus_appliance.host import system
from horus_appliance.paths import OUT, REPOSITORY
from horus_appliance.yocto import needs, tools

import horus_conf

DEFAULT_BOARD = "generic-x86-64"
FRAGMENTS = REPOSITORY / "meta-horus" / "kas"
BOARDS = list(horus_conf.boards())
OPTIONS = sorted(path.stem for path in FRAGMENTS.glob("*.yml") if path.stem not in BOARDS)
WORK = OUT / "yocto"
# Pins every repository that some kas file names: these boards together name them all.
LOCK_COMMAND = "kas lock --update kas.yml:meta-horus/kas/raspberrypi5.yml:meta-horus/kas/jetson-orin-nano.yml"
# Not measured by us, because no whole build has been run yet: what other Yocto images of this size report.
BUILD_BYTES = 60 * 1024**3
FORMS = ("*.wic.zst", "*.wic.bmap", "*.tegraflash-tar.zst", "*.spdx.json")
SDK_FORMS = ("*.sh", "*.manifest", "*.spdx.json")


def build(board: str, options: list) -> list:
    """Runs kas for a board with options; returns the files to take away."""
    if os.geteuid() == 0:
        raise CannotRun("BitBake refuses to run as root. Run this as a normal user that owns the clone (scripts/check-layer needs no such user).")
    needs.refuse_path(REPOSITORY)
    if missing := needs.missing_packages():
        raise CannotRun(f"BitBake needs {', '.join(missing)}: sudo apt-get install {' '.join(missing)}")
    if not needs.has_locale():
        locale = needs.LOCALE
        raise CannotRun(f"BitBake needs the locale {locale}: sudo sed -i 's/^# *{locale}/{locale}/' /etc/locale.gen && sudo locale-gen")
    files = [f"meta-horus/kas/{name}.yml" for name in ([] if board == DEFAULT_BOARD else [board]) + options]
    configuration = ":".join(["kas.yml", *files])
    try:
        kas = tools.ensure() / "kas"
    except Skipped as reason:
        raise CannotRun(f"kas cannot be installed: {reason}. Check the network, then run this again.") from reason
    WORK.mkdir(parents=True, exist_ok=True)
    system.require_space(WORK, BUILD_BYTES)
    step(f"kas build {configuration} (log of each task: {WORK.relative_to(REPOSITORY)}/build/tmp/work)")
    environment = {**os.environ, "KAS_WORK_DIR": str(WORK)}
    done = subprocess.run([kas, "build", configuration], cwd=REPOSITORY, env=environment, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(
            f"'kas build {configuration}' ended with status {done.returncode}; its message is above. Where a layer could not be fetched, check "
            f"the network; where its commit is not found, kas.lock.yml is older than the server's history: {kas.parent}/{LOCK_COMMAND}. Run "
            "this again then: what is finished is kept."
        )
    return deliver(board, "sdk" in options)


def deliver(board: str, is_sdk: bool) -> list:
    """The files that a person flashes, installs or keeps, as the build of this very board left them."""
    deployed = WORK / "build" / "tmp" / "deploy"
    folder, forms = (deployed / "sdk", SDK_FORMS) if is_sdk else (deployed / "images" / horus_conf.boards()[board].machine, FORMS)
    found = sorted(path for form in forms for path in folder.glob(form) if not path.is_symlink())
    if not found:
        raise ApplianceFailed(f"the build ended well and left nothing in {folder}: was another target given in the kas files?")
    for path in found:
        detail(f"{path.relative_to(REPOSITORY)} {path.stat().st_size / 1e6:.1f} MB")
    return found
