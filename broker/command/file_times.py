"""Times of the events of files: the unit or format of each stream, and the check that the first number can be of that
unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias, final

import typer

from ..events import StreamDefinition, TimeUnit, check_unit, instant_of
from ..events.file_form import formatted_instant

TimeUnitOption: TypeAlias = Annotated[
    TimeUnit | None,
    typer.Option("--time-unit", help="The unit of times that are numbers; by default the stream's, else microseconds."),
]

NOW: Final = "now"
"""In place of the column of the times: events have none, and get that of their arrival."""
_WHERE: Final = "--time-unit {}"


@final
class FileTimes:
    """The times of the files that one command reads. `unit` counts for all streams, None: for each its own. `now`:
    events have no times, and 0 stands for each.

    `plain`: the streams whose integers are microseconds and known to be plausible.
    """

    __slots__ = ("_formats", "_other", "_units", "now", "plain")

    def __init__(self, streams: Mapping[str, StreamDefinition], unit: TimeUnit | None = None) -> None:
        self._other = unit
        self._units = {name: unit or stream.time_unit for name, stream in streams.items()}
        self._formats = {name: each.files.time_format for name, each in streams.items()}
        self.plain: set[str | None] = set()
        self.now = False

    def instant(self, value: object, stream: str | None) -> int:
        """The instant of a time of a stream; None: of a line that concerns all. Raises EventError."""
        unit = self._units.get(stream, self._other) if stream is not None else self._other
        format = None if stream is None else self._formats.get(stream)
        if format is not None and type(value) in (str, int):
            return formatted_instant(str(value), format)
        if type(value) is int and stream not in self.plain and unit in (None, "us"):
            check_unit(value, unit, _WHERE)
            self.plain.add(stream)
        return instant_of(value, unit)

    def written(self, value: object, stream: str | None) -> int:
        """The instant of a line in this project's own form, whose numbers are microseconds unless a unit is declared:
        clocks that start at zero come to any number. Raises EventError.
        """
        unit = self._other if stream is None else self._units.get(stream, self._other)
        if type(value) is int and unit in (None, "us"):
            self.plain.add(stream)
        return instant_of(value, unit)

    def texts(self, texts: Sequence[str], stream: str) -> list[int]:
        """The instants of texts, such as a column of CSV. Raises EventError, ValueError. O(texts)."""
        if self.now:
            return [0] * len(texts)
        if stream not in self.plain and texts:
            self.text(texts[0], stream)
        if stream in self.plain:
            joined = "".join(texts)
            if "_" not in joined and joined.isascii():
                try:
                    return list(map(int, texts))
                except ValueError:
                    pass
        return [self.text(text, stream) for text in texts]

    def text(self, text: str, stream: str) -> int:
        """The instant of one text. Raises EventError."""
        if self.now:
            return 0
        if self._formats.get(stream) is not None:
            return self.instant(text, stream)
        if stream not in self.plain and text.strip().isdecimal() and len(text) < 40:
            unit = self._units.get(stream, self._other)
            if unit in (None, "us"):
                return self.instant(int(text), stream)
        return instant_of(text, self._units.get(stream, self._other))

    def fractional(self, stream: str) -> bool:
        """Whether numbers with a fraction can be times of the stream."""
        return self._units.get(stream, self._other) in ("s", "ms")

    def numbers(self, numbers: Sequence[Any], stream: str, whole: bool = False) -> list[int]:
        """The instants of a column of numbers, all of them ints if it is `whole`. Raises EventError. O(numbers)."""
        if numbers:
            self.instant(numbers[0], stream)
        if whole and stream in self.plain:
            return list(numbers)
        if stream in self.plain:
            return [number if type(number) is int else self.instant(number, stream) for number in numbers]
        return [self.instant(number, stream) for number in numbers]
