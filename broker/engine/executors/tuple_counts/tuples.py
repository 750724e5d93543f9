"""The tuples that one event completes under one binding: their number, one of them, and all of them on request.

Tuples are not stored. A node is an event taken for an operand, with the list of nodes that it continues, as long as
that was then: lists only ever grow, so that a length is a version. A walk backwards from a completing node never
fails, and the work between two tuples is linear in the tuple. Where only a witness is wanted each list has one node.

Here: nodes, the walk, nodes as plain values for a snapshot. Not here: making them (cell_counting, window_counting).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row, Value
from ...matches.sources import Matched, MatchSource, matched_of

Taken: TypeAlias = tuple[int, object, int]
"""An operand, the item of its event, and that event's time."""
Tuple: TypeAlias = tuple[Taken, ...]
"""In the order of the operands; those of branches that are not taken are absent."""
Binding: TypeAlias = tuple[Value, ...]

ALWAYS_GOOD: Final = (1 << 62) - 1  # a node that no window limits is as good as one that has just begun
NO_FLOOR: Final = -(1 << 62)
SAME_FLOOR: Final = -(1 << 62) - 1  # the node lies within a window that a later node opened
PLAIN: Final = 1 << 63


@final
@mypyc_attr(acyclic=True)  # lists of a state hold nodes of earlier states' lists
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

    __slots__ = ("binding", "count", "incomplete", "nodes")

    def __init__(self, count: int | None, binding: Row, incomplete: bool, nodes: list[TupleNode]) -> None:
        self.count = count
        self.binding = binding
        self.incomplete = incomplete
        self.nodes = nodes

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
        """The latest of the tuples. Linear in it, but for its order."""
        path: list[Taken] = []
        node = self.nodes[-1]
        while node.length > 0:
            path.append((int(node.operand), node.item, int(node.time)))
            node = node.before[node.length - 1]
        path.append((int(node.operand), node.item, int(node.time)))
        path.sort()
        return tuple(path)

    def tuples(self) -> Iterator[Tuple]:
        """All of them, the latest first, lazily; the witness alone where the machine keeps no more."""
        return walk(self.nodes)


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


# --- as plain values --------------------------------------------------------------------------------------------


def packed(counts: list[int]) -> list[int | str]:
    """Counts of any size: beyond 64 bits as hexadecimal digits."""
    return [count if count < PLAIN else f"{count:x}" for count in counts]


def unpacked(counts: Any) -> list[int]:
    return [int(count, 16) if isinstance(count, str) else count for count in counts]


@final
class NodeArchive:
    """Numbers for lists of nodes; `data` is all that can be reached from them. Linear, does not recurse."""

    def __init__(self) -> None:
        self.data: list[Any] = [[], []]
        self._kept: list[list[TupleNode]] = []  # numbers are by identity: nothing may be released meanwhile
        self._lists: dict[int, int] = {}
        self._nodes: dict[int, int] = {}

    def number(self, nodes: list[TupleNode]) -> int:
        number = self._number(nodes)
        done = len(self.data[1])
        while done < len(self._kept):
            self.data[1].append([self._node(node) for node in self._kept[done]])
            done += 1
        return number

    def _number(self, nodes: list[TupleNode]) -> int:
        number = self._lists.get(id(nodes))
        if number is None:
            number = self._lists[id(nodes)] = len(self._kept)
            self._kept.append(nodes)
        return number

    def _node(self, node: TupleNode) -> int:
        number = self._nodes.get(id(node))
        if number is None:
            number = self._nodes[id(node)] = len(self.data[0])
            before = self._number(node.before) if node.length else -1
            place = [int(node.length), int(node.best), int(node.floor)]
            self.data[0].append([int(node.operand), node.item, int(node.time), before, *place])
        return number


def restored(data: Any) -> list[list[TupleNode]]:
    """The lists of an archive, by number."""
    lists: list[list[TupleNode]] = [[] for _ in data[1]]
    nothing: list[TupleNode] = []
    nodes = [
        TupleNode(operand, item, time, nothing if before < 0 else lists[before], length, best, floor)
        for operand, item, time, before, length, best, floor in data[0]
    ]
    for found, numbers in zip(lists, data[1]):
        found += [nodes[number] for number in numbers]
    return lists
