"""The inputs of the kernel and their effects, as plain values, so that a run can be recorded.

A session's key is the routing id of its connection, chosen by the transport; the kernel does not interpret it. A
session that is resumed over another connection takes that connection's key.

Nobody changes a value after it was made. Those that are made for each message are not declared frozen all the same:
Python takes six times as long to make a frozen one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from ..wire import AskReasons, Message, WireError
from .limits import Limits
from .permissions import Access
from .records import CursorSetAside, Record


@final
@dataclass(slots=True)
class Received:
    """A message was received. `identity`: the sender's public key, authenticated by the transport; empty without keys.

    `events`: how many events of a batch the kernel may match at once; None: all. `size`: its bytes, for traces.
    """

    session: bytes
    message: Message
    identity: str = ""
    events: int | None = None
    size: int = 0


@final
@dataclass(frozen=True, slots=True)
class Undecodable:
    """A frame was received that cannot be decoded."""

    session: bytes
    error: WireError


@final
@dataclass(frozen=True, slots=True)
class TooManyBatches:
    """Stands for a batch that was dropped because too many waited, so that its refusal is sent in order."""

    session: bytes
    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Gone:
    """The connection of this session has ended. The kernel need not know the session."""

    session: bytes


@final
@dataclass(frozen=True, slots=True)
class Away:
    """The connection of this session has ended; a Gone follows after the batch in work."""

    session: bytes


@final
@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; expected about once a second."""


@final
@dataclass(frozen=True, slots=True)
class ClockDue:
    """The clock has reached a moment for which results may wait; expected when `Kernel.due` says so."""


@final
@dataclass(frozen=True, slots=True)
class MakeResults:
    """There is time to make results of queued shares; expected soon while `Kernel.has_work`.

    The transport still has messages for the sessions in `full`, so the kernel makes no results for them now.
    """

    full: Container[bytes] = ()


@final
@dataclass(frozen=True, slots=True)
class ContinueBatch:
    """There is time to match so many events of the batch in work (None: all); expected soon while `Kernel.work`."""

    events: int | None


@final
@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Apply other limits and permissions. The kernel ends sessions that violate them."""

    limits: Limits
    access: Access


@final
@dataclass(frozen=True, slots=True)
class Drain:
    """The broker is about to end: it accepts nothing new, and sends queued results as far as credits allow."""


@final
@dataclass(frozen=True, slots=True)
class Stop:
    """The broker ends: the last input. `reason` is one line for the clients."""

    reason: str


Input: TypeAlias = (
    Received
    | Undecodable
    | TooManyBatches
    | Gone
    | Away
    | Tick
    | ClockDue
    | MakeResults
    | ContinueBatch
    | Reconfigure
    | Drain
    | Stop
)


@final
@dataclass(slots=True)
class Send:
    """A message to a session. Messages to one session are sent in order; if that fails, the session is Gone."""

    session: bytes
    message: Message


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """A change that was requested, for the log: who, in which session, what, of which name, and what came of
    it. `code`: of the refusal. `details`: what else may be shown. `operator`: it is a request for operators."""

    user: str
    session: int
    action: str
    name: str
    details: Mapping[str, Any]
    outcome: str
    code: str | None = None
    operator: bool = False


@final
@dataclass(frozen=True, slots=True)
class ReasonsWanted:
    """Reasons that a permitted user asks for, of the events that the journal keeps; the answer is one Send, later.

    `subscriptions`: of which the match is, or has not come. `request`: the rest of the question, and its correlation.
    `tell`: gets the answer instead of a session, with the values of the events that it names.
    """

    session: bytes
    subscriptions: tuple[str, ...]
    request: AskReasons
    tell: Callable[[object], None] | None = field(default=None, compare=False)


@final
@dataclass(slots=True)
class Effects:
    """All effects of one input.

    `sends` may leave, in order, when `records` are as durable as the broker has promised; without a journal there are
    no records. For the log: `given_up`, results that were delivered too often, and `audits`, changes that were asked
    for.
    `reasons`: questions that the journal answers.
    """

    sends: list[Send]
    records: Sequence[Record] = ()
    given_up: Sequence[CursorSetAside] = ()
    audits: Sequence[Audit] = ()
    reasons: Sequence[ReasonsWanted] = ()
