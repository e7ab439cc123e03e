"""The commands and settings of docs/ros2.md, as they are printed there: those of DDS, those of Zenoh, and those between appliances.

What a guide says in its table with `…` gets its topics here. A name of another machine is this one.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from checks.ros2 import places
from checks.ros2.stage import GUIDE, NODES, Ros, Stage, Zeros, blocks, complete, counts
from horus_appliance.console import ApplianceFailed, detail
from horus_appliance.paths import BUILD

# So slow that a topic of 16 messages loses none on a machine that does other things, too.
FEW, EVERY_US = 100, 5_000
# What begins each command of the guide: one that begins otherwise is run by no check, and has to be added here.
BEGINNINGS = ("horus bridge ros2 --dds", "horus message generate", "horus bridge import", "horus bridge zenoh --name robot1", "horus bridge zenoh --name station")
# Messages that the bridge knows and PyPI lacks, as ROS 2 defines them.
LACKING = {
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "tf2_msgs/msg/TF2Error": "uint8 NO_ERROR=0\nuint8 error 0\nstring error_string\n",
    "diagnostic_msgs/msg/DiagnosticArray": "std_msgs/Header header\nDiagnosticStatus[] status\n",
    "diagnostic_msgs/msg/DiagnosticStatus": "byte OK=0\nbyte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values\n",
    "diagnostic_msgs/msg/KeyValue": "string key\nstring value\n",
}
NAMES = ("robot1.local", "ROBOT")


def commands() -> list:
    """All commands of the guide's texts for a shell, without `horus`; each as its words."""
    lines = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("systemctl")]
    if unknown := [line for line in lines if not line.startswith(BEGINNINGS)]:
        raise ApplianceFailed(f"no check runs this command of {GUIDE.name}: {unknown}")
    return [shlex.split(next(line for line in lines if line.startswith(beginning)))[1:] for beginning in BEGINNINGS]


def in_table(pattern: str) -> str:
    """What the guide's table has to do, where it matches."""
    found = re.search(rf"^\| [^|]+ \| .*`({pattern})`.* \|$", GUIDE.read_text(), re.MULTILINE)
    if not found:
        raise ApplianceFailed(f"the table of {GUIDE.name} does not say {pattern}")
    return found[1]


def over_dds(stage: Ros) -> None:
    first, generate, imported, *_ = commands()
    with stage.bridge(*first[1:]):
        both_ways(stage)
    stage.settings.write_text(next(block for block in blocks("toml") if "[to_ros.imu]" in block))
    with stage.bridge("ros2", "--config", stage.settings):
        both_ways(stage, IMU_FRAME="imu_link")  # as the guide has it
        statuses_are_kept(stage)
    domains(stage)
    definitions(stage, generate)
    layouts(stage, imported)
    detail("the guide's commands and settings do what it says")


def both_ways(stage: Ros, **variables) -> None:
    """As the guide's commands and settings have it: imu to ROS, cmd_vel from there."""
    with ExitStack() as stack:
        run = stack.enter_context
        sender, theirs = run(stage.peer("send", "imu", "imu", FEW, EVERY_US)), run(stage.node("receive", "/imu", "imu", FEW, 40, **variables))
        ours, node = run(stage.peer("receive", "base.cmd", "command", FEW, 40, 16, "latest")), run(stage.node("send", "/cmd_vel", "command", FEW, EVERY_US, **variables))
        pass_both(sender, theirs, node, ours, "of the guide")


def pass_both(sender, theirs, node, ours, what: str) -> None:
    for one in (theirs, ours):
        one.expect("matched")
    for one in (sender, node):
        one.tell("go")
    complete(json.loads(theirs.expect("result", 60)), FEW, f"{what}, to ROS 2", sender)
    complete(counts(ours.expect("result", 60)), FEW, f"{what}, from ROS 2", node)


def statuses_are_kept(stage: Ros) -> None:
    """The guide's status is transient_local: who comes late gets the last 8, and no more."""
    with stage.peer("send", "status", "text", 40, 1000) as sender:
        sender.expect("ready")
        sender.tell("go")
        sender.expect("sent")
        with stage.node("receive", "/status", "text", 40, 30, "transient_local") as late:
            got = json.loads(late.expect("result", 40))
    if got["first"] != 33 or (got["last"], got["wrong"], got["gaps"]) != (40, 0, 0):
        raise ApplianceFailed(f"of 40 messages, of which the last 8 are kept, who came late got {got}")


def domains(stage: Ros) -> None:
    """Another domain by either word of the guide's table, with nodes that are in that domain only."""
    option, variable = in_table(r"--domain \d+"), in_table(r"ROS_DOMAIN_ID=\d+").split("=")
    there = {"ROS_DOMAIN_ID": option.split()[1]}
    if there["ROS_DOMAIN_ID"] != variable[1]:
        raise ApplianceFailed("the guide's table names two domains; this check wants one")
    with ExitStack() as stack:
        run = stack.enter_context
        # Two bridges in one domain have two names.
        run(stage.bridge("ros2", "--dds", *option.split(), "--node", "first", "--to-ros", "imu=/imu"))
        run(stage.bridge("ros2", "--dds", "--from-ros", "/cmd_vel=base.cmd:horus/CmdVel", **dict([variable])))
        both_ways(stage, **there)


