"""Checks whether a batch of events may be published. Not here: processing it (engine)."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from ..events.errors import EventError, shown
from ..events.schema import Row
from ..events.stream import StreamDefinition
from ..events.validation import check_ids, check_late, check_rows, check_starts, check_times


def fitting(
    stream: StreamDefinition,
    times: Sequence[int],
    rows: Sequence[Row],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    newest: int | None,
) -> list[Row]:
    """The rows in a new list, coerced to the schema. Results refer to this list when they are read. O(batch).

    `newest`: the time before which an event is late; on a stream with disorder, before the batch. Raises EventError,
    LateEvent.
    """
    n = _length(stream, "rows", rows)
    for name, column in (("times", times), ("ids", ids), ("starts", starts)):
        if column is not None and _length(stream, name, column) != n:
            raise EventError(f"stream {stream.name!r}: expected {n} {name}, one a row, found {len(column)}")
    if stream.disorder == "arrival":
        check_times(stream, times, newest)
    else:
        check_late(stream, times, newest)
    if starts is not None:
        check_starts(stream, starts, times)
    if ids is not None:
        check_ids(stream.name, [ids[0], ids[-1]] if isinstance(ids, range) and n else ids)
    own = list(rows)
    found = check_rows(stream, own)
    return own if found is own else list(found)


def _length(stream: StreamDefinition, name: str, column: Sequence[Any]) -> int:
    if not isinstance(column, (list, tuple, range)) and not isinstance(column, Sized):  # the second is slow
        raise EventError(f"stream {stream.name!r}: expected a sequence of {name}, found {shown(column)}")
    return len(column)
