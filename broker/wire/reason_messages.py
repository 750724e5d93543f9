"""Messages about reasons: why a match came, and why another did not; each with its row of the table.

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
class AskReasons:
    """Ask why a match came, or why none did, of the events that the journal keeps. Answered by Reasons.

    `match`: the id of a match, with `subscription` None if its name is not known. Without `match`: why `subscription`
    has not matched; `key`: its values, empty for any; `events`: the ids of those that should have matched; `time`: as
    things stood then, in microseconds.
    """

    correlation: int
    subscription: str | None
    match: str | None
    key: tuple[Any, ...] = ()
    events: tuple[int, ...] = ()
    time: int | None = None


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons, as `foretell why` and `foretell why-not` print them, and which events were looked at."""

    correlation: int
    reasons: dict[str, Any]


# ---- the table ----

ReasonMessage: TypeAlias = AskReasons | Reasons

ROWS: Final = (
    MessageRow(
        27,
        AskReasons,
        (s.optional(s.NAME), s.optional(s.NAME), s.ARRAY, s.INTEGERS, s.optional(s.INTEGER)),
        answer=Reasons,
        at_once=True,
        means=(
            "with a `match` why it came, of the subscription if one is named; without, why the subscription has not "
            "matched, for a key, certain events and a time"
        ),
    ),
    MessageRow(
        46,
        Reasons,
        (s.PLAIN,),
        means="the [reasons](command-line.md#why-and-why-not), and under `events` which ones were looked at",
    ),
)
