"""A node of the real ROS 2 for checks.ros2.pictures: python picture.py send|receive TOPIC COUNT EVERY_US|SECONDS. Pictures say when they were sent.

receive says how old they were, in microseconds, as JSON. Both offer and ask for what rclpy does by default: reliable, the last 10.
"""

import json
import sys
import time

import rclpy
from sensor_msgs.msg import Image

HEIGHT, WIDTH = 240, 320
DEPTH = 10
# What stands in a picture's first bytes: its number.
NUMBER_BYTES = 8


def main() -> None:
    verb, topic, count, time_word = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node(f"picture_{verb}_{topic.strip('/')}")
    if verb == "send":
        send(node, topic, int(count), int(time_word))
    else:
        receive(node, topic, int(count), float(time_word))


def send(node, topic: str, count: int, every_us: int) -> None:
    publisher = node.create_publisher(Image, topic, DEPTH)
    message = Image(height=HEIGHT, width=WIDTH, encoding="rgb8", step=3 * WIDTH)
    message.data.frombytes(bytes(3 * HEIGHT * WIDTH))
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.monotonic()
    for number in range(1, count + 1):
        time.sleep(max(0.0, start + number * every_us / 1e6 - time.monotonic()))
        message.data[:NUMBER_BYTES] = type(message.data)("B", number.to_bytes(NUMBER_BYTES, "little"))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 10**9)
        publisher.publish(message)
    print("sent", flush=True)
    sys.stdin.readline()


def receive(node, topic: str, count: int, seconds: float) -> None:
    ages, numbers = [], []

    def take(message) -> None:
        stamp = message.header.stamp
        ages.append((time.time_ns() - stamp.sec * 10**9 - stamp.nanosec) // 1000)
        numbers.append(int.from_bytes(message.data[:NUMBER_BYTES].tobytes(), "little"))

    node.create_subscription(Image, topic, take, DEPTH)
    end = time.monotonic() + seconds
    while not node.count_publishers(topic) and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    print("matched", flush=True)
    while (not numbers or numbers[-1] < count) and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    print("result", json.dumps(ages), flush=True)


main()
