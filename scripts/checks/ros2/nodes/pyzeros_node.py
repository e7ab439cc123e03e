"""A node of pyzeros, for the checks: python pyzeros_node.py receive|send|plain|spoil|token TOPIC KIND COUNT SECONDS|EVERY_US [OPTION] connect|listen PLACE.

receive and send say what ros.py says; their options are best_effort and more. plain, spoil and token use eclipse-zenoh alone. plain listens to
everything, and says what it saw of keys, attachments and payloads; meanwhile it sends as many messages under the key TOPIC. spoil sends messages
that are none under this key, and some that lack their attachment. token is in the graph by the token TOPIC, and nothing else.
"""

import json
import random
import struct
import sys
import threading
import time

import pyzeros
import zenoh
from pyzeros.qos import HistoryPolicy, QosProfile, ReliabilityPolicy
from pyzeros.sub import RawSub
from pyzeros.utils import rmw_zenoh_gid
from ros2_pyterfaces.cydr.all_msgs import String, Vector3


def vector(number: int) -> Vector3:
    x, y, z = (float(number * 1000 + index) for index in range(3))
    return Vector3(x=x, y=y, z=z)


def text(number: int) -> String:
    return String(data=f"message {number} {'ä' * (number % 50)}".encode())


# Between two messages of plain.
EVERY_S = 0.0004
TYPES = {
    "vector": (Vector3, vector, lambda message: int(message.x) // 1000),
    "text": (String, text, lambda message: int(bytes(message.data).decode().split()[1])),
}


def main() -> None:
    verb, topic, kind, count, time_word, *options, way, place = sys.argv[1:]
    config = zenoh.Config()
    # As rmw_zenoh has it: a router to which all connect, and which passes on what they say.
    mode = "router" if way == "listen" else "peer"
    for key, value in (("mode", json.dumps(mode)), ("scouting/multicast/enabled", "false"), (f"{way}/endpoints", json.dumps([place]))):
        config.insert_json5(key, value)
    with zenoh.open(config) as session:
        if verb == "plain":
            plain(session, topic, int(count), float(time_word))
            return
        if verb == "spoil":
            spoil(session, topic, int(count))
            return
        if verb == "token":
            token = session.liveliness().declare_token(topic)
            print("ready", flush=True)
            sys.stdin.readline()
            token.undeclare()
            return
        node = pyzeros.Node(name=f"checker_{verb}", session=session)
        reliability = ReliabilityPolicy.BEST_EFFORT if "best_effort" in options else ReliabilityPolicy.RELIABLE
        quality = QosProfile(history=HistoryPolicy.KEEP_ALL, reliability=reliability)
        if verb == "receive":
            receive(node, topic, kind, int(count), float(time_word), quality, "more" in options)
        else:
            send(node, topic, kind, int(count), int(time_word), quality)


def receive(node, topic: str, kind: str, count: int, seconds: float, quality, is_more: bool) -> None:
    type_, make, number_of = TYPES[kind]
    got, came = [], threading.Event()

    def take(sample) -> None:
        got.append(sample.payload.to_bytes())
        came.set()

    RawSub(msg_type=type_, topic=topic, callback=take, qos_profile=quality, session=node, scope=None)
    print("ready", flush=True)
    first, last, wrong, gaps, done, is_matched = 0, 0, 0, 0, 0, False
    end, enough = time.monotonic() + seconds, threading.Event()
    threading.Thread(target=lambda: sys.stdin.readline() and enough.set(), daemon=True).start()
    while (done if is_more else last) < count and time.monotonic() < end and not enough.is_set():
        came.wait(0.05)
        came.clear()
        while done < len(got):
            raw, got[done] = got[done], None
            done += 1
            number = number_of(type_.deserialize(raw))
            if not is_matched:
                is_matched = True
                print("matched", flush=True)
            if number == 0:
                continue
            if first == 0:
                print("begun", flush=True)
            wrong += raw != bytes(make(number).serialize())
            gaps += first != 0 and number != last + 1
            first, last = first or number, number
    print("result", json.dumps({"first": first, "last": last, "wrong": wrong, "gaps": gaps}), flush=True)


def send(node, topic: str, kind: str, count: int, every_us: int, quality) -> None:
    type_, make, _ = TYPES[kind]
    publisher = pyzeros.Pub(type_, topic, qos_profile=quality, session=node, scope=None)
    go = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), go.set()), daemon=True).start()
    print("ready", flush=True)
    while not go.wait(0.05):
        publisher.publish(make(0))
    start = time.monotonic()
    for number in range(1, count + 1):
        time.sleep(max(0.0, start + number * every_us / 1e6 - time.monotonic()))
        publisher.publish(make(number))
    print("sent", round(time.monotonic() - start, 2), flush=True)
    sys.stdin.readline()


