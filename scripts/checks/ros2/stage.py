"""Where the programs of a check of the bridge meet: topics, settings, and how each program is started.

The bridge is started as its users do it: by `horus bridge`.
"""

import os
import re
import subprocess
from pathlib import Path

from checks.ros2 import places
from checks.ros2.processes import Process
from horus_appliance.console import ApplianceFailed, detail
from horus_appliance.paths import BUILD, REPOSITORY

GUIDE = REPOSITORY / "docs" / "ros2.md"
# Our message, and how the nodes of the checks call it.
KINDS = {"imu": "horus/Imu", "vector": "horus/Vector3", "text": "bytes", "image": "horus/ImageHd", "command": "horus/CmdVel"}
# More memory than that is a leak: the unit of the bridge allows as much (horus-bridge.service).
MOST_MEMORY_KB = 1 << 20
NODES = Path(__file__).with_name("nodes")


class Stage:
    """Topics, and the programs that meet in them."""

    wire, others = "--dds", "ROS 2"

    def __init__(self, place: Path, topics: Path, settings: str = ""):
        self.python, self.programs, self.place, self.topics = BUILD / "ros2" / "bin" / "python", places.PROGRAMS, place, topics
        self.settings = place / "bridge.toml"
        if settings:
            self.settings.write_text(settings)

    def write(self, name: str, text: str) -> Path:
        (self.place / name).write_text(text)
        return self.place / name

    def bridge(self, *arguments, **variables) -> Process:
        """`horus bridge` with these words, or with the settings of the stage."""
        arguments = arguments or ("ros2", self.wire, "--config", self.settings)
        return self.horus("bridge", *arguments, **variables)

    def horus(self, *arguments, **variables) -> Process:
        return Process(f"horus {arguments[0]}", [places.HORUS, *arguments], self.topics, **self.variables(), **variables)

    def variables(self) -> dict:
        """What `horus` finds the bridge by."""
        return {"PATH": f"{self.programs}:{os.environ['PATH']}"}

    def peer(self, verb: str, topic: str, kind: str, *arguments) -> Process:
        return Process(f"peer {verb} {topic}", [self.programs / "examples" / "peer", verb, topic, KINDS[kind], *arguments], self.topics)

    def messages(self) -> str:
        """What `horus bridge messages` prints."""
        return subprocess.run([self.programs / "horus-bridge", "messages"], capture_output=True, text=True, check=True).stdout


class Ros(Stage):
    """With nodes of the real ROS 2, over DDS."""

    def __init__(self, place: Path, topics: Path, settings: str = ""):
        super().__init__(place, topics, settings)
        # What Fast DDS has to be told so that a picture's datagrams have room until it looks.
        self.profile = self.write("fast-dds.xml", blocks("xml")[0])

    def node(self, verb: str, topic: str, kind: str, *arguments, node: str = "ros.py", **variables) -> Process:
        command = [self.python, NODES / node, verb, topic, kind, *arguments]
        return Process(f"{node} {verb} {topic}", command, self.topics, **{"FASTDDS_DEFAULT_PROFILES_FILE": str(self.profile), **variables})


class Zeros(Stage):
    """With nodes of pyzeros, over rmw_zenoh's wire."""

    wire, others, zenoh = "--zenoh", "pyzeros", "tcp/127.0.0.1:7447"

    def node(self, verb: str, topic: str, kind: str, *arguments, listens: bool = False) -> Process:
        command = [self.python, NODES / "pyzeros_node.py", verb, topic, kind, *arguments, "listen" if listens else "connect", self.zenoh]
        # What it compiles for a message is kept with ROS 2, and not in the source tree.
        return Process(f"pyzeros {verb} {topic}", command, self.topics, CYDR_CACHE_DIR=str(BUILD / "ros2" / "cydr"))


def blocks(language: str) -> list:
    """What stands in the guide as text of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def counts(line: str) -> dict:
    """`first 1, last 10000, …` of a peer."""
    return {word.split()[0]: int(word.split()[1]) for word in line.split(", ")}


def account(said: str, topic: str) -> dict:
    """What a bridge said last of a topic's messages: carried, missed, refused, lost, late."""
    found = re.findall(rf"bridge: {re.escape(topic)}: (\d+) messages carried, (.*) late$", said, re.MULTILINE)
    if not found:
        raise ApplianceFailed(f"the bridge did not say what it did with {topic}:\n{said[-2000:]}")
    carried, rest = found[-1]
    words = f"{rest} late".replace(",", "").split()
    return {"carried": int(carried), **{word: int(number) for number, word in zip(words[::2], words[1::2], strict=True)}}


def complete(got: dict, count: int, what: str, sender: Process) -> None:
    """Each message came as it was sent, or was counted by its receiver: a program of ours that is held up finds some overwritten."""
    is_whole = (got["first"], got["last"], got["wrong"], got["gaps"]) == (1, count, 0, 0)
    missed = got.get("missed", 0)
    is_counted = 0 < missed <= count / 2 and got["wrong"] == 0 and got["highest"] == count and got["received"] + missed == count
    if not is_whole and not is_counted:
        raise ApplianceFailed(f"{what}: of {count} messages came {got}\n{sender.tail()}")
    detail(f"{what}: {count} messages, each as it was sent" + (f", but for {missed} that the receiver counts as overwritten" if missed else ""))


def is_well(bridge: Process) -> None:
    """The bridge lives, and its memory is bounded."""
    if bridge.process.poll() is not None:
        raise ApplianceFailed(f"the bridge ended with {bridge.process.wait()}:\n{bridge.tail()}")
    status = Path(f"/proc/{bridge.process.pid}/status").read_text()
    resident = int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])
    if resident > MOST_MEMORY_KB:
        raise ApplianceFailed(f"the bridge has {resident} kB of memory")
