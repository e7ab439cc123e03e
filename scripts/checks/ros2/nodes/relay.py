"""A line of TCP that is slow and can be cut: python relay.py LISTEN TARGET DELAY_MS JITTER_MS. Words on standard input: cut, join, say.

What comes is passed on in its order, DELAY_MS later and up to JITTER_MS more. While it is cut, no connection is let in and nothing passes.
"""

import asyncio
import os
import random
import sys
import time

CHUNK = 1 << 16
# Chunks on their way each way: a line holds no more.
ON_THE_WAY = 256


class Relay:
    def __init__(self, target: str, delay_ms: str, jitter_ms: str):
        self.target, self.delay, self.jitter = target, float(delay_ms) / 1000, float(jitter_ms) / 1000
        self.is_cut, self.writers, self.bytes, self.least = False, set(), 0, float("inf")
        self.random = random.Random(3)

    async def serve(self, reader, writer) -> None:
        host, port = self.target.rsplit(":", 1)
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.transport.abort()
            return
        both = {writer, far_writer}
        self.writers |= both
        await asyncio.gather(self.one_way(reader, far_writer), self.one_way(far_reader, writer))
        self.writers -= both

    async def one_way(self, reader, writer) -> None:
        line = asyncio.Queue(ON_THE_WAY)
        sending = asyncio.create_task(self.send(line, writer))
        try:
            while data := await reader.read(CHUNK):
                await line.put((time.monotonic(), data))
        except OSError:
            pass
        await line.put((time.monotonic(), b""))
        await sending

    async def send(self, line, writer) -> None:
        while True:
            came, data = await line.get()
            await asyncio.sleep(max(0.0, came + self.delay + self.random.random() * self.jitter - time.monotonic()))
            if not data or self.is_cut:
                writer.transport.abort()
                if not data:
                    return
                continue
            self.bytes, self.least = self.bytes + len(data), min(self.least, time.monotonic() - came)
            try:
                writer.write(data)
                await writer.drain()
            except OSError:
                continue  # what waits for it is taken away

    def cut(self) -> None:
        self.is_cut = True
        for writer in self.writers:
            writer.transport.abort()

    async def words(self) -> None:
        while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if word == "cut":
                self.cut()
                print("cut", flush=True)
            elif word == "join":
                self.is_cut = False
                print("joined", flush=True)
            else:
                print(f"held bytes={self.bytes} least_ms={self.least * 1000:.2f}", flush=True)


async def main() -> None:
    listen, target, *times = sys.argv[1:]
    relay = Relay(target, *times)
    host, port = listen.rsplit(":", 1)
    server = await asyncio.start_server(relay.serve, host, int(port))
    print("ready", flush=True)
    async with server:
        await relay.words()
        os._exit(0)  # clients that are still connected are left


asyncio.run(main())
