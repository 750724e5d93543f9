"""Limits the connections of the console in number and time; an idle one gives way to a new one.

A client that sends half a request, or does not read its answer, blocks one connection and nothing else. Some of those
that may be open are kept for health and metrics: other requests get 503 before these are used, and one that is not
whole gives way to a new connection. A connection serves one request: a scraper that polls every few seconds needs no
more.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..console.guard import problem

HEALTH: Final = ("/metrics", "/livez", "/readyz")
"""What is answered however many ask for something else."""

REQUESTS_MAX: Final = 80
"""Requests for anything else at a time; a further one gets 503."""

FOLLOWERS_MAX: Final = 64
"""Those among them whose answer goes on as long as a page is open."""

CONNECTIONS_MAX: Final = 96
"""Connections at a time. For a further one the oldest without a whole request, its body included, is closed; if there
is none, it gets 503."""

PAUSE_SECONDS_MAX: Final = 5.0
"""How long a connection may send nothing before its request is whole."""

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
        self._silence: asyncio.TimerHandle | None = None
        self._opened = 0.0

    @property
    def _whole(self) -> bool:
        """Whether the request has come, with its body."""
        cycle: Any = self.cycle  # None until there is a request, other than uvicorn says
        return cycle is not None and not cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._opened = self.loop.time()
        self._deadline = self.loop.call_later(CONNECTION_SECONDS_MAX, self._late)
        self._silence = self.loop.call_later(PAUSE_SECONDS_MAX, self._silent)
        if len(self.connections) > CONNECTIONS_MAX:
            idle = [each for each in self.connections if isinstance(each, Connection) and not each._whole]
            oldest = min(idle, key=lambda each: each._opened)  # `idle` contains at least this connection
            if oldest is not self:
                oldest.transport.abort()
                self.connections.discard(oldest)

    def data_received(self, data: bytes) -> None:
        if self._silence is not None and not self._whole:
            self._silence.cancel()
            self._silence = self.loop.call_later(PAUSE_SECONDS_MAX, self._silent)
        super().data_received(data)

    def _silent(self) -> None:
        if not self._whole:
            self.transport.abort()

    def _late(self) -> None:
        if self._whole and self.scope["path"].endswith(_LOOKS):
            left = FOLLOWING_SECONDS_MAX - CONNECTION_SECONDS_MAX
            self._deadline = self.loop.call_later(left, self.transport.abort)
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._silence):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)


@final
class HealthFirst:
    """Passes on every request for health, and others as long as there are few at a time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._requests = 0
        self._followers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return
        follows = scope["path"].endswith(_LOOKS)
        if self._requests >= REQUESTS_MAX or (follows and self._followers >= FOLLOWERS_MAX):
            await problem(503, "too many pages ask at a time; try again")(scope, receive, send)
            return
        self._requests += 1
        self._followers += follows
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests -= 1
            self._followers -= follows
