"""What operators see of a broker, and their calls, as generators of requests; `calls` says how they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar, final

from broker.events import DefinitionError, checked_subscription_name, shown
from broker.events.time_unit import instant_of
from broker.wire import Administer, AskReasons, Done, Inspect, Inspected, Reasons
from broker.wire.administration_messages import (
    ADD_ATTRIBUTE,
    CLOSE_SESSION,
    CURSORS,
    DELETE_STREAM,
    DELETE_SUBSCRIPTION,
    EVENTS,
    EXPLANATION,
    MOVE_CURSOR,
    REPLACE_SUBSCRIPTION,
    SESSIONS,
)

from .arguments import checked_text
from .calls import Call, expected
from .durable import POSITION_MAX
from .errors import ProtocolError
from .session import Session

Drawing: TypeAlias = Literal["text", "dot", "mermaid", "svg"]

_Entry = TypeVar("_Entry")


@final
@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A client's session. `connected`: False while it is away and may be resumed. `queued`: notifications that wait."""

    number: str
    user: str
    software: str
    connected: bool
    subscriptions: int
    queued: int
    silent_seconds: int


@final
@dataclass(frozen=True, slots=True)
class CursorInfo:
    """A cursor. Results from `first` to `last` are kept, those up to `acknowledged` are acknowledged."""

    name: str
    subscription: str
    first: int
    acknowledged: int
    last: int
    backlog: int
    kept_bytes: int
    dead_letters: int
    attached: bool


@final
@dataclass(frozen=True, slots=True)
class RecentEvent:
    """One of the last events of a stream; its time is in microseconds."""

    id: str
    time: int
    data: dict[str, Any]


@final
class AdministrationCalls:
    """The calls over one session."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def sessions(self) -> Call[list[SessionInfo]]:
        """All pages of sessions."""
        return (yield from self._all(SESSIONS, SessionInfo))

    def cursors(self) -> Call[list[CursorInfo]]:
        """All pages of cursors."""
        return (yield from self._all(CURSORS, CursorInfo))

    def last_events(self, stream: str, count: int) -> Call[list[RecentEvent]]:
        """The last events of a stream, the oldest first."""
        checked_text("stream", stream)
        if type(count) is not int or not 0 < count < 2**63:
            raise DefinitionError(f"count: expected a whole number from 1 on, found {shown(count)}")
        page = yield from self._page(partial(Inspect, what=EVENTS, name=stream, count=count))
        return _entries(page, RecentEvent)

    def explain(self, form: str) -> Call[str]:
        """The explanation of the running broker."""
        checked_text("format", form)
        page = yield from self._page(partial(Inspect, what=EXPLANATION, name=form))
        parts = page.entries.get("parts")
        if not isinstance(parts, list | tuple) or not all(type(part) is str for part in parts):
            raise ProtocolError("expected an explanation, found something else")
        return "".join(parts)

    def why(self, match: str, subscription: str | None) -> Call[dict[str, Any]]:
        """Why a match came."""
        checked_text("match", match)
        if subscription is not None:
            checked_subscription_name(subscription)
        return (yield from self._reasons(partial(AskReasons, subscription=subscription, match=match)))

    def why_not(self, subscription: str, key: object, events: Sequence[int], time: Any) -> Call[dict[str, Any]]:
        """Why a subscription has not matched."""
        checked_subscription_name(subscription)
        values = () if key is None else tuple(key) if isinstance(key, list | tuple) else (key,)
        if not all(type(number) is int for number in events):
            raise DefinitionError(f"events: expected the ids of events, found {shown(events)}")
        until = None if time is None else instant_of(time)
        request = partial(
            AskReasons, subscription=subscription, match=None, key=values, events=tuple(events), time=until
        )
        return (yield from self._reasons(request))

    def _reasons(self, make: Callable[[int], AskReasons]) -> Call[dict[str, Any]]:
        found: dict[str, Any] = _lists(expected((yield self._session.request(make)), Reasons).reasons)
        return found

    def close_session(self, number: int | str) -> Call[None]:
        """End another client's session."""
        yield from self._administer(CLOSE_SESSION, str(number), None)

    def move_cursor(self, cursor: str, position: int) -> Call[None]:
        """Move a cursor."""
        checked_text("cursor", cursor)
        if type(position) is not int or not 0 <= position <= POSITION_MAX:
            raise DefinitionError(f"cursor {cursor!r}: expected a position from 0 on, found {shown(position)}")
        yield from self._administer(MOVE_CURSOR, cursor, position)

    def delete_subscription(self, name: str) -> Call[None]:
        """Delete a subscription for all."""
        checked_subscription_name(name)
        yield from self._administer(DELETE_SUBSCRIPTION, name, None)

    def add_attribute(self, stream: str, name: str, kind: str) -> Call[None]:
        """Add an attribute to a stream."""
        for what, value in (("stream", stream), ("attribute", name), ("type", kind)):
            checked_text(what, value)
        yield from self._administer(ADD_ATTRIBUTE, stream, None, {"attribute": name, "type": kind})

    def delete_stream(self, name: str) -> Call[None]:
        """Delete a stream."""
        checked_text("stream", name)
        yield from self._administer(DELETE_STREAM, name, None)

    def replace_subscription(self, name: str, language: str | None, query: str, keep_runs: bool) -> Call[None]:
        """Give a subscription another text."""
        checked_subscription_name(name)
        checked_text("language", language or "")
        checked_text("query", query)
        details = {"language": language or "", "query": query, "keep_runs": bool(keep_runs)}
        yield from self._administer(REPLACE_SUBSCRIPTION, name, None, details)

    def _administer(
        self, action: str, name: str, position: int | None, details: Mapping[str, Any] | None = None
    ) -> Call[None]:
        request = partial(Administer, action=action, name=name, position=position, details=details or {})
        expected((yield self._session.request(request)), Done)

    def _page(self, make: Callable[[int], Inspect]) -> Call[Inspected]:
        return expected((yield self._session.request(make)), Inspected)

    def _all(self, what: str, kind: type[_Entry]) -> Call[list[_Entry]]:
        found: list[_Entry] = []
        after, more = "", True
        while more:
            page = yield from self._page(partial(Inspect, what=what, after=after))
            found += _entries(page, kind)
            more = page.more and bool(page.entries)
            after = next(reversed(page.entries), "")
        return found


def _entries(page: Inspected, kind: type[_Entry]) -> list[_Entry]:
    """The entries of a page; fields of later versions are left out. Raises ProtocolError."""
    first, *names = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # one of the dataclasses above
    found: list[_Entry] = []
    for name, entry in page.entries.items():
        if not isinstance(entry, Mapping) or any(each not in entry for each in names):
            raise ProtocolError(f"expected entries of {kind.__name__}, found something else")
        found.append(kind(**{first: name, **{each: entry[each] for each in names}}))
    return found


def _lists(value: Any) -> Any:
    """What the wire has as tuples, as JSON has it."""
    if isinstance(value, Mapping):
        return {name: _lists(each) for name, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, tuple | list) else value
