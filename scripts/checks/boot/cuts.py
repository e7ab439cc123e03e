"""What a power cut could have left of a disk: states made from the log of all that a machine wrote, as QEMU's blklogwrites records it.

At a cut, a disk holds all that was written before its last flush, and of what was written since then any part: each write whole, torn
after some of its sectors, or not at all.
"""

import random
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

# The kernel's Documentation/admin-guide/device-mapper/log-writes.rst: a superblock, then entries, each followed by its data, all
# of them in whole sectors.
MAGIC = 0x6A736677736872
SUPERBLOCK, ENTRY = struct.Struct("<QQQI"), struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD = 1, 2, 4
SECTOR = 512


@dataclass(frozen=True)
class Write:
    """One entry of the log: where on the disk, its flags, and where in the log its data are."""

    sector: int
    sectors: int
    flags: int
    place: int


def read_log(log: Path) -> list:
    """All entries of a log, in the order in which they reached the disk."""
    with log.open("rb") as stream:
        magic, _, count, size = SUPERBLOCK.unpack(stream.read(SUPERBLOCK.size))
        if magic != MAGIC:
            raise ValueError(f"{log} is no log of writes")
        found, place = [], size
        for _ in range(count):
            stream.seek(place)
            sector, sectors, flags, _ = ENTRY.unpack(stream.read(ENTRY.size))
            found.append(Write(sector, sectors, flags, place + size))
            # What is discarded or only flushed has no data in the log.
            place += size + (0 if flags & DISCARD else sectors * SECTOR)
    return found


class Replay:
    """A partition of a recorded machine, or its whole disk, at any point of its log. `partition` is where it begins and its length, in bytes."""

    def __init__(self, image: Path, partition: tuple, log: Path, directory: Path):
        self.start, self.size = partition
        self.log = log.open("rb")
        self.durable = directory / "durable"
        self.directory = directory
        with self.durable.open("wb") as stream:
            stream.truncate(self.size)
        subprocess.run(
            ["dd", f"if={image}", f"of={self.durable}", "bs=1M", f"skip={self.start}", f"count={self.size}", "iflag=fullblock,skip_bytes,count_bytes",
             "conv=sparse,notrunc", "status=none"],
            check=True,
        )  # fmt: skip
        self.writes = [write for write in read_log(log) if write.flags & FLUSH or self._is_inside(write)]
        self.applied = 0

    def _is_inside(self, write: Write) -> bool:
        return self.start <= write.sector * SECTOR < self.start + self.size

    def states(self, count: int, seed: int, among: list | None = None):
        """
        `count` cuts in the order of the log, the last one after everything: each gives a file with the partition as it could be then. The others are
        any points of the log, or some of `among`.
        """
        chance = random.Random(seed)
        for point in [*sorted(chance.sample(among or range(1, len(self.writes)), count - 1)), len(self.writes)]:
            # Written through the last flush before the cut, for sure.
            last = max((at for at in range(self.applied, point) if self.writes[at].flags & FLUSH), default=None)
            if last is not None:
                with self.durable.open("r+b") as stream:
                    for write in self.writes[self.applied : last + 1]:
                        self._apply(stream, write, write.sectors)
                self.applied = last + 1
            cut = self.directory / "cut"
            subprocess.run(["cp", "--sparse=always", self.durable, cut], check=True)
            with cut.open("r+b") as stream:
                for write in self.writes[self.applied : point]:
                    kept = write.sectors if write.flags & FUA else chance.choice((0, write.sectors, chance.randint(0, write.sectors)))
                    self._apply(stream, write, kept)
            yield cut

    def _apply(self, stream, write: Write, sectors: int) -> None:
        if write.flags & DISCARD or not self._is_inside(write):
            return
        self.log.seek(write.place)
        stream.seek(write.sector * SECTOR - self.start)
        stream.write(self.log.read(sectors * SECTOR))

    def close(self) -> None:
        """Removes the files of this replay."""
        self.log.close()
        shutil.rmtree(self.directory)
