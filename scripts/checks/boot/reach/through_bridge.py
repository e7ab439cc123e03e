"""What a robot of ROS 2 does with the machine, without ROS on it: sends and receives messages over rmw_zenoh's wire, from outside."""

import json
import os
import subprocess
from dataclasses import dataclass, field

from checks.boot.reach.deploying import Laptop
from checks.ros2 import places
from horus_appliance.paths import BUILD

UNIT = "horus-bridge.service"
PORT = 7448
MESSAGES = 50
SETTINGS = f"""
wire = "zenoh"
listen = ["tcp/0.0.0.0:{PORT}"]
[from_ros."ros.vector"]
topic = "/outside"
message = "horus/Vector3"
[to_ros."own.vector"]
topic = "/inside"
"""
NODE = places.SCRIPTS / "checks/ros2/nodes/pyzeros_node.py"
EMULATED_SECONDS = 120  # how long an emulated machine may take for anything
# The first message that the node of ROS knows: see pyzeros_node.py.
FIRST = "x: 1000, y: 1001, z: 1002"
PUBLISHED = f"timeout {EMULATED_SECONDS} horus topic pub own.vector horus/Vector3 '{FIRST}' --rate 20"
HEARD = f"timeout {EMULATED_SECONDS} horus topic echo ros.vector --once"
JOURNAL = f"journalctl --sync; journalctl --boot --output cat _SYSTEMD_UNIT={UNIT}"


@dataclass
class Robot:
    """Everything that came of it, for the tests."""

    received: dict = field(default_factory=dict)  # what the node of ROS says of the machine's messages
    seen: dict = field(default_factory=dict)  # the machine's answers


def go_through(laptop: Laptop, port: int) -> Robot:
    """The whole story, once; `port` is that of this machine by which the bridge's port is reached."""
    done, python, place = Robot(), places.ros(), f"tcp/127.0.0.1:{port}"
    done.seen["off"] = laptop.ask(f"systemctl start {UNIT}; systemctl is-active {UNIT}")
    laptop.ask("cat > /var/lib/horus/bridge.toml", input=SETTINGS)
    laptop.ask(f"systemctl start {UNIT}")
    done.seen["on"] = laptop.ask(f"systemctl is-active {UNIT}")
    main_pid = f"$(systemctl show --value --property=MainPID {UNIT})"
    done.seen["user"] = laptop.ask(f"ps -o user= -p {main_pid}")
    done.seen["policies"] = laptop.ask(f"ps -L -o cls= -p {main_pid} | sort -u")
    done.seen["cpus"] = laptop.ask(f"grep Cpus_allowed_list /proc/{main_pid}/status")
    done.seen["exposure"] = laptop.ask(f"systemd-analyze security --no-pager {UNIT} | grep Overall")

    def node(verb: str, topic: str, count: int, time: int) -> subprocess.Popen:
        words = [python, NODE, verb, topic, "vector", count, time, "connect", place]
        # What it compiles is kept, and outside of the source tree.
        environment = {**os.environ, "CYDR_CACHE_DIR": str(BUILD / "ros2" / "cydr")}
        return subprocess.Popen([*map(str, words)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    # From ROS: the node sends its number 0 until it is told to begin, and stays until its input ends.
    with node("send", "/outside", MESSAGES, 10_000) as sender:
        try:
            done.seen["from ros"] = laptop.ask(HEARD)
        finally:
            sender.communicate("\n\n", timeout=EMULATED_SECONDS)
    # To ROS.
    with node("receive", "/inside", 1, EMULATED_SECONDS) as receiver:
        publisher = subprocess.Popen([*laptop.ssh_alone, "root@127.0.0.1", PUBLISHED], stdout=subprocess.DEVNULL)
        try:
            said, _ = receiver.communicate(timeout=2 * EMULATED_SECONDS)
        finally:
            publisher.terminate()
            publisher.wait()
    done.received = json.loads(said.rpartition("result ")[2])
    done.seen["account"] = laptop.ask(JOURNAL)
    laptop.ask(f"rm /var/lib/horus/bridge.toml; systemctl stop {UNIT}")
    done.seen["failed"] = laptop.ask("systemctl --failed --no-legend")
    return done
