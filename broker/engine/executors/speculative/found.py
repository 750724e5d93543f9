"""The results of register automata as sources of matches.

A result is known by the events that it took, its final state and its registers. Two results of one subscription never
have all three in common, and a withdrawn one has the same as when it was found.

Here: reading nodes as matches, and the ids that events of published streams stand for. Not here: finding results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...program.target import Target
from ..completions import Served
from ..matches import Assigned, Item, Matched, MatchSource
from ..trace import MASK
from .changes import ResultChange, RunNode
from .speculation import lineage


@final
class Contributions:
    """The ids behind the events of published streams, by the number of such an event. `within`: how long events live,
    after which nobody asks for theirs any more."""

    def __init__(self, within: int | None) -> None:
        self.within = within
        self.known: dict[int, tuple[int, tuple[int, ...]]] = {}  # time, and ids

    def take(self, time: i64, item: Item) -> i64:
        """The number of an event."""
        if isinstance(item, int):
            return item
        self.known[item[0]] = (int(time), item[1])
        number: i64 = item[0]
        return number

    def clean(self, time: int) -> None:
        """Forget events that no run can contain any more. O(known events)."""
        within = self.within
        if within is None:
            return
        gone = [number for number, (at, _) in self.known.items() if at + within < time]
        for number in gone:
            del self.known[number]

    def dump(self) -> list[list[Any]]:
        return [[number, time, list(ids)] for number, (time, ids) in self.known.items()]

    def load(self, data: Any) -> None:
        self.known = {number: (time, tuple(ids)) for number, time, ids in data}

    def of(self, node: RunNode) -> list[int] | None:
        """The ids that contributed to a run; None if these are the numbers of its events."""
        if len(self.known) == 0:
            return None
        found: list[int] = []
        for number in lineage(node.links):
            behind = self.known.get(number)
            if behind is None:
                found.append(number)
            else:
                found.extend(behind[1])
        return found


@final
@mypyc_attr(acyclic=True)
class LifetimeMatches(MatchSource):
    """Results that were added or withdrawn together. `endless`: events live for ever."""

    __slots__ = ("changes", "endless", "ids")

    def __init__(self, changes: list[ResultChange], ids: list[list[int] | None], endless: bool) -> None:
        self.changes = changes
        self.ids = ids
        self.endless = endless

    def amount(self) -> int:
        return len(self.changes)

    def all(self) -> Iterator[Matched]:
        for at, change in enumerate(self.changes):
            yield matched(change, self.ids[at], self.endless)


@final
@mypyc_attr(acyclic=True)
class SharedLifetimes(Served):
    """Results of one event for several targets."""

    __slots__ = ("by_target",)

    def __init__(self, by_target: list[tuple[Target, LifetimeMatches]]) -> None:
        self.by_target = by_target

    def amount(self) -> int:
        return sum([found.amount() for _, found in self.by_target])

    def all(self) -> Iterator[Matched]:
        for _, found in self.by_target:
            yield from found.all()

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        yield from self.by_target


def matched(change: ResultChange, ids: list[int] | None, endless: bool) -> Matched:
    """A result, with its lifetime (AFA, 3.1) and the number by which it is known."""
    node = change.node
    begin, end = int(change.time), None if endless else int(node.end)
    assigned: Assigned = [(0, number, begin) for number in (lineage(node.links) if ids is None else ids)]
    trace = identity(int(node.trace), int(node.state), node.registers)
    return Matched(assigned, int(node.start), begin, node.registers, trace, (begin, end))


def identity(trace: object, state: object, registers: Row) -> int:
    """The number of a result: 63 bits."""
    said = f"{trace},{state},{registers!r}".encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big") & int(MASK)
