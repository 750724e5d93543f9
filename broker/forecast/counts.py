"""Counts transitions, as integers that add up. Nothing is estimated here.

A count is keyed (version of the subscription, context, generation, state, next state). Counts of the parts of a stream
add up to those of the whole, in any order and however it was split: there are no fractions, so there is no rounding
(design 5; semantics 3.7, "counts are additive").

Forgetting by half-life keeps that property: a count is never scaled, it is filed under the generation in which it was
made, a fixed share of a half-life of event time, and each reader weighs generations by their age (forecasting 3,
"half-life as a config"). What is GENERATIONS_KEPT generations older than the newest weighs less than 2**-24 and is not
part of the value any more.

Here: the numbers, their sum, equality and age. Not here: probabilities (chain), files (model_file).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, final

from mypy_extensions import i64

from ..events.errors import DefinitionError
from ..events.instant import format_duration

Context: TypeAlias = tuple[str | int, ...]
"""Discrete values under which transitions are counted apart; `()` is one pool for all."""

Record: TypeAlias = tuple[str, Context, int, int, int, int]
"""version, context, generation, state, next state, count"""

GENERATIONS_A_HALF_LIFE: Final = 4
GENERATIONS_KEPT: Final = 24 * GENERATIONS_A_HALF_LIFE
BEGINNING: Final = -(2**61)
"""The generation of what is counted before the clock has ever been moved."""
_NO_COUNTS: Final[dict[int, int]] = {}  # nobody changes it


@final
class GenerationClock:
    """Which generation it is, by event time, and what older ones weigh. Shared by all tables."""

    def __init__(self, half_life: int | None = None) -> None:
        """`half_life` in microseconds; None: nothing is ever forgotten, all is one generation."""
        self.width: int = 0 if half_life is None else max(1, half_life // GENERATIONS_A_HALF_LIFE)
        self.generation: int = BEGINNING if self.width else 0

    def move(self, time: int) -> None:
        """It is `time` now, in microseconds; a clock never goes back. O(1)."""
        if self.width:
            self.generation = max(self.generation, time // self.width)

    def weight(self, generation: int) -> float:
        """What a count of that generation weighs now, in [0, 1]."""
        age = self.generation - generation
        return 1.0 if age <= 0 else float(2.0 ** (-min(age, 100_000) / GENERATIONS_A_HALF_LIFE))


@final
class CountTable:
    """The counts of one version in one context. Transitions of one kind that follow each other, as most do, are filed
    together, when another one comes or somebody looks."""

    def __init__(self, clock: GenerationClock) -> None:
        self.clock = clock
        self.generation: int = clock.generation
        self._rows: dict[int, dict[int, int]] = {}  # state -> next state -> count, of the current generation
        self._generations: dict[int, dict[int, dict[int, int]]] = {self.generation: self._rows}
        self._state: i64 = 0
        self._following: i64 = 0
        self._times: i64 = 0  # of the last kind, that are not filed

    @property
    def rows(self) -> dict[int, dict[int, int]]:
        """state -> next state -> count, of the current generation. O(1)."""
        self._file()
        return self._rows

    @property
    def generations(self) -> dict[int, dict[int, dict[int, int]]]:
        """The rows of each generation. O(1)."""
        self._file()
        return self._generations

    def add(self, state: i64, following: i64, times: i64 = 1) -> None:
        """Count `times` transitions from `state` to `following` now. O(1)."""
        if self.generation != self.clock.generation:
            self.turn()
        if state != self._state or following != self._following:
            self._file()
            self._state, self._following = state, following
        self._times += times

    def _file(self) -> None:
        if self._times == 0:
            return
        row = self._rows.get(int(self._state))
        if row is None:
            row = self._rows[int(self._state)] = {}
        following, times = int(self._following), int(self._times)
        row[following] = row.get(following, 0) + times
        self._times = 0

    def turn(self) -> None:
        """File what follows under the clock's generation, and drop what is too old to matter."""
        oldest = self.clock.generation - GENERATIONS_KEPT
        self._generations = {g: rows for g, rows in self.generations.items() if rows and g > oldest}
        self.generation = self.clock.generation
        self._rows = self._generations.setdefault(self.generation, {})

    def put(self, generation: int, state: int, following: int, times: int) -> None:
        """Add a count of any generation."""
        row = self._generations.setdefault(generation, {}).setdefault(state, {})
        row[following] = row.get(following, 0) + times

    def current(self, state: int) -> dict[int, int] | None:
        """The row of a state if all counts are of this generation, so that each weighs one; otherwise None. O(1)."""
        self._file()
        if len(self._generations) > 1 or self.generation != self.clock.generation:
            return None
        return self._rows.get(state, _NO_COUNTS)

    def weighted(self, state: int) -> dict[int, float]:
        """What counts for the row of a state now: next state -> weight. O(generations x edges of the row).

        Sums run in the order of generations, so that the result depends on the counts and on nothing else.
        """
        current = self.current(state)
        if current is not None:
            return {following: float(count) for following, count in current.items()}
        found: dict[int, float] = {}
        oldest = self.clock.generation - GENERATIONS_KEPT
        for generation in sorted(self._generations):
            row = self._generations[generation].get(state)
            if row is None or generation <= oldest:
                continue
            weight = self.clock.weight(generation)
            for following, count in row.items():
                found[following] = found.get(following, 0.0) + weight * count
        return found


