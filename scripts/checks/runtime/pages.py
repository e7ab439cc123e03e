"""Runs tests of the runtime on a 64-bit ARM kernel with pages of 16 KiB, as a Raspberry Pi 5 has: python3 -m checks.runtime.pages.

The kernel is Debian's own of that kind (linux-image-arm64-16k), in QEMU, with two emulated CPUs and no disk: everything is in
its first file system. Unlike an emulator of single programs it also refuses mappings that are aligned to 4 KiB only, has
futexes, /proc and kills as everywhere, and lets tests start processes. About the order of memory accesses it says nothing.
"""

import re
import shutil
import subprocess
from pathlib import Path

from checks.runtime import guest_tests
from horus_appliance.console import ApplianceFailed, CannotRun, detail, run_command, step
from horus_appliance.host import builder, debian, system
from horus_appliance.host.architecture import ARM64
from horus_appliance.paths import BUILD, RUNTIME

PAGE_BYTES = 16384
WORK = BUILD / "pages"
SYSTEM = WORK / "system"
# The C library and GCC's come along with what needs them; a shell and its tools are one program.
PACKAGES = ["linux-image-arm64-16k", "busybox-static", "libgcc-s1", "libc6"]
LIBRARIES = ["ld-linux-aarch64.so.1", "libc.so.6", "libgcc_s.so.1", "libm.so.6"]

SOURCES = RUNTIME / "shm" / "src"

# Left out: tests that count or measure; loom's, which another build has; the command line's.
TESTS = (
    "shm-horus_shm", "shm-lifecycle", "shm-ring_model", "shm-ring_states", "shm-untrusted_segment",
    "horus-topics", "horus-message_path", "horus-killed_peers", "horus-scribbling_peer", "horus-bad_input",
)  # fmt: skip
LIMIT_SECONDS = 900

# The first process. What it says of the size of a page is the kernel's own word.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
ip link set lo up
uname -a
grep -m 1 KernelPageSize /proc/self/smaps
for program in /tests/*; do
    "$program" --test-threads=2 > /tmp/log 2>&1
    status=$?
    [ $status = 0 ] || tail -n 80 /tmp/log
    sed -n "s/^test result: /result ${program##*/}: /p" /tmp/log
    echo "test ${program##*/}: exit $status"
done
echo "tests: all run"
poweroff -f
"""


def main() -> int:
    system.require_rust()
    programs = wanted_tests()
    builder.ensure(ARM64)
    kernel = ensure_system()
    said = boot(kernel, make_archive(programs))
    return judge(said, len(programs))


def wanted_tests() -> dict:
    """Compiles the runtime's tests; returns the programs that are run, by their names."""
    built = guest_tests.build(ARM64)
    missing = set(TESTS) - set(built)
    if missing:
        raise ApplianceFailed(f"the runtime has no tests {', '.join(sorted(missing))}; were they renamed? Then correct {Path(__file__).name}")
    return {name: built[name] for name in TESTS}


def ensure_system() -> Path:
    """The kernel's file, after its package and what the programs need was unpacked into SYSTEM."""
    kernels = list(SYSTEM.glob("boot/vmlinuz-*-16k"))
    if not kernels:
        step("fetching a kernel with pages of 16 KiB from Debian (about 150 MB, once a clone)")
        debian.make_tree(SYSTEM, PACKAGES, "extract", BUILD / "pages.log", ARM64.debian_name)
        kernels = list(SYSTEM.glob("boot/vmlinuz-*-16k"))
    return kernels[0]


def make_archive(programs: dict) -> Path:
    """The first file system: shell, libraries, tests, and what is run first."""
    root = WORK / "root"
    system.remove_tree(root)
    for folder in ("bin", "dev", "lib", "proc", "sys", "tests", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy(only(SYSTEM, "usr/bin/busybox", "bin/busybox"), root / "bin" / "busybox")
    for name in LIBRARIES:
        shutil.copy(only(SYSTEM, f"usr/lib/aarch64-linux-gnu/{name}", f"lib/aarch64-linux-gnu/{name}"), root / "lib" / name)
    for name, program in programs.items():
        # Without what a debugger needs: all of this is in the machine's memory.
        subprocess.run(["aarch64-linux-gnu-strip", "-o", str(root / "tests" / name), str(program)], check=True)
    # Some tests read the sources, at the path where the compiler saw them.
    shutil.copytree(SOURCES, root / str(SOURCES).lstrip("/"))
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    archive = WORK / "root.cpio"
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with archive.open("wb") as output:
        subprocess.run(
            builder.command(ARM64, ["cpio", "--quiet", "--create", "--format=newc", "--directory", str(root)]),
            input=names.encode(), stdout=output, check=True,
        )  # fmt: skip
    return archive


def only(root: Path, *places: str) -> Path:
    """The first of these files that is there."""
    for place in places:
        if (root / place).exists():
            return root / place
    raise CannotRun(f"{places[0]} is in none of Debian's packages {', '.join(PACKAGES)}; were they renamed?")


def boot(kernel: Path, archive: Path) -> str:
    """Starts the machine, waits until it switches itself off, and returns what it said."""
    step(f"booting {kernel.name} with 2 CPUs under emulation")
    command = [
        "timeout", "--kill-after=5", str(LIMIT_SECONDS), ARM64.emulator, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        *ARM64.emulated, "-accel", "tcg,thread=multi", "-smp", "2", "-m", "2048", "-serial", "stdio",
        "-kernel", str(kernel), "-initrd", str(archive), "-append", f"console={ARM64.console} quiet panic=-1",
    ]  # fmt: skip
    done = subprocess.run(
        builder.command(ARM64, command), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    said = done.stdout.replace("\r", "")
    (WORK / "serial.log").write_text(said)
    for line in said.splitlines():
        if line.startswith(("Linux", "KernelPageSize", "result")):
            detail(line)
    if "tests: all run" not in said:
        raise ApplianceFailed(f"the machine did not come to the end of its tests (QEMU ended with {done.returncode}):\n{said[-3000:]}{done.stderr}")
    return said


def judge(said: str, programs: int) -> int:
    """Whether the kernel had such pages and each program passed."""
    found = re.search(r"^KernelPageSize: *(\d+) kB$", said, re.MULTILINE)
    if not found or int(found[1]) * 1024 != PAGE_BYTES:
        raise ApplianceFailed(f"this kernel has other pages than was wanted: {found and found[0]}")
    ended = dict(re.findall(r"^test (\S+): exit (\d+)$", said, re.MULTILINE))
    failed = [name for name, status in ended.items() if status != "0"]
    if failed or len(ended) != programs:
        raise ApplianceFailed(f"{len(ended)} of {programs} programs ran, failed: {', '.join(failed)}\n{said[-6000:]}")
    passed = sum(map(int, re.findall(r"^result \S+: ok\. (\d+) passed", said, re.MULTILINE)))
    if passed == 0:
        raise ApplianceFailed("no test was run")
    print(f"{passed} tests on a kernel with pages of {PAGE_BYTES // 1024} KiB: all passed")
    return 0


if __name__ == "__main__":
    run_command(main)
