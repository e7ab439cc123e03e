"""What is no message: random packets to the ports of the bridge, and messages that are cut. The bridge lives, counts them, and goes on."""

import os
import random
import socket
import struct
from pathlib import Path

from checks.ros2.processes import Process
from checks.ros2.stage import Zeros, is_well
from horus_appliance.console import ApplianceFailed, detail

PACKETS = 6_000
CONNECTIONS = 200
SPOILED = 60
SEED = 14


def datagrams(bridge: Process) -> None:
    """Random packets, half of them with the head of RTPS, to each UDP port of the bridge."""
    random_, ports = random.Random(SEED), ports_of(bridge, "udp")
    if len(ports) < 2:
        raise ApplianceFailed(f"the bridge has only the UDP ports {ports}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        for number in range(PACKETS):
            line.sendto(packet(random_, number), ("127.0.0.1", ports[number % len(ports)]))
    is_well(bridge)
    detail(f"{PACKETS} packets that are no RTPS, to the ports {', '.join(map(str, ports))}: the bridge lives")


def packet(random_, number: int) -> bytes:
    noise = random_.randbytes(random_.choice((0, 1, 19, 20, 24, 100, 1400)))
    if number % 2:
        return noise
    head = b"RTPS\x02\x03\x01\x12" + random_.randbytes(12)
    parts = b""
    for _ in range(random_.randrange(1, 4)):
        kind, body = random_.randrange(256), random_.randbytes(random_.randrange(64))
        kind = random_.choice((0x01, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0E, 0x12, 0x13, 0x15, 0x16, kind))
        # The length is right, zero, or a lie.
        length = random_.choice((len(body), 0, 0xFFFF, random_.randrange(256)))
        parts += struct.pack("<BBH", kind, random_.randrange(256), length) + body
    return head + parts


def connections(bridge: Process) -> None:
    """Random bytes to the TCP port of the bridge, on many connections; some stay open half-way."""
    random_, left = random.Random(SEED), []
    [port] = ports_of(bridge, "tcp")
    for number in range(CONNECTIONS):
        line = socket.create_connection(("127.0.0.1", port), 5)
        noise = random_.randbytes(random_.choice((1, 2, 7, 100, 5000)))
        try:
            # Zenoh says the length of a batch first.
            line.sendall(noise if number % 2 else struct.pack("<H", random_.choice((len(noise), 0, 0xFFFF))) + noise)
        except OSError:
            pass  # it was closed in the middle, as it may be
        left.append(line) if number % 4 == 0 else line.close()
    is_well(bridge)
    for line in left:
        line.close()
    detail(f"{CONNECTIONS} connections with random bytes: the bridge lives")


def ports_of(bridge: Process, protocol: str) -> list:
    """The ports on which a process listens."""
    folder = Path(f"/proc/{bridge.process.pid}/fd")
    own = {os.readlink(file) for file in folder.iterdir() if file.exists() or file.is_symlink()}
    found = set()
    for table in (protocol, f"{protocol}6"):
        for line in Path(f"/proc/{bridge.process.pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            is_listening = protocol == "udp" or words[3] == "0A"
            if is_listening and f"socket:[{words[9]}]" in own:
                found.add(int(words[1].rsplit(":", 1)[1], 16))
    return sorted(found)


def spoiled(node: Process) -> None:
    """Messages whose ends are missing, from a node of the real ROS 2: the caller finds them in the bridge's account."""
    node.tell(f"spoil {SPOILED}")
    node.expect("spoiled")


def spoiled_by_zenoh(stage: Zeros, key: str) -> None:
    """Messages that are cut, of another CDR, with attachments of every length, from eclipse-zenoh alone."""
    with stage.node("spoil", key, "-", SPOILED, 0) as node:
        node.expect("sent", 30)
