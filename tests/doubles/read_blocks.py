"""Reads the blocks of matches that a mechanism of groups has written for an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from broker.engine.executors.groups.blocks import (
    COMBINED,
    FIELDS,
    LATE,
    PRODUCT,
    REPEATED,
    RUN,
    TOO_MANY,
    MatchBlocks,
    combined,
    counted,
    repeated,
)
from broker.engine.matches.sources import flattened


class BlockMatch(NamedTuple):
    """One match: the order of its steps, the member, and the numbers of its events, the completing one last."""

    order: int
    handle: int
    path: tuple[int, ...]


def count(out: MatchBlocks) -> int:
    """The number of matches."""
    total = int(out.total)
    for at in range(0, int(out.upto), FIELDS):
        if out.blocks[at + 2] == COMBINED and out.blocks[at + 4] == TOO_MANY:
            total += counted(_lists(out, at))
    return total


def each(out: MatchBlocks) -> Iterator[BlockMatch]:
    """The matches, block by block."""
    for at in range(0, int(out.upto), FIELDS):
        fields = [int(number) for number in out.blocks[at : at + FIELDS]]
        event, order, kind, member, members, path, paths, width = fields
        if kind in (COMBINED, REPEATED):
            for numbers in combined(_lists(out, at)) if kind == COMBINED else repeated(_lists(out, at)):
                yield BlockMatch(order, int(out.members[member]), (*numbers, event))
        elif kind == RUN:
            for i in range(member, member + members):
                yield BlockMatch(order, int(out.members[i]), (*flattened(out.runs[path].lineage), event))
        else:
            for i in range(member, member + members):
                for j in (path + width * n for n in range(paths)):
                    numbers = tuple(int(out.paths[n]) for n in range(j, j + width))
                    yield BlockMatch(order, int(out.members[i]), numbers if kind == LATE else (*numbers, event))


def check(out: MatchBlocks) -> None:
    """Every block lies within the written columns."""
    for at in range(0, int(out.upto), FIELDS):
        kind, member, members = out.blocks[at + 2], out.blocks[at + 3], out.blocks[at + 4]
        if kind == PRODUCT:
            assert members > 0
            assert member + members <= out.members_upto
        if kind not in (COMBINED, REPEATED, RUN):
            assert out.blocks[at + 5] + out.blocks[at + 6] * out.blocks[at + 7] <= out.paths_upto


def _lists(out: MatchBlocks, at: int) -> list[list[int]]:
    """The lists of a COMBINED or REPEATED block."""
    place, lists = int(out.blocks[at + 5]), []
    for _ in range(out.blocks[at + 7]):
        length = int(out.paths[place])
        lists.append([int(out.paths[i]) for i in range(place + 1, place + 1 + length)])
        place += 1 + length
    return lists
