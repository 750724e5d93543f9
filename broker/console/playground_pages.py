"""The playground as the console sees it: the command that serves a broker brings it, as it knows how files are read.

Not here: what it does (broker.command.playground), and what the console adds (broker.server.console_playground).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from starlette.requests import Request
from starlette.routing import Route

from ..events import StreamDefinition

UPLOAD: Final = "/playground/upload"
UPLOAD_BYTES_MAX: Final = 32 * 2**20
"""Bytes of a file of events that a page sends."""
BODY_MAX: Final = 2**20
"""Bytes of a question: a subscription file is the longest part."""
QUESTIONS: Final = (
    "run", "why", "why-not", "events", "diagram", "first", "format", "complete",
)  # fmt: skip
LARGER: Final = {UPLOAD: UPLOAD_BYTES_MAX, **{f"/playground/ask/{each}": BODY_MAX for each in QUESTIONS}}
"""The paths that take larger bodies than other pages, and how large."""


class PlaygroundPages(Protocol):
    """A playground that several users share, each with files of events of their own."""

    def routes(self, who: Callable[[Request], str]) -> list[Route]:
        """The answers to the page. `who`: the name of the user who asks, or raises HTTPException."""

    def journal(
        self, user: str, folder: Path, streams: Sequence[StreamDefinition], since: int, until: int
    ) -> dict[str, Any]:
        """Keep what a journal has of some streams, of what arrived between two times. Raises HTTPException."""


MakePlayground: TypeAlias = Callable[[str], AbstractContextManager[PlaygroundPages]]
"""Makes it for pages with this token."""
