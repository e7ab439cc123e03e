"""What programs do wrong: each ends in a clear error of Python's, and none in a crash."""

import os
import shutil
import sys
import unittest
from pathlib import Path

import horus
from horus.messages import CmdVel, ImageVga
from support import TopicsCase


class Classes(TopicsCase):
    def test_a_class_that_differs_by_one_field_is_refused_by_its_name(self):
        _held = horus.Publisher(horus.from_layout("message test/M\n left f64\n right f64"), "m")
        other = horus.from_layout("message test/M\n left f64\n wrong f64")
        for end in (horus.Subscriber, horus.Publisher):
            with self.assertRaisesRegex(horus.HorusError, "it has `right` f64.*this program `wrong` f64"):
                end(other, "m")

    def test_a_message_of_another_class_is_not_sent(self):
        with self.assertRaisesRegex(TypeError, "this topic carries horus/CmdVel, and not"):
            horus.Publisher(CmdVel, "a").send(ImageVga())
        with self.assertRaisesRegex(TypeError, "this topic carries horus/CmdVel, and not"):
            horus.Publisher(CmdVel, "a").send(None)

    def test_what_is_no_message_is_an_error_of_every_function(self):
        from horus import _horus

        for function in (_horus.Message.to_numpy, _horus.Message.__dlpack__, horus.Array.to_numpy, _horus.message_bytes):
            for wrong in (None, 5, "text", object(), CmdVel):
                with self.assertRaises(TypeError):
                    function(wrong)
        for wrong in (int, _horus.Message, horus.Message):
            with self.assertRaises(TypeError):
                _horus.layout_facts(wrong)

    def test_a_forged_class_is_refused(self):
        forged = type("Forged", (horus.Message,), {"__slots__": (), "_class": 5})
        with self.assertRaisesRegex(TypeError, "no class of messages"):
            forged()
        extended = type("Extended", (CmdVel,), {})
        message = extended(forward=1)
        message.note = "a class below has attributes of its own"
        sent, seen = horus.Publisher(CmdVel, "a"), horus.Subscriber(CmdVel, "a")
        sent.send(message)
        self.assertEqual(seen.recv(), CmdVel(1))


