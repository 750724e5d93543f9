"""Numbers equal results of one moment: they come of the same events, and only this number tells their ids apart."""

from __future__ import annotations

from typing import TypeAlias, final

from mypy_extensions import i64

Tally: TypeAlias = dict[tuple[str, int, int], int]
"""Equal results of a moment: a subscription, its branch, the trace of the events, and how many there are."""


@final
class Ordinals:
    """The ordinals of results in their order. `before`: those that earlier batches found at the time `epoch`.

    Most moments have one result, of which no entry is made.
    """

    def __init__(self, before: Tally, epoch: i64) -> None:
        self.tally: Tally = dict(before)
        self.epoch = epoch
        self._waiting = False  # the only result so far of the moment has no entry yet
        self._name = ""
        self._branch: i64 = 0
        self._trace: i64 = 0

    def next(self, end: i64, name: str, branch: i64, trace: i64) -> int:
        """The ordinal of the next result. O(1)."""
        if end != self.epoch:
            self.epoch = end
            if self.tally:
                self.tally = {}
            self._waiting, self._name, self._branch, self._trace = True, name, branch, trace
            return 0
        if self._waiting:
            self._waiting = False
            self.tally[(self._name, int(self._branch), int(self._trace))] = 1
        entry = (name, int(branch), int(trace))
        ordinal = self.tally.get(entry, 0)
        self.tally[entry] = ordinal + 1
        return ordinal
