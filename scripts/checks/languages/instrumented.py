"""Runs the test programs in C with a library whose own Rust is under the address sanitizer, too: part of ./scripts/sanitize address.

What C hands to the library is read and written by Rust, through pointers that no type checks. `languages.sanitizers` sees the programs only; here
both sides are seen, in a million calls with wrong handles, too.
"""

import tempfile
from pathlib import Path

from checks.languages import programs
from checks.languages.programs import Program
from horus_appliance.console import ApplianceFailed, detail, step
from horus_appliance.host import system

PROGRAMS = (
    *(program for program in programs.C if program.source != "c/misuse.c"),
    *(Program("c/misuse.c", ("250000", str(seed))) for seed in (1, 2, 3, 4)),
    Program("cpp/lifetimes.cpp"),
)  # fmt: skip
# A message that is shorter than it says: Rust reads what is not C's to give.
PLANTED = """
#include <horus/horus.h>
#include <stdlib.h>
int main(void) {
  horus_layout *layout = horus_layout_parse("message a/B\\n x f64\\n y f64\\n z f64");
  horus_publisher *publisher = horus_publisher_open("planted", layout, NULL);
  return horus_publisher_try_send(publisher, calloc(1, 16), 24);
}
"""
FINDS = "heap-buffer-overflow"
# The compiler of C brings the sanitizer's runtime, for both.
COMPILER = ("-O1", "-g", "-fsanitize=address")
LIBRARIES = ("-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl")


def run(archive: Path, environment: dict) -> int:
    """Runs the programs with this library, which was built for the sanitizer; gives how many."""
    step("address sanitizer: programs in C, and the library below them")
    system.ensure_command("g++", "g++")
    with tempfile.TemporaryDirectory() as folder:
        place, prefix = Path(folder), Path(folder) / "prefix"
        (prefix / "lib").mkdir(parents=True)
        (prefix / "include").symlink_to(programs.TESTS.parent / "include")
        (prefix / "lib" / "libhorus.a").symlink_to(archive)
        find_planted(place, prefix, environment)
        for program in PROGRAMS:
            compiler = ["gcc" if program.is_c else "g++", *COMPILER]
            programs.run(program, programs.build(program, compiler, prefix, place, LIBRARIES), environment)
    return len(PROGRAMS)


def find_planted(place: Path, prefix: Path, environment: dict) -> None:
    """Fails unless a fault is found that the library's own code commits."""
    (place / "planted.c").write_text(PLANTED)
    built = programs.build(Program("planted.c", folder=place), ["gcc", *COMPILER], prefix, place, LIBRARIES)
    try:
        programs.run(Program("planted.c"), built, environment)
    except ApplianceFailed as failed:
        if FINDS in str(failed):
            detail(f"the planted fault is found: {FINDS}")
            return
        raise
    raise ApplianceFailed(f"the sanitizer did not report '{FINDS}' in the library, so it would report none of ours")
