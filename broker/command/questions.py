"""What the commands that ask for reasons share: the options, and all events of files in memory.

Not here: the reasons (broker.engine.reasons), the commands (why, why_not).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ..events import DefinitionError, Event, LimitExceeded, Punctuation, TimeUnit
from ..events.event import GapLine, Retraction, UpdateLine
from .batch import EventBatch, Item
from .complaint import BadInput, placed
from .loading import load_engine
from .reading import Format, FormOptions, Reading
from .sorting import sources
from .sources import files_of

if TYPE_CHECKING:
    from ..engine import Engine
    from ..engine.reasons import AskedInput

ASKED_EVENTS_MAX: Final = 1_000_000
"""Events among which reasons are looked for; they are all in memory."""

EventsAskedOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--events", metavar="FILE", help="The events, as for run; without, the broker is asked about its journal."
    ),
]
REASONS_WAIT_SECONDS: Final = 60.0
"""How long the shell waits for a broker's answer, which other questions may delay."""


def asked_of_file(words: Sequence[str], events: Sequence[str] | None, what: str) -> tuple[Path | None, str]:
    """The subscription file, None if the broker is asked, and the name that is asked about. Raises DefinitionError."""
    if events is None and len(words) == 1:
        return None, words[0]
    if events is not None and len(words) == 2:
        return Path(words[0]), words[1]
    expected = f"SUBS.toml, {what} and --events FILE, or {what} alone to ask a broker"
    raise DefinitionError(f"expected {expected}, found {' '.join(words)}")


def engine_and_events(
    subscriptions: Path,
    files: Sequence[str],
    events_format: Format | None,
    stream: str | None,
    time: str | None,
    time_unit: TimeUnit | None,
    form: FormOptions,
    sort: bool,
) -> tuple[Engine, list[AskedInput]]:
    """An engine with the subscriptions of a file, and what it would be given. Raises BadInput and LimitExceeded."""
    engine = load_engine(subscriptions)
    found: list[AskedInput] = []
    reading = Reading(engine.streams, events_format, stream, time, time_unit, form=form.said())
    for source in sources(reading, files_of(files), sort):
        for item in source.items:
            found += inputs_of(item, source.where)
            if len(found) > ASKED_EVENTS_MAX:
                with placed(source.where(item.position)):
                    raise LimitExceeded(f"reasons are looked for among at most {ASKED_EVENTS_MAX} events")
    return engine, found


def inputs_of(item: Item, where: Callable[[int | str], str], first: int | None = None) -> Iterator[AskedInput]:
    """What an item of a file gives an engine; events without an id count from `first`, if there is one. Raises BadInput
    for a change of subscriptions that is no update."""
    if isinstance(item, EventBatch):
        for at, row in enumerate(item.rows):
            number = (None if first is None else first + at) if item.ids is None else item.ids[at]
            start = item.times[at] if item.starts is None else item.starts[at]
            yield Event(item.stream, item.times[at], start, number, row)
    elif isinstance(item.line, Retraction | Punctuation | GapLine | UpdateLine):
        yield item.line
    else:
        raise BadInput(f"{where(item.place)}: expected no change of subscriptions but an update")
