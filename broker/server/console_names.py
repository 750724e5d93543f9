"""The names of subscriptions that a page searches, with their languages, as each user may see them.

A copy in the console's thread, so that a search costs the loop nothing: names are copied at most once every
NAMES_SECONDS_MAX, languages when somebody asks for one, in portions.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from starlette.concurrency import run_in_threadpool

from ..kernel import Kernel, User

NAMES_SECONDS_MAX: Final = 2.0
"""How old the list of names may be in which a page searches."""
LANGUAGES_SECONDS_MAX: Final = 30.0
"""How old the language of a name may be."""
LANGUAGES_ASKED: Final = 5_000
"""Names whose languages the loop is asked for at once: one or two milliseconds."""
USERS_MAX: Final = 64

Ask = Callable[[Callable[[Kernel, User], Any]], Awaitable[Any]]
"""Asks the loop a question as one user."""


@final
@dataclass(slots=True)
class KnownNames:
    """Of one user: `names` sorted, asked for `at`; `languages` of some, which were first asked for at `since`."""

    at: float = -1e9
    names: list[str] = field(default_factory=list)
    since: float = -1e9
    languages: dict[str, str] = field(default_factory=dict)


@final
class SubscriptionNames:
    """By user. All calls come from one event loop."""

    def __init__(self) -> None:
        self._known: dict[str, KnownNames] = {}

    async def all(self, user: str, ask: Ask) -> list[str]:
        """All names that the user may see, sorted."""
        return (await self._now(user, ask)).names

    async def found(self, user: str, ask: Ask, search: str, language: str) -> list[str]:
        """Those that contain a text in small letters, in a language; "" stands for any."""
        known = await self._now(user, ask)
        names = await run_in_threadpool(_with, known.names, search) if search else known.names
        if not language:
            return names
        if time.monotonic() - known.since > LANGUAGES_SECONDS_MAX:
            known.since, known.languages = time.monotonic(), {}
        missing = [name for name in names if name not in known.languages]
        for begin in range(0, len(missing), LANGUAGES_ASKED):
            asked = missing[begin : begin + LANGUAGES_ASKED]
            known.languages.update(zip(asked, await ask(_languages_of(asked)), strict=True))
        return [name for name in names if known.languages[name] == language]

    async def _now(self, user: str, ask: Ask) -> KnownNames:
        known = self._known.setdefault(user, KnownNames())
        if time.monotonic() - known.at > NAMES_SECONDS_MAX:
            found = await ask(lambda kernel, user: kernel.consulting.names(user))
            known.at, known.names = time.monotonic(), await run_in_threadpool(sorted, found)
        while len(self._known) > USERS_MAX:
            del self._known[next(iter(self._known))]
        return known


def _with(names: Sequence[str], search: str) -> list[str]:
    return [name for name in names if search in name.lower()]


def _languages_of(names: Sequence[str]) -> Callable[[Kernel, User], list[str]]:
    return lambda kernel, user: kernel.consulting.languages(user, names)
