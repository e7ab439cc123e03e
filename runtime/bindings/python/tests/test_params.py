"""Parameters: declared in a node, set from another process, saved and watched."""

import os
import signal
import time
import unittest

import horus
from support import LONGEST_SECONDS, TopicsCase

PROGRAM = """
import horus

class Gains:
    gain: float = horus.param(0.8, unit="1/s", range=(0.0, 4.0), about="speed for a metre of distance")
    turn: int = horus.param(2, range=(0, 5))
    name = "base"
    frame = horus.param("odom", read_only=True)

app = horus.App("nav", [])
gains = app.params(Gains)
out = app.output(dict, "seen")

@app.node(period="5 ms")
def drive(cycle):
    out.set({"gain": gains.gain, "turn": gains.turn, "name": gains.name})

app.run()
"""


def declare(app):
    gain = app.param("gain", 0.5, unit="1/s", range=(0.0, 4.0), about="how fast")
    is_on = app.param("on", True)
    out = app.output(dict, "seen")

    @app.node(period=0.001)
    def drive(cycle):
        out.set({"gain": gain.value, "on": is_on.value})


class InAWorld(unittest.TestCase):
    def test_a_step_reads_what_a_test_sets(self):
        world = horus.World(declare)
        world.run_for("2 ms")
        self.assertEqual(world.last(dict, "seen"), {"gain": 0.5, "on": True})
        world.set_param("drive", "gain", 2)
        world.set_param("drive", "on", False)
        world.run_for("2 ms")
        self.assertEqual(world.last(dict, "seen"), {"gain": 2.0, "on": False})
        for name, value, words in (
            ("gain", 9.0, r"gain may be 0 to 4 1/s \(how fast\); it stays 2"),
            ("gain", float("nan"), "gain may be 0 to 4"),
            ("gain", "fast", "gain may be 0 to 4"),
            ("on", 1, "on may be true or false"),
            ("gian", 1.0, "did you mean gain?"),
        ):
            with self.assertRaisesRegex(horus.HorusError, words):
                world.set_param("drive", name, value)
        with self.assertRaisesRegex(TypeError, "a parameter is a bool"):
            world.set_param("drive", "gain", [1.0])
        world.run_for("2 ms")
        self.assertEqual(world.last(dict, "seen"), {"gain": 2.0, "on": False})

    def test_a_class_declares_parameters_and_its_object_reads_them(self):
        class Base:
            rate = 3

        class Gains(Base):
            gain: float = horus.param(0.5, range=(0.0, 4.0))
            name: str = "base"

            def doubled(self):
                return 2 * self.gain

        seen = []

        def declare(app):
            gains = app.params(Gains)
            self.assertIsInstance(gains, Gains)

            @app.node(period=0.001)
            def drive(cycle):
                seen.append((gains.rate, gains.gain, gains.name, gains.doubled()))

            with self.assertRaisesRegex(AttributeError, "others set it"):
                gains.gain = 1.0

        world = horus.World(declare)
        world.run_for("1 ms")
        world.set_param("drive", "gain", 1.5)
        world.set_param("drive", "name", "odom")
        world.run_for("1 ms")
        self.assertEqual(seen[0], (3, 0.5, "base", 1.0))
        self.assertEqual(seen[-1], (3, 1.5, "odom", 3.0))

    def test_a_wrong_declaration_is_told(self):
        def world(work):
            def declare(app):
                work(app)
                app.node("drive", period=0.001)(lambda cycle: None)

            return horus.World(declare)

        class Missing:
            gain: float

        class Nothing:
            pass

        for error, work, words in (
            (horus.HorusError, lambda app: app.param("gain", 0.5, range=(0, "x")), "is not of a finite number"),
            (horus.HorusError, lambda app: app.param("gain", 9.0, range=(0.0, 4.0)), "has a default that it may not have"),
            (horus.HorusError, lambda app: app.param("name", "x" * 65), "a text of at most 64 bytes"),
            (TypeError, lambda app: app.param("gain", None), "a parameter is a bool"),
            (TypeError, lambda app: app.param("gain", 0.5, units="m"), "has no option units"),
            (ValueError, lambda app: app.param("gain", 1 << 70), "has 64 bits"),
            (TypeError, lambda app: app.params(Missing), "gain of Missing has no default"),
            (TypeError, lambda app: app.params(Nothing), "has no parameters"),
        ):
            with self.assertRaisesRegex(error, words):
                world(work)


