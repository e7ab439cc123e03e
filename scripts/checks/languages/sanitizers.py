"""Runs the test programs in C and C++ under the compiler's sanitizers: python3 -m checks.languages.sanitizers.

Memory, undefined behaviour, leaks and races are looked for in what a program in C or C++ does: with what the library lends it, in what it gives to
the library, and in the order in which threads of nodes touch a program's own memory. The library itself is as it is installed, so its own accesses
are not seen; `./scripts/sanitize` is for those. The thread sanitizer does not see the library's atomics either: programs that read a message in its
place, which nothing else orders, are not run under it.
"""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from checks.languages import programs
from checks.languages.programs import Program
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library


@dataclass(frozen=True)
class Sanitizer:
    """How a program is compiled for it, what it runs, and a fault that it has to find."""

    flags: tuple
    environment: dict
    programs: tuple
    planted: str
    finds: str


USE_AFTER_FREE = """
#include <horus/horus.h>
int main(void) {
  horus_layout *layout = horus_layout_parse("message a/B\\n x f64");
  horus_layout_close(layout);
  return *(volatile char *)layout;
}
"""
RACE = """
#include <horus/horus.h>
static volatile long counter;
static void count(void *context, const horus_cycle *cycle) { (void)context, (void)cycle; counter++; }
int main(void) {
  horus_app *app = horus_app_new("race");
  horus_node *first = horus_app_node(app, "a", count, NULL), *second = horus_app_node(app, "b", count, NULL);
  horus_node_period_ns(first, 100000), horus_node_period_ns(second, 100000);
  horus_node_scheduling_policy(second, "other");
  horus_app_releases(app, 200);
  return horus_app_run(app);
}
"""
# What the library copies among its own threads is ordered by its atomics, which the sanitizer does not see.
SUPPRESSIONS = "called_from_lib:libhorus.so\n"
# -fno-sanitize-recover: what is undefined ends the program.
SANITIZERS = {
    "address and undefined behaviour": Sanitizer(
        ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        # What was freed is kept for a while, and the stress test looks whether its memory grows.
        {"ASAN_OPTIONS": "detect_stack_use_after_return=1:quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1"},
        (*programs.C, *programs.CPP, programs.STRESS), USE_AFTER_FREE, "heap-use-after-free",
    ),
    "thread": Sanitizer(
        ("-fsanitize=thread",), {},
        (Program("c/threads.c", ("20000",)), Program("c/nodes.c", ("run",)), Program("c/nodes.c", ("world",)), Program("cpp/nodes.cpp", ("run",))),
        RACE, "data race",
    ),
}  # fmt: skip


def main() -> int:
    system.ensure_command("g++", "g++")
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "prefix"
        library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
        (Path(folder) / "suppressions").write_text(SUPPRESSIONS)
        os.environ["TSAN_OPTIONS"] = f"halt_on_error=1 suppressions={folder}/suppressions"
        for name, sanitizer in SANITIZERS.items():
            step(f"{name} sanitizer")
            find_planted(sanitizer, prefix, Path(folder))
            for program in sanitizer.programs:
                compiler = ["gcc" if program.is_c else "g++", "-O1", "-g", *sanitizer.flags]
                programs.run(program, programs.build(program, compiler, prefix, Path(folder)), sanitizer.environment)
    print("the programs in C and C++ under the sanitizers: 0 reports")
    return 0


def find_planted(sanitizer: Sanitizer, prefix: Path, place: Path) -> None:
    """Fails unless the sanitizer reports a fault that is there."""
    source, built = place / "planted.c", place / "planted"
    source.write_text(sanitizer.planted)
    command = ["gcc", "-O1", "-g", *sanitizer.flags, str(source), f"-I{prefix}/include", "-o", str(built)]
    subprocess.run([*command, f"-L{prefix}/lib", "-lhorus", f"-Wl,-rpath,{prefix}/lib"], check=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {**os.environ, **sanitizer.environment, "HORUS_SHM_DIR": topics}
        done = subprocess.run([str(built)], env=environment, capture_output=True, text=True, errors="replace", timeout=60, check=False)
    if done.returncode == 0 or sanitizer.finds not in done.stderr:
        raise ApplianceFailed(f"the sanitizer did not report '{sanitizer.finds}' where it is; the program ended with {done.returncode}:\n{done.stderr[-2000:]}")
    detail(f"the planted fault is found: {sanitizer.finds}")


if __name__ == "__main__":
    run_command(main)
