"""Times as a program gives them, which become microseconds before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from broker.events import EventError, StreamDefinition, check_unit, instants_of
from broker.events.arrow import has_arrow, is_timestamps, read_times
from broker.events.column_checks import integers_of

from .arguments import checked_column
from .session import Session

Time: TypeAlias = int | float | str | datetime
"""A number in the stream's unit, by default microseconds; ISO-8601 text; an aware datetime; also a time of numpy or
pandas, which a type checker takes for Any."""
Times: TypeAlias = Sequence[Any]
"""A column of times: also an array of numpy or of Arrow, or a Series or an Index of pandas."""


def batch_times(session: Session, stream: StreamDefinition, times: Times | None) -> Sequence[int] | None:
    """The times in microseconds: a list of them as it is, None for none. O(times).

    The first number of a session for a stream without a declared unit must not look like another unit. Raises
    EventError.
    """
    if times is None:
        return None
    checked_column(stream.name, "times", times)
    try:
        if type(times) is not list:
            if has_arrow(times):
                if is_timestamps(times):
                    return read_times(times)
                times = read_times(times)
            whole = integers_of(times)
            if whole is not None:
                times = whole
        found = instants_of(times, stream.time_unit)
        if stream.name not in session.timed and len(found) and _is_number(times):
            check_unit(found[0], stream.time_unit, f'set_time_unit({stream.name!r}, "{{}}")')
    except EventError as error:
        joint = ", " if str(error).startswith("row ") else ": "
        raise EventError(f"stream {stream.name!r}{joint}{error}") from None
    session.timed.add(stream.name)
    return found


def event_time(session: Session, stream: StreamDefinition, time: Time | None) -> tuple[int, ...] | None:
    """The time of a single event as a column. Raises EventError."""
    try:
        found = batch_times(session, stream, None if time is None else (time,))
    except EventError as error:
        raise EventError(str(error).replace(", row 0", "", 1)) from None
    return None if found is None else tuple(found)


def _is_number(times: Times) -> bool:
    """Whether the first time is an int; then its instant is that number, where no unit is declared."""
    if type(times) in (list, tuple, range):
        return type(times[0]) is int
    return getattr(getattr(times, "dtype", None), "kind", "") in ("i", "u")
