"""A look-up over ten frames by scipy's rotations, as transform_benchmark does it: scipy_transforms.py BATCHES CALLS prints the nanoseconds of each batch."""

import sys
import time

import numpy
from scipy.spatial.transform import Rotation, Slerp

FRAMES, SENT = 10, 256


def link(number):
    return Rotation.from_euler("z", 1e-3 * number), numpy.array([1.0, 0.0, 0.0])


def look_up(pair, times, at):
    whole, moved = Rotation.identity(), numpy.zeros(3)
    share = (at - times[0]) / (times[1] - times[0])
    for _ in range(FRAMES):
        (before, after), (start, end) = pair
        rotation, translation = Slerp(times, Rotation.concatenate([before, after]))(at), start + share * (end - start)
        whole, moved = whole * rotation, moved + whole.apply(translation)
    return whole, moved


def main():
    batches, calls = int(sys.argv[1]), int(sys.argv[2])
    (before, start), (after, end) = link(SENT - 1), link(SENT)
    pair, times = ((before, after), (start, end)), [0.0, 1.0]
    for _ in range(batches):
        began = time.monotonic_ns()
        for _ in range(calls):
            look_up(pair, times, 2 / 3)
        print(time.monotonic_ns() - began)


main()
