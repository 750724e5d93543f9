"""Searches in the columns of one page, wherever these are kept: a search of many groups waits for memory, not for more.

Not here: the pages that a search must look at (members), the form of a page (pages).
"""

from __future__ import annotations

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import Floats, Integers
from .pages import BLOCK, SHIFT


def write_dominated(
    d: i64, slots: i64, points: Floats, own: Integers, since: Integers, least: Floats, greatest: Floats,
    above: float, x: Floats, at: i64, young: bool, first: i64, out: MatchBlocks, begun: i64, copied: bool,
) -> None:  # fmt: skip
    """Write the handles of the rows that the values from `at` on dominate, and whose first coordinate is above another.

    There is room for all. `young`: rows may be younger than the event `first`, for which they do not count. `copied`:
    their points, too; `begun`: where the search began to write. O(blocks and rows that the corners let through).
    """
    bounded = above == above
    x0 = x[at]
    several = d > 1  # the first two are compared without a loop
    x1 = x[at + 1] if several else x0
    handles, upto = out.members, out.members_upto
    slot: i64 = 0
    j: i64 = 0
    while slot < slots:
        base = (slot >> SHIFT) * d
        end = slot + BLOCK
        if end > slots:
            end = slots
        if bounded and greatest[slot >> SHIFT] <= above:
            slot = end
            continue
        if not least[base] <= x0 or (several and not least[base + 1] <= x1):
            slot = end
            continue
        j = 2
        while j < d and least[base + j] <= x[at + j]:
            j += 1
        if j < d:
            slot = end
            continue
        base = slot * d
        while slot < end:
            value = points[base]
            if value <= x0 and not value <= above and (not several or points[base + 1] <= x1):
                j = 2
                while j < d and points[base + j] <= x[at + j]:
                    j += 1
                if j >= d and not (young and since[slot] > first):
                    handles[upto] = own[slot]
                    if copied:
                        out.add_hit(points, base, d, upto - begun, since[slot])
                    upto += 1
            slot += 1
            base += d
    out.members_upto = upto


def nearest(
    d: i64, slots: i64, points: Floats, least: Floats, x: Floats, at: i64, axis: i64, best: float
) -> float:  # fmt: skip
    """The least coordinate on that axis of the rows that the values dominate on the others, if it is less than `best`.

    O(blocks and rows that the corners let through).
    """
    block: i64 = 0  # where the block begins in `least`
    slot: i64 = 0
    j: i64 = 0
    while slot < slots:
        end = slot + BLOCK
        if end > slots:
            end = slots
        j = 0
        while j < d and (least[block + j] < best if j == axis else least[block + j] <= x[at + j]):
            j += 1
        block += d
        if j < d:
            slot = end
            continue
        while slot < end:
            base = slot * d
            slot += 1
            if not points[base + axis] < best:  # a hole is NaN
                continue
            j = 0
            while j < d and (j == axis or points[base + j] <= x[at + j]):
                j += 1
            if j == d:
                best = points[base + axis]
    return best