def definitions(stage: Ros, generate: list) -> None:
    """ROS 2's own generator computes for a definition that is written the hash that the bridge tells; and that of messages that PyPI lacks."""
    stage.write("my.layout", "message horus/CmdVel\n forward f64\n turn f64\n")
    source = stage.place / "src"
    subprocess.run([places.HORUS, *generate], cwd=stage.place, check=True, stdout=subprocess.DEVNULL)
    for name, text in LACKING.items():
        package, _, last = name.split("/")
        (source / package / "msg").mkdir(parents=True, exist_ok=True)
        (source / package / "msg" / f"{last}.msg").write_text(text)
    done = subprocess.run([stage.python, NODES / "hashes.py", source, BUILD / "ros2" / "share"], capture_output=True, text=True, check=False, timeout=60)
    hashes = dict(line.split()[::-1] for line in done.stdout.splitlines() if line.startswith("RIHS01_"))
    if set(hashes) != {"horus/msg/CmdVel", *LACKING}:
        raise ApplianceFailed(f"ROS 2's generator knows {hashes}:\n{done.stderr[-2000:]}")
    with stage.peer("send", "command", "command", 1, 1), stage.bridge("ros2", "--dds", "--to-ros", "command=/command:horus/msg/CmdVel") as bridge:
        told = bridge.expect("goes to /command as horus/msg/CmdVel")
    wrong = [name for name, hash_ in hashes.items() if f"{hash_} {name}" not in stage.messages() and hash_ not in told]
    if wrong:
        raise ApplianceFailed(f"ROS 2 computes {hashes}; the bridge has others for {wrong}, and told {told}")
    detail("a definition that was generated, and those that PyPI lacks, have the hashes that ROS 2's generator computes")


def layouts(stage: Ros, imported: list) -> None:
    """A layout that is imported is one of which structs are made."""
    command, file = imported[:-2], imported[-1]
    done = subprocess.run([places.HORUS, *command], capture_output=True, text=True, check=True, env={**os.environ, **stage.variables()})
    stage.write(file, done.stdout)
    made = subprocess.run([places.HORUS, "message", "generate", "--lang", "cpp", file], cwd=stage.place, capture_output=True, text=True, check=True).stdout
    if "std::array<std::int8_t, 40000> data;" not in made.replace("<int8_t", "<std::int8_t"):
        raise ApplianceFailed(f"of the layout that was imported is made:\n{made}")


def over_zenoh(stage: Zeros) -> None:
    """The guide's row for robots with rmw_zenoh, whose router is the node here."""
    names_of_others(stage)
    command = shlex.split(in_table("horus bridge ros2 --zenoh [^`]*").replace("…", "--to-ros vector=/vector --from-ros /vector_back=vector_back:horus/Vector3"))
    with ExitStack() as stack:
        run = stack.enter_context
        node = run(stage.node("send", "/vector_back", "vector", FEW, EVERY_US, listens=True))
        node.expect("ready")
        run(stage.bridge(*command[2:]))
        sender, theirs = run(stage.peer("send", "vector", "vector", FEW, EVERY_US)), run(stage.node("receive", "/vector", "vector", FEW, 40))
        ours = run(stage.peer("receive", "vector_back", "vector", FEW, 40, 16, "latest"))
        pass_both(sender, theirs, node, ours, "by the guide's row for Zenoh")
        # The router is killed and started again: the bridge finds it.
        node.kill()
        node = run(stage.node("send", "/vector_back", "vector", FEW, EVERY_US, listens=True))
        ours = run(stage.peer("receive", "vector_back", "vector", FEW, 40, 16, "latest"))
        ours.expect("matched")
        node.tell("go")
        complete(counts(ours.expect("result", 60)), FEW, "by a router that was killed and started again", node)
    between_appliances(stage)


def names_of_others(stage: Stage) -> None:
    """Only in the mounts of this check."""
    hosts = stage.write("hosts", f"127.0.0.1 localhost {' '.join(NAMES)}\n")
    with suppress(PermissionError):  # in a user namespace, which has mounts of its own
        if os.path.samefile("/proc/self/ns/mnt", "/proc/1/ns/mnt"):
            raise ApplianceFailed("this would change the machine's own /etc/hosts: python3 -m checks.ros2.zenoh gives it mounts of its own")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)


def between_appliances(stage: Zeros) -> None:
    """The guide's two lines, and its file, which says what the first line says. Each appliance has topics of its own."""
    *_, robot, station = commands()
    fleet = stage.write("fleet.toml", next(block for block in blocks("toml") if "share = [" in block))
    for words in (robot[1:], ["zenoh", "--config", fleet]):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as topics, ExitStack() as stack:
            run, other = stack.enter_context, type(stage)(stage.place, Path(topics))
            run(stage.bridge(*words))
            run(other.bridge(*station[1:]))
            sender = run(stage.peer("send", "imu", "imu", FEW, EVERY_US))
            receiver = run(other.peer("receive", "robot1.imu", "imu", FEW, 40, 16, "latest"))
            receiver.expect("matched")
            sender.tell("go")
            complete(counts(receiver.expect("result", 60)), FEW, "between appliances, by the guide's lines", sender)
