"""Queues requests while a batch is in work, and releases them in order.

The kernel says which inputs must be deferred (kernel/deferral.py). A client's requests are answered in order, so while
an input of a session waits, its later inputs wait too, even behind the session's own batch. A credit has no answer, and
waits only behind inputs that may concern its subscription. The queue is first in, first out.
"""

from __future__ import annotations

from collections import deque
from typing import Final, final

from ..kernel import Gone, Input, Kernel, Received, TooManyBatches, Undecodable, must_be_deferred
from ..wire import Acknowledge, Credit, Hello, Publish

WAITING_MESSAGES_MAX: Final = 4_096
"""With this many waiting inputs the broker stops reading the socket, so that expensive batches slow publishers down."""

WAITING_BYTES_MAX: Final = 64 * 1024 * 1024
"""The same limit in bytes of the messages received."""


@final
class AdmissionQueue:
    """The queue. O(1) for each input in and out."""

    __slots__ = ("_batches", "_bytes", "_gone", "_inputs", "_kernel", "_requests", "_subscribing")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel: Final = kernel
        self._inputs: deque[tuple[Input, int]] = deque()
        self._bytes = 0
        self._requests: dict[bytes, int] = {}  # waiting inputs by session
        self._subscribing: dict[bytes, int] = {}  # those that may concern subscriptions
        self._batches: dict[bytes, int] = {}  # those that are batches
        self._gone: dict[bytes, None] = {}  # sessions whose end waits

    def __len__(self) -> int:
        return len(self._inputs)

    @property
    def crowded(self) -> bool:
        """Whether the queue is so long that the socket should not be read."""
        return len(self._inputs) >= WAITING_MESSAGES_MAX or self._bytes >= WAITING_BYTES_MAX

    def leaving(self, session: bytes) -> bool:
        """Whether the session's end waits."""
        return session in self._gone

    def admit(self, given: Input, size: int = 0) -> bool:
        """Whether to handle this now; else it is queued. `size`: its bytes. The end of a session is queued once."""
        work = self._kernel.work
        if work is None and not self._inputs:
            return True
        if not must_be_deferred(given) and not self._behind_own(given, None if work is None else work.session):
            return True
        if isinstance(given, Gone):
            if given.session in self._gone:
                return False
            self._gone[given.session] = None
        elif isinstance(given, Received | Undecodable):
            if _is_batch(given) and self._batches.get(given.session, 0) >= self._kernel.limits.session_batches:
                given, size = _excess(given), 0
            self._count(given, 1)
        self._inputs.append((given, size))
        self._bytes += size
        return False

    def _behind_own(self, given: Input, working: bytes | None) -> bool:
        match given:
            case Received(session, Credit()):
                return session in self._subscribing
            case Received(session, Hello(session=bytes(token)), identity) if token:
                earlier = self._kernel.session_of(token, identity)
                return self._is_behind(session, working) or (earlier is not None and self._is_behind(earlier, working))
            case Received(session) | Undecodable(session) | TooManyBatches(session):
                return self._is_behind(session, working)
            case _:
                return False

    def _is_behind(self, session: bytes, working: bytes | None) -> bool:
        return session == working or session in self._requests or session in self._gone

    def next(self) -> Input | None:
        """Take out the oldest input; None while a batch is in work, or if there is none."""
        if self._kernel.work is not None or not self._inputs:
            return None
        given, size = self._inputs.popleft()
        self._bytes -= size
        if isinstance(given, Gone):
            del self._gone[given.session]
        elif isinstance(given, Received | Undecodable | TooManyBatches):
            self._count(given, -1)
        return given

    def _count(self, given: Received | Undecodable | TooManyBatches, change: int) -> None:
        _count(self._requests, given.session, change)
        if _may_be_about_subscriptions(given):
            _count(self._subscribing, given.session, change)
        elif _is_batch(given):
            _count(self._batches, given.session, change)

    def statistics(self) -> dict[str, int]:
        """The length of the queue."""
        return {"waiting": len(self._inputs), "waiting_bytes": self._bytes}

    def check_invariants(self) -> None:
        """For tests."""
        assert self._bytes == sum(size for _, size in self._inputs)
        waiting = [each for each, _ in self._inputs if isinstance(each, Received | Undecodable | TooManyBatches)]
        assert sum(self._requests.values()) == len(waiting)
        assert self._requests.keys() == {each.session for each in waiting}
        assert self._subscribing.keys() <= self._requests.keys()
        assert sum(self._batches.values()) == sum(map(_is_batch, waiting))
        assert self._gone.keys() == {each.session for each, _ in self._inputs if isinstance(each, Gone)}


def _count(counts: dict[bytes, int], session: bytes, change: int) -> None:
    count = counts.get(session, 0) + change
    if count:
        counts[session] = count
    else:
        del counts[session]


def _may_be_about_subscriptions(given: Input) -> bool:
    return isinstance(given, Received) and not isinstance(given.message, Acknowledge | Publish)


def _is_batch(given: Input) -> bool:
    return isinstance(given, Received) and isinstance(given.message, Publish)


def _excess(given: Received | Undecodable) -> TooManyBatches:
    return TooManyBatches(given.session, given.message.correlation if isinstance(given, Received) else 0)
