"""What a user does with a robot of several programs: deploys it as one version, kills one program, and deploys a version that never becomes ready."""

import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from checks.boot.reach.deploying import HORUS, TARGET, Laptop, toolchain
from horus_appliance.paths import RUNTIME

# The two in Rust are made by `horus new`. The nodes of the twelve-node robot want more than an emulated machine has: it would do nothing else.
BATTERY = RUNTIME / "examples/robot/battery"
PROGRAMS = ("base", "nav", "battery")
# Of a node that `horus new` makes, and what they become: so seldom that the machine has time for what is asked of it.
PERIODS = {"1 ms": "200 ms", "800 us": "100 ms"}
ENTRIES = """
[programs.base]
run = "base"
group = "drive"

[programs.nav]
run = "nav"
after = ["base"]
group = "drive"
restart = "on-failure"

[programs.battery]
run = "battery"
after = ["base"]

[groups]
navigation = ["nav"]
"""
# Never says that it is ready, and why.
LIGHTS = '#!/bin/sh\necho "no bulb in the socket" >&2\nexec sleep 600\n'
LIGHTS_ENTRY = '\n[programs.lights]\nrun = "lights.sh"\nafter = ["nav"]\nready_within = "20 s"\n'
# How long an emulated machine may take until all programs are ready again.
PATIENCE = 240
STATUS = "horus robot status"
ALL_READY = f"timeout {PATIENCE} sh -c 'until {STATUS} >/dev/null 2>&1; do sleep 1; done'; {STATUS}"
# When a program became ready, and when the one after it was started, in microseconds of one clock.
ORDER = (
    "systemctl show --value --property=ActiveEnterTimestampMonotonic horus-node@base.service; "
    "systemctl show --value --property=ExecMainStartTimestampMonotonic horus-node@nav.service"
)


@dataclass
class Deployment:
    """Everything that came of it, for the tests."""

    said: dict = field(default_factory=dict)  # results of commands on the laptop
    seen: dict = field(default_factory=dict)  # the machine's answers
    programs: set = field(default_factory=set)  # the SHA-256 of every program that was sent


def go_through(laptop: Laptop) -> Deployment:
    """The whole story, once."""
    done = Deployment()
    place = laptop.directory / "robot"
    place.mkdir()
    # In Python, a package is made in the project's folder, which is not to be that of the sources.
    shutil.copytree(BATTERY, place / "battery")
    for name in ("base", "nav"):
        new(laptop, place / name)
    write(place, "1")
    done.said["1"] = deploy(laptop, place, done)
    done.seen["runs"] = laptop.ask(STATUS)
    done.seen["order"] = laptop.ask(ORDER)
    done.seen["user"] = laptop.ask("ps -o user= -p $(systemctl show --value --property=MainPID horus-node@base.service)")
    done.seen["nodes"] = laptop.ask("horus node list")

    laptop.ask("systemctl kill --signal=KILL horus-node@nav.service; sleep 2")
    done.seen["after a kill"] = laptop.ask(ALL_READY)
    done.seen["restarts"] = laptop.ask("systemctl show --value --property=NRestarts horus-node@nav.service")

    write(place, "2", LIGHTS_ENTRY)
    (place / "lights.sh").write_text(LIGHTS)
    (place / "lights.sh").chmod(0o755)
    done.said["2"] = deploy(laptop, place, done)
    done.seen["rolled back"] = laptop.ask(STATUS)

    done.said["stop"] = remote(laptop, "stop", "navigation")
    done.said["stopped"] = remote(laptop, "status")
    # As at the next boot.
    laptop.ask("systemctl restart horus-nodes.service")
    done.seen["next boot"] = laptop.ask(ALL_READY)
    done.said["remove"] = remote(laptop, "remove")
    done.seen["removed"] = laptop.ask("ls /var/lib/horus/robot/versions; systemctl is-active horus-node@base.service; systemctl --failed --no-legend")
    return done


def new(laptop: Laptop, project: Path) -> None:
    """A project with a command of its own, and with a node that runs seldom."""
    laptop.run(HORUS, "new", str(project))
    shutil.copy(RUNTIME / "Cargo.lock", project)
    for file in (project / "src/main.rs", project / "node.toml"):
        text = file.read_text().replace('"base.cmd"', f'"{project.name}.cmd"')
        for period, seldom in PERIODS.items():
            text = text.replace(f'"{period}"', f'"{seldom}"')
        file.write_text(text)


def write(place: Path, version: str, more: str = "") -> None:
    (place / "robot.toml").write_text(f'version = "{version}"\n{ENTRIES}{more}')


def deploy(laptop: Laptop, place: Path, done: Deployment) -> subprocess.CompletedProcess:
    command = [HORUS, "deploy", "robot.toml", "127.0.0.1", "--no-follow", "--ssh", ssh(laptop)]
    # What the programs depend on is built there already, by this toolchain.
    environment = {"CARGO_TARGET_DIR": str(TARGET), "RUSTUP_TOOLCHAIN": toolchain()}
    result = laptop.run(*command, cwd=place, env={**os.environ, **environment})
    built = TARGET / "x86_64-unknown-linux-musl/release"
    sent = [built / "base", built / "nav", place / "battery/build/deploy-python/robot-battery", place / "lights.sh"]
    done.programs |= {hashlib.sha256(file.read_bytes()).hexdigest() for file in sent if file.exists()}
    return result


def remote(laptop: Laptop, *words: str) -> subprocess.CompletedProcess:
    """`horus robot` on the laptop, about the machine."""
    return laptop.run(HORUS, "robot", *words, "--host", "127.0.0.1", "--ssh", ssh(laptop))


def ssh(laptop: Laptop) -> str:
    return shlex.join(map(str, laptop.ssh))
