"""What becomes of events of a file that cannot be read or do not fit: stop, leave them out, or write them to a file.

Nothing is lost in silence: what is left out is counted, and the first reasons are reported at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Final, TextIO, TypeAlias, final

import typer

from ..events import ForetellError, StreamDefinition, format_instant
from .batch import EventBatch
from .complaint import at, one_line
from .results import json_line

REASONS: Final = 5
"""So many reasons are reported at the end."""
STOP: Final = "stop"
SKIP: Final = "skip"

OnBadOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--on-bad",
        metavar="stop|skip|FILE",
        help="An event that cannot be read or does not fit: stop, leave it out, or write it to this file.",
    ),
]


@final
class BadEvents:
    """The bad events of one command. `policy`: stop, skip, or the name of a file; `count`: so many were left out."""

    __slots__ = ("_file", "_policy", "count", "reasons")

    def __init__(self, policy: str = STOP) -> None:
        self._policy = policy
        self._file: TextIO | None = None
        self.count = 0
        self.reasons: list[str] = []

    @property
    def stops(self) -> bool:
        """Whether the first bad event ends the command."""
        return self._policy == STOP

    def refuse(self, place: str, error: ForetellError, event: object) -> None:
        """Leave an event out, or raise the error with its place. `event`: its text, or its values."""
        if self._policy == STOP:
            raise at(place, error) from error
        self.count += 1
        reason = f"{place}: {error}"
        if len(self.reasons) < REASONS:
            self.reasons.append(reason)
        if self._policy != SKIP:
            if self._file is None:
                self._file = open(self._policy, "w", encoding="utf-8")  # noqa: SIM115  # closed in `handled`
            self._file.write(json_line({"place": place, "reason": str(error), "event": event}))

    def close(self) -> None:
        """Close the file of bad events."""
        if self._file is not None:
            self._file.close()

    def lines(self) -> Iterator[str]:
        """The report at the end."""
        if self.count:
            where = "" if self._policy == SKIP else f", written to {self._policy}"
            yield f"{self.count:,} bad events left out{where}"
            yield from self.reasons
            if self.count > len(self.reasons):
                yield f"and {self.count - len(self.reasons):,} more"


@contextmanager
def handled(policy: str) -> Iterator[BadEvents]:
    """The bad events of the block; at its end they are reported on standard error."""
    bad = BadEvents(policy)
    try:
        if policy not in (STOP, SKIP):
            bad._file = open(policy, "w", encoding="utf-8")  # noqa: SIM115  # fails before any event is read
        yield bad
    finally:
        bad.close()
        sys.stdout.flush()
        for line in bad.lines():
            print(f"foretell: {one_line(line)}", file=sys.stderr)


def values_of(batch: EventBatch, streams: Mapping[str, StreamDefinition], index: int = 0) -> dict[str, object]:
    """An event of a batch as a line of a file has it."""
    stream = streams.get(batch.stream)
    row = batch.rows[index]
    data: object = list(row)
    if stream is not None and len(stream.schema) == len(row):
        data = dict(zip(stream.schema.names, row))
    return {"stream": batch.stream, "time": format_instant(batch.times[index]), "data": data}
