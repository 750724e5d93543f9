"""Writes results as sorted JSON lines; the engine decides what a result contains.

Memory stays constant however many results an event has: they are made one portion at a time as they are written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Final, Protocol, TextIO, final

from ..events import format_instant
from ..events.instant import FOREVER


class Printable(Protocol):
    """What this module reads of a result."""

    @property
    def end(self) -> int: ...
    @property
    def id(self) -> str: ...
    def line(self) -> dict[str, Any]: ...


class ResultSink(Protocol):
    """Where results are written."""

    def write(self, lines: list[dict[str, Any]]) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


PORTION_RESULTS: Final = 4_096
"""The most results of one time that are sorted together. If there are more, each portion is sorted separately."""

_ENCODE: Final = json.JSONEncoder().encode


def json_line(value: object) -> str:
    """Return a value as one line of JSON in printable ASCII, which passes every terminal and pipe unharmed."""
    return _ENCODE(value).replace("\x7f", "\\u007f") + "\n"  # JSON does not escape DEL


def with_iso_times(line: dict[str, Any]) -> dict[str, Any]:
    """A result whose times are ISO-8601 text."""
    found = dict(line)
    for name in ("start", "end", "time", "since"):
        if type(found.get(name)) is int:
            found[name] = format_instant(found[name])
    if "lifetime" in found:
        found["lifetime"] = [None if each is None else format_instant(each) for each in found["lifetime"]]
    if "events" in found:
        found["events"] = [None if each is None else with_iso_times(each) for each in found["events"]]
    return found


@final
class JsonLines:
    """Writes results as JSON lines. `times`: "iso" writes times as text; `owned`: closes the output."""

    __slots__ = ("_iso", "_output", "_owned")

    def __init__(self, output: TextIO, times: str = "us", owned: bool = False) -> None:
        self._output = output
        self._iso = times == "iso"
        self._owned = owned

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Write results."""
        if self._iso:
            lines = [with_iso_times(line) for line in lines]
        self._output.write("".join([json_line(line) for line in lines]))

    def flush(self) -> None:
        """The reader of a pipe waits for results."""
        self._output.flush()

    def close(self) -> None:
        """Close a file."""
        if self._owned:
            self._output.close()


@final
class ResultSinks:
    """Several sinks that get the same results."""

    __slots__ = ("_sinks",)

    def __init__(self, sinks: Sequence[ResultSink]) -> None:
        self._sinks = sinks

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Write results to each."""
        for sink in self._sinks:
            sink.write(lines)

    def flush(self) -> None:
        """The reader of a pipe waits for results."""
        for sink in self._sinks:
            sink.flush()

    def close(self) -> None:
        """Close each, also if an earlier one cannot be closed."""
        with ExitStack() as stack:
            for sink in reversed(self._sinks):
                stack.callback(sink.close)


@final
class ResultWriter:
    """Writes results, which arrive in the order of their ends, and sorts those of one end by id.

    `complete` adds to a result's line, or returns None for a result that is not written.

    The newest results wait until time advances, because more of the same time may follow, or until they fill a portion.
    The output depends only on the results and their order, not on their batches.
    """

    __slots__ = ("_complete", "_held", "_output")

    def __init__(
        self, output: ResultSink, complete: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    ) -> None:
        self._output = output
        self._complete = complete
        self._held: list[Printable] = []  # results with the same end

    def add(self, results: Iterable[Printable], now: int | None) -> None:
        """Add results, and write those that end before `now`. O(n log n) in the results written.

        If that is FOREVER, results may be withdrawn, and are written as they come.
        """
        if now == FOREVER:
            for result in results:
                self._put([result])
            self._output.flush()
            return
        for result in results:
            if self._held and (result.end != self._held[0].end or len(self._held) == PORTION_RESULTS):
                self._write()
            self._held.append(result)
        if self._held and now is not None and self._held[0].end < now:
            self._write()
        self._output.flush()

    def finish(self) -> None:
        """Write the remaining results."""
        self._write()
        self._output.flush()

    def _write(self) -> None:
        self._held.sort(key=lambda result: result.id)
        self._put(self._held)
        self._held = []

    def _put(self, results: list[Printable]) -> None:
        lines = [result.line() for result in results]
        if self._complete is not None:
            lines = [line for each in lines if (line := self._complete(each)) is not None]
        self._output.write(lines)
