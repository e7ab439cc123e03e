"""A call without a client that is kept, and answers that an event loop awaits."""

import asyncio
import time

from horus._horus import Client

SLICE_SECONDS = 0.01


def call(service, request, answers, timeout=1.0, **options):
    """
    Asks a service once: `answers` is the class of its answers. Waits at most `timeout` for the answer. Raises HorusError when there is none. Who asks
    often keeps a Client.
    """
    with Client(type(request), answers, service, **options) as client:
        return client.call(request, timeout)


def parts(client, request, seconds):
    """The parts of the answer to a request, as they come."""
    if not client.check_server():
        client.call(request, 0)  # raises, and says that there is no server
    pending = client.ask(request)
    end = time.monotonic() + seconds
    while not pending.is_over:
        if (part := pending.try_part()) is not None:
            yield part
            end = time.monotonic() + seconds
        elif not pending.is_over:
            left = end - time.monotonic()
            if left <= 0:
                pending._time_out(seconds)
            if not client.wait(min(SLICE_SECONDS, left)):
                client.check_server()


async def answer(client, request, seconds):
    """The answer to a request; it is waited for by a thread of the event loop's own. Cancelling it gives the call up."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    await free(client)
    if not client.check_server():
        return client.call(request, 0)  # raises, and says that there is no server
    pending = client.ask(request)
    while (message := pending.try_answer()) is None:
        left = end - loop.time()
        if left <= 0:
            pending._time_out(seconds)
        await news(client, left)
        client.check_server()
    return message


_waits: dict[int, "asyncio.Future[bool]"] = {}


async def free(client):
    """Lets the thread come back that waits for a client's messages, if there is one: one thread at a time uses the client."""
    while (waiting := _waits.get(id(client))) is not None:
        await asyncio.wait([waiting])


async def news(client, seconds):
    """Waits for a message, for a short time. All tasks that wait for messages of one client do so by one thread."""
    # Those that were woken together look before one of them waits again.
    await asyncio.sleep(0)
    waiting = _waits.get(id(client))
    if waiting is None:
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(None, client.wait, min(SLICE_SECONDS, seconds))
        _waits[id(client)] = waiting
        waiting.add_done_callback(lambda _: _waits.pop(id(client), None))
    try:
        await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await asyncio.wait([waiting])
        raise
    await free(client)
