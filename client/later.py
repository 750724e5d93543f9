"""Acknowledgements that are sent without waiting for their answers.

They are cumulative and the broker takes requests in order, so of one subscription only the newest position counts:
positions that cannot be sent now are replaced by newer ones, and after a loss only the newest is sent again. So the
memory is bounded by the subscriptions, however fast a program acknowledges. Nothing is sent here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, final

from broker.wire import Acknowledge, Failure, Message

from .errors import ForetellError, remote_error

IN_FLIGHT_MAX: Final = 16
"""So many may be unanswered; then positions wait, and newer ones replace them."""


class Requests(Protocol):
    """What sends acknowledgements: a session."""

    def request(self, make: Callable[[int], Message]) -> tuple[int, bytes]: ...

    def abandon(self, correlation: int) -> None: ...


@final
class LaterAcknowledgements:
    """The positions of one session by subscription: `due` have not been sent yet. A position is that of one cursor, its
    incarnation; a cursor created anew begins anew."""

    __slots__ = ("_in_flight", "_refused", "due")

    def __init__(self) -> None:
        self.due: dict[str, tuple[int, int | None]] = {}
        self._in_flight: dict[int, tuple[str, int, int | None]] = {}
        self._refused: dict[str, ForetellError] = {}

    def note(self, name: str, position: int, incarnation: int | None) -> None:
        """Acknowledge up to a position. Raises, once, the error with which the broker refused an earlier one."""
        refused = self._refused.pop(name, None)
        self._add(name, position, incarnation)
        if refused is not None:
            raise refused

    def frames(self, session: Requests, every: bool = False) -> list[bytes]:
        """The requests to send now, in order: as many as may be in flight, or with `every` all that are due."""
        made: list[bytes] = []
        while self.due and (every or len(self._in_flight) < IN_FLIGHT_MAX):
            name = next(iter(self.due))
            position, incarnation = self.due.pop(name)
            make = partial(Acknowledge, name=name, position=position, incarnation=incarnation)
            correlation, frame = session.request(make)
            session.abandon(correlation)  # nobody waits; the answer comes to `settle`
            self._in_flight[correlation] = name, position, incarnation
            made.append(frame)
        return made

    def settle(self, answer: Message) -> tuple[str, ForetellError] | None:
        """Take an answer if it is to one of these; the subscription and the error if it is a refusal."""
        sent = self._in_flight.pop(answer.correlation, None)
        if sent is None or not isinstance(answer, Failure):
            return None
        error = self._refused[sent[0]] = remote_error(answer)
        return sent[0], error

    def begin_anew(self, subscribed: set[str]) -> None:
        """Send again in a new session what was not answered, of the subscriptions that it will have."""
        unanswered, waiting = self._in_flight, self.due
        self._in_flight, self.due = {}, {}
        for name, position, incarnation in unanswered.values():
            self._add(name, position, incarnation)
        for name, (position, incarnation) in waiting.items():
            self._add(name, position, incarnation)
        self.due = {name: position for name, position in self.due.items() if name in subscribed}

    def _add(self, name: str, position: int, incarnation: int | None) -> None:
        waiting = self.due.get(name)
        if waiting is None or waiting[1] != incarnation or waiting[0] < position:
            self.due[name] = position, incarnation
