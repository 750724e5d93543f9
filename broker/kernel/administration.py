"""Carries out requests of operators: look at sessions, cursors, last events and the explanation; close, move, change.

Sessions, explanations, and what closes or deletes are for administrators. A cursor is moved by its owner, too, and the
last events of a stream are for those who may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, final

from ..automaton.diagram import draw
from ..events import DefinitionError, LimitExceeded, UnknownSubscription, shown, suggestion
from ..wire import Administer, Closing, Done, Inspect, Inspected
from ..wire import administration_messages as asked
from ..wire.limits import FRAME_BYTES_MAX
from .admission import Admission
from .cursor_requests import CursorRequests
from .engine_port import EnginePort
from .inputs_and_effects import Send
from .intake import Intake
from .permissions import User
from .requests import Requests
from .session_requests import SessionRequests
from .sessions import Session, Sessions
from .stream_requests import StreamRequests
from .subscribing import Subscribing

PAGE_ENTRIES_MAX: Final = 200
EXPLANATION_BYTES_MAX: Final = FRAME_BYTES_MAX - 100_000
_PART_CHARACTERS: Final = 50_000
_FORMATS: Final = ("text", "dot", "mermaid", "svg")

_Entries = Iterable[tuple[str, dict[str, Any]]]


@final
class Administration:
    """The handlers."""

    __slots__ = (
        "_admission", "_cursor_requests", "_engine", "_intake", "_session_requests", "_sessions", "_streams",
        "_subscribing",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        admission: Admission,
        sessions: Sessions,
        session_requests: SessionRequests,
        subscribing: Subscribing,
        streams: StreamRequests,
        intake: Intake,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._sessions = sessions
        self._session_requests = session_requests
        self._subscribing = subscribing
        self._cursor_requests: CursorRequests = subscribing.cursor_requests
        self._streams = streams
        self._intake = intake

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {Inspect: self._inspect, Administer: self._administer}

    # ---- looking ----

    def _inspect(self, key: bytes, session: Session, request: Inspect, now: int) -> list[Send]:
        user = session.account.user
        match request.what:
            case asked.SESSIONS:
                user.check_admin(asked.SESSIONS)
                last = int(request.after) if request.after.isdecimal() and len(request.after) < 20 else 0
                entries, more = _page(self._session_entries(now), lambda name: int(name) > last)
            case asked.CURSORS:
                entries, more = _page(self._cursor_requests.entries(user), lambda name: name > request.after)
            case asked.EVENTS:
                streams = self._engine.streams
                self._admission.check_known(user, request.name, streams)
                user.check("read", request.name)
                names = streams[request.name].schema.names
                entries, more = self._intake.recent.last(request.name, names, request.count), False
            case asked.EXPLANATION:
                user.check_admin(asked.EXPLANATION)
                entries, more = self._explanation(request.name), False
            case what:
                known = (asked.SESSIONS, asked.CURSORS, asked.EVENTS, asked.EXPLANATION)
                raise DefinitionError(f"expected {', '.join(known)}, found {what!r}{suggestion(what, known)}")
        return [Send(key, Inspected(request.correlation, entries, more))]

    def sessions(self, user: User, now: int) -> list[dict[str, Any]]:
        """The first page of sessions, with their numbers. Raises PermissionDenied if the user is no administrator."""
        user.check_admin(asked.SESSIONS)
        return [{"number": int(name), **each} for name, each in islice(self._session_entries(now), PAGE_ENTRIES_MAX)]

    def _session_entries(self, now: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """The sessions by number, the oldest first."""
        present = self._sessions.present
        for key, each in sorted(self._sessions.everybody(), key=lambda item: item[1].number):
            yield (
                str(each.number),
                {
                    "user": each.account.user.name,
                    "software": each.software[:200],
                    "connected": key in present,
                    "subscriptions": len(each.deliveries),
                    "queued": min(sum(delivery.waiting for delivery in each.deliveries.values()), 2**63 - 1),
                    "silent_seconds": max(0, now - each.last_received) // 1_000_000,
                },
            )

    def _explanation(self, form: str) -> dict[str, Any]:
        """A drawing, and as text what the engine says of the subscriptions and how much each part holds now."""
        if form not in _FORMATS:
            raise DefinitionError(f"format: expected {', '.join(_FORMATS)}, found {form!r}{suggestion(form, _FORMATS)}")
        text = draw(self._engine.diagram(), form)  # type: ignore[arg-type]  # one of these
        if form == "text":
            text += "\n".join([*self._engine.explain(), *self._engine.live()]) + "\n"
        if len(text.encode()) > EXPLANATION_BYTES_MAX:
            raise LimitExceeded(
                f"EXPLANATION_BYTES_MAX: this explanation has {len(text.encode()):,} bytes, expected at most "
                f"{EXPLANATION_BYTES_MAX:,}; `foretell explain FILE` has no limit"
            )
        parts = [text[at : at + _PART_CHARACTERS] for at in range(0, len(text), _PART_CHARACTERS)]
        return {"parts": parts}

    # ---- changing ----

    def _administer(self, key: bytes, session: Session, request: Administer, now: int) -> list[Send]:
        actions: dict[str, Callable[[bytes, Session, Administer], list[Send]]] = {
            asked.CLOSE_SESSION: self._close_session,
            asked.MOVE_CURSOR: self._move_cursor,
            asked.DELETE_SUBSCRIPTION: self._delete_subscription,
            asked.REPLACE_SUBSCRIPTION: self._replace_subscription,
            asked.DELETE_STREAM: self._delete_stream,
            asked.ADD_ATTRIBUTE: self._add_attribute,
        }
        action = actions.get(request.action)
        if action is None:
            hint = suggestion(request.action, actions)
            raise DefinitionError(f"expected {', '.join(actions)}, found {request.action!r}{hint}")
        return action(key, session, request)

    def _close_session(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        session.account.user.check_admin(f"session {request.name!r}")
        for other, each in self._sessions.everybody():
            if str(each.number) == request.name:
                if other == key:
                    raise DefinitionError(f"session {request.name!r} is this client's own: close it")
                there = other in self._sessions.present
                self._session_requests.release(other)
                closing = [Send(other, Closing(0, "an administrator has closed it"))] if there else []
                return [Send(key, Done(request.correlation)), *closing]
        raise DefinitionError(f"session {request.name!r} is not known")

    def _move_cursor(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        if request.position is None:
            raise DefinitionError(f"cursor {request.name!r}: expected a position, found none")
        return self._cursor_requests.place(key, session.account.user, request, request.position)

    def _delete_subscription(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        self._check_subscription(session, request.name)
        return [Send(key, Done(request.correlation)), *self._subscribing.delete(request.name)]

    def _replace_subscription(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        self._check_subscription(session, request.name)
        language, query, keep_runs = _details(request, language=str, query=str, keep_runs=bool)
        language = language or self._subscribing.known[request.name].language
        results = self._subscribing.replace(session.account.user, request.name, language, query, keep_runs)
        return [Send(key, Done(request.correlation)), *self._intake.distribute([results])]

    def _delete_stream(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        results = self._streams.delete(session.account.user, request.name)
        return [Send(key, Done(request.correlation)), *self._intake.distribute([results])]

    def _add_attribute(self, key: bytes, session: Session, request: Administer) -> list[Send]:
        attribute, kind = _details(request, attribute=str, type=str)
        self._streams.add_attribute(session.account.user, request.name, attribute, kind)
        return [Send(key, Done(request.correlation))]

    def _check_subscription(self, session: Session, name: str) -> None:
        """Check that the subscription is known to this administrator."""
        session.account.user.check_admin(f"subscription {name!r}")
        if name not in self._subscribing.known:
            raise UnknownSubscription(f"subscription {name!r} is not known{suggestion(name, self._subscribing.known)}")


def _details(request: Administer, **expected: type) -> list[Any]:
    """The details of these names and types. Raises DefinitionError."""
    for name, kind in expected.items():
        if type(request.details.get(name)) is not kind:
            found = shown(request.details.get(name))
            wanted = "text" if kind is str else kind.__name__
            raise DefinitionError(f"{request.action}: {name}: expected {wanted}, found {found}")
    return [request.details[name] for name in expected]


def _page(entries: _Entries, after: Callable[[str], bool]) -> tuple[dict[str, Any], bool]:
    """The first entries of whose names `after` is true."""
    rest = ((name, entry) for name, entry in entries if after(name))
    page = dict(islice(rest, PAGE_ENTRIES_MAX))
    return page, next(rest, None) is not None
