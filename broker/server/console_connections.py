"""Limits the connections of the console in number and time; an idle one gives way to a new one.

A client that sends half a request, or does not read its answer, holds a connection and nothing else: health stays to be
asked for. One connection is one request: a scraper that comes every few seconds needs no more.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MAX: Final = 32
"""Connections at a time. Beyond, the oldest without a whole request is closed; if all have one, the newest gets 503."""

CONNECTION_SECONDS_MAX: Final = 15.0
"""From its beginning to the end of its answer, for which a request may wait PATIENCE_SECONDS in the loop's line."""


class Connection(H11Protocol):
    """One of them, as uvicorn makes it. Its application answers one request."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._opened = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._opened = self.loop.time()
        self._deadline = self.loop.call_later(CONNECTION_SECONDS_MAX, transport.abort)
        if len(self.connections) > CONNECTIONS_MAX:
            idle = [each for each in self.connections if isinstance(each, Connection) and each.cycle is None]
            oldest = min(idle, key=lambda each: each._opened)  # this one at least has asked nothing
            if oldest is not self:
                oldest.transport.abort()
                self.connections.discard(oldest)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)
