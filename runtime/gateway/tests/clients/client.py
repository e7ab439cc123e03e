"""A client of the gateway, of Python's standard library alone, written from docs/gateway-protocol.md.

As a program it is one end of a test: `client.py unix:PATH receive TOPIC FROM COUNT` prints what it gets, `… send TOPIC COUNT` sends numbers.
An address with tls: takes ca.crt, client.crt and client.key from the folder $HORUS_CERTIFICATES.
"""

import os
import socket
import ssl
import struct
import sys

MAGIC, VERSION, HEAD = b"HRGW", 1, struct.Struct("<4sBBHIIQQII")
HELLO, WELCOME, SUBSCRIBE, ADVERTISE, TOPIC, REFUSED, CLOSE, MESSAGE, BATCH, ACK, HEARTBEAT = range(1, 12)
WANTS_ACK = 1
NOW, SEQUENCE, UNIX = range(3)
DROP_OLDEST, DROP_NEWEST, DISCONNECT = range(3)
ITEM = struct.Struct("<QQI")

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def frame(kind: int, channel: int = 0, payload: bytes = b"", sequence: int = 0, stamp: int = 0, flags: int = 0) -> bytes:
    head = HEAD.pack(MAGIC, VERSION, kind, flags, channel, len(payload), sequence, stamp, crc32c(payload), 0)[:36]
    return head + struct.pack("<I", crc32c(head)) + payload


def text(words: str) -> bytes:
    return struct.pack("<H", len(words.encode())) + words.encode()


def read_text(payload: bytes, at: int = 0) -> str:
    (length,) = struct.unpack_from("<H", payload, at)
    return payload[at + 2 : at + 2 + length].decode()


def context(folder: str) -> ssl.SSLContext:
    """Trusts the authority of ca.crt, and shows client.crt."""
    made = ssl.create_default_context(cafile=f"{folder}/ca.crt")
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.load_cert_chain(f"{folder}/client.crt", f"{folder}/client.key")
    return made


class Refused(Exception):
    pass


class Client:
    def __init__(self, address: str, name: str = "client.py"):
        kind, place = address.split(":", 1)
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(place)
        else:
            host, port = place.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))
        if kind == "tls":
            self.socket = context(os.environ["HORUS_CERTIFICATES"]).wrap_socket(self.socket, server_hostname=host)
        self.buffer, self.damaged, self.kept = b"", 0, []
        self.socket.sendall(frame(HELLO, payload=text(name)))
        payload = self.answer(WELCOME, 0)
        self.instance, self.heartbeat_ms, self.max_payload = struct.unpack_from("<QII", payload)

    def frames(self):
        """Frames as they come, without end; what is none is passed over."""
        while True:
            found = self.next_frame()
            if found:
                yield found
                continue
            received = self.socket.recv(65536)
            if not received:
                raise ConnectionError("the gateway closed the connection")
            self.buffer += received

    def next_frame(self):
        while len(self.buffer) >= HEAD.size:
            magic, version, kind, flags, channel, length, sequence, stamp, payload_crc, head_crc = HEAD.unpack_from(self.buffer)
            if magic != MAGIC or crc32c(self.buffer[:36]) != head_crc:
                self.damaged += 1
                at = self.buffer.find(MAGIC, 1)
                self.buffer = self.buffer[at:] if at > 0 else self.buffer[-3:]
                if at < 0:
                    return None
                continue
            if len(self.buffer) < HEAD.size + length:
                return None
            payload = self.buffer[HEAD.size : HEAD.size + length]
            if crc32c(payload) != payload_crc:
                self.damaged += 1
                self.buffer = self.buffer[HEAD.size :]
                continue
            self.buffer = self.buffer[HEAD.size + length :]
            if version == VERSION:
                return kind, flags, channel, sequence, stamp, payload
        return None

    def answer(self, wanted: int, channel: int) -> bytes:
        for received in self.frames():
            kind, _, of_channel, _, _, payload = received
            if of_channel == channel and kind == REFUSED:
                raise Refused(read_text(payload))
            if of_channel == channel and kind == wanted:
                return payload
            self.kept.append(received)
        raise AssertionError("frames have no end")

    def subscribe(self, channel: int, topic: str, begin: int = NOW, value: int = 0, when_full: int = DROP_OLDEST) -> dict:
        self.socket.sendall(frame(SUBSCRIBE, channel, struct.pack("<QII", value, begin, when_full) + text(topic)))
        return self.topic(channel)

    def advertise(self, channel: int, topic: str, layout_hash: int = 0) -> dict:
        self.socket.sendall(frame(ADVERTISE, channel, struct.pack("<Q", layout_hash) + text(topic)))
        return self.topic(channel)

    def topic(self, channel: int) -> dict:
        payload = self.answer(TOPIC, channel)
        names = "layout_hash", "next", "first", "message_bytes", "is_of_bytes"
        return dict(zip(names, struct.unpack_from("<QQQII", payload))) | {"text": read_text(payload, 32)}

    def messages(self):
        """Number, stamp and bytes of each message, without end."""
        while True:
            kept, self.kept = self.kept, []
            for kind, _, _, sequence, stamp, payload in kept or [next(self.frames())]:
                if kind == MESSAGE:
                    yield sequence, stamp, payload
                elif kind == BATCH:
                    at = 0
                    while at < len(payload):
                        sequence, stamp, length = ITEM.unpack_from(payload, at)
                        at += ITEM.size + length
                        yield sequence, stamp, payload[at - length : at]

    def send(self, channel: int, message: bytes, sequence: int = 0, flags: int = 0):
        self.socket.sendall(frame(MESSAGE, channel, message, sequence, 0, flags))

    def send_batch(self, channel: int, messages: list, sequence: int = 0, flags: int = 0):
        payload = b"".join(ITEM.pack(0, 0, len(message)) + message for message in messages)
        self.socket.sendall(frame(BATCH, channel, payload, sequence, 0, flags))


def receive(client: Client, topic: str, begin: str, count: str):
    first = int(begin)
    client.subscribe(5, topic, SEQUENCE if first else NOW, first)
    print("ready", flush=True)
    for index, (sequence, _, message) in enumerate(client.messages(), 1):
        print(sequence, message.hex(), flush=True)
        if index == int(count):
            return


def send(client: Client, topic: str, count: str):
    """Numbers one by one, then as a batch; prints the acknowledgements."""
    client.advertise(6, topic)
    half = int(count) // 2
    for number in range(half):
        client.send(6, struct.pack("<Q", number), number, WANTS_ACK)
        sequence, taken, lost = struct.unpack_from("<QII", client.answer(ACK, 6))
        print(sequence, taken, lost, flush=True)
    client.send_batch(6, [struct.pack("<Q", number) for number in range(half, int(count))], half, WANTS_ACK)
    print(*struct.unpack_from("<QII", client.answer(ACK, 6)), flush=True)


def damage(client: Client, topic: str):
    """Garbage and damaged frames between good ones; waits for the heartbeat that counts them."""
    client.advertise(6, topic)
    good = frame(MESSAGE, 6, b"good")
    flipped = good[:-1] + bytes([good[-1] ^ 1])
    client.socket.sendall(b"garbage" + good + flipped + good + good[:42] + good)
    for kind, _, _, _, _, payload in client.frames():
        # One that was made before all of it came counts less.
        if kind == HEARTBEAT and struct.unpack_from("<Q", payload, 16)[0] == 3:
            print(*struct.unpack_from("<QQQQ", payload), flush=True)
            return


if __name__ == "__main__":
    {"receive": receive, "send": send, "damage": damage}[sys.argv[2]](Client(sys.argv[1]), *sys.argv[3:])
