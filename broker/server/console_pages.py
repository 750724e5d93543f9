"""The pages of a broker's console, and what they ask. Not here: what they change (console_writing).

    /  /streams  /subscriptions  /subscriptions/{name}  /subscribe  /program  /clients  /users   the pages
    /api/session                                                   who looks, and the token of forms
    /api/sign-in  /api/sign-out                                    by POST
    /api/live                                                      rates and levels, once a second
    /api/streams  /api/streams/{name}/events
    /api/subscriptions?search=&language=&page=
    /api/sessions

Each question is asked of the loop with the permissions of the user who looks. Not here: the page of one subscription
(console_subscription).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from ..console.files import PageFiles
from ..console.guard import asked
from ..console.signing_in import COOKIE, SigningIn
from ..events import ForetellError, UnknownStream, UnknownSubscription
from ..kernel import Kernel, User
from ..wire import PermissionDenied
from .console_names import SubscriptionNames
from .console_program import ProgramPages
from .console_rates import MinuteRates
from .console_sampler import BrokerLooks, Sampler
from .console_subscription import SubscriptionPages
from .console_writing import ConsoleWriting
from .loop import Broker, wall_clock

PAGE_SUBSCRIPTIONS: Final = 50
TOKEN_CHARACTERS_MAX: Final = 200
TAIL_EVENTS: Final = 20

_T = TypeVar("_T")


@final
class ConsolePages:
    """The answers. `signing`: who looks; `token`: that of forms."""

    def __init__(
        self, broker: Broker, signing: SigningIn, token: str, secure: bool, writes: bool, patience_seconds: float
    ) -> None:
        self._broker = broker
        self._signing = signing
        self._token = token
        self._secure = secure
        self._patience = patience_seconds
        self._writes = writes
        self._writing = ConsoleWriting(broker, writes, self.name, self.ask, patience_seconds)
        self._sampler = Sampler(BrokerLooks(broker, patience_seconds).take)
        self._names = SubscriptionNames()
        self._rates = MinuteRates()
        self._one = SubscriptionPages(broker, self.ask, self._rates, patience_seconds)
        self._playground = False

    def routes(self, playground: bool) -> list[Route]:
        """All routes; `playground`: there is a page of it, too, whose answers come from elsewhere."""
        pages = PageFiles(["broker.console"])
        shown = dict.fromkeys(
            ("/", "/streams", "/subscriptions", "/subscribe", "/program", "/clients", "/users"), "console.html"
        )
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
            *ProgramPages(self.ask, self._names).routes(),
            *self._one.routes(),
            Route("/api/sessions", self._sessions),
            *self._writing.routes(),
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
                "writes": self._writes and user is not None,
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
        number = max(1, int(page)) if page.isascii() and page.isdecimal() and 0 < len(page) < 8 else 1
        language = request.query_params.get("language", "")[:32]

        async def ask(question: Callable[[Kernel, User], Any]) -> Any:
            return await self.ask(request, question)

        user = self.name(request)
        names = await self._names.all(user, ask)
        found = await self._names.found(user, ask, search, language)
        begin = (number - 1) * PAGE_SUBSCRIPTIONS
        chosen = found[begin : begin + PAGE_SUBSCRIPTIONS]
        entries = await self.ask(request, lambda kernel, user: kernel.consulting.subscriptions(user, chosen))
        for entry in entries:
            entry["per minute"] = self._rates.of(entry["name"], entry["results"])
        return JSONResponse({"total": len(found), "all": len(names), "size": PAGE_SUBSCRIPTIONS, "entries": entries})

    async def _sessions(self, request: Request) -> Response:
        now = wall_clock()
        return JSONResponse(await self.ask(request, lambda kernel, user: kernel.consulting.sessions(user, now)))
