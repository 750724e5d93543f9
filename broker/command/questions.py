"""What the commands that ask for reasons share: the options, and all events of files in memory.

Not here: the reasons (broker.engine.reasons), the commands (why, why_not).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ..events import Event, LimitExceeded, Punctuation
from ..events.event import GapLine, Retraction, UpdateLine
from .batch import EventBatch
from .complaint import BadInput, placed
from .loading import load_engine
from .reading import Reading
from .sorting import sources
from .sources import files_of

if TYPE_CHECKING:
    from ..engine import Engine
    from ..engine.reasons import AskedInput

ASKED_EVENTS_MAX: Final = 1_000_000
"""Events among which reasons are looked for; they are all in memory."""

EventsAskedOption: TypeAlias = Annotated[
    list[str],
    typer.Option("--events", metavar="FILE", help="The events, as for run. A pattern, or repeated, for several files."),
]


def engine_and_events(
    subscriptions: Path, files: Sequence[str], stream: str | None, time: str | None
) -> tuple[Engine, list[AskedInput]]:
    """An engine with the subscriptions of a file, and what it would be given. Raises BadInput and LimitExceeded."""
    engine = load_engine(subscriptions)
    found: list[AskedInput] = []
    for source in sources(Reading(engine.streams, None, stream, time), files_of(files), False):
        for item in source.items:
            if isinstance(item, EventBatch):
                for at, row in enumerate(item.rows):
                    number = None if item.ids is None else item.ids[at]
                    start = item.times[at] if item.starts is None else item.starts[at]
                    found.append(Event(item.stream, item.times[at], start, number, row))
            elif isinstance(item.line, Retraction | Punctuation | GapLine | UpdateLine):
                found.append(item.line)
            else:
                raise BadInput(f"{source.where(item.place)}: expected no change of subscriptions but an update")
            if len(found) > ASKED_EVENTS_MAX:
                with placed(source.where(item.position)):
                    raise LimitExceeded(f"reasons are looked for among at most {ASKED_EVENTS_MAX} events")
    return engine, found
