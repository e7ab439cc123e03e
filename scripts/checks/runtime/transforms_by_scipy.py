"""Reads the records of transform_chains.rs, computes each path by scipy, and ends with 1 where an answer is not within the limit. In the environment
with scipy: transforms_by_scipy.py LIMIT."""

import sys

import numpy
from scipy.spatial.transform import Rotation

LINKS, LINK, RECORD = 10, 15, 159
AT_A_TIME = 2000


def between(links: numpy.ndarray) -> tuple:
    """The rotation and the translation of each link at its time."""
    before, after, share = links[:, :7], links[:, 7:14], links[:, 14:]
    first, last = Rotation.from_quat(before[:, 3:]), Rotation.from_quat(after[:, 3:])
    rotation = first * Rotation.from_rotvec(share * (first.inv() * last).as_rotvec())
    return rotation, before[:, :3] + share * (after[:, :3] - before[:, :3])


def path(links: numpy.ndarray, counts: numpy.ndarray, first: numpy.ndarray) -> tuple:
    """Each record's frame in the common ancestor: `counts` links from number `first` on, of which the lowest comes first."""
    whole, moved = Rotation.identity(len(links)), numpy.zeros((len(links), 3))
    rows = numpy.arange(len(links))
    for number in range(LINKS):
        is_there = number < counts
        link = links[rows, numpy.minimum(first + number, LINKS - 1)].copy()
        link[~is_there] = [0, 0, 0, 0, 0, 0, 1] * 2 + [0]
        rotation, translation = between(link)
        whole, moved = rotation * whole, translation + rotation.apply(moved)
    return whole, moved


def compare(records: numpy.ndarray) -> tuple:
    """By how much the answers differ at most: metres and radians."""
    up, down = records[:, 0].astype(int), records[:, 1].astype(int)
    links, answers = records[:, 2 : 2 + LINKS * LINK].reshape(-1, LINKS, LINK), records[:, -7:]
    source, source_at = path(links, up, numpy.zeros_like(up))
    target, target_at = path(links, down, up)
    rotation, translation = target.inv() * source, target.inv().apply(source_at - target_at)
    apart = numpy.abs(translation - answers[:, :3]).max()
    turned = (rotation.inv() * Rotation.from_quat(answers[:, 3:])).magnitude().max()
    unit = numpy.abs(numpy.linalg.norm(answers[:, 3:], axis=1) - 1).max()
    return apart, max(turned, unit)


def main() -> int:
    limit, count, worst = float(sys.argv[1]), 0, [0.0, 0.0]
    while block := sys.stdin.buffer.read(AT_A_TIME * RECORD * 8):
        records = numpy.frombuffer(block).reshape(-1, RECORD)
        count += len(records)
        worst = [max(pair) for pair in zip(worst, compare(records), strict=True)]
    print(count, *(f"{number:.1e}" for number in worst))
    return int(not all(number <= limit for number in worst))


if __name__ == "__main__":
    sys.exit(main())
