"""Messages for operators: look into a broker, and change what others have; each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

SESSIONS: Final = "sessions"
CURSORS: Final = "cursors"
EVENTS: Final = "events"
EXPLANATION: Final = "explanation"

CLOSE_SESSION: Final = "close-session"
MOVE_CURSOR: Final = "move-cursor"
DELETE_SUBSCRIPTION: Final = "delete-subscription"
REPLACE_SUBSCRIPTION: Final = "replace-subscription"
DELETE_STREAM: Final = "delete-stream"
ADD_ATTRIBUTE: Final = "add-attribute"


# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Inspect:
    """Ask for the entries of a kind that stand behind `after`. Answered by Inspected, one page.

    `what`: SESSIONS, CURSORS, EVENTS (the last `count` of the stream `name`), EXPLANATION (in the format `name`).
    """

    correlation: int
    what: str
    name: str = ""
    after: str = ""
    count: int = 0


@final
@dataclass(frozen=True, slots=True)
class Administer:
    """Change something that others may have. Answered by Done.

    `action`: CLOSE_SESSION, MOVE_CURSOR (to `position`), DELETE_SUBSCRIPTION, REPLACE_SUBSCRIPTION (`details` has the
    `language`, empty for that of the present text, the `query`, and whether to `keep_runs`), DELETE_STREAM,
    ADD_ATTRIBUTE (`details` has the `attribute` and its `type`); `name`: of what.
    """

    correlation: int
    action: str
    name: str
    position: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Inspected:
    """A page of entries by name, each a map. `more`: ask again, after the last one."""

    correlation: int
    entries: dict[str, Any]
    more: bool


# ---- the table ----

AdministrationMessage: TypeAlias = Inspect | Administer | Inspected

ROWS: Final = (
    MessageRow(
        24,
        Inspect,
        (s.NAME, s.NAME, s.TEXT, s.COUNT),
        answer=Inspected,
        at_once=True,
        means="`sessions`, `cursors`, the last `count` `events` of a stream, or the `explanation` in a format",
    ),
    MessageRow(
        25,
        Administer,
        (s.NAME, s.NAME, s.optional(s.COUNT), s.PLAIN),
        answer=Done,
        when_full="refuse",
        means=(
            "`close-session`, `move-cursor` to a position, `delete-subscription`, `replace-subscription` (details: "
            "`language`, `query`, `keep_runs`), `delete-stream`, `add-attribute` (details: `attribute`, `type`)"
        ),
    ),
    MessageRow(
        45,
        Inspected,
        (s.PLAIN, s.FLAG),
        means="entries by name, each a map; with `more`, ask again, after the last one",
    ),
)
