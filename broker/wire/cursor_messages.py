"""Law: what is said of the cursors of durable subscriptions beside Subscribe; plain values, as in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Everything up to this position is done with, of a subscription that is attached by a cursor. Answered by Done.

    `incarnation`: of which cursor of its name that is the position, as Subscribed has said; nil: of the one there is.
    """

    correlation: int
    name: str
    position: int
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Forget:
    """This cursor is not needed any more, with all that it keeps. Answered by Done."""

    correlation: int
    cursor: str
