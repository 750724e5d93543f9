"""Splits a batch into messages of bounded size, and joins their answers into one receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeVar

from broker.events import LARGEST, EventError, StreamDefinition, check_rows, check_starts, shown
from broker.events.column_checks import event_columns, integers_of, packed_events
from broker.events.event_columns import EventColumns
from broker.events.validation import whole_within
from broker.wire import BATCH_EVENTS_MAX, Message, Publish, Published, Refusal

from .arguments import checked_column
from .errors import LimitExceeded
from .receipt import Receipt

_ID_MAX = 2**63 - 1

_Request = TypeVar("_Request")


def check_batch(
    stream: StreamDefinition,
    times: Sequence[int] | None,
    rows: Sequence[tuple[Any, ...]],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
) -> Sequence[tuple[Any, ...]]:
    """The rows, converted where the schema allows it, or many as columns. Raises EventError for a batch that the broker
    would refuse. O(rows).

    The client checks because it may send a batch in several parts: an error in the last one must be found before the
    first is sent.
    """
    checked_column(stream.name, "rows", rows)
    if ids is not None:
        checked_column(stream.name, "ids", ids)
    if type(rows) is EventColumns:
        checked: Sequence[tuple[Any, ...]] = rows  # checked when they were made
    else:
        checked = packed_events(stream, rows) or check_rows(stream, rows)
    for name, column, least, greatest in (("time", times, -LARGEST, LARGEST), ("id", ids, -_ID_MAX - 1, _ID_MAX)):
        if column is None:
            continue
        if len(column) != len(rows):
            raise EventError(
                f"stream {stream.name!r}: expected {len(rows)} {name}s, one for each row, found {len(column)}"
            )
        if whole_within(column, least, greatest):
            continue
        for index, value in enumerate(column):
            if type(value) is not int or not least <= value <= greatest:
                bound = "at most 2**61 microseconds from 1970" if name == "time" else "of 64 bits"
                raise EventError(
                    f"stream {stream.name!r}, row {index}: expected an integer {name} {bound}, found {shown(value)}"
                )
    if starts is not None:
        if times is None:
            raise EventError(f"stream {stream.name!r}: expected times beside starts, found none")
        check_starts(stream, starts, times)
    return checked


def column_rows(stream: StreamDefinition, columns: Any, times: Sequence[int] | None) -> Sequence[tuple[Any, ...]]:
    """Events that are given as columns, as many as there are times, for `check_batch` and `parts`. They travel as
    columns, unless values had to be converted one by one. Raises EventError. O(values)."""
    one: Any = times
    if one is None:
        one = next(iter(columns.values()), ()) if isinstance(columns, Mapping) else columns
    return event_columns(stream, columns, len(one) if type(one) is list or isinstance(one, Sized) else 0)


def whole_numbers(numbers: Any) -> Any:
    """Ids, of a buffer as a list. O(numbers)."""
    whole = integers_of(numbers)
    return numbers if whole is None else whole


def parts(
    request: Callable[[Callable[[int], Message]], _Request],
    stream: str,
    times: Sequence[int] | None,
    rows: Sequence[tuple[Any, ...]],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    trace: str | None = None,
) -> Iterator[tuple[int, bool, _Request]]:
    """For each part: the index of its first row, whether it is the last one, and what `request` makes of its message.

    `request` raises LimitExceeded for a message that is too large, and is then called with a smaller one. A batch
    without rows has one part. Raises LimitExceeded for an event that fits no message.
    """
    first = 0
    size = BATCH_EVENTS_MAX
    while True:
        try:
            made = request(_part(stream, times, rows, ids, starts, first, first + size, trace))
        except LimitExceeded as error:
            if size == 1:
                raise LimitExceeded(f"stream {stream!r}, row {first}: {error}") from None
            size = max(1, min(size, len(rows) - first) // 2)  # also for later parts, which are probably alike
            continue
        last = first + size >= len(rows)
        yield first, last, made
        if last:
            return
        first += size


def _part(
    stream: str,
    times: Sequence[int] | None,
    rows: Sequence[tuple[Any, ...]],
    ids: Sequence[int] | None,
    starts: Sequence[int] | None,
    first: int,
    last: int,
    trace: str | None,
) -> Callable[[int], Message]:
    def cut(column: Sequence[Any] | None) -> tuple[Any, ...] | None:
        return None if column is None else tuple(column[first:last])

    if type(rows) is EventColumns and first == 0 and last >= len(rows):  # whole, and packed without a tuple
        return lambda number: Publish(number, stream, times, rows, ids, starts, trace=trace)
    own = rows[first:last] if type(rows) is EventColumns else tuple(rows[first:last])
    return lambda number: Publish(number, stream, cut(times), own, cut(ids), cut(starts), trace=trace)


def merged(answers: Sequence[tuple[int, Published]]) -> Receipt:
    """One receipt from the answers to all parts, each given with the index of its first row."""
    return Receipt(
        sum(answer.count for _, answer in answers),
        answers[-1][1].newest,
        next((answer.first_id for _, answer in answers if answer.first_id is not None), None),
        tuple(
            Refusal(first + refusal.index, refusal.code, refusal.reason)
            for first, answer in answers
            for refusal in answer.refused
        ),
        answers[-1][1].durability,
        answers[-1][1].held_back,
    )
