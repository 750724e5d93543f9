"""Writes the blocks of an event as rows of numbers: one for all, or one for each part that has a page of its own.

Here: that. Hot. Not here: blocks (blocks), what the numbers mean and who reads them (audience).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ...matches.completions import HEADER, Completions
from .audience import BLOCK_FIELDS
from .blocks import COMBINED, FIELDS, KIND_BITS, PART_FIELDS, REPEATED, RUN, MatchBlocks

FEW: Final = 1 << 31  # matches of a member in a block
COUNTED: Final = 0  # kinds of rows: the header says how many matches there are; it does not
UNCOUNTED: Final = 1


def tell(out: MatchBlocks, page: object, compressed: bool, found: Completions) -> None:
    """Write all blocks for the current audience. `page`: of blocks that no part has; `compressed`: the matches of a
    member are one result. O(members and paths)."""
    count: i64 = len(out.pages)
    if count == 0:
        _write(out, 0, out.upto, page, 0, out.total, compressed, found)
        return
    parts = out.parts
    at: i64 = 0
    for common in out.pages:
        block, before, upto = parts[at], parts[at + 1], parts[at + 2]
        at += PART_FIELDS
        last = at == PART_FIELDS * count
        end = out.upto if last else parts[at]
        after = out.total if last else parts[at + 1]
        _write(out, block, end, common, upto, after - before, compressed, found)


def _write(
    out: MatchBlocks, block: i64, end: i64, page: object, upto: i64, total: i64, compressed: bool, found: Completions
) -> None:
    """Write the blocks up to `end` as a row. `upto`: that of common runs."""
    blocks, members, paths = out.blocks, out.members, out.paths
    numbers = found.room(out.members_upto + out.paths_upto + ((end - block) // FIELDS) * (BLOCK_FIELDS + 1))
    at = begin = found.upto + HEADER
    served: i64 = 0  # members of blocks
    counted = True  # machine numbers hold how many matches there are
    j: i64
    while block < end:
        kind, first, number = blocks[block + 2], blocks[block + 3], blocks[block + 4]
        path, count, width = blocks[block + 5], blocks[block + 6], blocks[block + 7]
        length = count * width
        if kind == COMBINED:
            count, number = number, 1
        if kind in (COMBINED, REPEATED):
            length = 0
            for _ in range(width):
                length += 1 + paths[path + length]
        served += number
        counted = counted and 0 <= count <= FEW
        if kind == RUN:
            width = length = 1
        numbers[at] = kind | blocks[block + 1] << KIND_BITS
        numbers[at + 1] = number
        numbers[at + 2] = count
        numbers[at + 3] = width
        numbers[at + 4] = length
        at += BLOCK_FIELDS
        for j in range(first, first + number):
            numbers[at] = members[j]
            at += 1
        if kind == RUN:
            numbers[at] = len(found.runs)
            found.runs.append(out.runs[path])
            at += 1
        else:
            for j in range(path, path + length):
                numbers[at] = paths[j]
                at += 1
        block += FIELDS
    if compressed:
        found.close(page, upto, COUNTED, at - begin, served)
    else:
        found.close(page, upto, COUNTED if counted else UNCOUNTED, at - begin, total)
