"""Bundles of versions that a machine of the image is given: real ones that differ in their names and parameters, and some that it must refuse."""

from pathlib import Path

from checks.boot import slots
from horus_appliance.image import bundle, keys, mkosi

# The board of the image.
BOARD = "generic-x86-64"
WORSE, GOOD = "0.2.0", "0.3.0"
# With this on its kernel's command line, a version has a worse tail (the unit below).
SLOW = "horus.test=slow"
# Takes the measured CPU in bursts while the load runs: the self-test of the meter, which is before, stays sound. What ends a burst is on the other
# CPU, because a real-time kernel delivers timers by a thread that the burst would keep from running. It has a real-time priority, before the load.
SLOW_UNIT = f"""[Unit]
Description=Break deadlines under load
ConditionKernelCommandLine={SLOW}

[Service]
Nice=-20
ExecStart=/bin/sh -c 'while sleep 1; do pgrep --exact stress-ng > /dev/null || continue; \\
    for burst in 1 2 3 4 5 6 7 8 9 10; do chrt --fifo 90 timeout 0.25 taskset --cpu-list 1 yes > /dev/null; sleep 0.2; done; done'
"""


def make(image: mkosi.Image, directory: Path) -> tuple:
    """The bundles of a version with a worse tail and of one without, and their kernel images, by their names. Their system is that of the image."""
    root = directory / "root.xz"
    # What is compressed fast is unpacked as the rest is.
    bundle.compress_root(image.disk, image.system_label, root, "-0")
    parameters = {WORSE: SLOW, GOOD: ""}
    kernels = {version: slots.kernel_image(directory, image, version, more) for version, more in parameters.items()}
    made = {version: bundle.assemble(BOARD, version, kernel, root, keys.DEVELOPMENT, directory) for version, kernel in kernels.items()}
    return made, kernels


def make_refused(directory: Path) -> dict:
    """Bundles that the machine must refuse, each with the words that say why."""
    kernel, root, foreign = directory / "small.efi", directory / "small.xz", directory / "foreign.key"
    kernel.write_bytes(b"kernel" * 2000)
    root.write_bytes(b"system" * 5000)
    keys.make(foreign)

    def packed(board: str, version: str, private: Path = keys.DEVELOPMENT) -> bytes:
        return bundle.pack(f"horus_{board}_{version}", kernel, root, private, directory).read_bytes()

    whole = packed(BOARD, "0.9.0")
    damaged = bytearray(whole)
    damaged[-20_000] ^= 1
    return {
        "is for jetson-orin-nano": packed("jetson-orin-nano", "0.9.0"),
        "older than": packed(BOARD, "0.0.1"),
        "no key of this machine has signed": packed(BOARD, "0.9.0", foreign),
        "is damaged": bytes(damaged),
        "cut off": whole[: len(whole) // 2],
    }
