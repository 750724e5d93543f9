"""Nodes and links as plain values and back: what shares a list of nodes shares it again.

Here: lists, integers and strings for a snapshot. Not here: what holds them (cells, windows).
"""

from __future__ import annotations

from typing import Any, Final, final

from .completion import EventLink, TupleNode

PLAIN: Final = 1 << 63


def packed(count: int) -> int | str:
    """A count of any size: beyond 64 bits as hexadecimal digits."""
    return count if count < PLAIN else f"{count:x}"


def unpacked(count: int | str) -> int:
    return int(count, 16) if isinstance(count, str) else count


def chain(link: EventLink | None) -> list[list[object]]:
    """The events of a link, the first one first."""
    found = []
    while link is not None:
        found.append([int(link.operand), link.item, int(link.time)])
        link = link.before
    found.reverse()
    return found


def linked(events: Any) -> EventLink | None:
    link: EventLink | None = None
    for operand, item, time in events:
        link = EventLink(operand, item, time, link)
    return link


@final
class CountsArchive:
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
