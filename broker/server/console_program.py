"""What subscriptions share, and what they cost: the page of the whole program, and two columns of the listing.

    /api/program                             the machines that run most subscriptions, and how
    /api/program/picture?search=&language=   the merged automata of the first DRAWN_MAX subscriptions that are so named
    /api/costs?name=                         for each name its partial matches, how it runs, and what an event costs it

For administrators, as it tells of everybody's subscriptions. Pictures are drawn in the console's thread. Not here: the
page of one subscription (console_subscription).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..console.drawing import drawn_together
from ..kernel import Kernel, User
from .console_names import SubscriptionNames
from .console_subscription import LoopQuestions

DRAWN_MAX: Final = 40
"""Subscriptions in one picture."""
COSTS_MAX: Final = 50
"""Subscriptions whose costs are asked for at once, as many as a listing shows."""
COSTS_ASKED: Final = 5
"""Of these the loop is asked for at once."""


@final
class ProgramPages:
    """The answers. All calls come from one event loop. `names`: what the listing knows of names, too."""

    def __init__(self, asked: LoopQuestions, names: SubscriptionNames) -> None:
        self._asked = asked
        self._names = names

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("/api/program", self._program),
            Route("/api/program/picture", self._picture),
            Route("/api/costs", self._costs),
        ]

    async def _program(self, request: Request) -> Response:
        return JSONResponse(await self._asked(request, lambda kernel, user: kernel.watching.program(user)))

    async def _picture(self, request: Request) -> Response:
        search = request.query_params.get("search", "")[:128].lower()
        language = request.query_params.get("language", "")[:32]

        async def ask(question: Any) -> Any:
            return await self._asked(request, question)

        def administrator(kernel: Kernel, user: User) -> str:
            user.check_admin("program")
            return user.name

        names = await self._names.found(await self._asked(request, administrator), ask, search, language)

        def question(kernel: Kernel, user: User) -> tuple[Any, Any]:
            consulting = kernel.consulting
            return consulting.definitions(user, names[:DRAWN_MAX]), consulting.definitions_of_streams(user)

        definitions, streams = await self._asked(request, question)
        picture = await run_in_threadpool(drawn_together, definitions, streams)
        return JSONResponse({**picture, "drawn": len(definitions), "total": len(names)})

    async def _costs(self, request: Request) -> Response:
        names = request.query_params.getlist("name")[:COSTS_MAX]
        found = await self._costs_of(request, [])  # also without a name it is for administrators
        for begin in range(0, len(names), COSTS_ASKED):
            found |= await self._costs_of(request, names[begin : begin + COSTS_ASKED])
        return JSONResponse(found)

    async def _costs_of(self, request: Request, names: Sequence[str]) -> dict[str, Any]:
        return await self._asked(request, lambda kernel, user: kernel.watching.costs(user, names))
