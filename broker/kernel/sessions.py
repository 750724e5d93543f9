"""The registry of sessions, with those that have lost their connection and can be resumed.

A session that asked for it gets a token and outlives its connection for a while: it stays attached, and its results are
queued. A client with the token and the same identity resumes it. A token is a secret of client and broker. It is
derived from the broker's own secret, so that clients cannot guess one and a run can still be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, final

from ..events import LimitExceeded
from .accounts import UserAccount
from .delivery import Delivery
from .durable_delivery import AnyDelivery

TOKEN_BYTES: Final = 16


@final
@dataclass(slots=True)
class Session:
    """The state of one client. `last_received`: when its last message came or it was probed, in microseconds.

    `number`: of the session in this life of the broker, from 1 on; operators name it by that.
    `ended`: subscriptions that the broker has ended; a client that resumes and requests one gets its end once more.
    """

    identity: str
    account: UserAccount
    software: str
    last_received: int
    token: bytes | None = None
    deliveries: dict[str, AnyDelivery] = field(default_factory=dict)
    ended: dict[str, Delivery] = field(default_factory=dict)
    number: int = 0


@final
class Sessions:
    """Sessions by key: the routing id of a session's connection, or of its last one while it is away."""

    __slots__ = ("_away", "_keys", "_opened", "_secret", "_tokens_made", "present")

    def __init__(self, secret: bytes) -> None:
        self.present: dict[bytes, Session] = {}
        self._away: dict[bytes, tuple[Session, int]] = {}  # by key, with the time of expiry
        self._keys: dict[bytes, tuple[bytes, Session]] = {}  # by token
        self._secret = secret
        self._tokens_made = 0
        self._opened = 0

    def __len__(self) -> int:
        return len(self.present) + len(self._away)

    def everybody(self) -> Iterator[tuple[bytes, Session]]:
        """All sessions, including those that are away."""
        yield from tuple(self.present.items())
        for key, (session, _) in tuple(self._away.items()):
            yield key, session

    def of(self, key: bytes) -> Session:
        """The session of this key, present or away."""
        return self.present[key] if key in self.present else self._away[key][0]

    def key(self, token: bytes, identity: str) -> bytes | None:
        """The key of the session that a HELLO with this token would resume; None if there is none."""
        earlier = self.find(token, identity)
        return None if earlier is None else earlier[0]

    def user(self, key: bytes) -> str:
        """The name of a session's user; empty if there is no session."""
        known = self.present.get(key)
        return "" if known is None else known.account.user.name

    @property
    def away(self) -> int:
        """The number of sessions without a connection."""
        return len(self._away)

    def displaced(self, most: int, may_go: bool) -> bytes:
        """The session to remove for a new one: the one away for longest. Raises LimitExceeded if none may go. O(1)."""
        if not (self._away and may_go):
            raise LimitExceeded(f"sessions: this broker accepts at most {most:,} clients at a time")
        return next(iter(self._away))

    def open(self, key: bytes, session: Session, resumable: bool) -> None:
        """Add a session, with a token if it may be resumed."""
        self._opened += 1
        session.number = self._opened
        if resumable:
            self._tokens_made += 1
            token = blake2b(self._tokens_made.to_bytes(8, "big"), key=self._secret, digest_size=TOKEN_BYTES).digest()
            session.token = token
            self._keys[token] = key, session
        self.present[key] = session

    def remove(self, key: bytes) -> Session | None:
        """Remove a session, present or away; None if there is none."""
        session = self.present.pop(key, None)
        if session is None and key in self._away:
            session, _ = self._away.pop(key)
        if session is not None and session.token is not None:
            del self._keys[session.token]
        return session

    def leave(self, key: bytes, until: int) -> Session | None:
        """Keep a session whose connection has ended until a time, in microseconds; None if it cannot be resumed.

        It may be called again for a session that is away, when the answer to a late request cannot be sent.
        """
        if key in self._away:
            return self._away[key][0]
        session = self.present.get(key)
        if session is None or session.token is None:
            return None
        del self.present[key]
        self._away[key] = session, until
        return session

    def find(self, token: bytes, identity: str) -> tuple[bytes, Session] | None:
        """The key and the session of a token, present or away; None if it belongs to another identity."""
        found = self._keys.get(token)
        return None if found is None or found[1].identity != identity else found

    def move(self, session: Session, new: bytes) -> None:
        """Move a session with a token to another connection."""
        assert session.token is not None
        old, _ = self._keys[session.token]
        self._away.pop(old, None)
        self.present.pop(old, None)
        self._keys[session.token] = new, session
        self.present[new] = session

    def silent(self, now: int, longest: int) -> list[bytes]:
        """The sessions silent for `longest` microseconds, to be probed now, and those with a time after `now`."""
        found: list[bytes] = []
        for key, session in self.present.items():
            if not 0 <= now - session.last_received < longest:
                session.last_received = now
                found.append(key)
        return found

    def expired(self, now: int) -> list[bytes]:
        """The sessions whose time to be resumed is over."""
        return [key for key, (_, until) in self._away.items() if now >= until]

    def clear(self) -> None:
        """Remove all sessions."""
        self.present.clear()
        self._away.clear()
        self._keys.clear()

    def check_invariants(self) -> None:
        """For tests."""
        assert not self.present.keys() & self._away.keys()
        for token, (key, session) in self._keys.items():
            assert session.token == token
            assert (self.present.get(key) is session) != (key in self._away)
        assert len(self._away) == sum(key in self._away for key, _ in self._keys.values())
