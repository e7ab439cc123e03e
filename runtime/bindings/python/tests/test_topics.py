"""Topics: sending, receiving, waiting, bytes, values."""

import signal
import threading
import time
import unittest

import horus
from horus.messages import CmdVel, Imu, Pose2D
from support import TopicsCase


class Typed(TopicsCase):
    def test_what_is_sent_is_received_in_order(self):
        poses, sent = horus.Subscriber(Pose2D, "pose", reliable=16), horus.Publisher(Pose2D, "pose", reliable=16)
        for k in range(16):
            sent.send(Pose2D(stamp_ns=k, x=k / 2))
        self.assertFalse(sent.try_send(Pose2D()), "the topic is full")
        self.assertEqual([poses.recv() for _ in range(16)], [Pose2D(stamp_ns=k, x=k / 2) for k in range(16)])
        self.assertIsNone(poses.try_recv())
        self.assertIsNone(poses.recv(timeout=0.01))
        self.assertEqual((poses.missed, poses.sequence), (0, 15))

    def test_received_messages_are_of_their_own(self):
        seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a")
        sent.send(CmdVel(1))
        first = seen.recv()
        self.assertIsNone(seen.try_recv())
        sent.send(CmdVel(2))
        second = seen.recv()
        self.assertEqual((first.forward, second.forward), (1.0, 2.0))

    def test_a_latest_topic_counts_what_was_missed(self):
        seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a", latest=4, stamped=True)
        for k in range(10):
            sent.send(CmdVel(k))
        self.assertEqual(seen.recv().forward + seen.missed, 12.0 if seen.missed == 6 else seen.missed * 2)
        self.assertGreater(seen.sent_ns, 0)

    def test_a_subscriber_may_ask_for_what_was_sent_before_it_came(self):
        sent = horus.Publisher(CmdVel, "a", latest=8)
        for k in range(3):
            sent.send(CmdVel(k))
        self.assertEqual([horus.Subscriber(CmdVel, "a", history=2).recv().forward], [1.0])

    def test_a_timeout_ends_a_send_to_a_full_topic(self):
        _seen, sent = horus.Subscriber(CmdVel, "a", reliable=2), horus.Publisher(CmdVel, "a", reliable=2)
        sent.send(CmdVel())
        sent.send(CmdVel())
        with self.assertRaisesRegex(horus.HorusError, "the topic is full"):
            sent.send(CmdVel(), timeout=0.05)

    def test_ends_are_context_managers_and_close(self):
        with horus.Publisher(CmdVel, "a") as sent, horus.Subscriber(CmdVel, "a") as seen:
            self.assertEqual((sent.subscribers(), seen.is_published()), (1, True))
        for use in (lambda: sent.send(CmdVel()), seen.recv, lambda: seen.missed):
            with self.assertRaisesRegex(horus.HorusError, "was closed: open another one"):
                use()
        sent.close()  # once more is nothing
        self.assertEqual(list(seen), [], "a loop over a closed subscriber ends")

    def test_a_loop_over_a_subscriber_waits(self):
        seen = horus.Subscriber(CmdVel, "a", reliable=8)

        def publish():
            with horus.Publisher(CmdVel, "a", reliable=8) as sent:
                for k in range(100):
                    sent.send(CmdVel(k))

        threading.Thread(target=publish).start()
        got = []
        for message in seen:
            got.append(message.forward)
            if len(got) == 100:
                break
        self.assertEqual(got, [float(k) for k in range(100)])

    def test_waiting_for_several_gives_the_one_that_is_ready(self):
        left, right = horus.Subscriber(CmdVel, "left"), horus.Subscriber(bytes, "right")
        self.assertIsNone(horus.wait_any([left, right], timeout=0.01))
        horus.Publisher(bytes, "right").send(b"x")
        self.assertIs(horus.wait_any([left, right], timeout=5), right)
        with self.assertRaisesRegex(horus.HorusError, "there twice"):
            horus.wait_any([left, left])

    def test_the_interpreter_runs_on_while_a_thread_waits(self):
        seen = horus.Subscriber(CmdVel, "a")
        waiting = threading.Thread(target=seen.recv, args=(60,))
        waiting.start()
        sent = horus.Publisher(CmdVel, "a")
        until = time.monotonic() + 60
        # If the wait kept the interpreter, it would be over before this thread looks.
        with self.assertRaisesRegex(horus.HorusError, "another thread uses this subscriber"):
            while time.monotonic() < until:
                seen.try_recv()
        sent.send(CmdVel())
        waiting.join()

    def test_ctrl_c_ends_every_wait(self):
        waits = {
            "recv": "seen.recv()",
            "for": "next(iter(seen))",
            "borrow": "seen.borrow()",
            "wait": "seen.wait()",
            "wait_any": "horus.wait_any([seen, other])",
            "send": "[sent.send(CmdVel()) for _ in range(9)]",
            "async for": "asyncio.run(first())",
        }
        program = """
            import asyncio, sys
            import horus
            from horus.messages import CmdVel
            seen, other = (horus.Subscriber(CmdVel, topic, reliable=4) for topic in (sys.argv[1], sys.argv[1] + ".other"))
            sent = horus.Publisher(CmdVel, sys.argv[1] + ".other", reliable=4)
            async def first():
                async for message in seen:
                    return message
            try:
                print("ready", flush=True)
                exec(compile(sys.argv[2], "wait", "exec"))
            except KeyboardInterrupt:
                print("interrupted")
        """
        started = {what: self.start(program, what.replace(" ", "."), wait) for what, wait in waits.items()}
        for process in started.values():
            self.wait_for_line(process, "ready")
        time.sleep(0.3)
        for what, process in started.items():
            with self.subTest(what):
                process.send_signal(signal.SIGINT)
                said, complained = process.communicate(timeout=30)
                self.assertEqual((process.returncode, said.strip()), (0, "interrupted"), complained)


