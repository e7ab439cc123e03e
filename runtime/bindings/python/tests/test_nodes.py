"""Programs of nodes: in virtual time, and on the machine."""

import json
import os
import signal
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import horus
from horus.messages import CmdVel, Imu
from support import TopicsCase

PROGRAM = """
import sys, time
import horus
from horus.messages import CmdVel

app = horus.App("program")
{before}
cmd = app.output(CmdVel, "base.cmd")
told = []

def stop(cycle):
    cmd.set(CmdVel())

@app.node(period="5 ms", safe_state=stop, on_miss={{"safe_state": {{"after": 1000, "within": 1024}}}})
def control(cycle):
    cmd.set(CmdVel(forward=1.0))
    if cycle.number >= 2 and not told:  # a release may be skipped, and its number with it
        told.append(True)
        print("ready", flush=True)
    {work}

app.run()
print("ended", flush=True)
"""


def program(work, before=""):
    return PROGRAM.format(work=work, before=before)


def balance(app):
    imu, cmd = app.input(Imu, "imu"), app.output(CmdVel, "base.cmd")

    def stop(cycle):
        cmd.set(CmdVel())

    @app.node(period="1 ms", deadline="800 us", safe_state=stop, on_miss={"safe_state": {"after": 3, "within": 100}})
    def control(cycle):
        if (m := imu.latest()) is not None:
            cmd.set(CmdVel(forward=0.8 * m.angular_velocity[1]))


def talks(app):
    @app.node(period="1 ms")
    def wheels(cycle):
        if cycle.number == 1:
            cycle.log("warn", "{} of {} {:.2} {} {:x} {}", -3, 2**64 - 1, 0.126, True, 255, "left")
            cycle.log("info", "{} and {}", CmdVel(forward=1.0).forward, None)
            cycle.log("error", "{} and {}", 7)
            kept.append(cycle)

    kept = []
    return kept


def tilted():
    return Imu(angular_velocity=(0, 0.5, 0))


