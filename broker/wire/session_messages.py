"""Messages about the session and the broker as a whole, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: a new one goes to the
end and raises the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from . import shapes as s
from .row import MessageRow

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a session. `software` is for people who read logs and statistics.

    `session` None: it ends with its connection. Empty: it shall be possible to resume it. Else: the one to be resumed,
    as Welcome has called it.
    """

    correlation: int
    version: int
    software: str
    session: bytes | None = None


@final
@dataclass(frozen=True, slots=True)
class Goodbye:
    """The session ends and its subscriptions are released; answered by Done."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Ping:
    """Answered by Pong: the broker's loop is alive and the session is known."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Statistics:
    """Answered by StatisticsReport."""

    correlation: int


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Welcome:
    """The session exists. `silence_seconds`: after so long without a message the broker asks whether we are there.

    `session`: what to call it when it is to be resumed. It is a secret. `clock`: what the broker's shows now, in
    microseconds since 1970; deadlines are told in it. `batches`: how many may be under way, others may be refused.
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
    """What was asked for is done and has no more to say."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to Ping."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """Numbers by name in groups by name."""

    correlation: int
    groups: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A request was refused and changed nothing. `line`, `column` and `excerpt` point into a query's text.

    With correlation 0 the frame was too broken to say which request it was. `retry`: the same request may succeed after
    so many microseconds. `clock`: the broker's, where a deadline had passed.
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
    """Sent into a silence to see whether there is still somebody to send to; needs no answer."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Closing:
    """The broker ends the session: nothing follows."""

    correlation: int
    reason: str


# ---- the table ----

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
            "there is a session; `session` is what to call it when it is to be resumed, and a secret; `clock`"
            " is what the broker's shows; `batches` how many may be [under way](#credits)"
        ),
    ),
    MessageRow(33, Done, (), means="it is done"),
    MessageRow(34, Pong, (), means="the broker's loop is alive, and the session is known"),
    MessageRow(39, StatisticsReport, (s.PLAIN,), means="numbers by name, in groups by name"),
    MessageRow(
        40,
        Failure,
        (s.NAME, s.TEXT, s.optional(s.COUNT), s.optional(s.COUNT), s.optional(s.TEXT), _MICROSECONDS, _MICROSECONDS),
        means="[refused](#errors), and nothing was changed",
    ),
    MessageRow(65, Probe, (), means="it looks whether there is still a connection; no answer"),
    MessageRow(66, Closing, (s.TEXT,), means="the session is over, and nothing follows"),
)
