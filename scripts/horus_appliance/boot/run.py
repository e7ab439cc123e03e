"""Boots an image, tells what happens, waits for the determinism run and brings its results home."""

import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from horus_appliance.boot import guest
from horus_appliance.boot.machine import Machine
from horus_appliance.console import ApplianceFailed, detail, step
from horus_appliance.image.mkosi import Image

# A boot takes about a minute under emulation on an idle machine. With ten other programs running on its two CPUs, 8 emulated
# ones took more than five minutes. Waiting costs nothing where the boot comes to its end.
BOOT_SECONDS = 1200
POWER_OFF_SECONDS = 120
HEARTBEAT_SECONDS = 20
# QEMU's emulation of several CPUs has a race, in one of hundreds of boots: a CPU runs an instruction that another one has already patched back
# (https://bugzilla.redhat.com/show_bug.cgi?id=2216496; seen with QEMU 10.0). It is told and booted again, once.
EMULATOR_RACE = "Oops: int3"
# What it says when it ends because its own state is none that it knows. Seen once: msix_table_mmio_write, with an address behind the table,
# before the kernel had said a word (QEMU 10.0).
EMULATOR_ASSERTION = "Assertion `"


class EmulatorFailed(ApplianceFailed):
    """The machine ended by a defect of the emulator."""


@dataclass
class Boot:
    """What one boot of the appliance left behind."""

    entries: list
    report: dict = field(default_factory=dict)
    failed_units: list | None = None  # None: the list did not arrive
    powered_off: bool = False
    directory: Path = Path()

    def with_field(self, name: str, value: str = "") -> list:
        """The journal entries that carry field `name`, of value `value` if given."""
        return [entry for entry in self.entries if name in entry and value in ("", guest.text(entry, name))]

    def first_tick(self, node: str = "ping") -> float | None:
        """Seconds from the kernel's start to the journal entry with which a node says that it runs."""
        times = [int(entry["__MONOTONIC_TIMESTAMP"]) for entry in self.with_field("HORUS_NODE", node)]
        return min(times) / 1e6 if times else None


def boot(
    image: Image, name: str, cpus: int = 2, seconds: int = 60, credentials: dict = None,
    collect_after: str = "horus-determinism.service", patience: int = BOOT_SECONDS, console: str = "", during: Callable | None = None, **options,
) -> Boot:  # fmt: skip
    """Boots `image` and returns when it has powered itself off again.

    `seconds` bounds the determinism run, `credentials` are further systemd credentials (units and drop-ins), and the
    results are collected when unit `collect_after` has ended. `console` is what the serial line has to show before the power
    button is pressed, a regular expression: a login prompt is drawn when its program gets to it. `during` is called with the running
    machine when the results are there, before the power button is pressed. What else is named goes to Machine.
    """
    duration = {
        "systemd.unit-dropin.horus-determinism.service": f"[Service]\nEnvironment=HORUS_DETERMINISM_DURATION={seconds}s\n"
    }
    given = guest.merge(guest.merge(guest.observing_units(collect_after), duration), credentials or {})
    limit = patience + 2 * seconds

    def run_it() -> Boot:
        return run_once(Machine(image, name, cpus, given, limit + 2 * POWER_OFF_SECONDS, **options), image, cpus, limit, console, during)

    try:
        return run_it()
    except EmulatorFailed as error:
        detail(f"{error}\nThat is a known defect of QEMU, and none of the image. Booting again.")
        return run_it()


def run_once(machine: Machine, image: Image, cpus: int, limit: int, console: str, during: Callable | None) -> Boot:
    """Follows a machine that was just switched on until it is off, and brings home what it left."""
    how = "KVM" if machine.accelerated else "emulation (TCG)"
    step(f"booting '{image.name}' with {cpus} CPUs under {how}")
    try:
        follow(machine, limit)
        wait_for_console(machine, console)
        if during:
            during(machine)
        machine.press_power_button()
        powered_off = machine.wait_for_power_off(POWER_OFF_SECONDS)
        machine.journal.read_new()
        detail("powered off" if powered_off else "did NOT power off after the power button was pressed")
    finally:
        machine.destroy()
    return Boot(
        machine.journal.entries, read_json(machine, "horus.report") or {}, read_json(machine, "horus.failed"),
        powered_off, machine.directory,
    )  # fmt: skip


