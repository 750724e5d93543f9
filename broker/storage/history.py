"""What a journal has of the events that an engine was given: its records from the newest back, and what each of them is
as an engine's input.

Not here: which of them somebody needs (broker.server.journal_history, broker.command.playground).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..events import Event, Punctuation, StreamDefinition
from ..events.event import GapLine, Retraction, UpdateLine
from ..kernel.records import (
    BatchTaken,
    GapDeclared,
    Punctuated,
    Record,
    Retracted,
    StreamDeclared,
    SubscriptionAdded,
    SubscriptionReplaced,
    TimeWasReset,
    Updated,
)
from .errors import StorageError
from .records import KINDS
from .scanning import JournalEntry

if TYPE_CHECKING:
    from ..engine.reasons import AskedInput

READ: Final = frozenset(
    kind
    for kind, (record, _) in KINDS.items()
    if record
    in (
        BatchTaken, GapDeclared, Punctuated, Retracted, StreamDeclared, SubscriptionAdded, SubscriptionReplaced,
        TimeWasReset, Updated,
    )
)  # fmt: skip
"""The kinds of records of which an engine's inputs are made, and those where a subscription begins anew."""


def backwards(
    starts: Sequence[int], last: int, read: Callable[[int, int], Iterable[JournalEntry]]
) -> Iterator[JournalEntry]:
    """The records of these kinds up to `last`, the newest first; one segment at a time is in memory.

    `starts`: the first positions of the segments, in order; `read`: the records behind a position and up to another. It
    ends before a segment that retention has removed meanwhile.
    """
    for first in reversed(starts):
        try:
            found = [entry for entry in read(first - 1, last) if entry.kind in READ]
        except (StorageError, FileNotFoundError):
            return
        yield from reversed(found)
        last = first - 1


def inputs_of(record: Record, streams: Collection[str], known: set[int]) -> Iterator[AskedInput]:
    """What a record gave an engine, of these streams. `known`: the ids of the events so far, to which it adds."""
    match record:
        case BatchTaken() if record.stream in streams:
            starts = record.times if record.starts is None else record.starts
            for time, start, number, row in zip(record.times, starts, record.ids, record.rows):
                known.add(number)
                yield Event(record.stream, time, start, number, tuple(row))
        case Punctuated(time, stream, where) if stream is None or stream in streams:
            yield Punctuation(time, stream, where)
        case Retracted():
            for number in record.ids:
                if number in known:
                    yield Retraction(number)
        case GapDeclared(stream, first, last) if stream in streams:
            yield GapLine(stream, first, last)
        case Updated():
            yield UpdateLine(record.subscription, tuple(record.insert), tuple(record.delete), record.start, record.end)


def first_gaps(inputs: Sequence[AskedInput], streams: Iterable[StreamDefinition]) -> Iterator[GapLine]:
    """The numbers before the first event of each numbered stream, where the inputs do not begin with its first one:
    they do not come again."""
    for definition in streams:
        if definition.sequence is None:
            continue
        at = definition.schema.position(definition.sequence)
        rows = [each.data for each in inputs if isinstance(each, Event) and each.stream == definition.name]
        found = [row[at] for row in rows if isinstance(row, tuple)]
        least = min([number for number in found if isinstance(number, int)], default=1)
        if least > 1:
            yield GapLine(definition.name, 1, least - 1)
