"""The constants of a family's members as lower limits: which members some values reach.

Rows are in the order of the first limit, in blocks that know the least one of each column, so that most values, which
reach nobody, look at few rows. Here: that question. Hot. Not here: what the limits mean (families).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, final

from mypy_extensions import i64

from ..packed import Floats, Integers, floats_of, integers_of

BLOCK: Final = 16  # rows


@final
class LimitTable:
    """`width` limits for each of `count` members. `_rows`: the limits; `_least`: of each block, `_root`: of all."""

    def __init__(self, columns: Sequence[Sequence[float]], members: Sequence[int]) -> None:
        """`columns`: of each limit, of which there may be none, those of all; `members`: of which of them the rows are.
        O(members log members)."""
        order = sorted(members, key=columns[0].__getitem__) if len(columns) > 0 else members
        self.width: i64 = len(columns)
        self.count: i64 = len(order)
        self._members: Integers = integers_of(order)
        self._rows: Floats = floats_of([column[member] for member in order for column in columns])
        least: list[float] = []
        for begin in range(0, len(order), BLOCK):
            block = order[begin : begin + BLOCK]
            least += [min([column[member] for member in block]) for column in columns]
        self._least: Floats = floats_of(least)
        self._root: Floats = floats_of([min([column[member] for member in order]) for column in columns])

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
    return math.nextafter(limit, math.inf) if strict else limit
