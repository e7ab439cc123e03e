"""A neighbour on the machine's own network segment, which asks for it by name: what QEMU's forwarded ports cannot, because the question goes to all."""

import socket
import struct
import time

GROUP, PORT = "224.0.0.251", 5353
GROUP_MAC = bytes.fromhex("01005e0000fb")
OWN_ADDRESS, OWN_MAC = "10.0.2.77", bytes.fromhex("525500000077")
IPV4, UDP = 0x0800, 17
HOST_ADDRESS, INTERNET = 1, 1
# The highest bit of a record's class says that it is the only one of its name.
CLASS = 0x7FFF


def ask(wire: socket.socket, machine: tuple, name: str, seconds: float) -> str | None:
    """Asks all machines on the wire for the address of `name`, by multicast DNS (RFC 6762); None when none answers in time."""
    end = time.monotonic() + seconds
    wire.settimeout(1)
    while time.monotonic() < end:
        wire.sendto(frame(question(name)), machine)
        heard = time.monotonic() + 1
        while time.monotonic() < heard:
            try:
                address = answered(wire.recv(2048), name)
            except TimeoutError:
                break
            if address:
                return address
    return None


def question(name: str) -> bytes:
    """One question for a host's address."""
    return struct.pack("!6H", 0, 0, 1, 0, 0, 0) + labels(name) + struct.pack("!2H", HOST_ADDRESS, INTERNET)


def labels(name: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def frame(data: bytes) -> bytes:
    """A datagram to the group, on Ethernet."""
    datagram = struct.pack("!4H", PORT, PORT, 8 + len(data), 0) + data  # a checksum of 0 is none
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 255, UDP, 0, socket.inet_aton(OWN_ADDRESS), socket.inet_aton(GROUP))
    total = sum(struct.unpack("!10H", header))
    checksum = ~(total + (total >> 16)) & 0xFFFF
    return GROUP_MAC + OWN_MAC + struct.pack("!H", IPV4) + header[:10] + struct.pack("!H", checksum) + header[12:] + datagram


def answered(packet: bytes, name: str) -> str | None:
    """The address, if this is an answer that gives it."""
    if packet[12:14] != struct.pack("!H", IPV4) or packet[23] != UDP or packet[6:12] == OWN_MAC:
        return None
    data = packet[14 + (packet[14] & 15) * 4 + 8:]
    if len(data) < 12 or not data[2] & 0x80:
        return None
    # The first record of the answer repeats the name in full: nothing stands before it that it could point to.
    record = data.find(labels(name))
    if record < 0:
        return None
    kind, network, _, length = struct.unpack_from("!HHIH", data, record + len(labels(name)))
    start = record + len(labels(name)) + 10
    return socket.inet_ntoa(data[start:start + 4]) if (kind, network & CLASS, length) == (HOST_ADDRESS, INTERNET, 4) else None
