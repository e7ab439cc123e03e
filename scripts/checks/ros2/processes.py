"""Programs that run beside a check: their lines as they come, their words to each other, and their end, which is bounded."""

import os
import queue
import subprocess
import threading
import time
from pathlib import Path

from horus_appliance.console import ApplianceFailed

# No program of a check is quiet for so long.
PATIENCE_SECONDS = 40
# What a bridge says after its waits were interrupted, as they are in a machine that is frozen for a moment; and the programs that said it.
INTERRUPTED = "DDS ended"
interrupted = []


class Process:
    """A program whose lines are read as they come; it is ended with the block."""

    def __init__(self, name: str, command: list, topics: Path, **variables):
        environment = {**os.environ, "HORUS_SHM_DIR": str(topics), "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        self.name, self.lines, self.said = name, queue.Queue(), []
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
        )  # fmt: skip
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            if INTERRUPTED in line:
                interrupted.append(self.name)
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def expect(self, beginning: str, seconds: float = PATIENCE_SECONDS) -> str:
        """Waits for a line with this beginning; gives its rest."""
        return self.expect_all({beginning}, seconds).split(beginning, 1)[1].strip()

    def expect_all(self, texts: set, seconds: float = PATIENCE_SECONDS) -> str:
        """Waits until each of these was said, in whatever order; gives the last line."""
        end, missing = time.monotonic() + seconds, set(texts)
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise ApplianceFailed(f"{self.name} did not say {sorted(missing)} in {seconds:g} s:\n{self.tail()}") from None
            if line is None:
                raise ApplianceFailed(f"{self.name} ended with {self.process.wait(5)} before it said {sorted(missing)}:\n{self.tail()}")
            self.said.append(line)
            missing = {text for text in missing if text not in line}
            if not missing:
                return line

    def tell(self, line: str) -> None:
        """Writes a line to its standard input."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def tail(self) -> str:
        while not self.lines.empty():
            self.said.append(self.lines.get() or "")
        return "\n".join(self.said[-30:])

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait(10)

    def end(self) -> str:
        """Ends it as systemd would; gives all that it said."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
                raise ApplianceFailed(f"{self.name} did not end when it was told to:\n{self.tail()}") from None
        time.sleep(0.05)  # its last lines are on their way
        self.tail()
        return "\n".join(self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Some end with their input, and take a signal to end for something that can wait.
        try:
            self.process.stdin.close()
        except OSError:
            pass  # it was gone before it read all
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
