"""Long runs of the kill matrix, of nodes in every order and of the fuzzers: how each is started, and what it came to in one sentence."""

import os
import re
from pathlib import Path

from checks.runtime import unstable
from horus_appliance.console import ApplianceFailed, follow, step
from horus_appliance.paths import BUILD, RUNTIME

# What has cargo build our packages with their failpoints, beside those without: a wrapper's packages have names of their own.
STEPS = {"RUSTC_WORKSPACE_WRAPPER": str(Path(__file__).with_name("failpoints"))}

FUZZ = RUNTIME / "fuzz"
FUZZ_TARGETS = ("segment_header", "scribbled_segment", "gateway_frames", "gateway_log")

# What cargo-fuzz passes: LLVM counts which branches an input takes and what its comparisons compare.
COVERAGE = [
    "-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4", "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table", "-Cllvm-args=-sanitizer-coverage-trace-compares", "-Ccodegen-units=1", "--cfg=fuzzing",
]  # fmt: skip
# A call that needs longer than this hangs.
HANG_SECONDS = 10


def kill(count: int) -> str:
    """Kills `count` processes, and setters of parameters before them; returns the sentence of the test."""
    step(f"killing {count} processes")
    with_failpoints("param_kills", {}, r"^test .* ok$")
    return the_one(rf"{count} kills, .*", with_failpoints("kill_matrix", {"HORUS_KILLS": str(count)}, r"^\d+ of \d+ kills$"))


def nodes(count: int, first: int = 0) -> str:
    """Starts three programs of nodes `count` times, as the runs from number `first` on are; returns the sentence of the test."""
    step(f"{count} times three programs of nodes, from run {first} on")
    variables = {"HORUS_ORDERS": str(count), "HORUS_ORDERS_FROM": str(first)}
    return the_one(rf"{count} runs of three programs.*", with_failpoints("any_order", variables, r"^\d+ of \d+ runs, the next is \d+$"))


def with_failpoints(test: str, variables: dict, progress: str) -> list:
    """Runs a test of the runtime that is built with its failpoints; returns its lines."""
    command = ["cargo", "test", "--locked", "--package", "horus", "--test", test, "--", "--nocapture"]
    return run(command, RUNTIME, {**os.environ, **STEPS, **variables}, progress)


def fuzz(seconds: int) -> str:
    """Fuzzes for `seconds` seconds in all; returns a sentence with the counts."""
    unstable.require_runtime("address")
    target = unstable.host_target()
    share = max(1, seconds // (len(FUZZ_TARGETS) + 1))
    step("building the fuzzers")
    flags = [*COVERAGE, "-Zsanitizer=address", "-Cdebug-assertions", "-Coverflow-checks"]
    # A fuzzer that is hardly optimised tries fewer inputs, and is built in less time (docs/decisions/0092).
    environment = {**os.environ, **unstable.ALLOWED, "RUSTFLAGS": " ".join(flags), "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"}
    # Beside the runtime's programs: the compiler's plug-ins, which these flags do not change, are built once for both.
    build = ["cargo", "build", "--locked", "--release", "--target", target, "--target-dir", str(RUNTIME / "target")]
    run(build, FUZZ, environment)

    counts = []
    for name in FUZZ_TARGETS:
        step(f"fuzzing {name} for {share} s")
        counts.append(f"{fuzz_one(name, RUNTIME / 'target' / target / 'release' / name, share)} inputs of {name}")
    step(f"a peer that scribbles on live segments for {share} s")
    command = ["cargo", "test", "--locked", "--package", "horus", "--test", "scribbling_peer", "--", "--nocapture"]
    sentence = the_one(rf"{share} s beside a peer.*", run(command, RUNTIME, {**os.environ, "HORUS_SCRIBBLE_SECONDS": str(share)}))
    return f"{', '.join(counts)}: 0 crashes, 0 hangs of {HANG_SECONDS} s, 0 addresses out of bounds; {sentence}"


def fuzz_one(name: str, program: Path, seconds: int) -> int:
    """Runs one fuzzer, which goes on from the inputs that earlier runs found interesting; returns how many it tried."""
    corpus, artifacts = BUILD / "fuzz" / name, BUILD / "fuzz" / "found"
    for directory in (corpus, artifacts):
        directory.mkdir(parents=True, exist_ok=True)
    command = [
        str(program), str(corpus), f"-max_total_time={seconds}", f"-timeout={HANG_SECONDS}", "-print_final_stats=1",
        f"-artifact_prefix={artifacts}/{name}-",
    ]  # fmt: skip
    lines = run(command, FUZZ, dict(os.environ), progress=r"^#\d+\s+(pulse|RELOAD)")
    return int(the_one(r"stat::number_of_executed_units:\s*([1-9]\d*)", lines).split()[-1])


def the_one(pattern: str, lines: list) -> str:
    """The one line in which a run says what it came to."""
    found = [line for line in lines if re.match(pattern, line)]
    if len(found) != 1:
        raise ApplianceFailed(f"{len(found)} lines look like '{pattern}' and one should; was a test renamed?")
    return found[0]


def run(command: list, directory: Path, environment: dict, progress: str = "") -> list:
    """Runs a command that has to end well, showing the lines that look like `progress`; returns all of its lines."""
    status, lines = follow(command, progress, cwd=directory, env=environment)
    if status != 0:
        tail = "\n".join(lines[-150:])
        raise ApplianceFailed(f"'{' '.join(command)}' ended with {status}:\n{tail}")
    return lines
