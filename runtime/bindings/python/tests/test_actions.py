"""Actions: who sends goals, who works on them, and what becomes of goals."""

import asyncio
import threading
import time
import unittest

import horus
from support import TopicsCase


@horus.message("test/Count")
class Count(horus.Message):
    to: horus.u64 = 0


@horus.message("test/Reached")
class Reached(horus.Message):
    number: horus.u64 = 0


@horus.message("test/Counted")
class Counted(horus.Message):
    number: horus.u64 = 0


TYPES = (Count, Reached, Counted)


def count(goal):
    """Counts to a number; one that is canceled ends with what it came to."""
    for number in range(1, goal.value.to + 1):
        if goal.is_canceling:
            return Counted(number - 1)
        if number == 50:
            raise ValueError("50 is no number")
        yield Reached(number)
    return Counted(goal.value.to)


class Actions(TopicsCase):
    def serving(self, goals, handler=count, **options):
        """A thread that works on so many goals."""
        server = horus.ActionServer(*TYPES, "count", **options)

        def serve():
            with server:
                for _ in range(goals):
                    server.serve(handler, 20)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_goal_that_came_meanwhile_is_worked_on_by_the_next_serve(self):
        with horus.ActionServer(*TYPES, "count", preemption="queue") as server, horus.ActionClient(*TYPES, "count") as client:
            goals = [client.send(Count(to)) for to in (2, 3)]
            for goal in goals:
                self.assertTrue(server.serve(count, 20))
                while not isinstance(news := goal.look(), horus.Outcome):
                    self.assertIsInstance(news, (Reached, type(None)))
                self.assertEqual((news.status, news.result.number), ("succeeded", goals.index(goal) + 2))

    def test_a_limit_holds_while_feedbacks_come_without_a_pause(self):
        def never(goal):
            while not goal.is_canceling:
                yield Reached(1)

        self.serving(1, never)
        with horus.ActionClient(*TYPES, "count") as client:
            self.assertTrue(client.wait_until_served(20))
            with self.assertRaises(horus.HorusError):
                client.act(Count(5), "50 ms", lambda reached: time.sleep(0.002))

    def test_a_goal_is_worked_on_by_a_generator_and_its_client_hears_how_far_it_is(self):
        self.serving(2)
        with horus.ActionClient(*TYPES, "count") as client:
            told = []
            outcome = client.act(Count(5), "20 s", lambda reached: told.append(reached.number))
            self.assertEqual((outcome.status, outcome.result.number, told), ("succeeded", 5, [1, 2, 3, 4, 5]))
        outcome = horus.act("count", Count(2), Reached, Counted, timeout=20)
        self.assertEqual(repr(outcome), "Outcome(status='succeeded', result=Counted(number=2), reason='')")

    def test_a_program_says_which_goals_it_takes_and_what_it_raises_aborts_a_goal(self):
        server = horus.ActionServer(*TYPES, "count", accept=lambda goal: "farther than 60" if goal.to > 60 else None)
        with server, horus.ActionClient(*TYPES, "count") as client:
            far, near = client.send(Count(61)), client.send(Count(50))
            with self.assertRaisesRegex(ValueError, "50 is no number"):
                server.serve(count, 20)
            with self.assertRaisesRegex(horus.HorusError, "rejected the goal: farther than 60"):
                far.look()
            while not isinstance(outcome := near.look(), horus.Outcome):
                pass
            self.assertEqual((outcome.status, outcome.reason), ("aborted", "ValueError: 50 is no number"))

    def test_a_goal_is_canceled_and_ends_with_what_it_came_to(self):
        with horus.ActionServer(*TYPES, "count") as server, horus.ActionClient(*TYPES, "count") as client:
            sent = client.send(Count(40))
            server.drive(count)
            self.assertEqual(sent.look(), Reached(1))
            self.assertTrue(sent.is_accepted)
            sent.cancel()
            server.drive(count)
            outcome = sent.look()
            self.assertEqual((outcome.status, outcome.result), ("canceled", Counted(1)))
            self.assertTrue(sent.is_over)
            with self.assertRaisesRegex(horus.HorusError, "has had its outcome"):
                sent.look()

    def test_a_newer_goal_takes_the_place_of_the_one_that_runs_and_closes_its_work(self):
        with horus.ActionServer(*TYPES, "count", preemption="replace") as server, horus.ActionClient(*TYPES, "count") as client:
            closed = []

            def work(goal):
                try:
                    while True:
                        yield None
                finally:
                    closed.append(goal.value.to)

            first = client.send(Count(1))
            server.drive(work)
            client.send(Count(2))
            server.drive(work)
            outcome = first.look()
            self.assertEqual((outcome.status, outcome.cause, outcome.result, closed), ("aborted", "replaced", None, [1]))

    def test_goals_are_looked_at_step_by_step(self):
        with horus.ActionServer(*TYPES, "count", preemption="queue") as server, horus.ActionClient(*TYPES, "count") as client:
            client.send(Count(1))
            second = client.send(Count(2))
            goal = server.goal()
            self.assertEqual((goal.value, goal.is_new, goal.status, server.waiting), (Count(1), True, "executing", 1))
            with self.assertRaisesRegex(horus.HorusError, "wait until a client cancels it"):
                goal.canceled()
            goal.abort("it is too far", Counted(0))
            with self.assertRaisesRegex(horus.HorusError, "this goal is aborted"):
                goal.feedback(Reached(1))
            server.goal().succeed(Counted(2))
            self.assertEqual(second.look().result, Counted(2))
            with self.assertRaisesRegex(TypeError, "the action wants test/Count"):
                client.send(Reached(1))

    def test_what_is_wrong_says_what_to_do(self):
        client = horus.ActionClient(*TYPES, "count")
        with self.assertRaisesRegex(horus.HorusError, "has no server"):
            client.act(Count(1))
        with self.assertRaisesRegex(ValueError, "there are refuse, queue, replace"):
            horus.ActionServer(*TYPES, "count", preemption="stop")
        with self.assertRaisesRegex(TypeError, "an action has no option latched"):
            horus.ActionClient(*TYPES, "count", latched=True)
        with self.assertRaisesRegex(TypeError, "classes of messages"):
            horus.ActionClient(bytes, Reached, Counted, "count")
        with horus.ActionServer(*TYPES, "count"):
            with self.assertRaisesRegex(horus.HorusError, "within .* is to be canceled"):
                client.act(Count(1), "10 ms")
            self.assertTrue(client.wait_until_served(20))
        sent = client.send(Count(1))
        self.assertFalse(client.check_server())
        with self.assertRaisesRegex(horus.HorusError, "has no server"):
            sent.look()
        client.close()
        with self.assertRaisesRegex(horus.HorusError, "was closed"):
            client.send(Count(1))

    def test_an_event_loop_follows_a_goal_and_ending_that_early_cancels_it(self):
        self.serving(1)

        async def follow():
            with horus.ActionClient(*TYPES, "count") as client:
                return [news async for news in client.follow(Count(3), 20)]

        *told, outcome = asyncio.run(follow())
        self.assertEqual((told, outcome.status), ([Reached(1), Reached(2), Reached(3)], "succeeded"))

        async def stop_early(client):
            following = client.follow(Count(9))
            self.assertEqual(await anext(following), Reached(1))
            await following.aclose()

        with horus.ActionServer(*TYPES, "other") as server, horus.ActionClient(*TYPES, "other") as client:
            beside = threading.Thread(target=lambda: server.next_goal(20).feedback(Reached(1)))
            beside.start()
            asyncio.run(stop_early(client))
            beside.join()
            self.assertTrue(server.goal().is_canceling)

    def test_nodes_drive_goals_and_send_them_and_two_worlds_are_the_same(self):
        def declare(app):
            server = app.action(*TYPES, "count", preemption="replace")

            @app.node(period="10 ms")
            def work(cycle):
                server.drive(count)

            client, told = app.action_client(*TYPES, "count"), app.output(Counted, "told")
            sent = []

            @app.node(period="10 ms")
            def ask(cycle):
                if not sent:
                    sent.append(client.send(Count(3 + cycle.number % 5)))
                while (news := sent[0].look()) is not None:
                    if isinstance(news, horus.Outcome):
                        told.set(news.result)
                        sent.clear()
                        return

        def run():
            world = horus.World(declare)
            world.run_for("1 s")
            return world.last(Counted, "told"), world.tally("work").cycles

        last, cycles = run()
        self.assertTrue(last is not None and 3 <= last.number <= 7 and cycles >= 99, (last, cycles))
        self.assertEqual((last, cycles), run())


if __name__ == "__main__":
    unittest.main()
