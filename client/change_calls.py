"""The calls that promise, withdraw and change, as generators of requests; `calls` says how they are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import final

from broker.events import DefinitionError, EventError, checked_subscription_name, instant_of, shown
from broker.wire import DeclareGap, Failure, Message, Published, Punctuate, Retract, Update

from .calls import Call, expected
from .errors import remote_error
from .receipt import Receipt
from .session import Session

_IDS = 2**63


@final
class ChangeCalls:
    """The calls over one session."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def punctuate(self, time: int | str | datetime, stream: str | None, where: str | None) -> Call[Receipt]:
        """Promise that no earlier event follows."""
        moment = instant_of(time)
        return (yield from self._ask(partial(Punctuate, time=moment, stream=stream, where=where)))

    def declare_gap(self, stream: str, first: int, last: int | None) -> Call[Receipt]:
        """Promise that the events with these numbers do not come."""
        end = first if last is None else last
        for number in (first, end):
            if type(number) is not int or not -_IDS <= number < _IDS:
                raise EventError(f"expected the number of an event, an integer of 64 bits, found {shown(number)}")
        return (yield from self._ask(partial(DeclareGap, stream=stream, first=first, last=end)))

    def retract(self, id: int) -> Call[Receipt]:
        """Withdraw an event."""
        if type(id) is not int or not -_IDS <= id < _IDS:
            raise EventError(f"expected the id of an event, an integer of 64 bits, found {shown(id)}")
        return (yield from self._ask(partial(Retract, ids=(id,))))

    def update(
        self,
        name: str,
        insert: Sequence[str],
        delete: Sequence[str],
        start: int | str | datetime | None,
        end: int | str | datetime | None,
    ) -> Call[Receipt]:
        """Change the arcs of a subscription."""
        checked_subscription_name(name)
        times = [None if each is None else instant_of(each) for each in (start, end)]
        arcs = _texts(name, "insert", insert), _texts(name, "delete", delete)
        make = partial(Update, name=name, insert=arcs[0], delete=arcs[1], start=times[0], end=times[1])
        return (yield from self._ask(make))

    def _ask(self, make: Callable[[int], Message]) -> Call[Receipt]:
        answer = expected((yield self._session.request(make)), Published)
        if answer.refused:
            refusal = answer.refused[0]
            raise remote_error(Failure(0, refusal.code, refusal.reason))
        return Receipt(answer.count, answer.newest, answer.first_id, durability=answer.durability)


def _texts(name: str, what: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(each, str) for each in given):
        raise DefinitionError(f"subscription {name!r}: {what}: expected a list of texts, found {shown(given)}")
    return tuple(given)
