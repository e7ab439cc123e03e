"""Transforms: frames sent and looked up, from one process and from two; latched topics."""

import math
import time
import unittest

import horus
from horus.messages import Pose2D
from support import TopicsCase

SENDER = """
import horus, sys
mounted = horus.StaticBroadcaster()
mounted.add("base", "lidar", horus.Transform.planar(0.0, 0.5))
base = horus.Broadcaster("odom", "base")
for k in range(1, 11):
    base.send(k * 1_000_000, horus.Transform.planar(float(k), 0.0))
print("sent", flush=True)
sys.stdin.read()
"""


class Transforms(TopicsCase):
    def test_frames_of_another_process_are_looked_up_at_a_time(self):
        frames = horus.Frames()
        sender = self.start(SENDER)
        seen = frames.wait("odom", "lidar", 10_000_000, "30 s")
        self.assertEqual(seen.translation, (10.0, 0.5, 0.0))
        self.wait_for_line(sender, "sent")
        self.assertEqual(frames.at("odom", "lidar", 5_500_000).translation, (5.5, 0.5, 0.0))
        self.assertEqual(frames.at("lidar", "odom", 5_500_000).translation, (-5.5, -0.5, 0.0))
        newest, at = frames.newest("odom", "base")
        self.assertEqual((newest.translation[0], at), (10.0, 10_000_000))
        self.assertIsNone(frames.newest("base", "lidar")[1])
        with self.assertRaisesRegex(horus.HorusError, "base is in odom already, sent by process"):
            horus.Broadcaster("map", "base")

    def test_what_is_refused_says_why(self):
        with horus.Broadcaster("odom", "base") as base, horus.StaticBroadcaster() as mounted:
            mounted.add("dock", "plate", horus.Transform())
            base.send(1_000_000, horus.Transform.planar(1.0, 0.0, 0.5))
            frames = horus.Frames()
            for work, words in (
                (lambda: frames.at("odom", "bse", 1), "the nearest name is base"),
                (lambda: frames.at("odom", "plate", 1), "odom and plate are not connected"),
                (lambda: frames.at("odom", "base", 3_000_000), "known until 2ms before"),
                (lambda: frames.wait("odom", "base", 3_000_000, 0.01), "known until 2ms before"),
                (lambda: base.send(1_000_000, horus.Transform()), "its time is not after"),
                (lambda: base.send(time.time_ns(), horus.Transform()), "after now"),
                (lambda: base.send(2_000_000, horus.Transform((0, 0, 0), (0, 0, 0, 0))), "its rotation has the length 0"),
                (lambda: mounted.add("base", "odom", horus.Transform()), "a tree has no loop"),
                (lambda: mounted.add_urdf("/nowhere.urdf"), "/nowhere.urdf"),
            ):
                with self.assertRaisesRegex(horus.HorusError, words):
                    work()
        with self.assertRaisesRegex(horus.HorusError, "was closed"):
            base.send(2_000_000, horus.Transform())

    def test_transforms_are_put_one_after_the_other_and_turned_round(self):
        robot = horus.Transform.planar(1.0, 2.0, math.pi / 2)
        ahead = robot * horus.Transform.planar(3.0, 0.0)
        self.assertAlmostEqual(ahead.translation[0], 1.0)
        self.assertAlmostEqual(ahead.translation[1], 5.0)
        self.assertAlmostEqual((robot * robot.inverse()).distance(horus.Transform()), 0.0)
        self.assertAlmostEqual(robot.apply((1.0, 0.0, 0.0))[1], 3.0)
        self.assertAlmostEqual(robot.yaw, math.pi / 2)

    def test_fixed_joints_of_a_urdf_file(self):
        path = f"{self.directory}/robot.urdf"
        with open(path, "w") as file:
            file.write('<robot><joint type="fixed"><parent link="a"/><child link="b"/><origin xyz="1 2 3"/></joint></robot>')
        with horus.StaticBroadcaster() as mounted:
            self.assertEqual(mounted.add_urdf(path), 1)
            self.assertEqual(horus.Frames().at("a", "b", 1).translation, (1.0, 2.0, 3.0))


class Latched(TopicsCase):
    def test_who_comes_late_gets_the_last_message_of_a_process_that_ended(self):
        program = "import horus; from horus.messages import Pose2D; horus.Publisher(Pose2D, 'dock', latched=True).send(Pose2D(x=4))"
        self.assertEqual(self.run_program(program)[0], 0)
        self.assertEqual(horus.Subscriber(Pose2D, "dock", latched=True).recv(timeout=1).x, 4.0)


if __name__ == "__main__":
    unittest.main()
