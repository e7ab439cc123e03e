"""Passes messages round all languages, and changed ones nowhere: python3 -m checks.languages.ring [COUNT].

A program in each language receives every message from the one before it, verifies it and hands it on; Rust's sends the first one, and verifies
what comes out. Then each language publishes a topic that a program in each language wants to join with one field under another name: it is
refused, and the sentence names the field.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from checks.languages import csharp_hosts, programs
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library, python_package
from horus_appliance.paths import RUNTIME

MESSAGES = 1_000_000
# All of them take turns on the CPUs.
LONGEST_SECONDS = 300
REFUSED = 3


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    system.ensure_command("g++", "g++")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        os.environ["HORUS_SHM_DIR"] = topics
        commands = build(Path(folder))
        step(f"{count} messages round {', '.join(commands)}")
        go_round(commands, count)
        step("a field under another name, in every direction")
        for maker in commands:
            refuse(maker, commands)
    print(f"{count} messages went round {', '.join(commands)}, each verified; a changed field is refused by name in all {len(commands) ** 2} directions")
    return 0


def build(place: Path) -> dict:
    """The command of each language's program."""
    prefix, profile = place / "prefix", os.environ.get("HORUS_LIBRARY_PROFILE", "release")
    step("building the program in each language")
    library.install(prefix, profile)
    # Not optimised, as the tests are: it is built with them, and optimised cargo would build what they need once more.
    subprocess.run(["cargo", "build", "--locked", "--package", "horus-c", "--example", "ring"], cwd=RUNTIME, check=True)
    commands = {"Rust": [str(RUNTIME / "target" / "debug" / "examples" / "ring")]}
    for name, source, compiler in (("C", "c/ring.c", "gcc"), ("C++", "cpp/ring.cpp", "g++")):
        own = place / name
        own.mkdir()
        commands[name] = [str(programs.build(programs.Program(source), [compiler, "-O2"], prefix, own))]
    commands["Python"] = in_python(place / "Python")
    commands["C#"] = csharp_hosts.ring(place / "csharp", prefix / "lib" / "libhorus.so.1")
    return commands


def in_python(place: Path) -> list:
    """The program in Python, with the package as a plain cargo build makes it."""
    os.environ["PYTHONPATH"] = str(python_package.copy_of_cargo_build(place))
    return [sys.executable, str(python_package.BINDING / "tests" / "ring.py")]


def go_round(commands: dict, count: int) -> None:
    """Runs one program of each language, and who drives them; all have to end well."""
    topics = [f"ring.{number}" for number in range(len(commands) + 1)]
    started = time.monotonic()
    with ExitStack() as stack:
        passing = {
            name: start(stack, [*command, "pass", topics[number], topics[number + 1], str(count)])
            for number, (name, command) in enumerate(commands.items())
        }
        driver = start(stack, [*commands["Rust"], "drive", topics[0], topics[-1], str(count), str(len(commands))])
        for name, process in {**passing, "the driver": driver}.items():
            end_well(name, process, started + LONGEST_SECONDS)
    detail(f"{time.monotonic() - started:.0f} s")


def start(stack: ExitStack, command: list) -> subprocess.Popen:
    """Starts a program and waits until it has opened its topics; it does not outlive the stack."""
    process = stack.enter_context(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    )
    stack.callback(process.kill)
    if process.stdout.readline() != "ready\n":
        process.kill()
        raise ApplianceFailed(f"'{' '.join(command)}' did not become ready: {process.stderr.read()[-2000:]}")
    return process


def end_well(name: str, process: subprocess.Popen, until: float) -> None:
    try:
        _, said = process.communicate(timeout=max(until - time.monotonic(), 1))
    except subprocess.TimeoutExpired:
        raise ApplianceFailed(f"{name}'s program has not ended after {LONGEST_SECONDS} s") from None
    if process.returncode != 0:
        raise ApplianceFailed(f"{name}'s program ended with {process.returncode}: {said[-2000:]}")


def refuse(maker: str, commands: dict) -> None:
    """One language publishes; programs in all languages mean another field by it."""
    topic = f"made.{list(commands).index(maker)}"
    with ExitStack() as stack:
        holding = start(stack, [*commands[maker], "hold", topic])
        for joiner, command in commands.items():
            done = subprocess.run([*command, "changed", topic], capture_output=True, text=True, errors="replace", timeout=60, check=False)
            if done.returncode != REFUSED or "value" not in done.stdout or "worth" not in done.stdout:
                raise ApplianceFailed(f"{joiner} joined what {maker} publishes, and ended with {done.returncode}: {done.stdout}{done.stderr[-2000:]}")
        end_well(maker, holding, time.monotonic() + 60)
    detail(f"{maker} publishes: {done.stdout.strip()}")


if __name__ == "__main__":
    run_command(main)
