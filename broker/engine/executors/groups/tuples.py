"""Matches that take one event of each of several logs, ascending: counted at once, made when they are read.

A log has the events of the window that may be a step of a match for some member; those that are it for one member are
read off block by block. A sum of prefix counts over these lists gives the number of matches.

Here: the matches of one member. Hot. Not here: which members an event completes (any_match), logs (starts).
"""

from __future__ import annotations

from mypy_extensions import i64

from .blocks import LARGE, TOO_MANY, MatchBlocks, combined
from .columns import Floats
from .starts import Starts


def tell_tuples(
    logs: list[Starts], order: list[int], member: i64, points: Floats, at: i64, since: i64, barred: i64, time: i64,
    out: MatchBlocks,
) -> None:  # fmt: skip
    """Write the matches of a member with one event of each log in this order. `member`: the place of its handle;
    `at`: that of its point; `barred`: events of the last log are not before it. O(blocks of the logs, its events)."""
    path = out.paths_upto
    steps: i64 = len(order)
    if steps == 1:
        log = logs[order[0]]
        count = log.walk(points, at, barred, log.head, log.count, time, out)
        if count > 0:
            out.close_one(member, path, count, 1)
        return
    last = steps - 1
    step: i64
    for step in range(steps):
        place = out.paths_upto
        out.add_number(0)
        log = logs[order[step]]
        count = log.walk(points, at, barred if step == last else since, log.head, log.count, time, out)
        if count == 0:
            out.paths_upto = path
            return
        out.paths[place] = count
    ways = combinations(out, path, steps)
    if ways == 0:
        out.paths_upto = path
    else:
        out.close_combined(member, path, steps, ways)


def combinations(out: MatchBlocks, path: i64, steps: i64) -> i64:
    """The number of ascending combinations of the lists written behind `path`; TOO_MANY beyond 62 bits. O(lists).

    The counts are stored behind the lists, where the next numbers will be written.
    """
    paths = out.room_for_paths(out.paths_upto - path)
    ways = out.paths_upto  # for each number the count of combinations that end there
    at = path
    before: i64 = 0  # the previous list: start of its numbers, start of its counts, length
    before_ways: i64 = 0
    count: i64 = 0
    total: i64 = 0
    size = 1.0
    step: i64
    for step in range(steps):
        length = paths[at]
        size *= float(length)
        if size > LARGE:
            return TOO_MANY
        i: i64 = 0
        sum_before: i64 = 0
        total = 0
        j: i64
        for j in range(length):
            number = paths[at + 1 + j]
            if step == 0:
                sum_before = 1
            else:
                while i < count and paths[before + i] < number:
                    sum_before += paths[before_ways + i]
                    i += 1
            paths[ways + j] = sum_before
            total += sum_before
        before, before_ways, count = at + 1, ways, length
        ways += length
        at += 1 + length
    return total


def begun(logs: list[Starts], point: list[float], since: list[int], time: int) -> list[tuple[int, ...]]:
    """The runs of a member that have taken an event of each of these logs, not before that of `since`, for users.
    O(what is read)."""
    lists: list[list[int]] = []
    for log, first in zip(logs, since):
        lists.append([event for (event,) in log.waiting(point, first, log.head, log.count, time)])
    return list(combined(lists))
