"""The requests that renew a session on a new connection, and their answers.

All requests are sent at once, HELLO first. The broker answers in order, so one round trip is enough. The client
declares its streams again, because it may have reached another broker; an equal stream may exist already. It subscribes
again, with as many credits as the inbox has room for, and continues behind the last notification if the broker still
has the session. A request that the broker refuses ends its subscription and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, final

from broker.wire import AddStream, Failure, Message, Subscribe, Unsubscribe, Welcome

from .errors import ProtocolError, remote_error
from .flow import FlowEvent, Happening
from .session import Inbox, Session

HELD_ATTEMPTS_MAX: Final = 40
"""How many renewals wait for a cursor that another client is attached to, before the subscription is refused: about a
minute, after which a broker has noticed that the other one is gone."""

_Request: TypeAlias = AddStream | Subscribe | Unsubscribe


@final
class Renewal:
    """One attempt. The caller sends `frames` in order, then calls `done` whenever answers were received."""

    __slots__ = ("_session", "_steps", "frames")

    def __init__(self, session: Session, hello: Callable[[int], Message]) -> None:
        self._session = session
        self._steps: deque[tuple[int, _Request | None]] = deque()
        self.frames: list[bytes] = []
        session.begin_anew()
        self._add(hello, None)
        for declaration in session.declared.values():
            self._add(partial(_numbered, declaration), declaration)
        for name in session.dropped:
            self._add(partial(Unsubscribe, name=name), Unsubscribe(0, name))
        for inbox in session.inboxes.values():
            if inbox.request is not None and inbox.refused is None:
                room = max(1, inbox.window - len(inbox.notifications))
                received = inbox.expected - 1 if inbox.token == session.token else 0
                again = replace(inbox.request, credits=room, received=received, **_resume_fields(inbox))
                self._add(partial(_numbered, again), again)

    def done(self) -> bool:
        """Whether everything is answered.

        Raises the refusal of the HELLO, and Busy while another client is attached to a cursor. Other refusals become
        `flow_events` of the session.
        """
        session = self._session
        while self._steps:
            correlation, request = self._steps[0]
            answer = session.answer(correlation)
            if answer is None:
                return False
            self._steps.popleft()
            match request:
                case None if isinstance(answer, Failure):
                    raise remote_error(answer)
                case None if not isinstance(answer, Welcome):
                    raise ProtocolError(f"expected Welcome as the answer, found {type(answer).__name__}")
                case Unsubscribe(name=name):
                    session.dropped.pop(name, None)  # whatever the answer: the broker does not have it any more
                case Subscribe(name=name, durable=str()) if isinstance(answer, Failure) and self._held(name, answer):
                    raise remote_error(answer)
                case AddStream() | Subscribe() if isinstance(answer, Failure):
                    self._refused(request, answer)
        return True

    def _add(self, make: Callable[[int], Message], request: _Request | None) -> None:
        correlation, frame = self._session.request(make)
        self._steps.append((correlation, request))
        self.frames.append(frame)

    def _held(self, name: str, failure: Failure) -> bool:
        """Whether to try again because the cursor is in use.

        The client attached to it may be a failed attempt of this one, and the broker checks whether that still exists.
        """
        inbox = self._session.inboxes.get(name)
        if failure.code != "busy" or inbox is None or inbox.held >= HELD_ATTEMPTS_MAX:
            return False
        inbox.held += 1
        return True

    def _refused(self, request: AddStream | Subscribe, failure: Failure) -> None:
        error = remote_error(failure)
        self._session.flow_events.append(FlowEvent(Happening.REFUSED, str(error), request.name))
        if isinstance(request, AddStream):
            del self._session.declared[request.name]
        elif request.name in self._session.inboxes:
            self._session.inboxes[request.name].refused = error


def _resume_fields(inbox: Inbox) -> dict[str, Any]:
    """The fields of Subscribe that continue a cursor behind the last position received.

    After a replay that position may lie before the acknowledged one.
    """
    if inbox.position is None:
        return {}
    if inbox.replays:
        return {"incarnation": inbox.incarnation, "replay": inbox.position + 1}
    return {"incarnation": inbox.incarnation, "after": inbox.position}


def _numbered(request: AddStream | Subscribe, correlation: int) -> Message:
    return replace(request, correlation=correlation)
