"""What subscriptions share, and what they cost: the page of the whole program, and two columns of the listing.

    /api/program                             the machines that run most subscriptions, how each runs, and how full it is
    /api/program/picture?search=&language=   the merged automata of the first DRAWN_MAX subscriptions that are so named
    /api/costs?name=                         for each name its partial matches, how it runs, and what an event costs it

For administrators, as it tells of everybody's subscriptions. The loop is asked in portions, and pictures are drawn in
the console's thread. Not here: the page of one subscription (console_subscription).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..console.drawing import drawn_together
from ..kernel import Kernel, User
from .console_names import Ask, SubscriptionNames
from .console_subscription import LoopQuestions

NUMBERS_SECONDS_MAX: Final = 10.0
"""How old the numbers of machines may be that a page shows."""
NAMES_ASKED: Final = 2_000
"""Names whose machines the loop is asked for at once: about a millisecond."""
MACHINES_MAX: Final = 30
"""Machines that the page lists: those that run most subscriptions."""
NAMES_BESIDE_MAX: Final = 5
"""Names beside a machine."""
DRAWN_MAX: Final = 40
"""Subscriptions in one picture."""
COSTS_MAX: Final = 50
"""Subscriptions whose costs are asked for at once, as many as a listing shows."""
COSTS_ASKED: Final = 5
"""Of these the loop is asked for at once."""
COMPANY_MAX: Final = 200
"""A subscription whose machine runs more has no number of runs in the listing: to find its own takes too long."""


@final
@dataclass(slots=True)
class KnownMachines:
    """Of each subscription the machines that run it, asked for `at`, and of each machine how many it runs."""

    at: float = -1e9
    of: dict[str, list[int]] = field(default_factory=dict)
    sizes: Counter[int] = field(default_factory=Counter)


@final
class ProgramPages:
    """The answers. All calls come from one event loop. `names`: what the listing knows of names, too."""

    def __init__(self, asked: LoopQuestions, names: SubscriptionNames) -> None:
        self._asked = asked
        self._names = names
        self._known = KnownMachines()

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("/api/program", self._program),
            Route("/api/program/picture", self._picture),
            Route("/api/costs", self._costs),
        ]

    async def _program(self, request: Request) -> Response:
        known = await self._machines(request)
        names: dict[int, list[str]] = {number: [] for number, _ in known.sizes.most_common(MACHINES_MAX)}
        for name in sorted(known.of):
            for number in dict.fromkeys(known.of[name]):
                if number in names and len(names[number]) < NAMES_BESIDE_MAX:
                    names[number].append(name)
        listed = []
        for number, own in names.items():
            found = await self._costs_of(request, own[:1], [])
            lines = found[own[0]]["lines"] if found else []
            listed.append({"names": own, "subscriptions": known.sizes[number], "lines": lines})
        merged = sum(1 for numbers in known.of.values() if not numbers)
        return JSONResponse(
            {"subscriptions": len(known.of), "machines": len(known.sizes), "merged": merged, "listed": listed}
        )

    async def _picture(self, request: Request) -> Response:
        search = request.query_params.get("search", "")[:128].lower()
        language = request.query_params.get("language", "")[:32]
        user = await self._administrator(request)
        names = await self._names.found(user, self._ask(request), search, language)

        def question(kernel: Kernel, user: User) -> tuple[Any, Any]:
            consulting = kernel.consulting
            return consulting.definitions(user, names[:DRAWN_MAX]), consulting.definitions_of_streams(user)

        definitions, streams = await self._asked(request, question)
        picture = await run_in_threadpool(drawn_together, definitions, streams)
        return JSONResponse({**picture, "drawn": len(definitions), "total": len(names)})

    async def _costs(self, request: Request) -> Response:
        names = request.query_params.getlist("name")[:COSTS_MAX]
        known = await self._machines(request)
        found: dict[str, Any] = {}
        for begin in range(0, len(names), COSTS_ASKED):
            chosen = names[begin : begin + COSTS_ASKED]
            alone = [name for name in chosen if all(known.sizes[at] <= COMPANY_MAX for at in known.of.get(name, ()))]
            found |= await self._costs_of(request, chosen, alone)
        return JSONResponse(found)

    # ---- what is known of machines ----

    async def _machines(self, request: Request) -> KnownMachines:
        user = await self._administrator(request)
        if time.monotonic() - self._known.at > NUMBERS_SECONDS_MAX:
            known = KnownMachines(time.monotonic())
            names = await self._names.all(user, self._ask(request))
            for begin in range(0, len(names), NAMES_ASKED):
                chosen = names[begin : begin + NAMES_ASKED]
                known.of.update(zip(chosen, await self._machines_of(request, chosen), strict=True))
            for each in known.of.values():
                known.sizes.update(set(each))
            self._known = known
        return self._known

    async def _machines_of(self, request: Request, names: Sequence[str]) -> list[list[int]]:
        return await self._asked(request, lambda kernel, user: kernel.watching.machines(user, names))

    async def _costs_of(self, request: Request, names: Sequence[str], alone: Sequence[str]) -> dict[str, Any]:
        return await self._asked(request, lambda kernel, user: kernel.watching.costs(user, names, alone))

    async def _administrator(self, request: Request) -> str:
        """The name of the user who looks. Raises HTTPException."""

        def question(kernel: Kernel, user: User) -> str:
            user.check_admin("program")
            return user.name

        return await self._asked(request, question)

    def _ask(self, request: Request) -> Ask:
        async def ask(question: Any) -> Any:
            return await self._asked(request, question)

        return ask
