"""One directory of topics and the programs that run on it, as their users start and end them."""

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

from horus_appliance.console import ApplianceFailed

# Longer than anything here takes on the slowest machine; what it ends is a hang.
PATIENCE_SECONDS = 60
LEFT_OUT = ("HORUS_NAMESPACE", "HORUS_GROUP", "HORUS_NODE_FILE", "NOTIFY_SOCKET")


class Scene(AbstractContextManager):
    """Programs on topics of their own. What is left running ends with it, and topics that are left behind are an error."""

    def __init__(self, tool: Path, words: str):
        self.tool, self.words, self.running, self.said = tool, words, {}, {}
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.topics = Path(self.folder.name) / "topics"
        self.topics.mkdir()
        own = {"HORUS_SHM_DIR": str(self.topics), "HORUS_JOURNAL": "print", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
        self.environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | own

    def __exit__(self, kind, error, trace) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        if kind is None:
            # Programs without nodes are killed by SIGTERM; what they leave goes as the page of topics says.
            subprocess.run([self.tool, "topic", "clean"], env=self.environment, capture_output=True, check=True)
            left = [file.name for file in self.topics.iterdir()]
            self.wants(not left, f"topics are left behind: {left}")
        self.folder.cleanup()

    def wants(self, holds: bool, otherwise: str) -> None:
        if not holds:
            said = "".join(f"--- {name}\n{self.text(name)[-800:]}" for name in self.said)
            raise ApplianceFailed(f"{self.words}: {otherwise}\n{said}")

    def start(self, name: str, command: list, settings: str = "") -> None:
        """Starts a program; `settings` are its node.toml."""
        environment = dict(self.environment)
        if settings:
            file = Path(self.folder.name) / f"{name}.toml"
            file.write_text(settings)
            environment["HORUS_NODE_FILE"] = str(file)
        self.said[name] = Path(self.folder.name) / f"{name}.said"
        with self.said[name].open("w") as said:
            self.running[name] = subprocess.Popen(
                command, env=environment, cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def text(self, name: str) -> str:
        """What a program has said so far."""
        return self.said[name].read_text(errors="replace")

    def until(self, holds, words: str):
        """What `holds` gives, once that is true."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not (found := holds()):
            self.wants(time.monotonic() < ends, f"not after {PATIENCE_SECONDS} s: {words}")
            time.sleep(0.005)
        return found

    def ended(self, name: str) -> int:
        """The status of a program that ends by itself."""
        process = self.running.pop(name)
        try:
            return process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            self.wants(False, f"{name} does not end")

    def asked_to_end(self, name: str) -> int:
        """The status of a program that is told to end while it runs."""
        self.wants(self.running[name].poll() is None, f"{name} has ended already, with {self.running[name].poll()}")
        self.running[name].send_signal(signal.SIGTERM)
        return self.ended(name)

    def topic(self, name: str) -> dict:
        """What `horus topic list` says of a topic; nothing if it is not there."""
        done = subprocess.run([self.tool, "topic", "list", "--json"], env=self.environment, capture_output=True, text=True, check=True)
        return next((topic for topic in json.loads(done.stdout)["topics"] if topic["name"] == name), {})

    def has_joined(self, name: str, topic: str) -> bool:
        """Whether a program publishes a topic or subscribes to it."""
        there = self.topic(topic)
        ends = [publisher["process"] for publisher in there.get("publishers", [])] + there.get("subscribers", [])
        self.wants(self.running[name].poll() is None, f"{name} ended with {self.running[name].poll()}")
        return self.running[name].pid in [end["pid"] for end in ends]
