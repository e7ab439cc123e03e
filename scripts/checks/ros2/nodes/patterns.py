"""Messages that follow from their number, as runtime/bridge/examples/peer.rs makes them: for programs that have ROS 2's types.

Message 0 says only that a sender is there.
"""

import array
import os
import struct

from geometry_msgs.msg import Twist, Vector3
from sensor_msgs.msg import Image, Imu
from std_msgs.msg import String

SIDE = 1024


def imu(number: int) -> Imu:
    numbers = [float(number * 1000 + index) for index in range(37)]
    message = Imu()
    message.header.frame_id = os.environ.get("IMU_FRAME", "imu")
    o, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    o.x, o.y, o.z, o.w = numbers[:4]
    message.orientation_covariance = numbers[4:13]
    w.x, w.y, w.z = numbers[13:16]
    message.angular_velocity_covariance = numbers[16:25]
    a.x, a.y, a.z = numbers[25:28]
    message.linear_acceleration_covariance = numbers[28:37]
    return message


def vector(number: int) -> Vector3:
    x, y, z = (float(number * 1000 + index) for index in range(3))
    return Vector3(x=x, y=y, z=z)


def command(number: int) -> Twist:
    message = Twist()
    message.linear.x, message.angular.z = float(number * 1000), float(number * 1000 + 1)
    return message


def image(number: int) -> Image:
    message = Image(height=SIDE, width=SIDE, encoding="mono8", step=SIDE)
    message.header.frame_id = "image"
    message.data = array.array("B", struct.pack("<Q", number) + bytes([number & 0xFF]) * (SIDE * SIDE - 8))
    return message


def text(number: int) -> String:
    return String(data=f"message {number} {'ä' * (number % 50)}")


# How each is made, and how its number is read from it.
TYPES = {
    "imu": (Imu, imu, lambda message: int(message.orientation.x) // 1000),
    "vector": (Vector3, vector, lambda message: int(message.x) // 1000),
    "command": (Twist, command, lambda message: int(message.linear.x) // 1000),
    "image": (Image, image, lambda message: struct.unpack("<Q", message.data[:8].tobytes())[0]),
    "text": (String, text, lambda message: int(message.data.split()[1])),
}
