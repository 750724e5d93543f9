"""The partial matches of one partition of a stream, by key value.

Here: the choice of method, key values and their limit. Not here: how one key value's matches are counted (cells,
windows), which operands an event satisfies (engine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .arcs import NEVER
from .cell_counting import Cells
from .runner import Runner
from .tables import CountingTables
from .tuples import Binding, Completion, Tuple
from .window_counting import Windows

FEW: Final = 64  # key values beyond which useless ones are searched


@final
class Partition:
    """The partial matches of one partition of the stream (of all of it without BY)."""

    __slots__ = ("lost", "runners", "settled", "suspect", "tables")

    def __init__(self, tables: CountingTables) -> None:
        self.tables = tables
        self.runners: dict[Binding, Runner] = {}
        self.settled = 0  # the number of runners after the last search for useless ones
        self.lost: i64 = 0  # how often a limit was hit since the last reading
        self.suspect: i64 = NEVER  # until then a new key value may be one that was dropped

    def step(self, mask: i64, row: Row, time: i64, position: i64, item: object) -> list[Completion]:
        """An event whose values satisfy the guards of the operands whose bits are in `mask`, of at least one.

        `position`: its number among the events of the partition, which decides what is adjacent; `item`: its id.
        Neither times nor positions fall. Returns what it completes, at most one completion a binding.
        """
        found: list[Completion] = []
        tables = self.tables
        if not tables.keyed:
            self._lead((), mask, row, time, position, item, found)
        elif tables.single:
            key: Binding = tuple([row[attribute] for attribute in tables.keys[0]])
            self._lead(key, mask, row, time, position, item, found)
        else:
            masks: dict[Binding, int] = {}
            bit: i64 = 1  # doubled, not shifted: compiled, a literal that is shifted has 32 bits
            for positions in tables.keys:
                if mask & bit:
                    key = tuple([row[attribute] for attribute in positions])
                    masks[key] = masks.get(key, 0) | int(bit)
                bit += bit
            for key, part in masks.items():
                self._lead(key, part, row, time, position, item, found)
        return found

    def _lead(
        self, key: Binding, mask: i64, row: Row, time: i64, position: i64, item: object, found: list[Completion]
    ) -> None:
        """Pass the event to the runner of its key value."""
        runner = self.runners.get(key)
        if runner is None:
            if mask & self.tables.beginners == 0 or None in key:
                return
            runner = self._begin(key, time, position)
        already = len(found)
        runner.take(int(mask), row, time, position, item, found)
        if runner.losses > 0:
            self.lost += runner.losses
            runner.losses = 0
        if key:
            for at in range(already, len(found)):
                found[at].binding = self._whole(key, found[at].binding)

    def _whole(self, key: Binding, rest: Binding) -> Binding:
        """A completion's binding with the key's values in their places."""
        values = list(rest)
        for at, variable in enumerate(self.tables.plan.key):
            values[variable] = key[at]
        return tuple(values)

    def _runner(self) -> Runner:
        return Windows(self.tables) if self.tables.windowed else Cells(self.tables)

    def _begin(self, key: Binding, time: i64, position: i64) -> Runner:
        runners = self.runners
        most = self.tables.limits.bindings
        if len(runners) >= min(most, 2 * self.settled + FEW):
            self.expire(time, position)
        if len(runners) >= most:
            for old in list(runners)[: max(1, most // 16)]:  # several at once, so that not each new one drops one
                del runners[old]
            self.lost += 1
            self.suspect = self.tables.until(time)
        runner = runners[key] = self._runner()
        if time <= self.suspect:
            runner.doubtful = self.suspect
        return runner

    def expire(self, time: i64, position: i64) -> None:
        """Drop all that no event from this time and position on can need. O(key values)."""
        for key in list(self.runners):
            if self.runners[key].empty(time, position):
                del self.runners[key]
        self.settled = len(self.runners)

    def empty(self, time: i64, position: i64) -> bool:
        """Whether nothing would be lost without it, before an event at that time and position or later. Also drops
        what is of no use."""
        self.expire(time, position)
        return not self.runners

    def partial(self, position: i64) -> Iterator[Tuple]:
        """The tuples begun, for users (Runner.partial)."""
        for runner in self.runners.values():
            yield from runner.partial(position)

    def statistics(self) -> dict[str, int]:
        """`bindings`: key values with partial matches; `cells`, `nodes` and `entries` of windows: what is kept."""
        figures = {"bindings": len(self.runners), "cells": 0, "nodes": 0, "entries": 0}
        for runner in self.runners.values():
            runner.tally(figures)
        return figures

    def check_invariants(self) -> None:
        for runner in self.runners.values():
            runner.check_invariants()

    def dump(self) -> list[Any]:
        """The state as lists, integers, strings, floats and booleans."""
        return [[[list(key), r.dump()] for key, r in self.runners.items()], int(self.suspect)]

    def load(self, data: Any) -> None:
        runners, self.suspect = data
        for key, content in runners:
            runner = self.runners[tuple(key)] = self._runner()
            runner.load(content)
