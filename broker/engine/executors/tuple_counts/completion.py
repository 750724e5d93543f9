"""What one event completes under one binding: how many tuples of events, one of them, and all of them on request.

Tuples are not stored. A node is an event taken for an operand, with the list of nodes that it continues, as long as
that was then: lists only ever grow, so that a length is a version. A walk backwards from a completing node never
fails, and the work between two tuples is linear in the tuple. A completion stays valid while its machine goes on.

Here: links, nodes, the walk. Not here: who makes them (cells, windows).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, final

from mypy_extensions import i64

from ....events.schema import Value
from ..matches import Matched, MatchSource, matched_of

Taken: TypeAlias = tuple[int, object, int]
"""An operand, the event that it has - whatever the caller calls it - and that event's time."""
Tuple: TypeAlias = tuple[Taken, ...]
"""In the order of the operands; those of branches that are not taken are absent."""

ALWAYS_GOOD: Final = 1 << 62  # a node that no window limits is as good as one that has just begun
NO_FLOOR: Final = -(1 << 62)
SAME_FLOOR: Final = -(1 << 62) - 1  # the node lies within a window that a later node opened


@final
class EventLink:
    """One way to a state, an event at a time: enough for a witness."""

    __slots__ = ("before", "item", "operand", "time")

    def __init__(self, operand: i64, item: object, time: i64, before: EventLink | None) -> None:
        self.operand = operand
        self.item = item
        self.time = time
        self.before = before


@final
class TupleNode:
    """All ways to a state whose last event is this one: it continues the first `length` nodes of `before`.

    Where a window limits the time since an earlier event, `best` is the latest time of that event over all ways here,
    which does not fall along a list; of `before`, only nodes with a `best` of at least `floor` are continued.
    """

    __slots__ = ("before", "best", "floor", "item", "length", "operand", "time")

    def __init__(
        self, operand: i64, item: object, time: i64, before: list[TupleNode], length: i64, best: i64, floor: i64
    ) -> None:
        self.operand = operand
        self.item = item
        self.time = time
        self.before = before
        self.length = length
        self.best = best
        self.floor = floor


@final
class Completion(MatchSource):
    """One event's completions under one binding.

    `count` is the exact number of tuples, of any size; None where a limit was hit and partial matches were forgotten
    (`incomplete`), then `tuples` has what is left. `binding`: the variables' values, None where unbound.
    """

    __slots__ = ("_links", "_nodes", "binding", "count", "incomplete")

    def __init__(
        self,
        count: int | None,
        binding: tuple[Value, ...],
        incomplete: bool,
        nodes: list[TupleNode],
        link: EventLink | None,
    ) -> None:
        self.count = count
        self.binding = binding
        self.incomplete = incomplete
        self._nodes = nodes
        self._links = link

    def amount(self) -> int | None:
        return self.count

    def all(self) -> Iterator[Matched]:
        for found in self.tuples():
            yield matched_of(list(found), self.binding)

    def one(self) -> Matched:
        return matched_of(list(self.witness()), self.binding)

    def arbitrary(self) -> bool:
        return True

    def doubtful(self) -> bool:
        return self.incomplete

    def witness(self) -> Tuple:
        """One of the tuples. Linear in it."""
        return next(walk(self._nodes)) if self._links is None else witness_of(self._links)

    def tuples(self) -> Iterator[Tuple]:
        """All of them, the latest first, lazily; the witness alone where the machine keeps no more."""
        if self._links is not None:
            return iter([self.witness()])
        return walk(self._nodes)


def witness_of(link: EventLink | None) -> Tuple:
    """The events of a link, by operand. Linear in it."""
    taken: list[Taken] = []
    while link is not None:
        taken.append((int(link.operand), link.item, int(link.time)))
        link = link.before
    taken.sort(key=_operand)
    return tuple(taken)


def _operand(taken: Taken) -> int:
    return taken[0]


def walk(ends: list[TupleNode]) -> Iterator[Tuple]:
    """The tuples that end in nodes. The work between two is linear in the tuple; nothing is kept but one path."""
    lists = [ends]
    left = [len(ends)]
    floors = [NO_FLOOR]
    path: list[TupleNode] = []
    while left:
        at = left[-1] - 1
        floor = floors[-1]
        if at < 0 or lists[-1][at].best < floor:
            lists.pop()
            left.pop()
            floors.pop()
            if path:
                path.pop()
            continue
        left[-1] = at
        node = lists[-1][at]
        path.append(node)
        if node.length > 0:
            lists.append(node.before)
            left.append(int(node.length))
            floors.append(floor if node.floor == SAME_FLOOR else int(node.floor))
            continue
        yield tuple(sorted([(int(n.operand), n.item, int(n.time)) for n in path]))
        path.pop()
