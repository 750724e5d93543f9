"""Plain JSON lines: objects of nothing but the values of an event of one stream, as other programs write them.

As in CSV, keys find the attributes, one more key is the time, and other keys are ignored. Values of objects in an
object are found by their paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast, final

from ..events import Event, EventError, Row, StreamDefinition, Value, row_from_mapping, shown, suggestion
from ..events.file_form import column_hint, paths_of
from ..events.validation import misfit
from .file_times import FileTimes

_NESTED: Final = (list, dict)


@final
class FlatEvents:
    """Reads such objects. `time` is the key of the time."""

    __slots__ = ("_keys", "_names", "_stream", "_time")

    def __init__(self, stream: StreamDefinition, time: str) -> None:
        self._stream = stream
        self._time = time
        self._names = stream.schema.names
        self._keys = [stream.files.column(name) for name in self._names]

    def plain(self, record: Mapping[str, object], times: FileTimes) -> tuple[str, int, Row, None] | None:
        """The event of an object that has all attributes and nothing unusual; None for any other. Raises EventError."""
        time = record[self._time] if not times.now else 0
        if type(time) is not int and type(time) is not str:
            return None
        row = tuple([record[key] for key in self._keys])
        for value in record.values():
            if type(value) in _NESTED:
                return None  # joined lines with lists may be others than they seem
        name = self._stream.name
        if type(time) is not int or (name not in times.plain and not times.now):
            time = times.instant(time, name)
        return name, time, cast("Row", row), None

    def event(self, record: Mapping[str, object], times: FileTimes) -> Event:
        """The event of any object. Raises EventError."""
        name = self._stream.name
        values = {**paths_of(record), **record} if any(type(each) is dict for each in record.values()) else record
        if self._time not in values and not times.now:
            hint = within(record) or suggestion(self._time, list(values))
            raise EventError(f"expected a key {self._time!r} with the time (--time KEY names it), found none{hint}")
        try:
            time = 0 if times.now else times.instant(values[self._time], name)
        except EventError as error:
            raise EventError(f"{self._time}: {error}") from None
        found = {each: cast("Value", values[key]) for each, key in zip(self._names, self._keys) if key in values}
        for each in self._stream.schema.attributes:
            if each.name not in found and not each.nullable:
                hint = column_hint(each.name, [key for key in values if key not in self._keys])
                if hint:
                    raise EventError(f"stream {name!r}: expected a key {each.name!r}, found none{hint}")
            elif isinstance(nested := cast("object", found.get(each.name)), dict):
                hint = f"; write --column '{each.name}.{next(iter(paths_of(nested)), 'x')}={each.name}'"
                raise misfit(self._stream, each, f"{shown(nested)}{hint}")
        return Event(name, time, time, None, row_from_mapping(self._stream, found))


def within(record: Mapping[str, object]) -> str:
    """What to write where an object has a list of objects, which may be the events."""
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return objects_of(key)
    return ""


def objects_of(key: str) -> str:
    """What makes events of the list under a key."""
    return f"; jq -c '.{key}[]' FILE writes the objects of {key!r}, one a line"