def wait_for_console(machine: Machine, pattern: str) -> None:
    """Waits until the serial line has shown `pattern`; who wants to see it finds out whether it has."""
    deadline = time.monotonic() + POWER_OFF_SECONDS
    while pattern and time.monotonic() < deadline and not re.search(pattern, machine.serial_log.read_text(errors="replace")):
        time.sleep(0.5)


def follow(machine: Machine, limit: int) -> None:
    """Passes on what happens until the results are collected."""
    started = last_news = time.monotonic()
    while True:
        for entry in machine.journal.read_new():
            if guest.text(entry, "UNIT") == "horus-collect.service" and guest.text(entry, "MESSAGE_ID") == guest.UNIT_STARTED:
                return
            if news(entry):
                detail(f"{time.monotonic() - started:4.0f} s  {news(entry)}")
                last_news = time.monotonic()
        if not machine.running():
            failure = EmulatorFailed if is_the_emulators(machine) else ApplianceFailed
            raise failure(f"the machine ended before its results were there.\n{post_mortem(machine)}")
        if time.monotonic() - started > limit:
            raise ApplianceFailed(f"no results within {limit} s.\n{post_mortem(machine)}")
        if time.monotonic() - last_news > HEARTBEAT_SECONDS:
            doing = "running" if machine.journal.entries else "starting (firmware and kernel are quiet by design)"
            detail(f"{time.monotonic() - started:4.0f} s  still {doing}")
            last_news = time.monotonic()
        time.sleep(0.5)


def is_the_emulators(machine: Machine) -> bool:
    """Whether a machine ended by a defect of what emulates it."""
    told = (machine.directory / "qemu.log").read_text(errors="replace")
    return EMULATOR_ASSERTION in told or not machine.accelerated and EMULATOR_RACE in machine.serial_log.read_text(errors="replace")


def news(entry: dict) -> str:
    """What a journal entry says to a user that waits, in one line; empty for entries of no interest to them."""
    identifier, message = guest.text(entry, "MESSAGE_ID"), guest.text(entry).strip()
    if guest.text(entry, "_TRANSPORT") == "kernel" and message.startswith("Linux version"):
        return message.partition(" (")[0]
    if identifier == guest.UNIT_STARTED and guest.text(entry, "UNIT") == "multi-user.target":
        return message
    if identifier in (guest.STARTUP_FINISHED, guest.UNIT_FAILED) or "HORUS_PHASE" in entry:
        return message.partition("\n")[0]
    return ""


def post_mortem(machine: Machine) -> str:
    """The last that was heard of a machine: failed units with their last lines, else the serial console."""
    lines = []
    for failed in {guest.text(entry, "UNIT") for entry in machine.journal.entries if guest.text(entry, "MESSAGE_ID") == guest.UNIT_FAILED}:
        lines.append(f"{failed} failed; its last lines:")
        lines += [f"    {line}" for line in unit_log(machine.journal.entries, failed)]
    stuck = [guest.text(entry) for entry in machine.journal.entries if guest.text(entry, "SYSLOG_IDENTIFIER") == "horus-stuck"]
    if stuck:
        lines += ["what the boot waited for:", *(f"    {line}" for line in stuck[-10:])]
    if not lines:
        serial = machine.serial_log.read_text(errors="replace") if machine.serial_log.exists() else ""
        lines = ["last lines of the serial console:", *(f"    {line}" for line in serial.splitlines()[-15:])]
        lines += (machine.directory / "qemu.log").read_text(errors="replace").splitlines()[-5:]
    return "\n".join([*lines, f"everything: {machine.directory}"])


def unit_log(entries: list, unit: str, count: int = 10) -> list:
    """The last messages by or about a unit."""
    about = [entry for entry in entries if unit in (guest.text(entry, "_SYSTEMD_UNIT"), guest.text(entry, "UNIT"))]
    return [guest.text(entry) for entry in about[-count:]]


def read_json(machine: Machine, port: str):
    """What came through a port, or None when nothing readable did."""
    try:
        return json.loads((machine.directory / port).read_text())
    except (OSError, ValueError):
        return None
