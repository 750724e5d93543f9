"""Reads as many pages of the console as wanted, and writes the same to them without a broker, for the control.

    python -m benchmarks.console_readers read SITE OTHER    pages at SITE or at OTHER, by lines of the input
    python -m benchmarks.console_readers write SITE         serve what a page of SITE was told; print the address

A line of the input is how many pages are to be open, and 0 for SITE or 1 for OTHER. All pages are in one process. A
page asks again when its stream ends; the first time after a part of that time, so that pages ask again in every block.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Final

from broker.server.console_sampler import HISTORY_SAMPLES, PACE_SECONDS, SAMPLE_SECONDS, STREAM_SECONDS_MAX

from .broker_trial import READY

MODULE: Final = "benchmarks.console_readers"
GAP_SECONDS: Final = 0.5
"""As the server tells a page."""


def _host_port(site: str) -> tuple[str, int]:
    host, _, port = site.partition(":")
    return host, int(port)


async def _page(site: str, seen: asyncio.Event, life: float) -> None:
    """One page, until it is cancelled. `seen` is set by its first look at the broker. `life`: the seconds after which
    it asks again for the first time."""
    last = "0"
    while True:
        with suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_connection(*_host_port(site))
            try:
                async with asyncio.timeout(life):
                    last = await _follow(reader, writer, site, last, seen)
            finally:
                writer.close()
        life = STREAM_SECONDS_MAX
        await asyncio.sleep(GAP_SECONDS)


async def _follow(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, site: str, last: str, seen: asyncio.Event
) -> str:
    """Ask for the looks behind `last`, and read until the server ends; the last one."""
    head = f"GET /api/live HTTP/1.1\r\nHost: {site.partition(':')[0]}\r\nLast-Event-ID: {last}\r\n\r\n"
    writer.write(head.encode())
    while line := await reader.readline():
        if line.startswith(b"id: "):
            last = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            seen.set()
    return last


async def read(*sites: str) -> None:
    """Keep as many pages open as the last line of the input says; say so when each has something to show."""
    pages: list[asyncio.Task[None]] = []
    at = 0
    while line := await asyncio.to_thread(sys.stdin.readline):
        wanted, where = map(int, line.split())
        kept = wanted if where == at else 0
        for page in pages[kept:]:
            page.cancel()
        await asyncio.gather(*pages[kept:], return_exceptions=True)
        del pages[kept:]
        at = where
        fresh = [asyncio.Event() for _ in range(wanted - len(pages))]
        lives = [STREAM_SECONDS_MAX * (place + 0.5) / len(fresh) for place in range(len(fresh))]
        pages += [asyncio.create_task(_page(sites[at], seen, life)) for seen, life in zip(fresh, lives)]
        await asyncio.gather(*[seen.wait() for seen in fresh])
        print(json.dumps(READY), flush=True)


async def _look(site: str) -> bytes:
    """What a page of the console is told first, without what HTTP adds."""
    reader, writer = await asyncio.open_connection(*_host_port(site))
    writer.write(f"GET /api/live HTTP/1.1\r\nHost: {site.partition(':')[0]}\r\nLast-Event-ID: 0\r\n\r\n".encode())
    try:
        while not (line := await reader.readline()).startswith(b"data: "):
            if not line:
                raise SystemExit("the console told nothing")
        return line
    finally:
        writer.close()


async def write(site: str) -> None:
    """Tell everybody who asks what a page of the console was told, as often as the console does."""
    begun, turn, look = asyncio.get_running_loop().time(), asyncio.Lock(), b""

    async def told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal look
        look = look or await _look(site)
        last = 0
        while (line := await reader.readline()).strip():
            if line.startswith(b"Last-Event-ID: "):
                last = int(line.partition(b" ")[2])
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nretry: 500\n\n")
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(STREAM_SECONDS_MAX):
                while True:
                    now = int((asyncio.get_running_loop().time() - begun) / SAMPLE_SECONDS) + 1
                    async with turn:
                        await asyncio.sleep(PACE_SECONDS)
                    numbers = range(max(last, now - HISTORY_SAMPLES) + 1, now + 1)
                    writer.write(b"".join(b"id: %d\n%s\n" % (number, look) for number in numbers))
                    await writer.drain()
                    last = now
                    await asyncio.sleep(SAMPLE_SECONDS)
        writer.close()

    server = await asyncio.start_server(told, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    print(json.dumps(f"{host}:{port}"), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run((read if sys.argv[1] == "read" else write)(*sys.argv[2:]))
