"""Writes results as sorted JSON lines; the engine decides what a result contains.

Memory stays constant however many results an event has: they are made one portion at a time as they are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Protocol, TextIO, final

from ..events.instant import FOREVER


class Printable(Protocol):
    """What this module reads of a result."""

    @property
    def end(self) -> int: ...
    @property
    def id(self) -> str: ...
    def line(self) -> dict[str, Any]: ...


PORTION_RESULTS: Final = 4_096
"""The most results of one time that are sorted together. If there are more, each portion is sorted separately."""

_ENCODE: Final = json.JSONEncoder().encode


def json_line(value: object) -> str:
    """Return a value as one line of JSON in printable ASCII, which passes every terminal and pipe unharmed."""
    return _ENCODE(value).replace("\x7f", "\\u007f") + "\n"  # JSON does not escape DEL


@final
class ResultWriter:
    """Writes results, which arrive in the order of their ends, and sorts those of one end by id.

    The newest results wait until time advances, because more of the same time may follow, or until they fill a portion.
    The output depends only on the results and their order, not on their batches.
    """

    __slots__ = ("_held", "_output")

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._held: list[Printable] = []  # results with the same end

    def add(self, results: Iterable[Printable], now: int | None) -> None:
        """Add results, and write those that end before `now`. O(n log n) in the results written.

        If that is FOREVER, results may be withdrawn, and are written as they come.
        """
        if now == FOREVER:
            self._output.writelines(json_line(result.line()) for result in results)
            self._output.flush()
            return
        for result in results:
            if self._held and (result.end != self._held[0].end or len(self._held) == PORTION_RESULTS):
                self._write()
            self._held.append(result)
        if self._held and now is not None and self._held[0].end < now:
            self._write()
        # The reader of a pipe waits for results.
        self._output.flush()

    def finish(self) -> None:
        """Write the remaining results."""
        self._write()
        self._output.flush()

    def _write(self) -> None:
        self._held.sort(key=lambda result: result.id)
        self._output.write("".join([json_line(result.line()) for result in self._held]))
        self._held = []
