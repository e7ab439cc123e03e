"""Runs the commands of docs/gateway.md as they are printed there: python3 -m checks.gateway.guide.

In namespaces of its own: no network but loopback, /run and /var/lib in memory, and `robot.local` is this machine.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.paths import REPOSITORY, RUNTIME, SCRIPTS

GUIDE = REPOSITORY / "docs" / "gateway.md"
# How long a command that goes on until a user ends it is left alone, and how long any may take.
LISTENED_SECONDS = 4
PATIENCE = 120
MEMORY = ("/run", "/var/lib")


def main() -> int:
    if sys.argv[1:2] == ["inside"]:
        return inside(Path(sys.argv[2]))
    for command, package in (("openssl", "openssl"), ("ip", "iproute2"), ("unshare", "util-linux")):
        system.ensure_command(command, package)
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--package", "horus-cli"], cwd=RUNTIME, check=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        command = ["unshare", "--map-root-user", "--net", "--mount", sys.executable, "-m", "checks.gateway.guide", "inside", folder]
        path = f"{RUNTIME / 'target' / 'release'}:{os.environ['PATH']}:/usr/sbin:/sbin"
        environment = {**os.environ, "HORUS_SHM_DIR": topics, "PATH": path}
        return subprocess.run(command, cwd=SCRIPTS, env=environment, check=False).returncode


def inside(folder: Path) -> int:
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost robot.local\n")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for place in MEMORY:
        subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    text = GUIDE.read_text()
    commands, settings = re.findall(r"^\| [^|]+ \| `(horus [^`]+)`(?:, or `(--[^`]+)`)? \|$", text, re.MULTILINE), blocks(text, "toml")
    publisher = subprocess.Popen(["horus", "topic", "pub", "imu", "Imu", "angular_velocity: {y: 0.5}", "--rate", "50"], stdout=subprocess.DEVNULL)
    try:
        os.chdir(folder)
        on_this_machine(commands, settings[0])
        own = next(block for block in settings if "gateway.socket" in block)
        in_places_of_ones_own(own, settings[0], re.search(r"`(horus tap \S+ --connect unix:gateway.socket)`", text)[1])
        with_certificates([block for block in settings if block != own], blocks(text, "sh"))
    finally:
        publisher.send_signal(signal.SIGINT)
        publisher.wait()
    return 0


def blocks(text: str, language: str) -> list:
    """What stands in the document as text of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Gateway:
    """Runs with settings of the document until the end of a `with`."""

    def __init__(self, command: str, settings: str):
        Path("gateway.toml").write_text(settings)
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(shlex.split(self.command), stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise ApplianceFailed(f"'{self.command}' ended with {self.process.wait()} at once")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def on_this_machine(commands: list, settings: str) -> None:
    gateway, *others = commands
    if "horus gateway --config gateway.toml" != gateway[0] or len(others) < 3:
        raise ApplianceFailed(f"{GUIDE.name}: its table of commands is not as it was: {commands}")
    with Gateway(gateway[0], settings):
        for command, option in others:
            listened(command)
            if option:
                listened(f"{shlex.join(shlex.split(command)[:3])} {option}")


def in_places_of_ones_own(own: str, settings: str, tap: str) -> None:
    """As a user has it that is not root: nothing outside of the current folder is made or read."""
    shutil.rmtree("/run/horus", ignore_errors=True)
    with Gateway("horus gateway --config gateway.toml", own + settings[settings.index("\n[topics"):]):
        listened(tap)
    if Path("/run/horus").exists() or not Path("log/imu").is_dir():
        raise ApplianceFailed("the gateway used other places than those of the settings")


def with_certificates(settings: list, scripts: list) -> None:
    """Makes certificates as the document does, and goes through them."""
    *making, tap = scripts
    for script in making:
        step(script.splitlines()[0])
        done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise ApplianceFailed(f"{script}\n{done.stderr}")
    topics = settings[0][settings[0].index("\nlog_directory"):]
    with Gateway("horus gateway --config gateway.toml", settings[1] + topics):
        listened(tap.strip())
        for wrong in (tap.split(" --ca")[0], tap.replace("laptop.", "gateway.").replace("robot.local", "127.0.0.2")):
            done = run(wrong.strip())
            if done.returncode == 0 or "horus tap:" not in done.stderr:
                raise ApplianceFailed(f"'{wrong.strip()}' was let in:\n{done.stdout}{done.stderr}")
    detail("who has no certificate, or calls the gateway by another name, gets nothing")


def run(command: str) -> subprocess.CompletedProcess:
    """Runs a command; one that goes on is ended as by Ctrl-C."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(shlex.split(command), stdout=out, stderr=errors)
        if command.startswith("horus tap"):
            time.sleep(LISTENED_SECONDS)
            process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
        for file in (out, errors):
            file.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, out.read(), errors.read())


def listened(command: str) -> None:
    """What a command shows has to be messages. On a busy machine the gateway may look too late, which is said; other tests ask for all."""
    step(command)
    done = run(command)
    is_tap = command.startswith("horus tap")
    is_well = done.returncode == 0 or is_tap and done.returncode == 1 and " lost in " in done.stderr
    if not is_well or is_tap and "angular_velocity" not in done.stdout:
        raise ApplianceFailed(f"'{command}' ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    detail(next(line for line in done.stderr.splitlines() if line.startswith("horus tap:")) if is_tap else f"{len(done.stdout.splitlines())} lines")


if __name__ == "__main__":
    run_command(main)
