"""The pages of a broker's console, and what they ask. Nothing can be changed here.

    /  /streams  /subscriptions  /subscriptions/{name}  /clients   the pages
    /api/session                                                   who looks, and the token of forms
    /api/sign-in  /api/sign-out                                    by POST
    /api/live                                                      rates and levels, once a second
    /api/streams  /api/streams/{name}/events
    /api/subscriptions?search=&language=&page=  /api/subscriptions/{name}
    /api/sessions

Each question is asked of the loop with the permissions of the user who looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar, final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from ..console.drawing import drawn
from ..console.files import PageFiles
from ..console.guard import asked
from ..console.signing_in import COOKIE, SigningIn
from ..events import ForetellError, UnknownStream, UnknownSubscription
from ..kernel import Kernel, User
from ..wire import PermissionDenied
from .console_sampler import Sampler
from .loop import Broker, wall_clock

PAGE_SUBSCRIPTIONS: Final = 50
NAMES_SECONDS_MAX: Final = 2.0
"""How old the list of names may be in which a page searches."""
TOKEN_CHARACTERS_MAX: Final = 200
TAIL_EVENTS: Final = 20
WAITING_MAX: Final = 50

_T = TypeVar("_T")


@final
class ConsolePages:
    """The answers. `signing`: who looks; `token`: that of forms."""

    def __init__(self, broker: Broker, signing: SigningIn, token: str, secure: bool, patience_seconds: float) -> None:
        self._broker = broker
        self._signing = signing
        self._token = token
        self._secure = secure
        self._patience = patience_seconds
        self._sampler = Sampler(broker, patience_seconds)
        self._playground = False
        self._names: dict[str, tuple[float, list[str]]] = {}  # by user: when they were asked for, sorted

    def routes(self, playground: bool) -> list[Route]:
        """All routes; `playground`: there is a page of it, too, whose answers come from elsewhere."""
        pages = PageFiles(["broker.console"])
        shown = dict.fromkeys(("/", "/streams", "/subscriptions", "/clients"), "console.html")
        self._playground = playground
        if playground:
            shown["/playground"] = "playground.html"

        async def one(request: Request) -> Response:
            return pages.page("console.html")

        return [
            *pages.routes(shown),
            Route("/subscriptions/{name}", one),
            Route("/api/session", self._session),
            Route("/api/sign-in", self._sign_in, methods=["POST"]),
            Route("/api/sign-out", self._sign_out, methods=["POST"]),
            Route("/api/live", self._live),
            Route("/api/streams", self._streams),
            Route("/api/streams/{name}/events", self._events),
            Route("/api/subscriptions", self._subscriptions),
            Route("/api/subscriptions/{name}", self._subscription),
            Route("/api/sessions", self._sessions),
        ]

    # ---- who looks ----

    def name(self, request: Request) -> str:
        """The name of the user. Raises HTTPException: 401."""
        name = self._signing.user(request.cookies.get(COOKIE))
        if name is None:
            raise HTTPException(401, "expected a token: sign in")
        return name

    async def ask(self, request: Request, question: Callable[[Kernel, User], _T]) -> _T:
        """The answer of the loop to the user who looks. Raises HTTPException."""
        name = self.name(request)

        def put(kernel: Kernel) -> _T:
            user = kernel.consulting.user(name)
            if user is None:
                raise PermissionDenied("this user is not known any more")
            return question(kernel, user)

        try:
            found: _T = await run_in_threadpool(self._broker.ask, put, self._patience)
        except TimeoutError:
            raise HTTPException(503, "the broker is busy") from None
        except PermissionDenied as error:
            raise HTTPException(403, str(error)) from None
        except (UnknownStream, UnknownSubscription) as error:
            raise HTTPException(404, str(error)) from None
        except ForetellError as error:
            raise HTTPException(400, str(error)) from None
        return found

    async def _session(self, request: Request) -> Response:
        name = self._signing.user(request.cookies.get(COOKIE))
        user = None if name is None else await self.ask(request, lambda kernel, user: user)
        return JSONResponse(
            {
                "token": self._token,
                "version": __version__,
                "user": None if user is None else user.name,
                "admin": user is not None and user.admin,
                "needed": self._signing.needed,
                "playground": self._playground,
            }
        )

    async def _sign_in(self, request: Request) -> Response:
        shown = (await asked(request, {"token": str})).get("token")
        secret = None
        if shown and len(shown) <= TOKEN_CHARACTERS_MAX:
            secret = self._signing.enter(shown)
        if secret is None:
            raise HTTPException(403, "nobody has this token")
        answer = JSONResponse({})
        answer.set_cookie(COOKIE, secret, httponly=True, samesite="strict", secure=self._secure)
        return answer

    async def _sign_out(self, request: Request) -> Response:
        self._signing.leave(request.cookies.get(COOKIE, ""))
        answer = JSONResponse({})
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=self._secure)
        return answer

    # ---- what is seen ----

    async def _live(self, request: Request) -> Response:
        await self.ask(request, lambda kernel, user: user.check_admin("statistics"))
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdecimal() and len(last) < 20 else 0
        return StreamingResponse(self._sampler.follow(after), media_type="text/event-stream")

    async def _streams(self, request: Request) -> Response:
        return JSONResponse(await self.ask(request, lambda kernel, user: kernel.consulting.streams(user)))

    async def _events(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(
            await self.ask(request, lambda kernel, user: kernel.consulting.events(user, name, TAIL_EVENTS))
        )

    async def _subscriptions(self, request: Request) -> Response:
        search = request.query_params.get("search", "")[:128].lower()
        page = request.query_params.get("page", "1")
        number = int(page) if page.isascii() and page.isdecimal() and 0 < len(page) < 8 else 1
        names = await self._all_names(request)
        found = [name for name in names if search in name.lower()] if search else names
        begin = (max(1, number) - 1) * PAGE_SUBSCRIPTIONS
        chosen = found[begin : begin + PAGE_SUBSCRIPTIONS]
        entries = await self.ask(request, lambda kernel, user: kernel.consulting.subscriptions(user, chosen))
        return JSONResponse({"total": len(found), "all": len(names), "size": PAGE_SUBSCRIPTIONS, "entries": entries})

    async def _all_names(self, request: Request) -> list[str]:
        """The names that the user may see, sorted. They are copied in the loop, and sorted here."""
        user = self.name(request)
        known = self._names.get(user)
        if known is None or time.monotonic() - known[0] > NAMES_SECONDS_MAX:
            found = await self.ask(request, lambda kernel, user: kernel.consulting.names(user))
            known = time.monotonic(), await run_in_threadpool(sorted, found)
            self._names[user] = known
        return known[1]

    async def _subscription(self, request: Request) -> Response:
        name = request.path_params["name"]

        def question(kernel: Kernel, user: User) -> tuple[Any, ...]:
            consulting = kernel.consulting
            definition = consulting.definition(user, name)
            try:
                waiting = consulting.waiting(user, name, WAITING_MAX)
            except PermissionDenied:
                waiting = []
            return definition, consulting.subscriptions(user, [name]), consulting.definitions_of_streams(user), waiting

        definition, entries, streams, waiting = await self.ask(request, question)
        picture = await run_in_threadpool(drawn, definition, streams)
        return JSONResponse({**(entries[0] if entries else {}), **picture, "waiting": waiting})

    async def _sessions(self, request: Request) -> Response:
        now = wall_clock()
        return JSONResponse(await self.ask(request, lambda kernel, user: kernel.consulting.sessions(user, now)))
