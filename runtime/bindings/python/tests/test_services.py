"""Services: who asks, who answers, and what becomes of calls without an answer."""

import asyncio
import threading
import unittest

import horus
from support import TopicsCase


@horus.message("test/Add")
class Add(horus.Message):
    left: horus.u64 = 0
    right: horus.u64 = 0


@horus.message("test/Sum")
class Sum(horus.Message):
    sum: horus.u64 = 0


SERVER = """
    import horus

    @horus.message("test/Add")
    class Add(horus.Message):
        left: horus.u64 = 0
        right: horus.u64 = 0

    @horus.message("test/Sum")
    class Sum(horus.Message):
        sum: horus.u64 = 0

    with horus.Server(Add, Sum, "add") as server:
        print("ready", flush=True)
        while server.serve(lambda asked: Sum(asked.left + asked.right), 60):
            pass
"""


def add(asked):
    return Sum(asked.left + asked.right)


class Services(TopicsCase):
    def serving(self, calls):
        """A thread that serves so many calls."""
        server = horus.Server(Add, Sum, "add")

        def serve():
            with server:
                for _ in range(calls):
                    server.serve(add, 20)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_call_is_answered_and_so_is_one_without_a_client_that_is_kept(self):
        self.serving(11)
        with horus.Client(Add, Sum, "add") as client:
            self.assertEqual([client.call(Add(k, 1), "20 s").sum for k in range(10)], [k + 1 for k in range(10)])
        self.assertEqual(horus.call("add", Add(2, 3), Sum, timeout="20 s").sum, 5)

    def test_calls_are_awaited_side_by_side_with_other_tasks(self):
        self.serving(3)

        async def main():
            with horus.Client(Add, Sum, "add") as client:
                return [(await client.call_async(Add(k, k), 20)).sum for k in range(3)]

        self.assertEqual(asyncio.run(main()), [0, 2, 4])

    def test_a_call_is_looked_for_later(self):
        with horus.Server(Add, Sum, "add") as server, horus.Client(Add, Sum, "add") as client:
            asked = client.ask(Add(1, 2))
            self.assertIsNone(asked.try_answer())
            self.assertTrue(server.serve(add, 0))
            self.assertFalse(server.serve(add, 0))
            self.assertEqual(asked.try_answer().sum, 3)
            with self.assertRaisesRegex(horus.HorusError, "has been answered"):
                asked.try_answer()

    def test_a_call_without_an_answer_says_why(self):
        with horus.Client(Add, Sum, "add") as client:
            with self.assertRaisesRegex(horus.HorusError, "has no server"):
                client.call(Add(1, 2))
            with self.assertRaisesRegex(horus.HorusError, "has no server"):
                asyncio.run(client.call_async(Add(1, 2)))
            with horus.Server(Add, Sum, "add") as server:
                with self.assertRaisesRegex(horus.HorusError, "did not answer within"):
                    client.call(Add(1, 2), "20 ms")
                with self.assertRaisesRegex(horus.HorusError, "did not answer within"):
                    asyncio.run(client.call_async(Add(1, 2), "20 ms"))
                while server.serve(lambda _: None, 0):
                    pass
                asked = client.ask(Add(1, 2))
                with self.assertRaisesRegex(ZeroDivisionError, "zero"):
                    server.serve(lambda _: 1 // 0, 0)
                with self.assertRaisesRegex(horus.HorusError, "gave no answer"):
                    asked.try_answer()
                self.assertEqual(client.late, 2)
                asked = client.ask(Add(1, 2))
            with self.assertRaisesRegex(horus.HorusError, "stopped"):
                asked.try_answer()

    def test_a_server_that_is_killed_is_an_error_of_its_own(self):
        server = self.start(SERVER)
        self.wait_for_line(server, "ready")
        with horus.Client(Add, Sum, "add") as client:
            self.assertEqual(client.call(Add(1, 2), 20).sum, 3)
            server.kill()
            server.wait()
            with self.assertRaisesRegex(horus.HorusError, "died|has no server"):
                client.call(Add(1, 2), 20)

    def test_other_types_and_a_second_server_are_refused(self):
        with horus.Server(Add, Sum, "add"):
            with self.assertRaisesRegex(horus.HorusError, "has a server already"):
                horus.Server(Add, Sum, "add")
            with self.assertRaisesRegex(horus.HorusError, "test/Add"):
                horus.Client(Sum, Sum, "add")
            with self.assertRaisesRegex(TypeError, "classes of messages"):
                horus.Client(bytes, Sum, "add")
            with self.assertRaisesRegex(TypeError, "no option reliable"):
                horus.Client(Add, Sum, "add", reliable=4)


if __name__ == "__main__":
    unittest.main()
