"""A node of the real ROS 2, for the checks: python ros.py receive|send|info TOPIC KIND COUNT SECONDS|EVERY_US [OPTION...].

receive says `matched` when a publisher is there, `begun` at the first number above 0, then what it got as JSON; send says `matched` when a
subscription hears it, waits for a line, and sends until another one comes; at the line `spoil N` it sends so many messages whose ends are missing.
info says what ROS 2 sees of a topic. Options are best_effort, transient_local, keep_last; receive ends at a line, too, and with the option more
after COUNT messages, whatever their numbers. Serialised messages are compared bit for bit with those that rclpy itself makes.
"""

import json
import queue
import sys
import threading
import time

import rclpy
from patterns import TYPES
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message


def main() -> None:
    verb, topic, kind, count, time_word, *options = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node(f"checker_{verb}")
    reliability = ReliabilityPolicy.BEST_EFFORT if "best_effort" in options else ReliabilityPolicy.RELIABLE
    durability = DurabilityPolicy.TRANSIENT_LOCAL if "transient_local" in options else DurabilityPolicy.VOLATILE
    history = HistoryPolicy.KEEP_LAST if kind == "image" or "keep_last" in options else HistoryPolicy.KEEP_ALL
    quality = QoSProfile(depth=100, reliability=reliability, history=history, durability=durability)
    if verb == "receive":
        receive(node, topic, kind, int(count), float(time_word), quality, "more" in options)
    elif verb == "send":
        send(node, topic, kind, int(count), int(time_word), quality)
    else:
        info(node, topic, kind, quality)


def receive(node, topic: str, kind: str, count: int, seconds: float, quality, is_more: bool) -> None:
    type_, make, number_of = TYPES[kind]
    got = []
    node.create_subscription(type_, topic, got.append, quality, raw=True)
    print("ready", flush=True)
    first, last, wrong, gaps, is_matched, done = 0, 0, 0, 0, False, 0
    end, enough = time.monotonic() + seconds, threading.Event()
    threading.Thread(target=lambda: sys.stdin.readline() and enough.set(), daemon=True).start()
    while (done if is_more else last) < count and time.monotonic() < end and not enough.is_set():
        rclpy.spin_once(node, timeout_sec=0.05)
        while done < len(got):
            raw, got[done] = got[done], None
            done += 1
            number = number_of(deserialize_message(raw, type_))
            if not is_matched:
                is_matched = True
                print("matched", flush=True)
            if number == 0:
                continue
            if first == 0:
                print("begun", flush=True)
            wrong += not is_same(raw, serialize_message(make(number)), type_)
            gaps += first != 0 and number != last + 1
            first, last = first or number, number
    print("result", json.dumps({"first": first, "last": last, "wrong": wrong, "gaps": gaps}), flush=True)


def is_same(raw: bytes, expected: bytes, type_) -> bool:
    """Bit for bit, but for what is no field's: rclpy writes whatever it finds between fields, and RTPS fills the last word of a message."""
    if len(raw) - len(expected) not in range(4) or any(raw[len(expected) :]):
        return False
    return raw[: len(expected)] == expected or deserialize_message(raw, type_) == deserialize_message(expected, type_)


def send(node, topic: str, kind: str, count: int, every_us: int, quality) -> None:
    type_, make, _ = TYPES[kind]
    publisher = node.create_publisher(type_, topic, quality)
    words = queue.Queue()
    threading.Thread(target=hear, args=(words,), daemon=True).start()
    print("ready", flush=True)
    while words.empty():
        publisher.publish(make(0))
        time.sleep(0.05)
    if words.get() == "":
        return
    # Large ones are made before, so that their making costs the rate nothing.
    messages = [make(number) for number in range(1, count + 1)] if kind == "image" and count <= 500 else None
    start = time.monotonic()
    for number in range(1, count + 1):
        if not words.empty():
            break
        time.sleep(max(0.0, start + number * every_us / 1e6 - time.monotonic()))
        publisher.publish(messages[number - 1] if messages else make(number))
    print("sent", round(time.monotonic() - start, 2), flush=True)
    while (word := words.get()) != "":
        if word.startswith("spoil"):
            spoil(publisher, serialize_message(make(1)), int(word.split()[1]))


def hear(words: queue.Queue) -> None:
    """Hands on the lines of standard input; an empty text is its end."""
    for word in sys.stdin:
        words.put(word)
    words.put("")


def spoil(publisher, whole: bytes, count: int) -> None:
    """Sends messages that end too early, and leaves them the time to go."""
    for number in range(count):
        publisher.publish(whole[: 4 + number % (len(whole) - 8)])
    time.sleep(0.5)
    print("spoiled", count, flush=True)


def info(node, topic: str, kind: str, quality) -> None:
    type_ = TYPES[kind][0]
    node.create_publisher(type_, "/oracle", quality)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
        found = node.get_publishers_info_by_topic(topic) + node.get_subscriptions_info_by_topic(topic)
        own = node.get_publishers_info_by_topic("/oracle")
        if found and own and found[0].node_name != "_NODE_NAME_UNKNOWN_":
            break
    one = found[0] if found else None
    told = {
        "node": one and one.node_name,
        "type": one and one.topic_type,
        "reliability": one and one.qos_profile.reliability.name,
        "nodes": node.get_node_names(),
        "topics": dict(node.get_topic_names_and_types()),
        "hash": f"RIHS01_{own[0].topic_type_hash.value.hex()}" if own and isinstance(own[0].topic_type_hash.value, bytes) else str(own[0].topic_type_hash),
    }
    print("result", json.dumps(told), flush=True)


main()
