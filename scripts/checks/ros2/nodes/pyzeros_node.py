"""A node of pyzeros, for the checks: python pyzeros_node.py receive|send|plain TOPIC KIND COUNT SECONDS|EVERY_US PLACE.

receive and send say what ros.py says. plain listens to everything by eclipse-zenoh alone, and says what it saw of keys and attachments.
"""

import json
import sys
import threading
import time

import pyzeros
import zenoh
from pyzeros.qos import HistoryPolicy, QosProfile
from pyzeros.sub import RawSub
from pyzeros.utils import rmw_zenoh_gid
from ros2_pyterfaces.cydr.all_msgs import String, Vector3


def vector(number: int) -> Vector3:
    x, y, z = (float(number * 1000 + index) for index in range(3))
    return Vector3(x=x, y=y, z=z)


def text(number: int) -> String:
    return String(data=f"message {number} {'ä' * (number % 50)}".encode())


TYPES = {
    "vector": (Vector3, vector, lambda message: int(message.x) // 1000),
    "text": (String, text, lambda message: int(bytes(message.data).decode().split()[1])),
}


def main() -> None:
    verb, topic, kind, count, time_word, place = sys.argv[1:]
    config = zenoh.Config()
    for key, value in (("mode", '"peer"'), ("scouting/multicast/enabled", "false"), ("connect/endpoints", json.dumps([place]))):
        config.insert_json5(key, value)
    with zenoh.open(config) as session:
        if verb == "plain":
            plain(session, int(count), float(time_word))
            return
        node = pyzeros.Node(name=f"checker_{verb}", session=session)
        if verb == "receive":
            receive(node, topic, kind, int(count), float(time_word))
        else:
            send(node, topic, kind, int(count), int(time_word))


def receive(node, topic: str, kind: str, count: int, seconds: float) -> None:
    type_, make, number_of = TYPES[kind]
    got, came = [], threading.Event()

    def take(sample) -> None:
        got.append(sample.payload.to_bytes())
        came.set()

    RawSub(msg_type=type_, topic=topic, callback=take, session=node, scope=None)
    print("ready", flush=True)
    first, last, wrong, gaps, done, is_matched = 0, 0, 0, 0, 0, False
    end = time.monotonic() + seconds
    while last < count and time.monotonic() < end:
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
            wrong += raw != bytes(make(number).serialize())
            gaps += first != 0 and number != last + 1
            first, last = first or number, number
    print("result", json.dumps({"first": first, "last": last, "wrong": wrong, "gaps": gaps}), flush=True)


def send(node, topic: str, kind: str, count: int, every_us: int) -> None:
    type_, make, _ = TYPES[kind]
    quality = QosProfile(history=HistoryPolicy.KEEP_ALL)
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


def plain(session, count: int, seconds: float) -> None:
    """The bridge's messages carry the number that pyzeros computes of the bridge's own token; numbers grow by one."""
    got = []
    subscriber = session.declare_subscriber("**", lambda sample: got.append((str(sample.key_expr), sample.attachment.to_bytes())))
    end = time.monotonic() + seconds
    while len(got) < count and time.monotonic() < end:
        time.sleep(0.05)
    subscriber.undeclare()
    tokens = [str(reply.ok.key_expr) for reply in session.liveliness().get("@ros2_lv/**", timeout=2.0) if reply.ok]
    gids = {rmw_zenoh_gid(token).hex(): token for token in tokens}
    numbers = [int.from_bytes(attachment[:8], "little") for _, attachment in got]
    now = time.time_ns()
    told = {
        "keys": sorted({key for key, _ in got}),
        "tokens": tokens,
        "lengths": sorted({len(attachment) for _, attachment in got}),
        "are_known": all(attachment[17:].hex() in gids for _, attachment in got),
        "is_counted": all(after == before + 1 for before, after in zip(numbers, numbers[1:], strict=False)),
        "oldest_s": max((abs(now - int.from_bytes(attachment[8:16], "little")) / 1e9 for _, attachment in got), default=0),
    }
    print("result", json.dumps(told), flush=True)


main()
