"""A program of nodes in Python among those of runtime/horus/tests/any_order.rs, which says what the words of a record are."""

import os
import struct
import time

import horus

OPENED, STEP, SET, RECEIVED, MISSED, ENDED = 1, 2, 3, 4, 5, 7


@horus.message("order/Numbered")
class Numbered:
    origin: horus.u64
    number: horus.u64


class Record:
    def __init__(self):
        # Unbuffered: SIGKILL leaves what was written.
        self.file = open(os.environ["RECORD"], "ab", buffering=0)

    def append(self, kind, one, two=0):
        self.file.write(struct.pack("=3Q", kind, one, two))


def options(capacity):
    return {os.environ["POLICY"]: capacity} if capacity else {}


def main():
    role, origin = os.environ["ROLE"], int(os.environ["NUMBER"])
    a, of_a, b, of_b = map(int, os.environ["CAPACITIES"].split())
    record, counts = Record(), {"missed": 0, "accepted": 0, "attempts": 0}
    app = horus.App(f"order-{role}", [])
    inputs = {"relay": ("a", of_a), "sink": ("b", of_b)}
    outputs = {"source": ("a", a), "relay": ("b", b)}
    seen = output = None
    if role in inputs:
        topic, capacity = inputs[role]
        seen = app.input(Numbered, topic, **options(capacity))
        record.append(OPENED, time.monotonic_ns())
    if role in outputs:
        topic, capacity = outputs[role]
        output = app.output(Numbered, topic, **options(capacity))

    def write():
        counts["attempts"] += 1
        before = time.monotonic_ns()
        if output.set(Numbered(origin=origin, number=counts["accepted"])):
            record.append(SET, counts["accepted"], before)
            counts["accepted"] += 1
        lost = output.lost
        assert counts["attempts"] == counts["accepted"] + lost.full + lost.beyond + lost.discarded + lost.outside

    def step(cycle):
        record.append(STEP, time.monotonic_ns())
        if seen is None:
            write()
            write()
            return
        for message in seen.messages():
            record.append(RECEIVED, message.origin, message.number)
            if output is not None:
                write()
        if seen.missed > counts["missed"]:
            counts["missed"] = seen.missed
            record.append(MISSED, seen.missed)

    released = {"on": "a", "period": "5 ms", "deadline": "5 ms"} if role == "relay" else {"period": "1 ms"}
    app.node(role, **released)(step)
    app.run()
    record.append(ENDED, time.monotonic_ns())


if __name__ == "__main__":
    main()
