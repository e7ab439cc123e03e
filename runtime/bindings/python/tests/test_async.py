"""`async for`: messages in an event loop."""

import asyncio
import time
import unittest

import horus
from horus.messages import CmdVel
from support import TopicsCase


class Async(TopicsCase):
    def test_messages_come_while_other_tasks_run(self):
        async def listen(seen, got):
            async for message in seen:
                got.append(message.forward)
                if len(got) == 200:
                    return

        async def main():
            got, ticks = [], 0
            with horus.Subscriber(CmdVel, "a", reliable=8) as seen, horus.Publisher(CmdVel, "a", reliable=8) as sent:
                listening = asyncio.create_task(listen(seen, got))
                for k in range(200):
                    while not sent.try_send(CmdVel(k)):
                        await asyncio.sleep(0.001)
                    if k % 50 == 0:
                        await asyncio.sleep(0.06)  # longer than a slice: it really waits
                        ticks += 1
                await asyncio.wait_for(listening, 20)
            return got, ticks

        got, ticks = asyncio.run(main())
        self.assertEqual((got, ticks), ([float(k) for k in range(200)], 4))

    def test_one_message_is_awaited_for_a_time_and_a_cancelled_wait_loses_none(self):
        async def main():
            seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a")
            none = await seen.recv_async(timeout="20 ms")
            waiting = asyncio.create_task(seen.recv_async())
            await asyncio.sleep(0.08)  # longer than a slice
            sent.send(CmdVel(1))
            first = await asyncio.wait_for(waiting, 20)
            for _ in range(5):
                task = asyncio.create_task(seen.recv_async())
                await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            sent.send(CmdVel(2))
            return none, first.forward, (await seen.recv_async(20)).forward

        self.assertEqual(asyncio.run(main()), (None, 1.0, 2.0))

    def test_a_task_that_waits_can_be_cancelled_and_loses_nothing(self):
        async def main():
            seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a")

            async def listen():
                async for _message in seen:
                    pass

            for _ in range(5):
                task = asyncio.create_task(listen())
                await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            sent.send(CmdVel(3))
            return seen.try_recv()

        self.assertEqual(asyncio.run(main()), CmdVel(3))

    def test_a_timeout_ends_the_wait(self):
        async def main():
            seen = horus.Subscriber(CmdVel, "a")
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.05):
                    async for _message in seen:
                        pass

        before = time.monotonic()
        asyncio.run(main())
        self.assertGreater(time.monotonic() - before, 0.04)

    def test_closing_ends_the_loop_with_an_error_or_its_end(self):
        async def main():
            seen = horus.Subscriber(CmdVel, "a")
            seen.close()
            with self.assertRaisesRegex(horus.HorusError, "was closed"):
                async for _message in seen:
                    pass

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
