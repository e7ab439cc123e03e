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
            await _wait(loop, waiter, subscriber, SLICE_SECONDS)


async def receive(subscriber, seconds):
    """The next message; None when the time is over. It is waited for by a thread of the event loop's own."""
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    while (message := subscriber.try_recv()) is None:
        left = SLICE_SECONDS if end is None else min(SLICE_SECONDS, end - loop.time())
        if left <= 0:
            return None
        await _wait(loop, None, subscriber, left)
    return message


async def _wait(loop, waiter, subscriber, seconds):
    """Waits for a message. Who cancels it waits until the thread has let the subscriber go."""
    waiting = loop.run_in_executor(waiter, subscriber.wait, seconds)
    try:
        await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await asyncio.wait([waiting])
        raise
