"""Punctuates by the broker's clock, so that a broker without events reports absence, windows and finality.

A stream lets the clock promise for it in two cases. If it is in order of arrival, and the clock has stamped all its
events, no earlier one can follow. If it says `idle`, and has got nothing for so long, it is held to be quiet; if it
also says `lateness`, the promise stays so far behind the clock. Without streams that have disorder, the promise is made
for all; so each of them that was ever published to must let the clock promise. Else it is made for each stream by
itself, so that one that is idle holds no busy one back. It is made only when the engine has results or events that wait
for it, and it is recorded, so that a replay makes it at the same place.

Not here: the clock itself (broker.server), its jumps (clock_guard.py), what a punctuation means (the engine).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import final

from ..events import StreamDefinition
from .clock_guard import ClockGuard
from .engine_port import EnginePort, EngineResult
from .inputs_and_effects import Send
from .receipts import Receipts
from .records import Punctuated, Record, StreamClocked


@final
class ClockPunctuation:
    """The streams that let the clock promise, and its punctuations. Times are microseconds.

    `_heard`: when a batch of a stream came last, of those whose publishers give times. `_blocking`: how many of these
    do not say `idle`. `_promised`: up to when the clock has promised for a stream by itself. The receipts have what
    must survive a restart; there a stream is held to be heard at the start.
    """

    __slots__ = (
        "_blocking", "_clock_guard", "_count", "_distribute", "_engine", "_heard", "_promised", "_receipts", "_record",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        receipts: Receipts,
        clock_guard: ClockGuard,
        record: Callable[[Record], None],
        distribute: Callable[[Iterable[Iterable[EngineResult]]], list[Send]],
    ) -> None:
        self._engine = engine
        self._receipts = receipts
        self._clock_guard = clock_guard
        self._record = record
        self._distribute = distribute
        self._heard: dict[str, int | None] = {
            stream: None for stream in receipts.used if not receipts.clocked.get(stream)
        }
        self._blocking = sum(self._idle(stream) is None for stream in self._heard)
        self._promised: dict[str, int] = {}
        self._count = 0

    def heard(self, stream: str, stamped: bool, now: int) -> None:
        """Note a batch. `stamped`: the clock gave its times. Called before the receipts note the batch."""
        clocked = self._receipts.clocked
        if stamped and self._engine.streams[stream].disorder == "arrival":
            if stream in self._heard:
                self._heard[stream] = now
            elif stream not in clocked:
                clocked[stream] = True
                self._record(StreamClocked(stream, True))
            return
        if clocked.get(stream):
            clocked[stream] = False
            self._record(StreamClocked(stream, False))
        if stream not in self._heard:
            self._blocking += self._idle(stream) is None
        self._heard[stream] = now

    def forget(self, stream: StreamDefinition) -> None:
        """A stream has gone, or its time was reset: it is as if nothing had been published to it."""
        self._promised.pop(stream.name, None)
        if stream.name in self._heard:
            del self._heard[stream.name]
            self._blocking -= stream.idle is None

    def due(self, now: int) -> int | None:
        """When the clock has to punctuate; None: not before another input. O(1) while nothing waits, or where all
        streams share an order and one does not let the clock punctuate; else O(streams)."""
        return min([due for due, _, _ in self._dues(now)], default=None)

    def _dues(self, now: int) -> Iterator[tuple[int, str | None, int]]:
        """When the clock has to punctuate, which stream (None: all), and how far behind itself."""
        if not self._clock_guard.settled:
            return
        for streams, moment in self._engine.dues:
            if streams is not None:
                # Those that were never published to hold nobody back.
                for stream in [name for name in streams if name in self._receipts.used] or streams:
                    if self._promised.get(stream, moment) <= moment:
                        yield from self._due([stream], stream, moment, now)
            elif not self._blocking:
                yield from self._due(list(self._heard), None, moment, now)

    def _due(
        self, names: list[str], stream: str | None, moment: int, now: int
    ) -> Iterator[tuple[int, str | None, int]]:
        """When the clock has to promise for these, so that this moment has passed; nothing if one does not let it."""
        heard = [name for name in names if name in self._heard]
        behind = max([self._engine.streams[name].lateness or 0 for name in heard], default=0)
        due = moment + 1 + behind
        for name in heard:
            idle = self._idle(name)
            if idle is None:
                return
            due = max(due, self._since(name, now) + idle)
        yield due, stream, behind

    def _since(self, stream: str, now: int) -> int:
        """When a batch of a stream came last, or when the broker started, if none has come since."""
        heard = self._heard[stream]
        if heard is None:
            heard = self._heard[stream] = now
        return heard

    def punctuate(self, now: int) -> list[Send]:
        """Punctuate what is due; what is to be sent."""
        sends: list[Send] = []
        for due, stream, behind in list(self._dues(now)):
            if now < due:
                continue
            self._count += 1
            if stream is not None:
                self._promised[stream] = now - behind
            results = self._engine.punctuate(now - behind, stream)
            self._record(Punctuated(now - behind, stream, None))
            sends += self._distribute([results])
        return sends

    def statistics(self) -> dict[str, int]:
        """How often the clock has punctuated, and how many streams do not let it."""
        return {"clock_punctuations": self._count, "unclocked_streams": self._blocking}

    def check_invariants(self) -> None:
        """For tests."""
        assert self._blocking == sum(self._idle(stream) is None for stream in self._heard)
        assert not any(self._receipts.clocked.get(stream) for stream in self._heard)

    def _idle(self, stream: str) -> int | None:
        return self._engine.streams[stream].idle