@final
class Counts:
    """All counts of a model: a table for each version and context. A version forgets by the common clock or its own."""

    def __init__(self, half_life: int | None = None) -> None:
        self.clock = GenerationClock(half_life)
        self.clocks: dict[str, GenerationClock] = {}  # of versions that have their own
        self.tables: dict[tuple[str, Context], CountTable] = {}

    def clock_of(self, version: str) -> GenerationClock:
        """The clock by which a version forgets."""
        return self.clocks.get(version, self.clock)

    def table(self, version: str, context: Context = ()) -> CountTable:
        """Where a version's transitions in a context are counted; made when it is first asked for."""
        table = self.tables.get((version, context))
        if table is None:
            table = self.tables[version, context] = CountTable(self.clock_of(version))
        return table

    def merge(self, other: Counts) -> None:
        """Add all that another model has counted. Associative and commutative. O(size of the other).

        Raises DefinitionError if the two forget a version by different half-lives; then nothing has changed.
        """
        known = {version for version, _ in self.tables}
        theirs = {version for version, _ in other.tables} | set(other.clocks)
        for version in sorted(theirs & (known | set(self.clocks))):
            mine, found = self.clock_of(version), other.clock_of(version)
            if mine.width != found.width:
                raise DefinitionError(
                    f"counts of {version!r}: expected a half-life of {format_half_life(mine)},"
                    f" found {format_half_life(found)}"
                )
        for version in sorted(theirs):
            found = other.clock_of(version)
            mine = self.clock_of(version)
            if mine.width != found.width:
                mine = self.clocks[version] = GenerationClock(None)
                mine.width, mine.generation = found.width, found.generation
            mine.generation = max(mine.generation, found.generation)
        for version, context, generation, state, following, count in list(other.records()):
            self.table(version, context).put(generation, state, following, count)

    def records(self) -> Iterator[Record]:
        """The value: every count that still matters, sorted. O(n log n)."""
        for version, context in sorted(self.tables, key=_order):
            oldest = self.clock_of(version).generation - GENERATIONS_KEPT
            generations = self.tables[version, context].generations
            for generation in sorted(g for g in generations if g > oldest):
                rows = generations[generation]
                for state in sorted(rows):
                    for following, count in sorted(rows[state].items()):
                        yield version, context, generation, state, following, count

    def __eq__(self, other: object) -> bool:
        """Whether the same was counted, in whatever order and pieces."""
        if not isinstance(other, Counts):
            return NotImplemented
        return self._clocks() == other._clocks() and list(self.records()) == list(other.records())

    def _clocks(self) -> list[tuple[str, int, int]]:
        return [(version, c.width, c.generation) for version in self.versions() for c in [self.clock_of(version)]]

    def versions(self) -> list[str]:
        """All counts, sorted. O(n)."""
        return sorted({record[0] for record in self.records()})

    def __hash__(self) -> int:
        raise TypeError("counts grow and have no hash")

    def contexts(self, version: str) -> list[Context]:
        """The contexts in which a version was counted, sorted."""
        return [context for known, context in sorted(self.tables, key=_order) if known == version]

    def check_invariants(self) -> None:
        """Raise AssertionError unless every table is sound."""
        for (version, _), table in self.tables.items():
            assert table.clock is self.clock_of(version)
            assert table.generations[table.generation] is table.rows
        for record in self.records():
            assert min(record[3:5]) >= 0
            assert record[5] > 0

    def statistics(self) -> dict[str, int]:
        """Sizes, for operators: tables, cells and all that was counted."""
        counts = [record[5] for record in self.records()]
        return {"tables": len(self.tables), "cells": len(counts), "transitions": sum(counts)}


def format_half_life(clock: GenerationClock) -> str:
    """A clock's half-life for people."""
    return format_duration(clock.width * GENERATIONS_A_HALF_LIFE) if clock.width else "none"


def context_order(context: Context) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts contexts: numbers before texts."""
    return tuple((True, 0, part) if isinstance(part, str) else (False, part, "") for part in context)


def _order(key: tuple[str, Context]) -> tuple[str, tuple[tuple[bool, int, str], ...]]:
    return key[0], context_order(key[1])
