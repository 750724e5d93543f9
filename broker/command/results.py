"""Law: how results are written: JSON lines in their order; what a result says is the engine's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Protocol, TextIO, final


class Result(Protocol):
    """What a result must tell to be written."""

    @property
    def end(self) -> int: ...
    @property
    def id(self) -> str: ...
    def line(self) -> dict[str, Any]: ...


_ENCODE: Final = json.JSONEncoder().encode


def json_line(value: object) -> str:
    """A value as one line of JSON, in ASCII: it passes every terminal and pipe unharmed."""
    return _ENCODE(value) + "\n"


@final
class Results:
    """Writes results by (end, id). Those of the newest time wait until time goes on, as more of them may follow."""

    __slots__ = ("_held", "_output")

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._held: list[Result] = []

    def add(self, results: Iterable[Result], now: int | None) -> None:
        """Takes results in, and writes those that end before `now`. O(n log n) in the results written."""
        self._held.extend(results)
        if self._held and now is not None:
            self._write([result for result in self._held if result.end < now])
            self._held = [result for result in self._held if result.end >= now]

    def finish(self) -> None:
        """Writes the rest."""
        self._write(self._held)
        self._held = []

    def _write(self, results: list[Result]) -> None:
        if results:
            results.sort(key=lambda result: (result.end, result.id))
            self._output.write("".join([json_line(result.line()) for result in results]))
            # Whoever reads a pipe wants to know now.
            self._output.flush()
