"""What a user does with a robot of several programs: deploys it as one version, kills one program, and deploys a version that never becomes ready."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from checks.boot.reach.deploying import BUILT_QUICKLY, HORUS, QUICKLY, TARGET, Laptop, toolchain
from horus_appliance.host import system
from horus_appliance.paths import REPOSITORY, RUNTIME

EXAMPLE = RUNTIME / "examples/robot"
PROGRAMS = ("base", "nav", "camera", "battery")
# In milliseconds. By the periods of its sources its nodes want more than an emulated machine has, which then does nothing else.
PERIODS = {
    "base": {"physics": 200, "encoders": 200, "imu": 200, "lidar": 1000, "odometry": 200, "controller": 200, "motor": 200},
    "nav": {"localization": 1000, "costmap": 1000, "planner": 1000},
    "camera": {"camera": 2000},
    "battery": {"battery": 1000},
}
# Never says that it is ready, and why.
LIGHTS = '#!/bin/sh\necho "no bulb in the socket" >&2\nexec sleep 600\n'
GROUPS = '\n[groups]\nnavigation = ["nav"]\n'
LIGHTS_ENTRY = '\n[programs.lights]\nrun = "lights.sh"\nafter = ["nav"]\nready_within = "20 s"\n'
# How long an emulated machine may take until all programs are ready again.
PATIENCE = 240
MUSL = "x86_64-unknown-linux-musl"
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


def prepare() -> None:
    """Builds libhorus, which is inside of the camera, while no machine runs yet: `horus deploy` finds it built."""
    for command in ("cmake", "make"):
        system.ensure_command(command, command)
    with tempfile.TemporaryDirectory() as prefix:
        line = [REPOSITORY / "scripts/install-library", "--prefix", prefix, "--target", MUSL]
        subprocess.run(line, check=True, env={**os.environ, **QUICKLY})


def go_through(laptop: Laptop) -> Deployment:
    """The whole story, once."""
    done = Deployment()
    place = laptop.directory / "robot"
    place.mkdir()
    for name in PROGRAMS:
        copy_slowed(name, place / name)
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


def copy_slowed(name: str, project: Path) -> None:
    """A program's project, alone, whose nodes run seldom."""
    shutil.copytree(EXAMPLE / name, project)
    settings = project / "node.toml"
    text = settings.read_text()
    for node, period in PERIODS[name].items():
        head = f"[node.{node}]\n"
        text = text if head in text else f"{text}\n{head}"
        text = text.replace(head, f'{head}period = "{period} ms"\n')
    settings.write_text(text)
    manifest = project / "Cargo.toml"
    if manifest.exists():
        # Out of its workspace, it says itself what that says for it.
        inherited = {"version": '"0.1.0"', "edition": '"2024"', "horus": f'{{ path = "{RUNTIME / "horus"}" }}'}
        text = manifest.read_text().replace("\n[lints]\nworkspace = true\n", "")
        text = re.sub(r"(?m)^(\S+)\.workspace = true\n", lambda key: f"{key[1]} = {inherited[key[1]]}\n" if key[1] in inherited else "", text)
        manifest.write_text(text)
        shutil.copy(RUNTIME / "Cargo.lock", project)


def write(place: Path, version: str, more: str = "") -> None:
    """The example's robot.toml in this version."""
    _, *tables = re.split(r"(?m)^(?=\[)", (EXAMPLE / "robot.toml").read_text())
    kept = {name: table for table in tables for name in PROGRAMS if table.startswith(f"[programs.{name}]")}
    assert list(kept) == list(PROGRAMS), f"{EXAMPLE}/robot.toml has other programs: {tables}"
    # A program that may be missing on another laptop is not missing here.
    text = "".join(re.sub("(?m)^optional = .*\n", "", table) for table in kept.values())
    (place / "robot.toml").write_text(f'version = "{version}"\n\n{text}{more}{GROUPS}')


def deploy(laptop: Laptop, place: Path, done: Deployment) -> subprocess.CompletedProcess:
    command = [HORUS, "deploy", "robot.toml", "127.0.0.1", "--no-follow", "--ssh", ssh(laptop)]
    # What the programs depend on is built there already, by this toolchain.
    environment = {**BUILT_QUICKLY, "RUSTUP_TOOLCHAIN": toolchain()}
    result = laptop.run(*command, cwd=place, env={**os.environ, **environment})
    built, camera = TARGET / MUSL / "release", place / "camera/build/deploy-x86_64/programs/robot-camera"
    sent = [built / "robot-base", built / "robot-nav", camera, place / "battery/build/deploy-python/robot-battery", place / "lights.sh"]
    done.programs |= {hashlib.sha256(file.read_bytes()).hexdigest() for file in sent if file.exists()}
    return result


def remote(laptop: Laptop, *words: str) -> subprocess.CompletedProcess:
    """`horus robot` on the laptop, about the machine."""
    return laptop.run(HORUS, "robot", *words, "--host", "127.0.0.1", "--ssh", ssh(laptop))


def ssh(laptop: Laptop) -> str:
    return shlex.join(map(str, laptop.ssh))
