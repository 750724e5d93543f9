"""The constants of a family's members as lower limits: which members some values reach.

Rows are in the order of the first limit, in blocks that know the least one of each column, so that most values, which
reach nobody, look at few rows. Here: that question. Hot. Not here: what the limits mean (families).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, final

from mypy_extensions import i64

from ...index.columns import ascending
from ..packed import Floats, Integers, floats, lengthened_floats

BLOCK: Final = 16  # rows
BEYOND: Final = math.inf  # all values
NEXT: Final[Callable[[float, float], float]] = math.nextafter


@final
class LimitTable:
    """`width` limits for each of `count` members. `_rows`: the limits; `_least`: of each block, `_root`: of all."""

    def __init__(self, columns: list[Floats], members: Integers) -> None:
        """`columns`: of each limit, of which there may be none, those of all; `members`: of which of them the rows are.
        O(members log members)."""
        width: i64 = len(columns)
        count: i64 = len(members)
        self.width = width
        self.count = count
        self._members: Integers = _by_limit(columns[0], members) if width > 0 else members
        self._rows: Floats = lengthened_floats(floats(), width * count)
        self._least: Floats = lengthened_floats(floats(), width * ((count + BLOCK - 1) // BLOCK))
        self._root: Floats = lengthened_floats(floats(), width)
        order, rows = self._members, self._rows
        j: i64
        row: i64
        for j in range(width):
            column = columns[j]
            least = root = math.inf
            for row in range(count):
                limit = column[order[row]]
                rows[row * width + j] = limit
                if row % BLOCK == 0 or limit < least:
                    least = limit
                if limit < root:
                    root = limit
                self._least[row // BLOCK * width + j] = least
            self._root[j] = root

    def reached(self, values: Floats) -> list[int]:
        """The numbers of the members none of whose limits is above its value, those with low first limits first.

        O(blocks whose first limit is reached, and rows that their least limits let through).
        """
        found: list[int] = []
        width, count, root = self.width, self.count, self._root
        j: i64 = 0
        while j < width and root[j] <= values[j]:
            j += 1
        if j < width:
            return found
        if width == 0:
            return [int(member) for member in self._members]
        rows, least, members = self._rows, self._least, self._members
        first = values[0]
        block: i64 = 0
        row: i64 = 0
        while row < count and least[block] <= first:
            end = min(row + BLOCK, count)
            j = 1
            while j < width and least[block + j] <= values[j]:
                j += 1
            block += width
            if j < width:
                row = end
                continue
            at = row * width
            while row < end and rows[at] <= first:
                j = 1
                while j < width and rows[at + j] <= values[j]:
                    j += 1
                if j == width:
                    found.append(int(members[row]))
                row += 1
                at += width
            row = end
        return found


def above(limit: float, strict: bool) -> float:
    """The least value that reaches a limit, which a strict one does not reach itself."""
    return NEXT(limit, BEYOND) if strict else limit


def _by_limit(limits: Floats, members: Integers) -> Integers:
    """The members in the order of these limits. O(n log n)."""
    count: i64 = len(members)
    own = lengthened_floats(floats(), count)
    at: i64
    for at in range(count):
        own[at] = limits[members[at]]
    order = ascending(own)
    for at in range(count):
        order[at] = members[order[at]]
    return order