class VirtualTime(unittest.TestCase):
    def test_a_step_logs_lines_that_the_journal_has(self):
        kept = []
        world = horus.World(lambda app: kept.append(talks(app)))
        world.run_for("10 ms")
        self.assertEqual(world.journal[0], f"node wheels, cycle 1: -3 of {2**64 - 1} 0.13 true ff left")
        self.assertEqual(world.journal[1], "node wheels, cycle 1: 1 and None")
        self.assertIn('cannot log "{} and {}": the text has not as many places', world.journal[2])
        self.assertEqual(len(world.journal), 3)
        with self.assertRaisesRegex(horus.HorusError, "the step of this cycle has returned"):
            kept[0][0].log("info", "late")
        with self.assertRaisesRegex(ValueError, "there is no level .fatal.: debug, info, warn or error"):
            kept[0][0].log("fatal", "late")

    def test_a_late_node_goes_to_its_safe_state(self):
        world = horus.World(balance)
        world.publish("imu", tilted())
        world.run_for("10 ms")
        self.assertEqual((world.last(CmdVel, "base.cmd"), world.now_ns), (CmdVel(forward=0.4), 10_000_000))
        world.delay("control", "5 ms", cycles=3)
        world.run_for(0.03)
        self.assertEqual((world.last(CmdVel, "base.cmd"), world.state("control")), (CmdVel(), "safe"))
        self.assertGreater(world.tally("control").misses, 2)
        self.assertIn("node control is in its safe state: 3 misses within 100 cycles", world.journal)

    def test_topics_that_a_node_opens_by_itself_are_the_worlds(self):
        def camera(app):
            frames = horus.Publisher(CmdVel, "camera.front", latest=4)
            late = []

            @app.node(period="10 ms")
            def shoot(cycle):
                frames.send(CmdVel(forward=cycle.number))
                late.append(horus.Publisher(CmdVel, f"camera.{cycle.number}", latest=4))

        with tempfile.TemporaryDirectory(dir="/dev/shm") as robot, unittest.mock.patch.dict(os.environ, HORUS_SHM_DIR=robot):
            taken = horus.Publisher(CmdVel, "camera.front", latest=4)  # a robot that runs beside the test
            world = horus.World(camera)
            world.run_for("30 ms")
            self.assertEqual(world.last(CmdVel, "camera.front"), CmdVel(forward=2))
            self.assertEqual(os.listdir(robot), ["camera.front.topic"])
            del taken

    def test_lost_messages_never_come(self):
        world = horus.World(balance)
        world.lose("imu", 1)
        world.publish("imu", tilted())
        world.run_for("5 ms")
        self.assertIsNone(world.last(CmdVel, "base.cmd"))

    def test_a_node_may_be_an_object_and_be_released_by_messages(self):
        class Track:
            def __init__(self, app):
                # The topic as the world makes it, so that the first look need not follow to it.
                self.frames, self.seen = app.input(Imu, "frames", latest=64), app.output(CmdVel, "seen")
                self.numbers = []

            def step(self, cycle):
                self.numbers += [imu.stamp_ns for imu in self.frames.messages()]
                self.seen.set(CmdVel(forward=len(self.numbers)))

        made = []

        def declare(app):
            made.append(Track(app))
            app.node("track", on="frames", min_inter_arrival="2 ms", deadline="1 ms")(made[0])

        world = horus.World(declare)
        for k in range(3):
            world.publish("frames", Imu(stamp_ns=k))
        world.run_for("5 ms")
        self.assertEqual((made[0].numbers, world.last(CmdVel, "seen").forward), ([0, 1, 2], 3.0))

    def test_fresh_messages_are_seen_once(self):
        seen = []

        def declare(app):
            imu = app.input(Imu, "imu", latest=64)

            @app.node(rate=1000)
            def look(cycle):
                seen.append((imu.fresh() is not None, imu.latest() is not None, imu.missed))

        world = horus.World(declare)
        world.publish("imu", tilted())
        world.run_for("3 ms")
        self.assertEqual(seen[:3], [(True, True, 0), (False, True, 0), (False, True, 0)])

    def test_settings_have_the_last_word(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = Path(folder) / "node.toml"
            settings.write_text('[node.control]\nperiod = "2 ms"\n')
            world = horus.World(balance, settings=settings)
            world.run_for("10 ms")
            self.assertLess(world.tally("control").cycles, 7)

    def test_an_input_is_stale_after_a_time_of_its_own_and_a_budget_of_nothing_is_refused(self):
        def declare(app, **options):
            app.input(Imu, "imu")
            app.input(CmdVel, "cmd")
            app.node("look", period="1 ms", **options)(lambda cycle: None)

        world = horus.World(lambda app: declare(app, stale_after={"imu": "3 ms"}))
        world.run_for("10 ms")
        told = [entry for entry in world.journal if "has had no message yet" in entry]
        self.assertEqual(len(told), 1)
        self.assertIn("input imu of node look has had no message yet, 3ms after the node's start", told[0])
        with self.assertRaisesRegex(horus.HorusError, "stale_after for topic umi, which is none of its inputs: it has imu, cmd"):
            horus.World(lambda app: declare(app, stale_after={"umi": "3 ms"}))
        with self.assertRaisesRegex(horus.HorusError, "budget 0 s is no time for a step"):
            horus.World(lambda app: declare(app, budget=0))

    def test_an_exception_in_a_step_is_raised_as_it_was(self):
        def declare(app):
            @app.node(period="1 ms")
            def broken(cycle):
                raise KeyError("own")

        with self.assertRaisesRegex(KeyError, "own"):
            horus.World(declare).run_for("5 ms")

    def test_an_exception_in_a_safe_state_or_in_the_declaration_is_raised(self):
        def safe(app):
            app.node("a", period="1 ms", safe_state=lambda cycle: 1 / 0)(lambda cycle: None)

        def declare(app):
            raise LookupError("declared")

        with self.assertRaises(ZeroDivisionError):
            horus.World(safe)
        with self.assertRaisesRegex(LookupError, "declared"):
            horus.World(declare)

    def test_a_world_refuses_what_it_has_not(self):
        world = horus.World(balance)
        for use in (lambda: world.tally("other"), lambda: world.delay("other", 1), lambda: world.lose("other", 1)):
            with self.assertRaisesRegex(horus.HorusError, "other"):
                use()
        world.publish("imu", tilted())
        with self.assertRaisesRegex(horus.HorusError, "another type of message"):
            world.publish("imu", CmdVel())
        with self.assertRaises(horus.HorusError):
            horus.World(lambda app: None)


class Kinds(TopicsCase):
    """Ports and worlds carry what publishers and subscribers carry."""

    def relay(self, carries, given, **options):
        """What a node has read of messages of a kind: each, the newest at each look, and what its output counted."""
        each, newest, lost = [], [], []

        def declare(app):
            read, write = app.input(carries, "from", latest=8, **options), app.output(carries, "to", latest=8, **options)

            @app.node(period="1 ms")
            def relay(cycle):
                for message in read.messages():
                    each.append((message, read.sequence))
                    self.assertTrue(write.set(message))
                newest.append((read.fresh(), read.latest()))
                lost.append((write.lost, read.missed))

        world = horus.World(declare)
        self.assertIsNone(world.last(carries, "to", **options))
        for message in given:
            world.publish("from", message, of=carries, **options)
        world.run_for("5 ms")
        self.assertEqual([message for message, _ in each], given)
        self.assertEqual([number for _, number in each], list(range(len(given))))
        self.assertEqual(newest[-1], (None, given[-1]))
        self.assertEqual(world.last(carries, "to", **options), given[-1])
        self.assertEqual((lost[-1][0].full, lost[-1][0].invalid, lost[-1][1]), (0, 0, 0))

    def test_ports_and_worlds_carry_messages_bytes_and_values(self):
        self.relay(CmdVel, [CmdVel(forward=1), CmdVel(turn=2)])
        self.relay(bytes, [b"left wheel slips", b"", b"\0"])
        self.relay(bytes, [b"four"], maximum=4)
        self.relay(dict, [{"part": "left wheel", "codes": [3, 14]}, {}])
        self.relay(list, [[1, None, "two"], []])
        self.relay(object, ["a text", 7, None, {"deep": [1.5]}], maximum=64)

    def test_a_world_is_told_what_is_published_by_the_message(self):
        world = horus.World(balance)
        world.publish("a", CmdVel(forward=1))
        world.publish("b", b"bytes")
        world.publish("c", {"a": 1})
        world.publish("d", [1])
        last = [world.last(of, topic) for of, topic in ((CmdVel, "a"), (bytes, "b"), (dict, "c"), (list, "d"))]
        self.assertEqual(last, [CmdVel(forward=1), b"bytes", {"a": 1}, [1]])
        for message in (5, "text", None, CmdVel):
            with self.subTest(message=message), self.assertRaisesRegex(TypeError, "for another value, give of=object"):
                world.publish("e", message)
        with self.assertRaisesRegex(TypeError, "this topic carries bytes, and not"):
            world.publish("b", "text", of=bytes)
        with self.assertRaisesRegex(TypeError, "this topic carries horus/CmdVel, and not"):
            world.publish("a", tilted(), of=CmdVel)
        with self.assertRaisesRegex(horus.HorusError, "another type of message, kind of payload or maximum before"):
            world.publish("b", {"a": 1})
        with self.assertRaisesRegex(horus.HorusError, "a message of 5 bytes is too long for this topic: it was made for at most 4"):
            world.publish("f", b"bytes", maximum=4)

    def test_what_is_no_message_of_an_output_is_raised_and_counted(self):
        lost = []

        def declare(app):
            log, faults = app.output(bytes, "log", maximum=4), app.output(dict, "faults", maximum=16)

            @app.node(period="1 ms")
            def node(cycle):
                for output, long in ((log, b"bytes"), (faults, {"part": "left front wheel"})):
                    with self.assertRaisesRegex(horus.HorusError, "bytes is too long for this topic"):
                        output.set(long)
                    with self.assertRaises(TypeError):
                        output.set(object())
                    lost.append(output.lost.invalid)

        world = horus.World(declare)
        world.run_for("3 ms")
        self.assertEqual(lost[:4], [1, 1, 2, 2])
        self.assertTrue(any("did not publish" in entry for entry in world.journal), world.journal)

    def test_bytes_of_a_publisher_release_a_node(self):
        seen = []

        def declare(app):
            log = app.input(bytes, "log", latest=64)
            app.node("read", on="log", deadline="1 ms")(lambda cycle: seen.append(log.fresh()))

        world = horus.World(declare)
        world.publish("log", b"now")
        world.run_for("2 ms")
        self.assertEqual(seen, [b"now"])

    def test_what_a_topic_cannot_carry_is_refused(self):
        for carries, words in ((5, "is no class"), (int, ""), (str, "")):
            with self.subTest(carries=carries), self.assertRaisesRegex(TypeError, words):
                horus.App("program", []).input(carries, "a")
        with self.assertRaisesRegex(horus.HorusError, "too large for an output"):
            horus.App("program", []).output(bytes, "a", maximum=1 << 20)


class Declared(TopicsCase):
    def app(self, name="program"):
        return horus.App(name, [])

    def test_wrong_wishes_are_told(self):
        for wishes, error, words in (
            ({"periode": 1}, TypeError, "no option periode"), ({"period": "1"}, horus.HorusError, "800us"), ({"cpu": "fast"}, ValueError, ""),
            ({"scheduling_policy": "best"}, ValueError, ""), ({"on_miss": "panic"}, ValueError, "on_miss is"), ({"on_miss": {"degrade": {}}}, ValueError, "every"),
            ({"on_miss": {"stop": {"afer": 3}}}, ValueError, "on_miss is"), ({"rate": "100 Hz"}, TypeError, "releases a second"),
        ):  # fmt: skip
            with self.subTest(wishes=wishes), self.assertRaisesRegex(error, words):
                self.app().node("a", **wishes)(lambda cycle: None)
        with self.assertRaisesRegex(TypeError, "cannot be called"):
            self.app().node("a", period=1)(5)
        with self.assertRaisesRegex(TypeError, "a time is"):
            self.app().grace(None)

    def test_what_makes_no_program_is_refused_by_run(self):
        for declare, words in (
            (lambda app: None, "has no nodes"),
            (lambda app: app.node("a")(lambda cycle: None), "neither a period nor an event"),
            (lambda app: [app.node("a", period=1)(lambda cycle: None) for _ in range(2)], "two nodes are named a"),
            (lambda app: app.node("a", on="imu")(lambda cycle: None), "none of its inputs"),
            (lambda app: app.node("a", period=1, monitor_limit="2 s")(lambda cycle: None), "has a monitor_limit, and the monitor watches only"),
            (lambda app: app.node("a", period="10 ms", on_miss="safe_state", monitor_limit="9 ms")(lambda cycle: None), "monitor_limit 9ms is out of range"),
        ):
            app = self.app()
            declare(app)
            with self.assertRaisesRegex(horus.HorusError, words):
                app.run()

    def test_a_program_runs_once(self):
        app, counted = self.app(), []
        app.node("count", period="1 ms")(lambda cycle: counted.append(cycle.number))
        app.releases(20)
        app.run()
        self.assertGreater(len(counted), 0)
        for use in (app.run, lambda: app.input(Imu, "imu"), lambda: app.releases(1)):
            with self.assertRaisesRegex(horus.HorusError, "has run"):
                use()

    def test_a_message_for_a_full_topic_is_refused_and_counted_and_all_others_come_once_in_order(self):
        taken, received, lost, sets, came = [], [], [], [], []

        def declare(app):
            out, few = app.output(CmdVel, "full", reliable=4), app.output(CmdVel, "few", latest=4)

            @app.node("send", period="1 ms")
            def send(cycle):
                self.assertTrue(few.set(CmdVel()))
                for _ in range(3):
                    number = len(sets)
                    sets.append(number)
                    if out.set(CmdVel(forward=number)):
                        taken.append(number)
                lost.append(out.lost)

            seen = app.input(CmdVel, "full", reliable=4)

            @app.node("receive", period="5 ms")
            def receive(cycle):
                received.extend(message.forward for message in seen.messages())

            overwritten = app.input(CmdVel, "few", latest=4)

            @app.node("late", period="20 ms")
            def late(cycle):
                came.append((len(list(overwritten.messages())), overwritten.missed))

        world = horus.World(declare)
        world.run_for("52 ms")
        self.assertGreater(len(received), 30)
        self.assertEqual(received, taken[: len(received)])
        self.assertEqual(lost[-1].full, len(sets) - len(taken))
        self.assertEqual((lost[-1].beyond, lost[-1].discarded, lost[-1].outside), (0, 0, 0))
        self.assertRegex(repr(lost[-1]), "Lost.full=[0-9]+, beyond=0, discarded=0, outside=0.")
        self.assertTrue(any("messages on topic full: " in said for said in world.journal), world.journal)
        read, missed = sum(count for count, _ in came), came[-1][1]
        self.assertTrue(read > 0 and missed > 20 and read + missed <= 53, came)
        self.assertTrue(any("node late missed " in said for said in world.journal), world.journal)

    def test_a_step_sets_as_many_messages_as_the_topic_holds(self):
        said, lost = [], []

        def declare(app):
            out = app.output(CmdVel, "few", latest=4)

            @app.node("send", period="1 ms")
            def send(cycle):
                said.append([out.set(CmdVel()) for _ in range(6)])
                lost.append(out.lost.beyond)

        horus.World(declare).run_for("3 ms")
        self.assertEqual(said[0], [True] * 4 + [False] * 2)
        self.assertEqual(lost[:2], [2, 4])

    def test_ports_carry_their_class_only(self):
        app = self.app()
        output = app.output(CmdVel, "base.cmd")
        with self.assertRaisesRegex(TypeError, "carries horus/CmdVel"):
            output.set(Imu())
        with self.assertRaisesRegex(TypeError, "carries bytes, and not"):
            app.output(bytes, "log").set(CmdVel())

    def test_ports_that_are_kept_for_longer_than_their_program_say_so(self):
        app = self.app()
        imu, cmd = app.input(Imu, "imu"), app.output(CmdVel, "base.cmd")
        app.node("both", period="1 ms")(lambda cycle: cmd.set(CmdVel()) and imu.latest())
        app.releases(2)
        app.run()
        ports = []
        world = horus.World(lambda app: ports.extend((app.input(Imu, "imu"), app.output(CmdVel, "base.cmd"), app.node("none", period=1)(print))))
        self.assertIsNone(ports[0].latest(), "it is alive as long as its world")
        del world
        for inner, outer in ((imu, cmd), ports[:2]):
            for use in (lambda: inner.latest(), lambda: inner.fresh(), lambda: next(inner.messages()), lambda: outer.set(CmdVel())):
                with self.assertRaisesRegex(horus.HorusError, "the program of this (in|out)put has ended"):
                    use()

    def test_recursion_without_end_in_a_step_is_an_exception(self):
        def deeper(items):
            return sorted(items, key=lambda _item: deeper(items))  # each call goes through C

        app = self.app()
        app.node("deep", period="10 ms")(lambda cycle: deeper([1, 2]))
        with self.assertRaises(RecursionError):
            app.run()

    def test_a_step_may_not_run_its_own_program(self):
        app = self.app()
        app.node("again", period="1 ms")(lambda cycle: app.run())
        with self.assertRaisesRegex(horus.HorusError, "runs, or has run"):
            app.run()


class Machine(TopicsCase):
    def test_sigterm_and_ctrl_c_end_a_program_in_order(self):
        both = (signal.SIGINT, signal.SIGTERM)  # as a script that passes Ctrl-C on
        for numbers in ((signal.SIGTERM,), (signal.SIGINT,), both, both, both):
            process = self.start(program("pass"))
            self.wait_for_line(process, "ready")
            for number in numbers:
                process.send_signal(number)
            said, complained = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, complained)
            self.assertIn("releases", said)
            self.assertIn("ended", said)

    def test_an_exception_ends_the_program_with_its_traceback_and_publishes_the_safe_state(self):
        seen = horus.Subscriber(CmdVel, "base.cmd", latest=8, publishers=2)
        code, _said, complained = self.run_program(program("assert cycle.number < 5, 'too far'"))
        self.assertEqual(code, 1)
        self.assertIn("AssertionError: too far", complained)
        self.assertIn("in control", complained, "the traceback names the step")
        last = None
        while (message := seen.try_recv()) is not None:
            last = message
        self.assertEqual(last, CmdVel(), "the safe state is the last that was published")

    def test_a_step_that_never_returns_is_interrupted_after_sigterm(self):
        process = self.start(program("if cycle.number > 3:\n        print('hangs', flush=True)\n        while True: pass"))
        self.wait_for_line(process, "ready")
        self.wait_for_line(process, "hangs")
        process.send_signal(signal.SIGTERM)
        _said, complained = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertIn("a step went on although the program was asked to end", complained)

    def test_a_step_that_hangs_in_c_is_left_after_ctrl_c_whether_it_keeps_the_gil_or_not(self):
        for hangs in ("time.sleep(1000)", "__import__('ctypes').PyDLL(None).sleep(1000)"):
            process = self.start(program(f"cycle.number > 3 and print('hangs', flush=True) is None and {hangs}"))
            self.wait_for_line(process, "ready")
            self.wait_for_line(process, "hangs")
            process.send_signal(signal.SIGINT)
            _said, complained = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 1, complained)
            self.assertIn("a step went on although the program was asked to end, and hangs: node control", complained)

    def test_without_a_grace_time_the_second_signal_ends_what_hangs(self):
        process = self.start(program("cycle.number > 3 and print('hangs', flush=True) is None and time.sleep(1000)", "app.grace(0)"))
        self.wait_for_line(process, "ready")
        self.wait_for_line(process, "hangs")
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        _said, complained = process.communicate(timeout=30)
        self.assertIn(process.returncode, (-signal.SIGINT, -signal.SIGTERM), complained)

    def test_a_program_describes_itself_and_takes_the_options_of_all(self):
        Path(self.directory, "program.py").write_text(program("pass"))
        run = "import runpy, sys; sys.argv = ['program.py', *sys.argv[1:]]; runpy.run_path('program.py')"
        code, said, complained = self.run_program(run, "--describe")
        self.assertEqual(code, 0, complained)
        described = json.loads(said[: said.rindex("}") + 1])
        self.assertEqual((described["name"], described["nodes"][0]["name"], described["nodes"][0]["period_ns"]), ("program", "control", 5_000_000))
        code, said, _ = self.run_program(run, "--releases", "4")
        self.assertEqual((code, "ended" in said), (0, True))

    def test_a_script_is_a_program_without_an_app(self):
        Path(self.directory, "blink.py").write_text("""
import horus
from horus.messages import CmdVel
cmd = horus.output(CmdVel, "base.cmd")

@horus.node(rate=200)
def blink(cycle):
    cmd.set(CmdVel(forward=cycle.number))

horus.run()
""")
        code, said, complained = self.run_program("import runpy, sys; sys.argv = ['blink.py', '--releases', '3']; runpy.run_path('blink.py')")
        self.assertEqual((code, "blink" in said), (0, True), complained)

    def test_a_second_program_of_the_same_name_is_refused(self):
        process = self.start(program("pass"))
        self.wait_for_line(process, "ready")
        with self.assertRaisesRegex(horus.HorusError, "a program named program runs already"):
            horus.App("program", [])
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    def test_steps_go_on_while_the_main_thread_of_python_computes(self):
        code, said, complained = self.run_program("""
            import os, signal, threading
            import horus
            counted = []
            app = horus.App("busy", [])

            @app.node(period="5 ms")
            def count(cycle):
                counted.append(cycle.number)
                if len(counted) == 6:
                    os.kill(os.getpid(), signal.SIGTERM)

            is_ended = False
            def compute():
                while not is_ended:
                    sum(range(1000))
            computing = threading.Thread(target=compute)
            computing.start()
            app.run()
            is_ended = True
            computing.join()
            print(len(counted) > 5)
        """)
        self.assertEqual((code, said.strip().endswith("True")), (0, True), complained)


if __name__ == "__main__":
    unittest.main()
