"""How results are written: JSON lines in their order; what a result says is the engine's.

Memory stays flat, however many results an event has: they are made as they are written, a portion at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Protocol, TextIO, final


class Printable(Protocol):
    """What a result must tell to be written."""

    @property
    def end(self) -> int: ...
    @property
    def id(self) -> str: ...
    def line(self) -> dict[str, Any]: ...


PORTION_RESULTS: Final = 4_096
"""Results of one time that are ordered among themselves. Where there are more, each portion has an order of its own."""

_ENCODE: Final = json.JSONEncoder().encode


def json_line(value: object) -> str:
    """A value as one line of JSON, in visible ASCII: it passes every terminal and pipe unharmed."""
    return _ENCODE(value).replace("\x7f", "\\u007f") + "\n"  # which JSON alone lets pass


@final
class ResultWriter:
    """Writes results, which come in the order of their ends, those of one end by their ids.

    The newest ones wait until time goes on, as more of them may follow, or until they are a portion. What is written
    depends on the results and their order only, not on the batches in which they come.
    """

    __slots__ = ("_held", "_output")

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._held: list[Printable] = []  # all of one end

    def add(self, results: Iterable[Printable], now: int | None) -> None:
        """Takes results in, and writes those that end before `now`. O(n log n) in the results written."""
        for result in results:
            if self._held and (result.end != self._held[0].end or len(self._held) == PORTION_RESULTS):
                self._write()
            self._held.append(result)
        if self._held and now is not None and self._held[0].end < now:
            self._write()
        # Whoever reads a pipe wants to know now.
        self._output.flush()

    def finish(self) -> None:
        """Writes the rest."""
        self._write()
        self._output.flush()

    def _write(self) -> None:
        self._held.sort(key=lambda result: result.id)
        self._output.write("".join([json_line(result.line()) for result in self._held]))
        self._held = []
