"""The page of one subscription: what it is, what it does now, why it has matched and why not.

    /api/subscriptions/{name}           its text, its automaton as a picture, how it runs
    /api/subscriptions/{name}/live      what waits, what was found, rates, forecasts; once a second
    /api/subscriptions/{name}/why?match=
    /api/subscriptions/{name}/why-not?key=&time=   values of the key as JSON

All pages at one subscription share one look a second, and only so many subscriptions are looked at at a time.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Final, Protocol, TypeVar, final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..console.drawing import drawn
from ..events import ForetellError
from ..events.instant import parse_instant
from ..kernel import Kernel, User
from ..wire import AskReasons, Failure, PermissionDenied, decode_result
from .console_rates import MinuteRates
from .console_sampler import Look, Sampler
from .journal_reasons import REASONS_WAITING_MAX
from .loop import Broker, wall_clock

WATCHED_MAX: Final = 16
"""Subscriptions whose pages are open at a time."""
REASONS_PATIENCE_SECONDS: Final = 12.0
"""How long one request waits for reasons; the page asks again then."""
KEY_CHARACTERS_MAX: Final = 1_000
KEYS_MAX: Final = 16

_T = TypeVar("_T")


class LoopQuestions(Protocol):
    """Asks the loop a question as the user who looks. Raises HTTPException."""

    def __call__(self, request: Request, question: Callable[[Kernel, User], _T]) -> Awaitable[_T]: ...


@final
class SubscriptionPages:
    """The answers. `rates`: those of the listing, too."""

    def __init__(self, broker: Broker, asked: LoopQuestions, rates: MinuteRates, patience_seconds: float) -> None:
        self._broker = broker
        self._asked = asked
        self._rates = rates
        self._patience = patience_seconds
        self._looked_for: dict[tuple[str, AskReasons], Future[Any]] = {}  # by user
        self._watched: dict[tuple[str, bool], Sampler] = {}  # by name, and whether values are seen

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("/api/subscriptions/{name}", self._one),
            Route("/api/subscriptions/{name}/live", self._live),
            Route("/api/subscriptions/{name}/why", self._why),
            Route("/api/subscriptions/{name}/why-not", self._why_not),
        ]

    async def _one(self, request: Request) -> Response:
        name = request.path_params["name"]

        def question(kernel: Kernel, user: User) -> tuple[Any, ...]:
            consulting, watching = kernel.consulting, kernel.watching
            definition = consulting.definition(user, name)
            return (
                definition, consulting.definitions_of_streams(user), consulting.entry(name),
                watching.sharing(user, name), watching.reasons_known,
            )  # fmt: skip

        definition, streams, entry, sharing, reasons = await self._asked(request, question)
        picture = await run_in_threadpool(drawn, definition, streams)
        per_minute = self._rates.of(name, entry["results"])
        own = {"sharing": sharing, "reasons": reasons, "per minute": per_minute}
        return JSONResponse({**entry, **picture, **own})

    async def _live(self, request: Request) -> Response:
        name = request.path_params["name"]
        values = await self._asked(request, lambda kernel, user: kernel.watching.sees_values(user, name))
        sampler = self._watched.get((name, values))
        if sampler is None:
            self._watched = {known: each for known, each in self._watched.items() if not each.resting}
            if len(self._watched) >= WATCHED_MAX:
                raise HTTPException(503, f"the pages of {WATCHED_MAX} subscriptions are open; close one of them")
            sampler = self._watched[name, values] = Sampler(lambda: self._look(name, values), 1)
        return StreamingResponse(sampler.follow(0), media_type="text/event-stream")

    async def _look(self, name: str, values: bool) -> tuple[Look | None, float]:
        def question(kernel: Kernel) -> tuple[Look, float]:
            begun = time.perf_counter()
            return kernel.watching.look(name, values, wall_clock()), time.perf_counter() - begun

        try:
            look, seconds = await run_in_threadpool(self._broker.ask, question, self._patience)
        except TimeoutError:
            return {"busy": True}, 0.0
        except ForetellError as error:
            return {"trouble": str(error)}, 0.0
        if "gone" not in look:
            look["found"] = [{**decode_result(line), "number": number} for number, line in look["found"]]
            look["per minute"] = self._rates.of(name, look["results"])
        return look, seconds

    # ---- reasons ----

    async def _why(self, request: Request) -> Response:
        match = request.query_params.get("match", "")
        return await self._reasons(request, AskReasons(0, request.path_params["name"], match[:KEY_CHARACTERS_MAX]))

    async def _why_not(self, request: Request) -> Response:
        name, asked = request.path_params["name"], request.query_params
        try:
            given = asked.get("time", "")
            moment = parse_instant(given[:64]) if given else None
            key = tuple([_value(text) for text in asked.getlist("key")[:KEYS_MAX]])
        except (ValueError, ForetellError) as error:
            raise HTTPException(400, str(error)) from None
        return await self._reasons(request, AskReasons(0, name, None, key, (), moment))

    async def _reasons(self, request: Request, wanted: AskReasons) -> Response:
        """The answer, or 202 while it is being looked for: the page asks again, and so joins its own question."""
        asking: User = await self._asked(request, lambda kernel, user: user)
        known = asking.name, wanted
        told = self._looked_for.pop(known, None)
        try:
            if told is None:
                told = await run_in_threadpool(
                    self._broker.reasons,
                    lambda kernel, tell: kernel.watching.reasons(asking, wanted, tell),
                    self._patience,
                )
            found = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(told)), REASONS_PATIENCE_SECONDS)
        except TimeoutError:
            if told is None:
                raise HTTPException(503, "the broker is busy") from None
            self._looked_for[known] = told
            while len(self._looked_for) > REASONS_WAITING_MAX:
                del self._looked_for[next(iter(self._looked_for))]
            return JSONResponse({"again": True}, 202)
        except PermissionDenied as error:
            raise HTTPException(403, str(error)) from None
        except ForetellError as error:
            raise HTTPException(400, str(error)) from None
        if isinstance(found, Failure):
            raise HTTPException(400, found.message)
        return JSONResponse(found.reasons)


def _value(text: str) -> str | int | float | bool:
    """A value of a key as JSON. Raises ValueError."""
    found = json.loads(text[:KEY_CHARACTERS_MAX])
    if not isinstance(found, str | int | float | bool):
        raise ValueError("key: expected a text, a number, true or false")
    return found
