"""Opens, resumes, pauses and ends sessions, when a client asks for it or its connection is lost.

A session begins with HELLO. It ends with GOODBYE, when it was away for too long to be resumed, or with the broker. Not
here: the registry of sessions (sessions.py), attaching to subscriptions (subscribing.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from .. import __version__
from ..wire import VERSION, Closing, Done, Goodbye, Hello, Message, Ping, Pong, Probe, Welcome, WireError
from .admission import Admission
from .answers import unknown_version
from .attachments import Attachments
from .distribution import Distribution
from .inputs_and_effects import Send
from .intake import Intake
from .limits import Limits
from .requests import Requests
from .sessions import Session, Sessions
from .subscribing import Subscribing

SOFTWARE: Final = f"foretell {__version__}"


@final
class SessionRequests:
    """The handlers. `limits` may be replaced. `check_open` raises Busy once the broker is stopping."""

    __slots__ = (
        "_admission", "_attachments", "_check_open", "_counts", "_distribution", "_intake", "_sessions", "_subscribing",
        "limits",
    )  # fmt: skip

    def __init__(
        self,
        limits: Limits,
        admission: Admission,
        attachments: Attachments,
        distribution: Distribution,
        sessions: Sessions,
        subscribing: Subscribing,
        intake: Intake,
        check_open: Callable[[], None],
    ) -> None:
        self.limits = limits
        self._admission = admission
        self._attachments = attachments
        self._distribution = distribution
        self._sessions = sessions
        self._subscribing = subscribing
        self._intake = intake
        self._check_open = check_open
        self._counts = {"sessions_resumed": 0, "sessions_displaced": 0}

    # ---- requests ----

    def requests(self) -> Requests:
        """The requests of this topic except HELLO, which needs no session."""
        return {Ping: self._ping, Goodbye: self._goodbye}

    def hello(self, key: bytes, hello: Hello, identity: str, now: int) -> Message:
        """Open a session, or resume the one that the client names. Raises ForetellErrors."""
        if hello.version != VERSION:
            return unknown_version(hello)
        if key in self._sessions.present:
            raise WireError("HELLO: this session has begun already")
        self._check_open()
        earlier = self._sessions.find(hello.session, identity) if hello.session else None
        if earlier is not None:
            return self._resume(key, *earlier, hello, now)
        if len(self._sessions) >= self.limits.sessions:
            self.release(self._sessions.displaced(self.limits.sessions, self._intake.work is None))
            self._counts["sessions_displaced"] += 1
        account = self._admission.enter(identity)
        session = Session(identity, account, hello.software, now)
        self._sessions.open(key, session, hello.session is not None)
        return self._welcome(hello, session, now)

    def _resume(self, key: bytes, old: bytes, session: Session, hello: Hello, now: int) -> Message:
        """Resume the session over this connection. The client then requests each subscription again."""
        for name, delivery in session.deliveries.items():
            self._distribution.pause(old, delivery)
            self._distribution.move(old, key, name)
            self._attachments.rename(name, old, key)
        self._sessions.move(session, key)
        session.last_received = now
        self._counts["sessions_resumed"] += 1
        return self._welcome(hello, session, now)

    def _welcome(self, hello: Hello, session: Session, now: int) -> Welcome:
        silence, batches = self.limits.silence_seconds, self.limits.session_batches
        return Welcome(hello.correlation, VERSION, SOFTWARE, silence, session.token, max(0, now), batches)

    def _ping(self, key: bytes, session: Session, request: Ping, now: int) -> list[Send]:
        return [Send(key, Pong(request.correlation))]

    def _goodbye(self, key: bytes, session: Session, request: Goodbye, now: int) -> list[Send]:
        self.release(key)
        return [Send(key, Done(request.correlation))]

    # ---- connections and time ----

    def leave(self, key: bytes, now: int, draining: bool) -> None:
        """End the connection. A session that can be resumed stays for a while, unless the broker is draining."""
        self.pause(key)
        until = now + self.limits.resume_seconds * 1_000_000
        if draining or self._sessions.leave(key, until) is None:
            self.release(key)

    def pause(self, key: bytes) -> None:
        """Send nothing more to this session until it is resumed."""
        session = self._sessions.present.get(key)
        for delivery in () if session is None else session.deliveries.values():
            self._distribution.pause(key, delivery)

    def release(self, key: bytes) -> None:
        """End the session, if there is one, and detach it from its subscriptions."""
        session = self._sessions.remove(key)
        if session is not None:
            self._subscribing.detach_all(key, session)
            self._admission.leave(session.account)

    def expire(self, now: int) -> None:
        """Release the sessions that were not resumed in time."""
        for key in self._sessions.expired(now):
            self.release(key)

    def probes(self, now: int) -> list[Send]:
        """A probe for each session that has been silent for too long. Silence alone never ends a session."""
        return [Send(key, Probe(0)) for key in self._sessions.silent(now, self.limits.silence_seconds * 1_000_000)]

    # ---- all sessions ----

    def reconfigure(self, limits: Limits) -> list[Send]:
        """Apply other limits, and close the sessions that the present permissions do not allow any more."""
        self.limits = limits
        sends: list[Send] = []
        for key, session in self._sessions.everybody():
            for delivery in session.deliveries.values():
                delivery.limits = limits
            if not self._admission.may_stay(session.identity, session.account, session.deliveries):
                sends.append(Send(key, Closing(0, "its permissions have changed: connect again")))
                self.release(key)
        return sends

    def close_all(self, reason: str) -> list[Send]:
        """End every session: send the gap of each subscription, then CLOSING."""
        sends: list[Send] = []
        for key, session in self._sessions.present.items():
            last = [message for delivery in session.deliveries.values() for message in delivery.final_gap()]
            sends += [*(Send(key, message) for message in last), Send(key, Closing(0, reason))]
        self._sessions.clear()
        self._distribution.ready.clear()
        return sends

    def statistics(self) -> dict[str, int]:
        return dict(self._counts)
