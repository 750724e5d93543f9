"""The inputs of the kernel and their effects, as plain values, so that a run can be written down.

A session is named by bytes that the transport gave it, the routing id of its connection; they mean nothing here. A
session that is resumed over another connection goes on under that one's name.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from ..wire import Message, WireError
from .limits import Limits
from .permissions import Access
from .records import CursorSetAside, Record


@final
@dataclass(frozen=True, slots=True)
class Received:
    """A message has arrived. `identity`: the sender's public key, as the transport vouches for it; empty without keys.

    `events`: how many events of a batch the kernel may match at once; None: all.
    """

    session: bytes
    message: Message
    identity: str = ""
    events: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Undecodable:
    """Bytes have arrived that are no message."""

    session: bytes
    error: WireError


@final
@dataclass(frozen=True, slots=True)
class TooManyBatches:
    """The place of a batch beyond those that may wait; the batch was dropped, and the refusal keeps its order."""

    session: bytes
    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Gone:
    """The connection of this session has ended. Legal for a session that the kernel does not know."""

    session: bytes


@final
@dataclass(frozen=True, slots=True)
class Away:
    """The connection of this session has ended; a Gone follows when the batch in work is through."""

    session: bytes


@final
@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; expected about once a second."""


@final
@dataclass(frozen=True, slots=True)
class MakeResults:
    """There is time for a piece of the work that waits; expected soon while `Kernel.has_work`.

    Messages for the sessions in `full` still wait for the transport: the kernel makes nothing more for them now.
    """

    full: Container[bytes] = ()


@final
@dataclass(frozen=True, slots=True)
class ContinueBatch:
    """There is time for so many events of the batch in work (None: all); expected soon while `Kernel.work`."""

    events: int | None


@final
@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Other limits and rules from now on. The kernel ends sessions that have what these do not allow."""

    limits: Limits
    access: Access


@final
@dataclass(frozen=True, slots=True)
class Drain:
    """The broker is about to end: it takes nothing new, and sends what waits as far as there are credits."""


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
    | MakeResults
    | ContinueBatch
    | Reconfigure
    | Drain
    | Stop
)


@final
@dataclass(frozen=True, slots=True)
class Send:
    """A message to a session. Messages to one session are sent in order; if that cannot be, the session is Gone."""

    session: bytes
    message: Message


@final
@dataclass(frozen=True, slots=True)
class Effects:
    """Everything that one input gives rise to.

    `sends`, in order, may leave when `records` are as safe as the broker has promised; without a journal there are no
    records. `given_up`: the results that were delivered too often, for the log.
    """

    sends: list[Send]
    records: Sequence[Record] = ()
    given_up: Sequence[CursorSetAside] = ()
