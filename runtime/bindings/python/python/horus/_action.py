"""Work on goals by generators, and what becomes of goals, for who waits and for event loops."""

import asyncio
import inspect
import time

from horus import _service
from horus._horus import ActionClient, Outcome

SLICE_SECONDS = 0.02


def drive(server, handler):
    """Has the work on each goal that runs go on by one step, and closes the work on those that are over."""
    works, running = server._works, server.goals()
    for gone in works.keys() - {goal.id for goal in running}:
        works.pop(gone).close()
    for goal in running:
        if goal.id not in works:
            work = handler(goal)
            if not inspect.isgenerator(work):
                _end(goal, work)
                continue
            works[goal.id] = work
        _go_on(goal, works)


def serve(server, handler, timeout):
    """Works on the next goal to its end; between two feedbacks it looks what came."""
    goal = server.next_goal(timeout)
    if goal is None:
        return False
    while not goal.is_over:
        drive(server, handler)
    # Work that its goal ended under. That on a goal which came meanwhile begins with the next `serve`.
    if (work := server._works.pop(goal.id, None)) is not None:
        work.close()
    return True


def _go_on(goal, works):
    try:
        feedback = next(works[goal.id])
    except StopIteration as end:
        del works[goal.id]
        _end(goal, end.value)
    except BaseException as error:
        del works[goal.id]
        goal.abort(f"{type(error).__name__}: {error}")
        raise
    else:
        if feedback is not None and not goal.is_over:
            goal.feedback(feedback)


def _end(goal, result):
    if goal.is_over:
        return
    if goal.is_canceling:
        goal.canceled(result)
    elif result is None:
        goal.abort("its program gave no result")
    else:
        goal.succeed(result)


def act_with(client, goal, seconds, told):
    """Sends a goal and waits for its outcome."""
    end = None if seconds is None else time.monotonic() + seconds
    if not client.check_server():
        client._not_served()
    sent = client.send(goal)
    try:
        while not isinstance(news := sent.look(), Outcome):
            if news is not None and told is not None:
                told(news)
            left = SLICE_SECONDS if end is None else end - time.monotonic()
            if left <= 0:
                client._time_out(seconds)
            if news is None and not client.wait(min(left, SLICE_SECONDS)):
                client.check_server()
        return news
    except BaseException:
        if not sent.is_over:
            sent.cancel()
        raise


async def follow(client, goal, seconds):
    """The feedbacks of a goal, and its outcome at last; they are waited for by a thread of the event loop's own."""
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds
    await _service.free(client)
    if not client.check_server():
        client._not_served()
    sent = client.send(goal)
    try:
        while True:
            news = sent.look()
            if news is not None:
                yield news
                if isinstance(news, Outcome):
                    return
            left = SLICE_SECONDS if end is None else end - loop.time()
            if left <= 0:
                client._time_out(seconds)
            if news is not None:
                continue
            await _service.news(client, left)
            client.check_server()
    finally:
        if not sent.is_over:
            sent.cancel()


def act(action, goal, feedbacks, results, timeout=None, told=None, **options):
    """
    Sends one goal to an action and waits for its outcome: `feedbacks` and `results` are classes. Waits at most `timeout`, or as long as it takes, and calls
    `told` with each feedback. Raises HorusError when there is no outcome. Who sends often keeps an ActionClient.
    """
    with ActionClient(type(goal), feedbacks, results, action, **options) as client:
        return client.act(goal, timeout, told)
