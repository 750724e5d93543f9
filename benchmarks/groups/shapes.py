"""What a group costs an event: each mechanism alone, on the ticks and the constants of the "cliff" workloads.

Question: does an event cost the same with 100 and with 100,000 subscriptions that differ in constants, but for the
matches that it makes? Each subscription draws a symbol of 100 uniformly, a = median + N(0.5, 0.7) sd and b = a -
|N(0, 0.2)| sd of that symbol, volume bounds of 500 to 30,000, DUR 200 to 2,000, factors 1.005 to 1.035, counts 4 to 8,
WITHIN 500.

Bias: matches are made as blocks, with paths, and counted; results, ids and subscribers are not paid for. Nothing here
is the engine: what a host adds (checks, key spaces, results) comes on top. CPU time an event, in units taken before
and after each run; the median of several runs. `python -m benchmarks.groups.shapes [--only NAME] [--sizes 100 1000]`.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from broker.engine.executors.groups.any_match import AnyCell
from broker.engine.executors.groups.any_template import AnyTemplate
from broker.engine.executors.groups.blocks import MatchBlocks
from broker.engine.executors.groups.cell import GroupCell
from broker.engine.executors.groups.chain import ChainCell
from broker.engine.executors.groups.columns import floats
from broker.engine.executors.groups.coordinates import ATTRIBUTE, DURATION, FACTOR, CoordinateBound
from broker.engine.executors.groups.filters import FilterCell
from broker.engine.executors.groups.history import HistoryCell, HistoryTemplate
from broker.engine.executors.groups.items import ItemsCell, ItemsTemplate
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.steps import ChainTemplate, Remembered, StepClause
from broker.engine.executors.groups.text_chain import TextChainCell, TextChainTemplate
from broker.engine.executors.groups.trailing import TrailingCell, TrailingTemplate
from broker.engine.executors.groups.wait import WaitCell
from broker.engine.executors.groups.wait_template import WaitTemplate
from broker.events.schema import Row

from ..ticks import BATCH, SEED, STANDARD, Market, market, packed
from ..unit import unit_seconds

TICKS: Final = 60_000
SIZES: Final = (100, 1_000, 10_000, 100_000)
RUNS: Final = 5
SECONDS_MAX: Final = 20.0  # of one run
PRICE: Final = 1
VOLUME: Final = 2
WITHIN: Final = 500
NO_REGISTERS: Final = floats()


@final
class Group:
    """Cells by key. `make` makes an empty one; `position`: the attribute that is the key."""

    def __init__(self, make: Callable[[], GroupCell], position: int) -> None:
        self.cells: dict[Any, GroupCell] = {}
        self._make = make
        self._position: i64 = position

    def join(self, key: object, handle: int, point: list[float], since: int) -> None:
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = self._make()
        cell.join(handle, point, since)

    def leave(self, key: object, handle: int, point: list[float]) -> None:
        """A member goes, and its cell with it if nothing is left there."""
        cell = self.cells[key]
        cell.leave(handle, point)
        if cell.empty():
            del self.cells[key]

    def take(self, rows: list[Row], times: list[int], first: i64, out: MatchBlocks) -> None:
        """A batch of events, the first of which has that number. O(1) for an event whose key has no members."""
        cells, position = self.cells, self._position
        i: i64
        for i in range(len(rows)):
            row = rows[i]
            cell = cells.get(row[position])
            if cell is not None:
                out.event = first + i
                cell.began = times[i]
                cell.take(row, times[i], first + i, out)

    def statistics(self) -> dict[str, int]:
        """The sums over all cells."""
        total = {"cells": len(self.cells)}
        for cell in self.cells.values():
            for name, number in cell.statistics().items():
                total[name] = total.get(name, 0) + number
        return total

    def check_invariants(self) -> None:
        for cell in self.cells.values():
            cell.check_invariants()


Turn: TypeAlias = Callable[["Constants"], list[float]]


@dataclass(frozen=True, slots=True)
class Constants:
    """What a subscription draws."""

    symbol: str
    other: str
    a: float
    b: float
    c: float
    volume: float
    duration: int
    factor: float
    count: int


def drawn(ticks: Market, size: int) -> list[Constants]:
    """The constants of so many subscriptions; those of fewer are the first ones of more."""
    chance = random.Random(SEED)
    found = []
    for _ in range(size):
        symbol, other = chance.choice(ticks.symbols), chance.choice(ticks.symbols)
        a = symbol.median + chance.gauss(0.5, 0.7) * symbol.deviation
        b = a - abs(chance.gauss(0.0, 0.2)) * symbol.deviation
        c = a + abs(chance.gauss(0.0, 0.2)) * symbol.deviation
        found.append(
            Constants(
                symbol.name, other.name, a, b, c, chance.uniform(500, 30_000), chance.randint(200, 2_000),
                chance.uniform(1.005, 1.035), chance.randint(4, 8),
            )
        )  # fmt: skip
    return found


def above(value: float) -> float:
    return math.nextafter(value, math.inf)


def low(at: int, attribute: int = PRICE) -> CoordinateBound:
    """`attribute > constant`."""
    return CoordinateBound(at, ATTRIBUTE, attribute, 1.0)


def high(at: int) -> CoordinateBound:
    """`price < constant`."""
    return CoordinateBound(at, ATTRIBUTE, PRICE, -1.0)


def of(*bounds: CoordinateBound) -> StepClause:
    return StepClause(list(bounds))


@dataclass(frozen=True, slots=True)
class Shape:
    """A mechanism with its template: how a cell is made, and a point."""

    name: str
    make: Callable[[], GroupCell]
    point: Turn


def shapes() -> Iterator[Shape]:
    """All but unlike keys, which have no one key."""

    def chain(
        name: str, d: int, *steps: list[StepClause], registers: tuple[Remembered, ...] = (), point: Turn
    ) -> Shape:
        made = ChainTemplate(d, list(steps), list(registers))
        return Shape(name, lambda: ChainCell(made), point)

    ab: Turn = lambda s: [above(s.a), above(-s.b)]  # noqa: E731
    ba: Turn = lambda s: [above(-s.b), above(s.a)]  # noqa: E731
    bac: Turn = lambda s: [above(-s.b), above(s.a), above(s.c)]  # noqa: E731
    yield Shape("filter, two ranges", lambda: FilterCell([of(low(0), low(1, VOLUME))], 2), lambda s: [s.a, s.volume])
    yield chain("two steps", 2, [of(low(0))], [of(high(1))], point=ab)
    own = CoordinateBound(2, DURATION, sign=-1.0)
    yield chain("two steps, own DUR", 3, [of(low(0))], [of(high(1), own)], point=lambda s: [*ab(s), above(-s.duration)])
    yield chain(
        "two steps, own factor", 3, [of(low(0))], [of(CoordinateBound(1, FACTOR, PRICE, register=0))],
        registers=(Remembered(PRICE, 0),), point=lambda s: [above(s.a), s.factor, -s.factor],
    )  # fmt: skip
    yield chain("three steps", 2, [of(low(0))], [of(high(1))], [of(low(0))], point=ab)
    three = lambda s: [*ab(s), above(s.c)]  # noqa: E731
    yield chain("three steps, 3 constants", 3, [of(low(0))], [of(high(1))], [of(low(2))], point=three)
    yield chain("four steps, 3 constants", 3, [of(low(0))], [of(high(1))], [of(low(2))], [of(high(1))], point=three)
    yield chain(
        "two steps, OR in both guards", 3, [of(low(0)), of(low(2, VOLUME))], [of(high(1)), of(low(2, VOLUME))],
        point=lambda s: [*ab(s), above(s.volume)],
    )  # fmt: skip
    wait = WaitTemplate(2, of(low(1)), of(high(0)), [])
    yield Shape("skip till own threshold", lambda: WaitCell(wait), ba)
    later = WaitTemplate(3, of(low(1)), of(high(0)), [of(low(2))])
    yield Shape("skip till, then a step", lambda: WaitCell(later), bac)
    history = HistoryTemplate(2, of(low(0)), of(high(1)), of(low(0)), within=WITHIN)
    yield Shape("SASE+ three (history)", lambda: HistoryCell(history), ab)
    pair = WaitTemplate(3, of(low(1)), of(high(0)), [], within=WITHIN, arrival=True)
    items = ItemsTemplate(pair, [of(low(2))])
    yield Shape("SASE+ three, own c (items)", lambda: ItemsCell(items), bac)
    owned = ItemsTemplate(WaitTemplate(4, of(low(1)), of(high(0)), [], window=3, arrival=True), [of(low(2))])
    yield Shape("SASE+ three, own c and window", lambda: ItemsCell(owned), lambda s: [*bac(s), -float(s.duration)])
    negation = WaitTemplate(3, of(low(1)), of(low(0)), [], kill=of(high(2)), within=WITHIN, arrival=True)
    yield Shape("SASE+ negation", lambda: WaitCell(negation), lambda s: [above(s.a), above(s.a), above(-s.b)])
    trailing = TrailingTemplate(pair, of(low(2)))
    yield Shape("SASE+ negation at the end", lambda: TrailingCell(trailing), bac)
    any_two = AnyTemplate(2, [of(low(0)), of(high(1))], within=WITHIN)
    yield Shape("any match, two", lambda: AnyCell(any_two), ab)
    any_three = AnyTemplate(3, [of(low(0)), of(high(1)), of(low(2))], within=WITHIN)
    yield Shape("any match, three (P-ToPSS ;)", lambda: AnyCell(any_three), lambda s: [*ab(s), above(s.c)])


@dataclass(slots=True)
class Figures:
    """Of one run: CPU seconds an event over the unit, matches and blocks an event, what a member costs."""

    units: float
    microseconds: float
    matches: float
    blocks: float
    events: int
    enter: float = 0.0
    worst: float = 0.0
    bytes: float = 0.0


Batches: TypeAlias = list[tuple[list[Any], list[int]]]


def play(
    take: Callable[[list[Any], list[int], int, MatchBlocks], None], batches: Batches, wire: list[bytes]
) -> Figures:
    """All batches once, or as many as the time allows."""
    out = MatchBlocks()
    matches = blocks = events = 0
    before = unit_seconds(wire)
    begun = process_time()
    for rows, times in batches:
        take(rows, times, events, out)
        events += len(rows)
        matches += out.count()
        blocks += out.upto // 8
        out.clear()
        if process_time() - begun > SECONDS_MAX:
            break
    cost = (process_time() - begun) / events
    unit = (before + unit_seconds(wire)) / 2
    return Figures(cost / unit, 1e6 * cost, matches / events, blocks / events, events)


def measured(shape: Shape, members: list[Constants], batches: Batches, wire: list[bytes], runs: int) -> Figures:
    """The median run; what members cost is of the first."""
    found: list[Figures] = []
    costs: tuple[float, float, float] = (0.0, 0.0, 0.0)
    for run in range(runs):
        group = Group(shape.make, 0)
        worst = 0.0
        points = [shape.point(each) for each in members]
        begun = process_time()
        for handle, (each, point) in enumerate(zip(members, points)):
            if run == 0 and handle & 15 == 0:
                at = perf_counter()
                group.join(each.symbol, handle, point, 0)
                worst = max(worst, perf_counter() - at)
            else:
                group.join(each.symbol, handle, point, 0)
        if run == 0:
            enter = (process_time() - begun) / len(members)
            costs = 1e6 * enter, 1e6 * worst, group.statistics()["bytes"] / len(members)
        found.append(play(group.take, batches, wire))
        if found[-1].events < sum(len(rows) for rows, _ in batches):
            break
    found.sort(key=lambda each: each.units)
    middle = found[len(found) // 2]
    middle.enter, middle.worst, middle.bytes = costs
    return middle


def unlike(members: list[Constants], batches: Batches, wire: list[bytes], runs: int) -> Figures:
    """`name = X AND price > a`, then the next of Y, if it has `price < b`: the host is a loop of the interpreter."""
    found = []
    for _ in range(runs):
        template, everybody = TextChainTemplate(2, [of(low(0)), of(high(1))], [0, 0]), Members(2)
        for handle, each in enumerate(members):
            point = [above(each.a), above(-each.b)]
            everybody.put(handle, point, 0)
            template.joined(handle, point, 0, (each.symbol, each.other))
        cell = TextChainCell(template, everybody)

        def take(rows: list[Any], times: list[int], first: int, out: MatchBlocks, cell: GroupCell = cell) -> None:
            for i, row in enumerate(rows):
                out.event = first + i
                cell.began = times[i]
                cell.take(row, times[i], first + i, out)

        found.append(play(take, batches, wire))
    found.sort(key=lambda each: each.units)
    return found[len(found) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[], help="names of shapes begin with one of these")
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--market", type=int, default=STANDARD, help="ticks of the market, of which the first are used")
    asked = parser.parse_args()
    ticks = market(asked.market)
    first = list(ticks.ticks[:TICKS])
    wire = packed(first)
    batches = [
        (first[at : at + BATCH], list(range(at + 1, at + 1 + len(first[at : at + BATCH]))))
        for at in range(0, TICKS, BATCH)
    ]
    members = drawn(ticks, max(asked.sizes))
    print("shape | N | units | us | matches | blocks | enter us | worst us | bytes")
    for size in asked.sizes:
        for shape in shapes():
            if not asked.only or any(shape.name.startswith(name) for name in asked.only):
                report(shape.name, size, measured(shape, members[:size], batches, wire, asked.runs))
        if not asked.only or "unlike" in asked.only:
            report("unlike keys", size, unlike(members[:size], batches, wire, asked.runs))


def report(name: str, size: int, f: Figures) -> None:
    short = "" if f.events == TICKS else f" (first {f.events})"
    print(
        f"{name}{short} | {size} | {f.units:.2f} | {f.microseconds:.2f} | {f.matches:.2f} | {f.blocks:.2f}"
        f" | {f.enter:.1f} | {f.worst:.0f} | {f.bytes:.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
