"""What may be changed by the console, and what is told of what was changed or refused.

    POST /api/streams/{name}/events           publish one event
    POST /api/subscriptions                   subscribe
    POST /api/subscriptions/{name}/text       another text, or other constants in it
    POST /api/subscriptions/{name}/arcs       insert and delete arcs
    POST /api/subscriptions/{name}/end        unsubscribe, forget a cursor, delete for everybody
    POST /api/check                           the mistakes of a text, without asking the broker
    GET  /api/subscriptions/{name}/changes    the last changes, and what the user may end
    GET  /api/streams/{name}/refused          the last refused events
    GET  /api/users  /api/cursors

Each change is a request of the user to the broker (inside_clients), or with `dry` the same request in a copy of the
broker (rehearsal). Not here: who looks, and what is only looked at (console_pages).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..console.drawing import checked, drawn
from ..console.guard import asked, problem
from ..console.typed_fields import WrongField, typed_row
from ..events import EventError, ForetellError, parse_instant
from ..kernel import Kernel, User
from ..language.names import LANGUAGES
from ..language.subscription import SubscriptionDefinition
from ..wire import Administer, Failure, Forget, Message, Publish, Subscribe, Unsubscribe, Update
from ..wire import administration_messages as administered
from ..wire.limits import CREDITS_MAX
from .console_subscription import LoopQuestions
from .inside_clients import Asked
from .loop import Broker
from .rehearsal import REHEARSAL_SECONDS_MAX, told

BODY_BYTES_MAX: Final = 200_000
"""Bytes of a request that changes something."""
ARCS_MAX: Final = 100
"""Arcs that one request inserts or deletes."""
READ_ONLY: Final = "the console is read-only: expected writes = true in [console]"
_OPTIONS: Final = {"lineage": bool, "report": str, "forecast": dict, "results": str}
"""Of a subscription, as its file has them."""
_STATUS: Final = {"permission": 403, "unknown-stream": 404, "unknown-subscription": 404, "busy": 503, "session": 503}


@final
class ConsoleWriting:
    """The answers. `allowed`: whether anything may be changed. `name`: of the user who looks; `put`: asks the loop."""

    def __init__(
        self, broker: Broker, allowed: bool, name: Callable[[Request], str], put: LoopQuestions, patience_seconds: float
    ) -> None:
        self._broker = broker
        self._allowed = allowed
        self._name = name
        self._put = put
        self._patience = patience_seconds
        self._rehearsing = asyncio.Semaphore(1)

    def routes(self) -> list[Route]:
        """All routes."""
        one = "/api/subscriptions/{name}"
        changing = (
            ("/api/streams/{name}/events", self._publish),
            ("/api/subscriptions", self._subscribe),
            ("/api/check", self._check),
            (f"{one}/text", self._replace),
            (f"{one}/arcs", self._update),
            (f"{one}/end", self._end),
        )
        looking = (
            (f"{one}/changes", self._changes),
            ("/api/streams/{name}/refused", self._refused),
            ("/api/users", self._users),
            ("/api/cursors", self._cursors),
        )
        return [
            *(Route(path, action, methods=["POST"]) for path, action in changing),
            *(Route(path, action, methods=["GET"]) for path, action in looking),
        ]

    # ---- changing ----

    async def _wanted(self, request: Request, fields: dict[str, type]) -> dict[str, Any]:
        """The body of a request that may change something. Raises HTTPException: 401, 403, 400."""
        self._name(request)
        if not self._allowed:
            raise HTTPException(403, READ_ONLY)
        return await asked(request, {**fields, "dry": bool})

    async def _publish(self, request: Request) -> Response:
        stream = request.path_params["name"]
        body = await self._wanted(request, {"time": str, "values": dict})
        definition = await self._put(request, lambda kernel, user: kernel.consulting.schema(user, stream))
        try:
            row = typed_row(definition.schema, body.get("values") or {})
        except WrongField as wrong:
            return problem(400, wrong.reason, field=wrong.field)
        try:
            times = (parse_instant(body["time"]),) if (body.get("time") or "").strip() else None
        except EventError as error:
            return problem(400, str(error), field="time")
        return await self._carried(request, body, lambda n: Publish(n, stream, times, (row,), None, None))

    async def _subscribe(self, request: Request) -> Response:
        body = await self._wanted(
            request, {"name": str, "language": str, "query": str, "cursor": str, **_OPTIONS}
        )
        name, language, query = (_text(body, each) for each in ("name", "language", "query"))
        options = [body.get(each) for each in _OPTIONS]
        wanted = _definition(name, language, query, *options)
        cursor = (body.get("cursor") or "").strip() or None
        credits = CREDITS_MAX if cursor is None else 1

        def subscribe(n: int) -> Message:
            return Subscribe(
                n, name, language, query, wanted.lineage, wanted.report, wanted.forecast, credits, durable=cursor,
                results=wanted.results,
            )  # fmt: skip

        answer = await self._carried(request, body, subscribe, wanted)
        if cursor is not None and not body.get("dry") and answer.status_code == 200:
            await self._requested(request, lambda n: Unsubscribe(n, name))  # the cursor stays, for its reader
        return answer

    async def _check(self, request: Request) -> Response:
        body = await self._wanted(request, {"name": str, "language": str, "query": str})
        name, language, query = (_text(body, each) for each in ("name", "language", "query"))
        wanted = _definition(name, language, query)
        streams = await self._put(request, lambda kernel, user: kernel.consulting.definitions_of_streams(user))
        return _done(await run_in_threadpool(checked, wanted, streams))

    async def _replace(self, request: Request) -> Response:
        name = request.path_params["name"]
        body = await self._wanted(request, {"language": str, "query": str, "keep_runs": bool})
        language, query = _text(body, "language"), _text(body, "query")
        details = {"language": language, "query": query, "keep_runs": bool(body.get("keep_runs"))}
        shown = _definition(name, language, query)
        what = administered.REPLACE_SUBSCRIPTION
        return await self._carried(request, body, lambda n: Administer(n, what, name, None, details), shown)

    async def _update(self, request: Request) -> Response:
        name = request.path_params["name"]
        body = await self._wanted(request, {"insert": list, "delete": list, "start": str, "end": str})
        insert, delete = (_texts(body, each) for each in ("insert", "delete"))
        times: dict[str, int | None] = {}
        for each in ("start", "end"):
            try:
                times[each] = parse_instant(body[each]) if (body.get(each) or "").strip() else None
            except EventError as error:
                return problem(400, str(error), field=each)
        start, end = times["start"], times["end"]
        return await self._carried(request, body, lambda n: Update(n, name, insert, delete, start, end))

    async def _end(self, request: Request) -> Response:
        name = request.path_params["name"]
        body = await self._wanted(request, {"how": str, "cursor": str})
        match body.get("how"):
            case "own":
                return await self._carried(request, body, lambda n: Unsubscribe(n, name))
            case "cursor":
                return await self._carried(request, body, lambda n: Forget(n, body.get("cursor") or ""))
            case "everybody":
                what = administered.DELETE_SUBSCRIPTION
                return await self._carried(request, body, lambda n: Administer(n, what, name))
        raise HTTPException(400, "how: expected own, cursor or everybody")

    async def _carried(
        self,
        request: Request,
        body: Mapping[str, Any],
        made: Asked,
        shown: SubscriptionDefinition | None = None,
    ) -> Response:
        """Carry a request out, or rehearse it; `shown`: the subscription whose automaton a dry run shows."""
        if not body.get("dry"):
            answer = await self._requested(request, made)
            if isinstance(answer, Failure):
                return _refusal(told(answer))
            return _refused_alone(told(answer)) or _done({"answer": told(answer)})
        found = await self._rehearsed(request, made)
        if found["refused"] is not None:
            return _refusal(found["refused"])
        refused = _refused_alone(found["answer"])
        if refused is not None:
            return refused
        if shown is not None:
            streams = await self._put(request, lambda kernel, user: kernel.consulting.definitions_of_streams(user))
            found |= await run_in_threadpool(drawn, shown, streams)
        return _done(found)

    async def _requested(self, request: Request, made: Asked) -> Message:
        user = self._name(request)
        try:
            return await run_in_threadpool(self._broker.request, user, made, self._patience)
        except TimeoutError:
            raise HTTPException(503, "the broker is busy; it may still carry this out: look again") from None
        except ForetellError as error:
            raise HTTPException(_STATUS.get(error.code, 400), str(error)) from None

    async def _rehearsed(self, request: Request, made: Asked) -> dict[str, Any]:
        user = self._name(request)
        try:
            async with asyncio.timeout(REHEARSAL_SECONDS_MAX):
                await self._rehearsing.acquire()
        except TimeoutError:
            raise HTTPException(503, "another dry run is in work: try again") from None
        try:
            return await run_in_threadpool(self._broker.rehearse, user, made, self._patience)
        except TimeoutError:
            raise HTTPException(503, "the broker is busy") from None
        except ForetellError as error:
            raise HTTPException(_STATUS.get(error.code, 400), str(error)) from None
        finally:
            self._rehearsing.release()

    # ---- looking ----

    async def _changes(self, request: Request) -> Response:
        name, user_name = request.path_params["name"], self._name(request)

        def question(kernel: Kernel, user: User) -> dict[str, Any]:
            consulting = kernel.consulting
            changes = consulting.changes(user, name)
            cursors = [each["name"] for each in consulting.cursors(user) if each["subscription"] == name]
            return {**changes, "cursors": cursors, "admin": user.admin}

        found = await self._put(request, question)
        try:
            held = await run_in_threadpool(self._broker.held, user_name, self._patience)
        except TimeoutError:
            raise HTTPException(503, "the broker is busy") from None
        return _done({**found, "own": name in held, "writes": self._allowed})

    async def _refused(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _done(await self._put(request, lambda kernel, user: kernel.consulting.refused(user, name)))

    async def _users(self, request: Request) -> Response:
        return _done(await self._put(request, lambda kernel, user: kernel.consulting.users(user)))

    async def _cursors(self, request: Request) -> Response:
        return _done(await self._put(request, lambda kernel, user: kernel.consulting.cursors(user)))


def _done(found: Any) -> Response:
    return JSONResponse(found)


def _refusal(found: Mapping[str, Any]) -> Response:
    """An answer of the broker that refuses, in its words, with the place in a text."""
    place = {each: found[each] for each in ("code", "line", "column", "excerpt") if found.get(each) is not None}
    return problem(_STATUS.get(found["code"], 400), found["message"], **place)


def _refused_alone(answer: Mapping[str, Any]) -> Response | None:
    """An answer that refuses the only event, for its time; None if it was accepted."""
    for each in answer.get("refused") or ():
        return problem(400, each["reason"], field="time", code=each["code"])
    return None


def _definition(name: str, language: str, query: str, *options: Any) -> SubscriptionDefinition:
    """A subscription with what a page has sent. Raises HTTPException: 400."""
    try:
        return SubscriptionDefinition(name, language, query, *options)
    except ForetellError as error:
        raise HTTPException(400, str(error)) from None


def _text(body: Mapping[str, Any], name: str) -> str:
    """A text that is wanted. Raises HTTPException: 400."""
    found: str = (body.get(name) or "").strip()
    if not found:
        raise HTTPException(400, f"{name}: expected a text, found nothing")
    if name == "language" and found not in LANGUAGES:
        raise HTTPException(400, f"language: expected one of {', '.join(LANGUAGES)}")
    return found


def _texts(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts. Raises HTTPException: 400."""
    found = body.get(name) or []
    if len(found) > ARCS_MAX or not all(isinstance(each, str) for each in found):
        raise HTTPException(400, f"{name}: expected a list of at most {ARCS_MAX} texts")
    return tuple([each for each in found if each.strip()])
