"""The calls of durable subscriptions and their cursors, as generators of requests; `calls` says how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeVar, final

from broker.events import DefinitionError, checked_subscription_name, shown
from broker.wire import Acknowledge, DeadLetters, Done, Forget, ListDeadLetters, Message, Refuse, Settle
from broker.wire.limits import NAME_LENGTH_MAX

from .calls import Call, expected
from .dead_letter import DeadLetter, received
from .durable import POSITION_MAX
from .errors import UnknownSubscription
from .session import Session

SETTLED_AT_ONCE: Final = 1_000
"""The most dead letters in one request. The broker settles all of a request's letters or none."""

_Answer = TypeVar("_Answer", bound=Message)


@final
class CursorCalls:
    """The calls over one session."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def acknowledge(self, name: str, position: int | None, incarnation: int | None) -> Call[None]:
        """Acknowledge up to a position, by default up to the result read last."""
        position, of = self._position(name, position, incarnation)
        if position is not None:
            yield from self._ask(partial(Acknowledge, name=name, position=position, incarnation=of), Done)

    def acknowledge_later(self, name: str, position: int | None, incarnation: int | None) -> None:
        """Note an acknowledgement that the connection sends without waiting."""
        position, of = self._position(name, position, incarnation)
        inbox = self._session.inboxes.get(name)
        if inbox is None or inbox.incarnation is None:
            raise UnknownSubscription(f"subscription {name!r}: expected a durable one of this client, found none")
        if position is not None:
            self._session.later.note(name, position, of)

    def forget(self, cursor: str) -> Call[None]:
        """Delete a cursor. A subscription attached by it gets nothing more, and still has to be closed."""
        checked_subscription_name(cursor)
        yield from self._ask(partial(Forget, cursor=cursor), Done)
        for inbox in self._session.inboxes.values():
            if inbox.request is not None and inbox.request.durable == cursor:
                inbox.request = None
                inbox.notifications.clear()

    def refuse(self, name: str, position: int | None, reason: str, incarnation: int | None) -> Call[None]:
        """Set one result aside: the one at a position, by default the one read last."""
        if type(reason) is not str or not 0 < len(reason) <= NAME_LENGTH_MAX:
            most = f"a reason of 1 to {NAME_LENGTH_MAX} characters"
            raise DefinitionError(f"subscription {name!r}: expected {most}, found {shown(reason)}")
        position, of = self._position(name, position, incarnation)
        if position is None:
            raise DefinitionError(f"subscription {name!r}: expected a position, because nothing was read yet")
        request = partial(Refuse, name=name, position=position, reason=reason, incarnation=of)
        yield from self._ask(request, Done)

    def dead_letters(self, cursor: str) -> Call[list[DeadLetter]]:
        """All pages of a cursor's dead letters."""
        checked_subscription_name(cursor)
        found: list[DeadLetter] = []
        more = True
        while more:
            after = found[-1].position if found else 0
            page = yield from self._ask(partial(ListDeadLetters, cursor=cursor, after=after), DeadLetters)
            found.extend(map(received, page.entries))
            more = page.more and bool(page.entries)
        return found

    def settle(self, cursor: str, positions: Iterable[int], again: bool) -> Call[None]:
        """Discard dead letters, or deliver them `again`; in requests of at most SETTLED_AT_ONCE."""
        checked_subscription_name(cursor)
        wanted = list(positions)
        for each in wanted:
            if type(each) is not int or not 0 < each <= POSITION_MAX:
                raise DefinitionError(f"cursor {cursor!r}: expected positions from 1 on, found {shown(each)}")
        for first in range(0, len(wanted), SETTLED_AT_ONCE):
            some = tuple(wanted[first : first + SETTLED_AT_ONCE])
            yield from self._ask(partial(Settle, cursor=cursor, positions=some, again=again), Done)

    def _position(self, name: str, position: int | None, incarnation: int | None) -> tuple[int | None, int | None]:
        """The given position or that of the result read last, and the incarnation of its cursor."""
        if position is not None and (type(position) is not int or not 0 < position <= POSITION_MAX):
            raise DefinitionError(f"subscription {name!r}: expected a position from 1 on, found {position!r}")
        inbox = self._session.inboxes.get(name)
        read, of = (None, None) if inbox is None else inbox.read or (None, inbox.incarnation)
        return read if position is None else position, of if incarnation is None else incarnation

    def _ask(self, make: Callable[[int], Message], kind: type[_Answer]) -> Call[_Answer]:
        return expected((yield self._session.request(make)), kind)