class OfAnotherProgram(TopicsCase):
    def setUp(self):
        super().setUp()
        os.environ["HORUS_STATE_DIR"] = self.directory
        self.addCleanup(os.environ.pop, "HORUS_STATE_DIR")

    def nav(self):
        process = self.start(PROGRAM)
        until = time.monotonic() + LONGEST_SECONDS
        while True:
            try:
                return process, horus.params("nav/drive")
            except horus.HorusError:
                self.assertIsNone(process.poll(), msg=process.poll() is not None and process.stderr.read())
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)

    def ends(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(LONGEST_SECONDS)

    def test_parameters_are_listed_set_watched_and_saved(self):
        process, params = self.nav()
        gain, turn, name, frame = params.list()
        self.assertEqual((gain.node, gain.name, gain.kind, gain.value, gain.default), ("drive", "gain", "float", 0.8, 0.8))
        self.assertEqual((gain.unit, gain.about, gain.range), ("1/s", "speed for a metre of distance", (0.0, 4.0)))
        self.assertEqual((gain.source, gain.user, gain.set_at, gain.saved_at), ("program", None, None, None))
        self.assertEqual((turn.kind, turn.range, name.range, frame.read_only), ("int", (0, 5), None, True))

        seen = horus.Subscriber(dict, "seen")
        watch = params.watch()
        params.gain = 1.5
        self.assertEqual(params.gain, 1.5)
        params.set(turn=3, name="odom")
        self.assertEqual((params.turn, params.name), (3, "odom"))
        until = time.monotonic() + LONGEST_SECONDS
        while seen.recv(1.0) != {"gain": 1.5, "turn": 3, "name": "odom"}:
            self.assertLess(time.monotonic(), until)
        changes = {}
        while len(changes) < 3:
            change = next(watch)
            changes[change.now.name] = (change.before, change.now.value, change.now.source, change.now.user)
        self.assertEqual(changes["gain"], (0.8, 1.5, "command", os.getuid()))
        self.assertEqual(changes["turn"][:2], (2, 3))

        for work, words in (
            (lambda: params.set(gain=9.0), r"gain may be 0 to 4 1/s \(speed for a metre of distance\); it stays 1.5"),
            (lambda: params.set(turn=4, gain=9.0), "gain may be 0 to 4"),
            (lambda: params.set(gian=1.0), "did you mean gain?"),
            (lambda: params.set(frame="map"), "changes at the program's start alone"),
            (lambda: params.gian, "did you mean gain?"),
            (lambda: horus.params("nav/driver"), "has no node driver"),
            (lambda: horus.params("none"), "no living program none"),
        ):
            with self.assertRaisesRegex(horus.HorusError, words):
                work()
        self.assertEqual((params.gain, params.turn), (1.5, 3))

        self.assertIn("1 value in ", params.save("gain"))
        self.assertIsNotNone(params.get("gain").saved_at)
        params.gain = 3.0
        params.load("gain")
        self.assertEqual((params.gain, params.get("gain").source), (1.5, "saved"))
        self.ends(process)
        self.assertTrue(all(change.now.name != "none" for change in watch), "a watch ends with its program")

        process, params = self.nav()
        self.assertEqual((params.gain, params.turn, params.get("gain").source), (1.5, 2, "saved"))
        self.assertIn("1 value of ", params.forget())
        self.assertIsNone(params.get("gain").saved_at)
        self.ends(process)


if __name__ == "__main__":
    unittest.main()
