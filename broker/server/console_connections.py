"""Limits the connections of the console in number and time; an idle one gives way to a new one.

A client that sends half a request, or does not read its answer, blocks one connection and nothing else, so health can
still be queried. A connection serves one request: a scraper that polls every few seconds needs no more.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MAX: Final = 96
"""Connections at a time. For a further one the oldest without a complete request is closed; if there is none, it gets
503."""

CONNECTION_SECONDS_MAX: Final = 15.0
"""From the start of a connection to the end of its answer. A request may wait PATIENCE_SECONDS for the loop."""

FOLLOWING_SECONDS_MAX: Final = 65.0
"""The same where the answer is looks, one after the other: they end by themselves before that."""
_LOOKS: Final = "/live"
"""The end of the paths of such requests."""


class Connection(H11Protocol):
    """A connection, constructed by uvicorn. It answers one request."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._opened = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._opened = self.loop.time()
        self._deadline = self.loop.call_later(CONNECTION_SECONDS_MAX, self._late)
        if len(self.connections) > CONNECTIONS_MAX:
            idle = [each for each in self.connections if isinstance(each, Connection) and each.cycle is None]
            oldest = min(idle, key=lambda each: each._opened)  # `idle` contains at least this connection
            if oldest is not self:
                oldest.transport.abort()
                self.connections.discard(oldest)

    def _late(self) -> None:
        answered: object = self.cycle  # None until there is a request, other than uvicorn says
        if answered is not None and self.scope["path"].endswith(_LOOKS):
            left = FOLLOWING_SECONDS_MAX - CONNECTION_SECONDS_MAX
            self._deadline = self.loop.call_later(left, self.transport.abort)
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)
