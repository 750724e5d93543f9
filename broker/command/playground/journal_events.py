"""Takes the newest events of a broker's journal, as a file of JSON lines that a run reads like any other.

It reads the files of the journal while the broker works, in the process of the playground, so that the broker does not
wait. Not here: whose events somebody may see (broker.server.console_playground).
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...events import Event, ForetellError, LimitExceeded, Punctuation
from ...events.event import GapLine, Retraction
from ..archive import line_of
from .trial import EVENTS_MAX

if TYPE_CHECKING:
    from ...engine.reasons import AskedInput
    from ...events import StreamDefinition
    from ...kernel.records import Record

JOURNAL_SECONDS_MAX: Final = 8.0
"""So long the journal is read."""
_STEP: Final = 1_000


def taken(
    folder: Path,
    text: str,
    since: int,
    until: int,
    out: Path,
    seconds: Callable[[], float] = clock.monotonic,
) -> dict[str, Any]:
    """Write the newest EVENTS_MAX events of the streams that a subscription file's text declares, of those that arrived
    between two times (microseconds), and what withdrew them or promised more. Returns how many, and whether there were
    more. Raises LimitExceeded, StorageErrors."""
    from ...language.subscription_file import read_subscription_file
    from ...storage.history import first_gaps, inputs_of

    streams = {each.name: each for each in read_subscription_file(text, "the streams").streams}
    late = seconds() + JOURNAL_SECONDS_MAX
    records: list[Record] = []
    count = 0
    for record in _newest(folder, streams, since, until, lambda: seconds() > late):
        records.append(record)
        count += len(getattr(record, "rows", ())) or 1
        if count > EVENTS_MAX:
            break
    known: set[int] = set()
    inputs = [each for record in reversed(records) for each in inputs_of(record, streams, known)]
    inputs = inputs[-EVENTS_MAX:]
    kept = {each.id for each in inputs if isinstance(each, Event)}
    inputs = [each for each in inputs if not isinstance(each, Retraction) or each.id in kept]
    with out.open("w", encoding="utf-8") as file:
        for line in lines_of([*first_gaps(inputs, streams.values()), *inputs], streams):
            file.write(line + "\n")
    return {"events": sum(isinstance(each, Event) for each in inputs), "more": count > EVENTS_MAX}


def _newest(
    folder: Path, streams: Mapping[str, StreamDefinition], since: int, until: int, late: Callable[[], bool]
) -> Iterator[Record]:
    """The records that concern these streams, the newest first."""
    from ...kernel.records import BatchTaken, GapDeclared, Punctuated, Retracted, StreamDeclared, TimeWasReset
    from ...storage import Folder
    from ...storage.history import backwards
    from ...storage.records import decode
    from ...storage.scanning import JournalEntry, head_of
    from ...storage.segments import entries, segment_names, survey

    files = Folder(folder)
    found = survey(files)
    if found is None:
        return
    heads = [(name, head_of(files, name)) for name in segment_names(files)]
    ends = [*(later.time for _, later in heads[1:]), until]  # what a segment has is older than the next one's beginning
    segments = {head.first: (name, head) for (name, head), end in zip(heads, ends) if end >= since}

    def read(after: int, last: int) -> Iterator[JournalEntry]:
        for at, entry in enumerate(entries(files, [segments[after + 1]], after, last)):
            if at % _STEP == 0 and late():
                raise LimitExceeded(
                    f"expected a journal that is read within {JOURNAL_SECONDS_MAX:g} s; choose a shorter time"
                )
            if since <= entry.time <= until:
                yield entry

    for entry in backwards([first for first in segments if first <= found.position], found.position, read):
        record = decode(entry.kind, entry.payload)
        match record:
            case BatchTaken():
                if record.stream in streams:
                    yield record
            case StreamDeclared(name) | TimeWasReset(name) if name in streams:
                return  # what came before was of another stream, or of another time
            case GapDeclared() | Punctuated() | Retracted():
                yield record


def lines_of(inputs: Sequence[AskedInput], streams: Mapping[str, StreamDefinition]) -> Iterator[str]:
    """What an engine is given, as lines of a file of events."""
    for each in inputs:
        match each:
            case Event(stream, time, start, number, tuple() as row):
                yield line_of(stream, streams[stream].schema.names, time, row, number, start)
            case Punctuation(time, stream, where):
                named = {"punctuation": time, "stream": stream, "where": where}
                yield json.dumps({name: value for name, value in named.items() if value is not None})
            case Retraction(number):
                yield json.dumps({"retract": number})
            case GapLine(stream, first, last):
                yield json.dumps({"gap": {"stream": stream, "from": first, "to": last}})


def text_of_streams(streams: Sequence[StreamDefinition], called: str) -> str:
    """A subscription file with these streams, and a first query of the first one."""
    from ...language.subscription_text import stream_lines
    from ..new import first_query

    if not streams:
        raise ForetellError("expected a stream, found none")
    first = streams[0]
    lines = [f"# Events of {called}. Times are microseconds."]
    for each in streams:
        lines += ["", *stream_lines(each)]
    lines += first_query(first.name, first.schema.declared(), first.key, "first")
    return "\n".join(lines) + "\n"
