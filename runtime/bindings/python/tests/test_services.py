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

    def test_calls_of_one_client_are_awaited_side_by_side(self):
        self.serving(14)

        async def main():
            with horus.Client(Add, Sum, "add") as client:
                ask = lambda k: client.call_async(Add(k, k), 20)
                first = asyncio.create_task(ask(100))
                several = [answer.sum for answer in await asyncio.gather(*map(ask, range(12)))]
                return several, (await first).sum, client.call(Add(1, 1), 20).sum

        self.assertEqual(asyncio.run(main()), ([2 * k for k in range(12)], 200, 2))

    def test_an_answer_of_many_parts_waits_for_a_client_that_looks(self):
        def count(request):
            for k in range(100):
                yield Sum(k)

        with horus.Server(Add, Sum, "count") as server, horus.Client(Add, Sum, "count") as client:
            thread = threading.Thread(target=lambda: server.serve(count, 20))
            thread.start()
            self.assertEqual([part.sum for part in client.stream(Add(0, 0), 20)], list(range(100)))
            thread.join()

    def test_a_server_makes_room_for_more_clients(self):
        with horus.Server(Add, Sum, "add", clients=12):
            clients = [horus.Client(Add, Sum, "add") for _ in range(12)]
            for client in clients:
                client.close()

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


class Node(TopicsCase):
    """Services of nodes."""

    @staticmethod
    def asker(app, **given):
        """A node that asks for sums one after the other, and keeps what it hears."""
        client, heard, asked = app.client(Add, Sum, "add", **given), [], []

        @app.node(period="10 ms")
        def ask(cycle):
            if not asked:
                asked.append(client.ask(Add(cycle.number, 1)))
            elif (answer := asked[0].try_answer()) is not None:
                heard.append(answer.sum)
                asked.clear()

        return client, heard

    def test_a_node_asks_and_another_one_answers_in_virtual_time_and_two_runs_are_the_same(self):
        def run():
            told = []

            def declare(app):
                told.extend(self.asker(app))
                app.service(Add, Sum, "add", min_inter_arrival="1 ms", deadline="1 ms")(add)

            world = horus.World(declare)
            world.run_for(0.1)
            self.assertEqual((world.tally("add").cycles, world.tally("add").misses), (5, 0))
            return told[1]

        self.assertEqual(run(), [1, 3, 5, 7, 9])
        self.assertEqual(run(), run())

    def test_a_node_serves_among_other_work_and_shares_a_service(self):
        counts = {"left": 0, "right": 0}

        def declare(app):
            for name in counts:
                server = app.server(Add, Sum, "add", shared=True)

                def serve(cycle, name=name, server=server):
                    while server.serve(add):
                        counts[name] += 1

                app.node(name, on="add", min_inter_arrival="1 ms", deadline="1 ms")(serve)
            declared.extend(self.asker(app, shared=True))

        declared = []
        world = horus.World(declare)
        world.run_for(0.2)
        self.assertEqual(declared[1], list(range(1, 21, 2)))
        self.assertEqual(counts, {"left": 5, "right": 5})

    def test_a_generator_answers_in_parts(self):
        def count(asked):
            for k in range(asked.left):
                yield Sum(k)
                if k == asked.right:
                    raise ZeroDivisionError("enough")

        with horus.Server(Add, Sum, "add") as server, horus.Client(Add, Sum, "add") as client:
            asked = client.ask(Add(3, 9))
            self.assertIsNone(asked.try_part())
            server.serve(count, 0)
            self.assertEqual([asked.try_part().sum for _ in range(3)], [0, 1, 2])
            self.assertFalse(asked.is_over)
            self.assertIsNone(asked.try_part())
            self.assertTrue(asked.is_over)
            asked = client.ask(Add(3, 1))
            with self.assertRaisesRegex(ZeroDivisionError, "enough"):
                server.serve(count, 0)
            self.assertEqual([asked.try_part().sum for _ in range(2)], [0, 1])
            with self.assertRaisesRegex(horus.HorusError, "gave no answer"):
                asked.try_part()
            serving = threading.Thread(target=server.serve, args=(count, 20))
            serving.start()
            self.assertEqual([part.sum for part in client.stream(Add(4, 9), 20)], [0, 1, 2, 3])
            serving.join()
            with self.assertRaisesRegex(horus.HorusError, "did not answer within"):
                next(client.stream(Add(1, 9), "10 ms"))

    def test_a_step_does_not_wait_and_a_client_ends_with_its_program(self):
        kept = []

        def declare(app):
            kept.extend(self.asker(app))
            app.service(Add, Sum, "add", deadline="1 ms")(add)

        world = horus.World(declare)
        for wait in (lambda: kept[0].call(Add(1, 2)), lambda: kept[0].wait(0), lambda: kept[0].call_async(Add(1, 2)), lambda: kept[0].stream(Add(1, 2))):
            with self.assertRaisesRegex(horus.HorusError, "a step does not wait"):
                wait()
        del world
        with self.assertRaisesRegex(horus.HorusError, "has ended"):
            kept[0].ask(Add(1, 2))

    def test_an_exception_of_a_handler_ends_the_program(self):
        def declare(app):
            self.asker(app)
            app.service(Add, Sum, "add", deadline="1 ms")(lambda asked: 1 // 0)

        with self.assertRaisesRegex(ZeroDivisionError, "zero"):
            horus.World(declare).run_for(0.1)

    def test_what_makes_no_sense_is_refused(self):
        def refused(error, said, declare):
            with self.assertRaisesRegex(error, said):
                horus.World(declare)

        refused(TypeError, "cannot be called", lambda app: app.service(Add, Sum, "add")(7))
        refused(TypeError, "classes of messages", lambda app: app.service(Add, dict, "add")(add))
        refused(TypeError, "no option speed", lambda app: app.service(Add, Sum, "add", speed=1)(add))

        def twice(app):
            app.service(Add, Sum, "add")(add)
            app.service(Add, Sum, "add")(add)

        refused(horus.HorusError, "has a server already", twice)

    def test_a_node_hears_of_a_server_that_is_killed(self):
        server = self.start(SERVER.replace("server.serve(lambda asked: Sum(asked.left + asked.right), 60)", "server.serve(lambda asked: time.sleep(60), 60)").replace(
            "import horus\n", "import time\n    import horus\n", 1))
        self.wait_for_line(server, "ready")
        app = horus.App("asker", [])
        client, asked, ended = app.client(Add, Sum, "add"), [], []

        @app.node(period="10 ms")
        def ask(cycle):
            if not asked:
                asked.append(client.ask(Add(1, 2)))
                server.kill()
            try:
                asked[0].try_answer()
            except horus.HorusError as error:
                ended.append(str(error))
                raise
            if cycle.number > 2000:
                raise TimeoutError

        with self.assertRaisesRegex(horus.HorusError, "died before it answered"):
            app.run()


if __name__ == "__main__":
    unittest.main()