class Installed(TopicsCase):
    def package(self):
        copy = Path(self.directory) / "lib" / "horus"
        shutil.copytree(Path(horus.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        return copy

    def error_of_import(self, package):
        run = f"import sys; sys.path.insert(0, {str(package.parent)!r}); import horus"
        code, _said, complained = self.run_program(run)
        self.assertEqual(code, 1)
        return complained.strip().splitlines()[-1]

    def test_a_missing_extension_module_says_what_to_do(self):
        package = self.package()
        next(package.glob("_horus*.so")).unlink()
        self.assertRegex(self.error_of_import(package), "ImportError: horus._horus is not there.*a wheel of horus-rt")

    def test_an_extension_module_of_another_version_is_refused(self):
        package = self.package()
        next(package.glob("_horus*.so")).unlink()
        (package / "_horus.py").write_text("INTERFACE = 0\n")
        self.assertRegex(self.error_of_import(package), "ImportError: horus._horus has interface 0, and the package wants .*install both from one wheel")

    def test_a_module_that_is_no_library_is_an_import_error(self):
        package = self.package()
        next(package.glob("_horus*.so")).write_bytes(b"no library")
        self.assertIn("ImportError", self.error_of_import(package))

    def test_the_module_asks_for_no_library_of_one_version_of_python(self):
        module = next(Path(horus.__file__).parent.glob("_horus*.so"))
        self.assertNotIn(b"libpython", module.read_bytes(), "what loads it has CPython's functions")

    def test_a_python_without_a_gil_is_told_what_to_use(self):
        code, _said, complained = self.run_program("import sys; sys.abiflags = 't'; import horus")
        self.assertEqual((code, "this Python has no GIL" in complained), (1, True), complained)

    def test_importing_twice_gives_classes_that_work_together(self):
        code, said, complained = self.run_program("""
            import sys
            import horus
            from horus.messages import CmdVel as First
            for name in [name for name in sys.modules if name.split(".")[0] == "horus"]:
                del sys.modules[name]
            import horus as again
            from horus.messages import CmdVel as Second
            sent, seen = again.Publisher(Second, "a"), horus.Subscriber(First, "a")
            sent.send(First(1))
            print(seen.recv() == Second(1))
        """)
        self.assertEqual((code, said.strip()), (0, "True"), complained)

    def test_a_sub_interpreter_is_refused(self):
        """One that shares the first one's GIL, and one of its own GIL, which Python has from 3.12 on and could have here from 3.13 on."""
        for kind in ("legacy", "isolated") if sys.version_info >= (3, 13) else ("",):
            code, said, complained = self.run_program(
                """
                import sys
                import horus
                try:
                    import _interpreters as interpreters
                    run, made = interpreters.exec, interpreters.create(sys.argv[1])
                except ModuleNotFoundError:
                    import _xxsubinterpreters as interpreters
                    run, made = interpreters.run_string, interpreters.create()
                for _ in range(2):
                    try:
                        error = run(made, "import horus; print('imported')")
                        print(error and error.formatted)
                    except Exception as error:
                        print(error)
                horus.Publisher(bytes, "a").send(b"the first one goes on")
                """,
                kind,
            )
            with self.subTest(kind):
                self.assertEqual((code, complained), (0, ""))
                self.assertEqual([line.count("ImportError") for line in said.splitlines()], [1, 1], said)


class Ends(TopicsCase):
    def test_a_thread_that_outlives_main_does_no_harm(self):
        for _ in range(5):
            code, said, complained = self.run_program("""
                import threading, time
                import horus
                from horus.messages import CmdVel
                seen = horus.Subscriber(CmdVel, "a", wait_strategy="sleep")
                for waiting in (seen, horus.Subscriber(CmdVel, "b", wait_strategy="poll 1 ms")):
                    threading.Thread(target=waiting.recv, daemon=True).start()
                time.sleep(0.05)
                print("main ends", flush=True)
            """)
            self.assertEqual((code, said.strip(), complained), (0, "main ends", ""))

    def test_threads_that_wait_for_the_gil_when_main_ends_do_no_harm_nor_in_a_forked_child(self):
        code, said, complained = self.run_program("""
            import os, signal, sys, threading, time
            import horus
            from horus.messages import CmdVel
            for number in range(20):
                waiting = horus.Subscriber(CmdVel, f"a{number}", wait_strategy="poll 1 ms" if number % 2 else "sleep")
                threading.Thread(target=waiting.recv, daemon=True).start()
            sys.setswitchinterval(10)
            until = time.monotonic() + 0.1
            while time.monotonic() < until:
                pass  # each thread looks at its topic, and comes for the GIL
            child = os.fork()
            signal.alarm(0 if child else 30)  # one that waits for ever is ended, and seen
            if child:
                print("the child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        """)
        self.assertEqual((code, said.strip()), (0, "the child ended with 0"), complained)

    def test_objects_that_are_left_at_the_end_do_no_harm(self):
        code, _said, complained = self.run_program("""
            import horus, sys
            from horus.messages import CmdVel, ImageVga
            sent, seen = horus.Publisher(ImageVga, "a"), horus.Subscriber(ImageVga, "a")
            sent.send(ImageVga())
            sys.image = seen.borrow()
            loan = sent.loan()
            sys.lent = loan.__enter__()
            app = horus.App("left", [])
            app.node("a", period=1)(lambda cycle: None)
        """)
        self.assertEqual((code, complained), (0, ""))

    def test_a_loan_that_is_left_twice_or_never_entered_does_no_harm(self):
        loan = horus.Publisher(CmdVel, "a").loan()
        loan.__exit__(None)
        loan.__enter__()
        loan.__exit__(None)
        loan.__exit__(None)


class Forked(TopicsCase):
    def child(self, work):
        """What a forked child's work says; it must not die by a signal."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                said = work() or "nothing"
            except Exception as error:  # the test wants its words
                said = f"{type(error).__name__}: {error}"
            os.write(writing, str(said).encode())
            os._exit(0)
        os.close(writing)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        self.assertFalse(os.WIFSIGNALED(status), said)
        return said

    def test_handles_of_the_parent_are_refused_in_a_child(self):
        seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a")
        uses = (lambda: sent.send(CmdVel()), seen.recv, lambda: seen.missed, lambda: sent.loan().__enter__(), lambda: horus.wait_any([seen]), seen.close)
        for use in uses:
            self.assertIn("was opened before this process was forked", self.child(use))
        sent.send(CmdVel(1))
        self.assertEqual(seen.recv(), CmdVel(1), "the parent goes on")

    def test_a_child_may_drop_what_its_parent_holds(self):
        seen, sent = horus.Subscriber(ImageVga, "a"), horus.Publisher(ImageVga, "a")
        sent.send(ImageVga())
        held = [seen.borrow(), seen, sent]
        loan = sent.loan()
        loan.__enter__()
        held.append(loan)
        self.assertEqual(self.child(held.clear), "nothing")

    def test_a_child_opens_topics_of_its_own(self):
        seen = horus.Subscriber(CmdVel, "a", reliable=4)

        def work():
            horus.Publisher(CmdVel, "a", reliable=4).send(CmdVel(7))

        self.assertEqual(self.child(work), "nothing")
        self.assertEqual(seen.recv(timeout=10), CmdVel(7))

    def test_multiprocessing_works_with_topics_that_each_process_opens(self):
        code, said, complained = self.run_program("""
            import multiprocessing
            import horus
            from horus.messages import CmdVel

            def work(number):
                with horus.Publisher(CmdVel, "a", reliable=16, publishers=4) as sent:
                    sent.send(CmdVel(forward=number))

            seen = horus.Subscriber(CmdVel, "a", reliable=16, publishers=4)
            context = multiprocessing.get_context("fork")
            workers = [context.Process(target=work, args=(number,)) for number in range(4)]
            [worker.start() for worker in workers]
            print(sorted(seen.recv(timeout=20).forward for _ in workers))
            [worker.join() for worker in workers]
        """)
        self.assertEqual((code, said.strip()), (0, "[0.0, 1.0, 2.0, 3.0]"), complained)


class Random(TopicsCase):
    def test_random_calls_raise_and_never_crash(self):
        """Every function with arguments of every kind: what does not fit is an exception."""
        code, said, complained = self.run_program("""
            import random, warnings
            import horus, numpy
            from horus import _horus, _shapes
            from horus.messages import CmdVel, ImageVga, Imu
            random.seed(13)
            warnings.simplefilter("ignore")
            sent, seen = horus.Publisher(CmdVel, "a"), horus.Subscriber(CmdVel, "a")
            # A picture of few bytes: texts and lists of a large one's would take most of the time.
            layout = ImageVga.layout().replace("ImageVga", "ImageTiny").replace("; 921600]", "; 48]")
            image = horus.from_layout(layout, namespace=_shapes.methods(layout))()
            things = [None, 0, -1, 2**70, 1.5, "", "text", b"", b"x" * 304, [], {}, (), CmdVel, CmdVel(), Imu, Imu(), image, image.data, sent, seen,
                      object(), type, horus.Message, _horus.Message, float("nan"), Imu().orientation_covariance, lambda *a: 1 / 0, numpy.zeros(3)]
            takes = [getattr(_horus, name) for name in dir(_horus) if callable(getattr(_horus, name)) and name not in ("interpreter_ends", "App", "forked")]
            takes += [getattr(thing, name) for thing in (sent, seen, image, image.data, Imu(), CmdVel())
                      for name in dir(thing) if callable(getattr(thing, name, None)) and name not in ("__init_subclass__", "recv", "wait", "borrow", "__next__")]
            done = failed = 0
            for _ in range(60000):
                call, given = random.choice(takes), random.choices(things, k=random.randrange(4))
                if call in (_horus.wait_any,) or getattr(call, "__name__", "") in ("close", "__exit__", "__setattr__", "__delattr__"):
                    continue
                try:
                    call(*given)
                    done += 1
                except Exception:
                    failed += 1
            print(done > 100 and failed > 1000)
        """)
        self.assertEqual((code, said.strip()), (0, "True"), complained[-3000:])


if __name__ == "__main__":
    unittest.main()