def plain(session, topic: str, count: int, seconds: float) -> None:
    """The bridge's messages carry the number that pyzeros computes of the bridge's own token; numbers grow by one."""
    got, numbers, ages, keys, lengths, gids, wrong = 0, [], [], set(), set(), set(), 0
    first = None

    def take(sample) -> None:
        nonlocal got, first, wrong
        if str(sample.key_expr).startswith(topic):
            return  # our own
        attachment, payload = sample.attachment.to_bytes(), sample.payload.to_bytes()
        keys.add(str(sample.key_expr))
        lengths.add(len(attachment))
        gids.add(attachment[17:].hex())
        numbers.append(int.from_bytes(attachment[:8], "little"))
        ages.append(abs(time.time_ns() - int.from_bytes(attachment[8:16], "little")) / 1e9)
        number = int(struct.unpack("<d", payload[4:12])[0]) // 1000
        if number > 0:
            first = first or number
            wrong += payload != cdr(number)
            got = number

    subscriber = session.declare_subscriber("0/**", take)
    publisher = session.declare_publisher(topic, congestion_control=zenoh.CongestionControl.BLOCK)
    go = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), go.set()), daemon=True).start()
    gid, sequence = bytes(range(16)), 0

    def put(number: int) -> None:
        nonlocal sequence
        sequence += 1
        publisher.put(cdr(number), attachment=attachment(sequence, gid))

    print("ready", flush=True)
    while not go.wait(0.05):
        put(0)
    start = time.monotonic()
    for number in range(1, count + 1):
        time.sleep(max(0.0, start + number * EVERY_S - time.monotonic()))
        put(number)
    end = time.monotonic() + seconds
    while got < count and time.monotonic() < end:
        time.sleep(0.05)
    subscriber.undeclare()
    tokens = [str(reply.ok.key_expr) for reply in session.liveliness().get("@ros2_lv/**", timeout=2.0) if reply.ok]
    known = {rmw_zenoh_gid(token).hex() for token in tokens}
    told = {
        "keys": sorted(keys),
        "tokens": tokens,
        "lengths": sorted(lengths),
        "are_known": gids <= known,
        "is_counted": all(after == before + 1 for before, after in zip(numbers, numbers[1:], strict=False)),
        "oldest_s": max(ages, default=0),
        "got": [first, got, wrong],
    }
    print("result", json.dumps(told), flush=True)


def attachment(sequence: int, gid: bytes) -> bytes:
    return struct.pack("<qqB", sequence, time.time_ns(), len(gid)) + gid


def cdr(number: int) -> bytes:
    """A vector as ROS 2 writes it, without any of its packages."""
    return b"\0\1\0\0" + struct.pack("<3d", *(number * 1000 + index for index in range(3)))


def spoil(session, topic: str, count: int) -> None:
    """Half of the messages are cut somewhere, and say that they are another CDR; each has an attachment of another length."""
    random_ = random.Random(7)
    publisher = session.declare_publisher(topic, congestion_control=zenoh.CongestionControl.BLOCK)
    while not publisher.matching_status.matching:
        time.sleep(0.02)
    for number in range(count):
        payload = cdr(1)[: number % 27] if number % 2 else random_.randbytes(4) + cdr(1)[4:]
        payload = b"\xff" + payload[1:] if number % 2 == 0 else payload
        publisher.put(payload, attachment=random_.randbytes(number % 40) if number % 5 else None)
    time.sleep(0.3)
    print("sent", count, flush=True)
    sys.stdin.readline()


main()
