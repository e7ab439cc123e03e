"""Drives the robot of runtime/examples/robot through its tutorial, docs/robot.md: python3 -m checks.robot.drive.

First on a virtual clock, twice alike. Then with Rust alone, by the two lines of the page: its camera in C++ and its battery in Python are left out, and it drives. Each command of the page's
table says then what the page says. At last with all four programs: on a virtual clock again, and then its twelve nodes drive to a goal, lose their navigation, and have a controller that is
late: `drive.sh`, and what `horus run` told meanwhile.

Nothing here asserts how fast anything is. The robot's topics are in a directory of their own.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

from horus_appliance.console import ApplianceFailed, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library, python_package
from horus_appliance.paths import REPOSITORY, RUNTIME

GUIDE = REPOSITORY / "docs" / "robot.md"
ROBOT = RUNTIME / "examples" / "robot"
# Longer than anything here takes on the slowest machine; what it ends is a hang.
PATIENCE_SECONDS = 120
OF_RUST = {"robot-base": 7, "robot-nav": 3}
OF_ALL = {**OF_RUST, "robot-camera": 1, "robot-battery": 1}
LEFT_OUT = ("HORUS_NAMESPACE", "HORUS_GROUP", "HORUS_NODE_FILE", "NOTIFY_SOCKET", "PYTHONPATH")
# What `horus run` tells of the drive, in this order.
TOLD = (
    r"nav +ended by signal 9 \(SIGKILL\).* -> again in 0\.5 s \(1 of 5\)", r"nav +ready after ",
    r"base +\| node controller is in its safe state: \d+ misses within 20 cycles", r"base +\| node controller runs its steps again",
)  # fmt: skip


class Robot(AbstractContextManager):
    """A running `horus run`; whatever becomes of the check, nothing of it is left."""

    def __init__(self, command: list, folder: Path, environment: dict):
        self.environment = environment
        self.said = tempfile.NamedTemporaryFile("r")
        with open(self.said.name, "w") as said:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)

    def __exit__(self, kind, error, trace) -> None:
        # Its guard ends the programs of a killed `horus run`.
        self.process.kill()
        self.process.wait()

    def text(self) -> str:
        return Path(self.said.name).read_text(errors="replace")

    def wants(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise ApplianceFailed(f"{otherwise}\n{self.text()[-6000:]}")

    def until(self, holds, words: str):
        ends = time.monotonic() + PATIENCE_SECONDS
        while not (found := holds()):
            self.wants(self.process.poll() is None, f"the robot ended before {words}")
            self.wants(time.monotonic() < ends, f"not after {PATIENCE_SECONDS} s: {words}")
            time.sleep(0.05)
        return found

    def asked(self, command: str) -> str:
        """What a command of the tutorial prints."""
        done = subprocess.run(
            shlex.split(command), env=self.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        self.wants(done.returncode == 0, f"`{command}` ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def said_by(self, command: str) -> str:
        """What a command prints, however it ends."""
        return subprocess.run(
            shlex.split(command), env=self.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL, check=False,
        ).stdout  # fmt: skip

    def driven(self, command: str) -> str:
        """As `asked`, of a command that drives. A busy machine may be late enough for the base to stop by itself: it is let go on."""
        ends = time.monotonic() + PATIENCE_SECONDS
        drive = subprocess.Popen(
            shlex.split(command), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        while drive.poll() is None:
            for node in json.loads(self.asked("horus node list --json"))["nodes"]:
                if node["figures"]["state"] == "safe state":
                    self.asked(f"horus node rearm {node['program']}/{node['asked']['name']} --reason 'the machine was busy'")
            if time.monotonic() > ends:
                drive.kill()
            time.sleep(0.3)
        said = drive.communicate()[0]
        self.wants(drive.returncode == 0, f"`{command}` ended with {drive.returncode}: {said}")
        return said

    def nodes(self) -> dict:
        """How many nodes of each program run. One that is in its safe state, since a busy machine was late, does too."""
        counts = {}
        for node in json.loads(self.asked("horus node list --json"))["nodes"]:
            counts[node["program"]] = counts.get(node["program"], 0) + (node["figures"]["state"] in ("running", "safe state"))
        return counts

    def ends(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE_SECONDS)
        self.wants(status == 0, f"`horus run` ended with {status}")
        self.wants(self.text().rstrip().endswith(", base ended in order"), "the programs did not end in order")


def main() -> int:
    for command, package in (("cmake", "cmake"), ("make", "make"), ("g++", "g++")):
        system.ensure_command(command, package)
    guide = GUIDE.read_text()
    build, run = tutorial(guide)
    step("the robot, by the two lines of the page")
    subprocess.run(["bash", "-ec", f"export CARGO_NET_RETRY=5\n{build} --locked --quiet"], cwd=REPOSITORY, check=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        place = Path(folder)
        path = f"{RUNTIME / 'target' / 'debug'}:{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        environment = {**kept, "PATH": path, "HORUS_SHM_DIR": topics, "PYTHONDONTWRITEBYTECODE": "1"}
        on_a_virtual_clock(guide, environment)
        with Robot(shlex.split(run), RUNTIME, environment) as robot:
            robot.until(lambda: has_all(robot.nodes(), OF_RUST), "its nodes run")
            with_rust_alone(robot, guide)
            robot.ends()
        step("all four programs")
        programs = assembled(place)
        modules = python_package.copy_of_cargo_build(place / "modules")
        environment |= {"PATH": f"{python_package.ensure()}:{path}", "PYTHONPATH": str(modules)}
        subprocess.run(["python3", "-m", "unittest"], cwd=programs / "battery", env=environment, check=True)
        step("all four, in three languages, on a virtual clock")
        twice_alike(["horus", "run", "robot.toml", "--virtual", "--for", "5s"], programs, environment, len(OF_ALL))
        with Robot(["horus", "run", "robot.toml"], programs, environment) as robot:
            robot.until(lambda: robot.nodes() == OF_ALL, "all twelve nodes run")
            with_all(robot, programs)
            robot.ends()
            told_in_order(robot)
    print("twelve nodes of four programs drive to a goal; a killed planner and a late controller are told")
    return 0


def has_all(nodes: dict, wanted: dict) -> bool:
    return all(nodes.get(program) == count for program, count in wanted.items())


def tutorial(guide: str) -> tuple:
    """The two lines that start the robot from a clean clone."""
    found = re.search(r"^```sh\n(cd runtime && cargo build .*)\n(target/debug/horus run examples/robot/robot.toml)\n```$", guide, re.MULTILINE)
    if not found:
        raise ApplianceFailed(f"{GUIDE.name} has no two lines that build the robot and start it")
    return found[1], found[2]


def on_a_virtual_clock(guide: str, environment: dict) -> None:
    """The command of the page, twice."""
    found = re.search(r"`(target/debug/horus run \S+ --group drive --virtual --for \d+s)`", guide)
    if not found:
        raise ApplianceFailed(f"{GUIDE.name} does not say how the robot runs on a virtual clock")
    twice_alike(shlex.split(found[1]), RUNTIME, environment, len(OF_RUST))


def twice_alike(command: list, folder: Path, environment: dict, programs: int) -> None:
    """Two runs of so many programs on a virtual clock: what the conductor says of all messages is the same."""
    digests = []
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        digests.append(re.findall(r"^(?:  \S+ +[0-9a-f]{16} .*|digest .*)$", done.stdout, re.MULTILINE))
        is_whole = done.returncode == 0 and digests[-1] and f" nodes of {programs} programs share one virtual clock" in done.stdout
        if not is_whole:
            raise ApplianceFailed(f"`{shlex.join(map(str, command))}` ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    if digests[0] != digests[1]:
        raise ApplianceFailed("two runs on a virtual clock differ:\n" + "\n".join(sorted(set(digests[0]) ^ set(digests[1]))))


def with_rust_alone(robot: Robot, guide: str) -> None:
    """What the page has for who has no C++ and no Python: each command of its table, and what the table says of its output."""
    if not (ROBOT / "camera" / "build").exists():
        robot.wants("camera is left out: " in robot.text(), "no line says that the camera is left out")
    rows = re.findall(r"^\| [^|]+ \| `(horus [^`]+)` \| `([^`]+)` \|$", guide, re.MULTILINE)
    robot.wants(len(rows) >= 8, f"the page has a table of {len(rows)} commands")
    for command, words in rows:
        if "drive_to" in command:
            said = robot.driven(command)
            robot.wants(words in said, f"`{command}` does not say `{words}`: {said}")
        else:
            # A frame of a busy machine may be old at one look.
            robot.until(lambda command=command, words=words: words in robot.said_by(command), f"`{command}` says `{words}`")


def assembled(place: Path) -> Path:
    """The robot's folder with its programs where their tools leave them, or beside their node.toml."""
    programs = place / "robot"
    shutil.copytree(ROBOT, programs, ignore=shutil.ignore_patterns("build", "src", "tests"))
    for part in ("base", "nav"):
        shutil.copy(RUNTIME / "target" / "debug" / f"robot-{part}", programs / part)
    prefix, camera = place / "prefix", programs / "camera"
    library.install(prefix, os.environ.get("HORUS_LIBRARY_PROFILE", "release"))
    for words in (["-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], ["--build", "build"]):
        done = subprocess.run(["cmake", *words], cwd=camera, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ApplianceFailed(f"the camera does not build:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return programs


def with_all(robot: Robot, programs: Path) -> None:
    """The drive, and what the programs in C++ and Python are for."""
    step("the drive")
    done = subprocess.run([programs / "drive.sh"], env=robot.environment, capture_output=True, text=True, timeout=3 * PATIENCE_SECONDS, check=False)
    robot.wants(done.returncode == 0, f"drive.sh ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    for words in ("the goal is lost, and sent anew", "the controller is in its safe state", "== there"):
        robot.wants(words in done.stdout, f"drive.sh does not say '{words}':\n{done.stdout}")
    swapped = robot.asked("horus service call battery.swap 'level: 0.5' --timeout 60s")
    robot.wants(re.search(r"before: 0\.9|before: 1", swapped), f"the battery was nearly full, and its swap says {swapped}")
    picture = robot.asked("horus topic echo camera.front --once --field width")
    robot.wants("640" in picture, f"no picture: {picture}")


def told_in_order(robot: Robot) -> None:
    text, place = robot.text(), 0
    for words in TOLD:
        found = re.compile(words).search(text, place)
        robot.wants(found, f"`horus run` does not tell of '{words}'")
        place = found.end()


if __name__ == "__main__":
    run_command(main)
