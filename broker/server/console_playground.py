"""The playground in a broker's console: on events of its journal, with its streams and subscriptions.

    /playground/broker                 the streams that may be read, and whether there is a journal
    /playground/journal                by POST: takes events of the journal
    /playground/subscriptions/{name}   a subscription of the broker as a file, with the streams that it reads

What each user may have is asked of the loop, with their permissions; the journal is read in the playground's process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..console.guard import asked
from ..console.playground_pages import PlaygroundPages
from ..engine.languages.table import language_of
from ..events import StreamDefinition
from ..kernel import Kernel, User
from ..language.subscription import SubscriptionDefinition
from ..language.subscription_text import stream_lines, subscription_lines
from .console_subscription import LoopQuestions
from .loop import wall_clock

STREAMS_MAX: Final = 16
"""Streams of the journal that are taken together."""
MINUTES_MAX: Final = 366 * 24 * 60
"""How far back they are taken from."""
_MINUTE: Final = 60_000_000


@final
class ConsolePlayground:
    """The routes. `who`: the name of the user who asks; `journal`: its folder, if there is one."""

    def __init__(
        self, pages: PlaygroundPages, ask: LoopQuestions, who: Callable[[Request], str], journal: Path | None
    ) -> None:
        self._pages = pages
        self._ask = ask
        self._who = who
        self._journal = journal

    def routes(self) -> list[Route]:
        """All routes of it but the page."""
        return [
            Route("/playground/broker", self._broker),
            Route("/playground/journal", self._take, methods=["POST"]),
            Route("/playground/subscriptions/{name}", self._subscription),
            *self._pages.routes(self._who),
        ]

    async def _broker(self, request: Request) -> Response:
        streams = await self._ask(request, lambda kernel, user: kernel.consulting.readable(user))
        return JSONResponse({"journal": self._journal is not None, "streams": [each.name for each in streams]})

    async def _take(self, request: Request) -> Response:
        body = await asked(request, {"streams": list, "minutes": int, "until": int})
        names, minutes, until = body.get("streams"), body.get("minutes"), body.get("until")
        if not names or len(names) > STREAMS_MAX or not all(type(name) is str for name in names):
            raise HTTPException(400, f"streams: expected 1 to {STREAMS_MAX} names")
        if minutes is None or not 1 <= minutes <= MINUTES_MAX:
            raise HTTPException(400, f"minutes: expected 1 to {MINUTES_MAX:,}")
        if self._journal is None:
            raise HTTPException(400, "expected a broker with a journal")

        def streams_of(kernel: Kernel, user: User) -> list[StreamDefinition]:
            return [kernel.consulting.readable_stream(user, name) for name in dict.fromkeys(names)]

        streams = await self._ask(request, streams_of)
        last = wall_clock() if until is None else until
        first = last - minutes * _MINUTE
        return JSONResponse(
            await run_in_threadpool(self._pages.journal, self._who(request), self._journal, streams, first, last)
        )

    async def _subscription(self, request: Request) -> Response:
        name = request.path_params["name"]
        definition, streams = await self._ask(
            request,
            lambda kernel, user: (kernel.consulting.definition(user, name), kernel.consulting.readable(user)),
        )
        return JSONResponse(await run_in_threadpool(file_of, definition, streams))


def file_of(definition: SubscriptionDefinition, streams: Sequence[StreamDefinition]) -> dict[str, Any]:
    """A subscription as the text of a file, with those of the streams that it reads."""
    language = language_of(definition)
    reads = dict.fromkeys(language.reads(language.parse(definition.query)))
    found = [each for each in streams if each.name in reads]
    missing = [name for name in reads if name not in {each.name for each in found}]
    lines = [f"# {definition.name}, as it is in the broker. Times are microseconds."]
    lines += [f"# It also reads {name}, which is no declared stream that you may read." for name in missing]
    for each in found:
        lines += ["", *stream_lines(replace(each, time_unit=None))]
    lines += ["", *subscription_lines(definition)]
    return {"text": "\n".join(lines) + "\n", "streams": [each.name for each in found]}
