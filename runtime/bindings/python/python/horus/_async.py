"""`async for` over a subscriber: it is waited for by a thread of its own, for a slice of time, and received from by the event loop's."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

SLICE_SECONDS = 0.05


async def messages(subscriber):
    """The messages of a subscriber. A task that is cancelled ends within a slice, and loses no message."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, "horus-wait") as waiter:
        while True:
            if (message := subscriber.try_recv()) is not None:
                yield message
                continue
            waiting = loop.run_in_executor(waiter, subscriber.wait, SLICE_SECONDS)
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError:
                # The subscriber is the waiting thread's until then.
                await asyncio.wait([waiting])
                raise
