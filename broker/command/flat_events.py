"""Plain JSON lines: objects of nothing but the values of an event of one stream, as other programs write them.

As in CSV, keys find the attributes, one more key is the time, and other keys are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast, final

from ..events import Event, EventError, Row, StreamDefinition, Value, row_from_mapping, suggestion
from .file_times import FileTimes

_NESTED: Final = (list, dict)


@final
class FlatEvents:
    """Reads such objects. `time` is the key of the time."""

    __slots__ = ("_names", "_stream", "_time")

    def __init__(self, stream: StreamDefinition, time: str) -> None:
        self._stream = stream
        self._time = time
        self._names = stream.schema.names

    def plain(self, record: Mapping[str, object], times: FileTimes) -> tuple[str, int, Row, None] | None:
        """The event of an object that has all attributes and nothing unusual; None for any other. Raises EventError."""
        time = record[self._time]
        if type(time) is not int and type(time) is not str:
            return None
        row = tuple([record[name] for name in self._names])
        for value in record.values():
            if type(value) in _NESTED:
                return None  # joined lines with lists may be others than they seem
        name = self._stream.name
        if type(time) is not int or name not in times.plain:
            time = times.instant(time, name)
        return name, time, cast("Row", row), None

    def event(self, record: Mapping[str, object], times: FileTimes) -> Event:
        """The event of any object. Raises EventError."""
        name = self._stream.name
        if self._time not in record:
            hint = suggestion(self._time, list(record))
            raise EventError(f"expected a key {self._time!r} with the time (--time KEY names it), found none{hint}")
        try:
            time = times.instant(record[self._time], name)
        except EventError as error:
            raise EventError(f"{self._time}: {error}") from None
        found = {each: cast("Value", record[each]) for each in self._names if each in record}
        return Event(name, time, time, None, row_from_mapping(self._stream, found))
