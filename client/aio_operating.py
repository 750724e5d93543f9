"""The calls about the broker itself, of operators above all, a part of the asyncio client.

Not here: the requests (calls.py, administration.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from broker.events import StreamDefinition
from broker.language.names import LanguageName
from broker.wire import SubscriptionEntry

from .administration import AdministrationCalls, CursorInfo, Drawing, RecentEvent, SessionInfo
from .aio_connection import AioConnection
from .calls import Call, Calls

_Result = TypeVar("_Result")


class Operating(ABC):
    """What a client offers about the broker, most of it to administrators. A client has `_run` and a connection."""

    @property
    @abstractmethod
    def _connection(self) -> AioConnection:
        """The open connection, for its owner."""

    @property
    @abstractmethod
    def _calls(self) -> Calls:
        """The other calls of the client, for its owner."""

    @property
    def _administration(self) -> AdministrationCalls:
        return AdministrationCalls(self._connection.session)

    @abstractmethod
    async def _run(self, call: Call[_Result]) -> _Result:
        """Run a call."""

    async def statistics(self) -> dict[str, Any]:
        """The counters of the broker and its engine: groups by name, each a dictionary by name."""
        return await self._run(self._calls.statistics())

    async def streams(self) -> list[StreamDefinition]:
        """The declared streams, sorted by name."""
        return await self._run(self._calls.streams())

    async def subscriptions(self) -> list[SubscriptionEntry]:
        """The subscriptions in the broker, sorted by name."""
        return await self._run(self._calls.subscriptions())

    async def sessions(self) -> list[SessionInfo]:
        """The sessions of all clients, the oldest first. Raises PermissionDenied for all but administrators."""
        return await self._run(self._administration.sessions())

    async def close_session(self, number: int | str) -> None:
        """End another client's session: its number, from `sessions`. A client that reconnects may come back.

        Raises DefinitionError for an unknown number; PermissionDenied for all but administrators.
        """
        await self._run(self._administration.close_session(number))

    async def cursors(self) -> list[CursorInfo]:
        """This user's cursors, sorted by name; those of all users for an administrator."""
        return await self._run(self._administration.cursors())

    async def move_cursor(self, cursor: str, position: int) -> None:
        """Move a cursor to which no client is attached: results behind `position` are delivered next, if it keeps them.

        Raises UnknownSubscription, DefinitionError for a position that it does not keep; Busy if a client is attached.
        """
        await self._run(self._administration.move_cursor(cursor, position))

    async def delete_subscription(self, name: str) -> None:
        """Delete a subscription for all who have it. It must have no cursors, and no other may read what it publishes.

        Raises UnknownSubscription, DefinitionError; PermissionDenied for all but administrators.
        """
        await self._run(self._administration.delete_subscription(name))

    async def replace_subscription(
        self, name: str, query: str, language: LanguageName | None = None, *, keep_runs: bool = False
    ) -> None:
        """Give a subscription another text, by default of its language, for all who have it; its options stay. Without
        its runs it begins anew; with them the texts may differ in named arcs of AFA only.

        Raises UnknownSubscription, QueryError, DefinitionError, and Unsupported if the runs cannot be kept;
        PermissionDenied for all but administrators and for a stream that one who has the subscription may not read.
        """
        await self._run(self._administration.replace_subscription(name, language, query, keep_runs))

    async def add_attribute(self, stream: str, name: str, type: str) -> None:
        """Add an attribute that may be null, such as `int?`, to a stream. Subscriptions go on as they are, and later
        ones read it; it is null in events so far, and in those of programs that do not know it.

        Raises UnknownStream, DefinitionError; PermissionDenied for all but those who may declare it and administrators.
        """
        await self._run(self._administration.add_attribute(stream, name, type))
        self._calls.forget_definition(stream, {name: type})

    async def delete_stream(self, name: str) -> None:
        """Delete a stream that no subscription reads. Its events that are not final are gone, and nothing waits for it.

        Raises UnknownStream, DefinitionError; PermissionDenied for all but administrators.
        """
        await self._run(self._administration.delete_stream(name))
        self._calls.forget_definition(name)

    async def last_events(self, stream: str, count: int = 10) -> list[RecentEvent]:
        """The last events of a stream since the broker started, the oldest first; at most 20 are kept.

        Raises UnknownStream, PermissionDenied.
        """
        return await self._run(self._administration.last_events(stream, count))

    async def explain(self, format: Drawing = "text") -> str:
        """The automata of the running broker, and how much they hold, as text; or a picture as dot, mermaid or svg.

        Raises LimitExceeded if it is too large for a message; PermissionDenied for all but administrators.
        """
        return await self._run(self._administration.explain(format))

    async def why(self, match: str, subscription: str | None = None) -> dict[str, Any]:
        """Why a match came, as `foretell why` prints it: found among the newest events that the journal keeps, of which
        `events` says how many and what is missing. Without a `subscription` up to 100 of this user's are tried.

        Raises DefinitionError if there is no such match, Unsupported without a journal, Busy if too many ask,
        LimitExceeded if it takes too long; UnknownSubscription, PermissionDenied.
        """
        return await self._run(self._administration.why(match, subscription))

    async def why_not(
        self,
        subscription: str,
        *,
        key: object = None,
        events: Sequence[int] = (),
        time: int | datetime | None = None,
    ) -> dict[str, Any]:
        """Why a subscription has not matched, as `foretell why-not` prints it. `key`: only what began with this value;
        `events`: the ids of those that should have matched; `time`: as things stood then, microseconds or a datetime.

        Raises as `why` does.
        """
        return await self._run(self._administration.why_not(subscription, key, events, time))
