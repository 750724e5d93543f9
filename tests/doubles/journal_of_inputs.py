"""What an engine was given, as the journal of a broker that gave it that, in files that are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from broker.engine.reasons import AskedInput
from broker.events import Event
from broker.events.event import Retraction, UpdateLine
from broker.kernel.records import BatchTaken, Record, Retracted, Updated
from broker.storage import Durability, Journal
from broker.storage.records import encode

from .simulated_files import SimulatedFiles

SETTINGS = Durability(fsync="os", segment_bytes=4_096, growth_bytes=4_096, record_bytes=65_536)


def records(inputs: Sequence[AskedInput]) -> Iterator[Record]:
    """A record for each input."""
    for each in inputs:
        match each:
            case Event(stream, time, start, int() as number, tuple() as row):
                yield BatchTaken(stream, [time], [list(row)], [number], None if start == time else [start])
            case Retraction(number):
                yield Retracted([number])
            case UpdateLine(name, insert, delete, since, until):
                yield Updated(name, list(insert), list(delete), since, until)
            case other:
                raise ValueError(f"expected an event or a change, found {other}")


def journal_of(inputs: Sequence[AskedInput]) -> Journal:
    """A journal in small segments."""
    files: Any = SimulatedFiles(Random(1))
    journal = Journal(files, bytes(16), SETTINGS, 0)
    for record in records(inputs):
        journal.reserve()
        journal.append(*encode(record), 0)
    journal.write()
    return journal
