"""Messages about the session and the broker as a whole, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Hello:
    """Begin or resume a session. Answered by Welcome. `software` appears in logs and statistics.

    `session`: None for a session that ends with its connection, empty for a new resumable session, and otherwise the
    token from Welcome of the session to resume.
    """

    correlation: int
    version: int
    software: str
    session: bytes | None = None


@final
@dataclass(frozen=True, slots=True)
class Goodbye:
    """End the session and release its subscriptions. Answered by Done."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Ping:
    """Check that the broker's loop is alive and knows the session. Answered by Pong."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Statistics:
    """Ask for the broker's counters. Answered by StatisticsReport."""

    correlation: int


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Welcome:
    """The session exists. `silence_seconds`: the broker probes a client that was silent for so long.

    `session`: the token by which to resume the session. It is a secret. `clock`: the broker's time now, in microseconds
    since 1970, in which deadlines are expressed. `batches`: how many may be in flight; more may be refused.
    """

    correlation: int
    version: int
    software: str
    silence_seconds: int
    session: bytes | None = None
    clock: int = 0
    batches: int = 0


@final
@dataclass(frozen=True, slots=True)
class Done:
    """The request was carried out, and has no result."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to Ping."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """Groups of counters by name, each a map by name."""

    correlation: int
    groups: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A request was refused and changed nothing. `line`, `column` and `excerpt` point into a query's text.

    With correlation 0 the frame was too damaged to identify the request. `retry`: the same request may succeed after so
    many microseconds. `clock`: the broker's time, if the deadline had passed, in microseconds.
    """

    correlation: int
    code: str
    message: str
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    retry: int | None = None
    clock: int | None = None


# ---- from the broker, unasked: correlation 0 ----


@final
@dataclass(frozen=True, slots=True)
class Probe:
    """Sent to a silent client to see whether its connection still exists. It needs no answer."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Closing:
    """The broker has ended the session, and sends nothing more."""

    correlation: int
    reason: str


# ---- the table ----

SessionMessage: TypeAlias = (
    Hello
    | Goodbye
    | Ping
    | Statistics
    | Welcome
    | Done
    | Pong
    | StatisticsReport
    | Failure
    | Probe
    | Closing
)

_MICROSECONDS: Final = s.optional(s.COUNT)

ROWS: Final = (
    MessageRow(1, Hello, (s.COUNT, s.TEXT, s.optional(s.TOKEN)), answer=Welcome, at_once=True),
    MessageRow(2, Goodbye, (), answer=Done, when_full="wait", means="the session is over"),
    MessageRow(3, Ping, (), answer=Pong, at_once=True),
    MessageRow(12, Statistics, (), answer=StatisticsReport, at_once=True),
    MessageRow(
        32,
        Welcome,
        (s.COUNT, s.TEXT, s.COUNT, s.optional(s.TOKEN), s.COUNT, s.COUNT),
        means=(
            "the session exists; `session` is the secret token by which to resume it; `clock` is the broker's"
            " time; `batches` how many may be [in flight](#credits)"
        ),
    ),
    MessageRow(33, Done, (), means="the request was carried out"),
    MessageRow(34, Pong, (), means="the broker's loop is alive, and the session is known"),
    MessageRow(39, StatisticsReport, (s.PLAIN,), means="counters by name, in groups by name"),
    MessageRow(
        40,
        Failure,
        (s.NAME, s.TEXT, s.optional(s.COUNT), s.optional(s.COUNT), s.optional(s.TEXT), _MICROSECONDS, _MICROSECONDS),
        means="[refused](#errors), and nothing was changed",
    ),
    MessageRow(65, Probe, (), means="checks that the connection still exists; needs no answer"),
    MessageRow(66, Closing, (s.TEXT,), means="the session is over, and nothing follows"),
)