class Untyped(TopicsCase):
    def test_bytes_of_any_length_up_to_the_maximum(self):
        seen, sent = horus.Subscriber(bytes, "log", maximum=64), horus.Publisher(bytes, "log", maximum=64)
        for data in (b"", b"x", bytes(range(64))):
            sent.send(data)
            self.assertEqual(seen.recv(), data)
        with self.assertRaisesRegex(horus.HorusError, "65"):
            sent.send(bytes(65))
        with self.assertRaisesRegex(TypeError, "carries bytes, and not"):
            sent.send("text")

    def test_values_come_back_as_they_were(self):
        seen, sent = horus.Subscriber(dict, "state", maximum=100000), horus.Publisher(dict, "state", maximum=100000)
        shared = [1, 2]
        for value in (
            {"v": 1.0}, {}, {"a": None, "b": True, "c": [1, -1, 2**63, -(2**63), 127, 128, -32, -33], "d": "ü" * 40, "e": b"\0" * 300},
            {1: {"deep": {"er": [[], {}, ""]}}}, [1, 2.5, "x"], "text", 7, None, False, float("inf"), {"k" * n: n for n in range(50)}, "y" * 70000,
            {"one": shared, "two": shared}, list(range(20)), {str(n): n for n in range(70)},
        ):  # fmt: skip
            sent.send(value)
            self.assertEqual(seen.recv(), value)
        sent.send((1, 2))
        self.assertEqual(seen.recv(), [1, 2], "the format has lists only")

    def test_numbers_of_numpy_are_values(self):
        import numpy

        seen, sent = horus.Subscriber(dict, "state"), horus.Publisher(dict, "state")
        sent.send({"a": numpy.float32(0.5), "b": numpy.int16(-3)})
        self.assertEqual(seen.recv(), {"a": 0.5, "b": -3})

    def test_what_cannot_be_sent_is_told(self):
        sent = horus.Publisher(dict, "state", maximum=64)
        endless = []
        endless.append(endless)
        for value, error, words in (
            (1j, TypeError, "complex.*cannot be sent"), (endless, ValueError, "contains itself"), (2**64, OverflowError, "64 bits"),
            ("x" * 65, horus.HorusError, "at most 64"), ({"a": object()}, TypeError, "object"),
        ):  # fmt: skip
            with self.assertRaisesRegex(error, words):
                sent.send(value)

    def test_random_bytes_are_refused_or_read_and_never_more(self):
        import random

        random.seed(13)
        sender, reader = horus.Publisher(bytes, "raw", maximum=200), horus.Subscriber(bytes, "raw", maximum=200)
        from horus import _horus

        for _ in range(20000):
            data = random.randbytes(random.randrange(60))
            sender.send(data)
            try:
                _horus.decode_value(reader.recv())
            except horus.HorusError as error:
                self.assertIn("no value of MessagePack", str(error))
        with self.assertRaisesRegex(horus.HorusError, "ends too early"):
            _horus.decode_value(b"\xdf\xff\xff\xff\xff")
        with self.assertRaisesRegex(horus.HorusError, "deep"):
            _horus.decode_value(b"\x91" * 100000)

    def test_topics_of_other_kinds_are_refused(self):
        _held = horus.Publisher(CmdVel, "a")
        for kind in (Imu, bytes, dict):
            with self.assertRaisesRegex(horus.HorusError, "horus/CmdVel"):
                horus.Subscriber(kind, "a")


class Options(TopicsCase):
    def test_wrong_options_are_told(self):
        for options, error, words in (
            ({"reliable": 3}, horus.HorusError, "power of two"), ({"reliable": 4, "latest": 4}, TypeError, "not both"),
            ({"size": 3}, TypeError, "there is no option size"), ({"wait_strategy": "long"}, ValueError, "wait_strategy is"), ({"latest": -1}, OverflowError, ""),
        ):  # fmt: skip
            with self.subTest(options=options), self.assertRaisesRegex(error, words):
                horus.Publisher(CmdVel, "a", **options)
        for wrong in (3, "CmdVel", CmdVel(), int):
            with self.assertRaises(TypeError):
                horus.Publisher(wrong, "a")
        with self.assertRaises(horus.HorusError):
            horus.Publisher(CmdVel, "no/such name\0")

    def test_wrong_times_are_told(self):
        seen = horus.Subscriber(CmdVel, "a", wait_strategy="poll 1 ms")
        for timeout, error in ((-1, ValueError), (float("nan"), ValueError), ("soon", horus.HorusError), ([], TypeError)):
            with self.assertRaises(error):
                seen.recv(timeout=timeout)
        self.assertIsNone(seen.recv(timeout="10 ms"))


if __name__ == "__main__":
    unittest.main()
