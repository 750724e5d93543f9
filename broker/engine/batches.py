"""Checks whether a batch of events may be published. Not here: processing it (engine)."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from ..events.arrow import has_arrow, read_times
from ..events.batch import Batch
from ..events.column_checks import batch_of, batch_of_events, batch_of_values, integers_of
from ..events.errors import EventError, shown
from ..events.event_columns import EventColumns
from ..events.schema import Row
from ..events.stream import StreamDefinition
from ..events.time_unit import instants_of
from ..events.validation import check_ids, check_late, check_starts, check_times


def fitting(
    stream: StreamDefinition,
    times: Sequence[int],
    rows: Sequence[Row],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    newest: int | None,
) -> Batch:
    """The rows, coerced to the schema: in a new list, to which results refer when they are read; or the columns in
    which they have come. O(batch).

    `newest`: the time before which an event is late; on a stream with disorder, before the batch. Raises EventError,
    LateEvent.
    """
    n = _length(stream, "rows", rows)
    distinct = _check_times(stream, n, "one a row", times, ids, starts, newest)
    if isinstance(rows, EventColumns):
        batch = batch_of_events(stream, rows)
    else:
        batch = batch_of_values(stream, list(rows))
    batch.distinct = distinct
    return batch


def fitting_columns(
    stream: StreamDefinition,
    times: Sequence[int],
    columns: Any,
    coded: list[bool],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    newest: int | None,
) -> Batch:
    """The same for a column an attribute, by name, or a record batch of Arrow. `coded`: as Batch says."""
    n = _length(stream, "times", times)
    distinct = _check_times(stream, n, "one a time", times, ids, starts, newest)
    batch = batch_of(stream, columns, n, coded)
    batch.distinct = distinct
    return batch


def moments_of(times: Any) -> list[int]:
    """Times of any kind, also a buffer of microseconds or an array of Arrow, in microseconds. O(times).

    Raises EventError.
    """
    if not isinstance(times, (list, tuple, range)):
        if has_arrow(times):
            return read_times(times)
        whole = integers_of(times)
        if whole is not None:
            return whole
    return list(instants_of(times))


def numbers_of(numbers: Any) -> Sequence[int] | None:
    """Ids, or starts, also of a buffer. O(numbers)."""
    if numbers is None:
        return None
    whole = integers_of(numbers)
    return numbers if whole is None else whole


def _check_times(
    stream: StreamDefinition,
    n: int,
    one: str,
    times: Sequence[int],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    newest: int | None,
) -> bool:
    """Whether no two events are known to have the same time."""
    distinct = False
    for name, column in (("times", times), ("ids", ids), ("starts", starts)):
        if column is not None and _length(stream, name, column) != n:
            raise EventError(f"stream {stream.name!r}: expected {n} {name}, {one}, found {len(column)}")
    if stream.disorder == "arrival":
        distinct = check_times(stream, times, newest)
    else:
        check_late(stream, times, newest)
    if starts is not None:
        check_starts(stream, starts, times)
    if ids is not None:
        check_ids(stream.name, [ids[0], ids[-1]] if isinstance(ids, range) and n else ids)
    return distinct


def _length(stream: StreamDefinition, name: str, column: Sequence[Any]) -> int:
    if not isinstance(column, (list, tuple, range)) and not isinstance(column, Sized):  # the second is slow
        raise EventError(f"stream {stream.name!r}: expected a sequence of {name}, found {shown(column)}")
    return len(column)
