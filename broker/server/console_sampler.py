"""Looks at something of the broker once a second while pages are open, for all pages together.

The first page that opens starts it, and without pages it rests: what pages cost the loop does not depend on how many
there are. A look that takes the loop long is followed by a longer rest. Every look is made into bytes once. Pages are
told one after the other, so many a second: many at once would keep the interpreter from the broker's loop for
milliseconds.

Here: looks that are passed on, and those at the whole broker. Not here: those at one subscription
(console_subscription).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool

from ..console.looks import look_at
from ..kernel import Kernel
from .loop import Broker

SAMPLE_SECONDS: Final = 1.0
HISTORY_SAMPLES: Final = 120
"""So many looks a page is given when it opens."""
STREAM_SECONDS_MAX: Final = 60.0
"""Then a page asks again, with the permissions that its user has by then."""
NAMES_MAX: Final = 200
"""Streams and subscriptions with numbers of their own in a look, the busiest."""
PACE_SECONDS: Final = 0.05
"""So long after one page the next one is told: of more than twenty pages, each is told several looks at once."""
REST: Final = 50
"""A look that has kept the loop for some time is followed by a rest of so many times that."""

Look = dict[str, Any]
"""What pages are shown, as JSON."""
Take = Callable[[], Awaitable[tuple[Look | None, float]]]
"""Takes a look."""


@final
class Sampler:
    """Looks by number, the newest last. All calls come from one event loop.

    `take`: takes a look, None if there is nothing to show yet, and says how many seconds of the loop that took.
    `history`: how many looks a page is given that opens.
    """

    def __init__(self, take: Take, history: int = HISTORY_SAMPLES) -> None:
        self._take = take
        self._looks: deque[tuple[int, bytes]] = deque(maxlen=history)
        self._number = 0
        self._pages = 0
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()
        self._turn = asyncio.Lock()

    @property
    def resting(self) -> bool:
        """Whether no page is open."""
        return self._pages == 0 and (self._task is None or self._task.done())

    async def follow(self, after: int) -> AsyncIterator[bytes]:
        """The looks behind a number, as events for a page, for STREAM_SECONDS_MAX."""
        self._pages += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        until = time.monotonic() + STREAM_SECONDS_MAX
        try:
            yield b"retry: 500\n\n"
            while (left := until - time.monotonic()) > 0:
                async with self._turn:
                    await asyncio.sleep(PACE_SECONDS)
                if told := b"".join(b"id: %d\ndata: %s\n\n" % each for each in self._looks if each[0] > after):
                    after = self._looks[-1][0]
                    yield told
                with suppress(TimeoutError):
                    async with asyncio.timeout(left), self._news:
                        while self._number <= after:
                            await self._news.wait()
        finally:
            self._pages -= 1

    async def _run(self) -> None:
        idle = 0
        while idle < 3:  # a page that asks again leaves a gap
            idle = 0 if self._pages else idle + 1
            look, seconds = await self._take()
            rest = max(SAMPLE_SECONDS, REST * seconds)
            if look is not None:
                look["rest"] = round(rest, 1)
                self._number = max(self._number + 1, time.time_ns() // 1_000_000)
                look["at"] = time.time_ns() // 1_000
                self._looks.append((self._number, json.dumps(look, separators=(",", ":")).encode()))
                async with self._news:
                    self._news.notify_all()
            await asyncio.sleep(rest)


@final
class BrokerLooks:
    """Looks at the broker's statistics: rates since the look before, and levels."""

    def __init__(self, broker: Broker, patience_seconds: float) -> None:
        self._broker = broker
        self._patience = patience_seconds
        self._before: Mapping[str, Mapping[str, Any]] | None = None
        self._then = 0.0

    async def take(self) -> tuple[Look | None, float]:
        """The next look."""

        def question(kernel: Kernel) -> tuple[dict[str, dict[str, Any]], float]:
            begun = time.perf_counter()
            return kernel.statistics(), time.perf_counter() - begun

        try:
            now, seconds = await run_in_threadpool(self._broker.ask, question, self._patience)
        except TimeoutError:
            self._before = None
            return {"busy": True}, 0.0
        moment, before, then = time.monotonic(), self._before, self._then
        self._before, self._then = now, moment
        fresh = before is not None and moment - then < 10 * (SAMPLE_SECONDS + REST * seconds)
        return _shown(before, now, moment - then) if before is not None and fresh else None, seconds


def _shown(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], seconds: float) -> Look:
    """Rates and levels, and of the groups of the server what is a number."""
    look = look_at(before, now, seconds)
    for title, busy in (("streams by name", "events/s"), ("subscriptions by name", "results/s")):
        rows = look.get(title, {})
        look[title] = dict(sorted(rows.items(), key=lambda row: -row[1].get(busy, 0))[:NAMES_MAX])
    for group, values in now.items():
        if group not in ("broker", "engine", "by_stream", "by_subscription"):
            look[group] = {name: value for name, value in values.items() if isinstance(value, int | float)}
    memory = _memory()
    return look if memory is None else {**look, "memory bytes": memory}


def _memory() -> int | None:
    """The bytes of memory that the process uses; None where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
