"""The windows of a family as matches: rectangles of a row, read for each member.

A row is as that of several windows (window_page), with the members from and to below behind each interval of panes.
Here: who gets which windows of a row. Not here: writing rows (family_stepping), the windows themselves
(window_matches).
"""

from __future__ import annotations

from itertools import pairwise
from typing import final

from mypy_extensions import i64

from ...matches.completions import HEADER, Audience, Completions, Events
from ...matches.sources import MatchSource
from ...program.target import Target
from .family_cell import SIDES
from .pane_groups import joined
from .tables import WindowTables
from .window_matches import CompletedWindows
from .window_page import SEVERAL, SEVERAL_NUMBERS, WindowPage


@final
class FamilyAudience(Audience):
    """The members of a family in the order of their constants."""

    def __init__(self, targets: list[Target], tables: WindowTables) -> None:
        super().__init__(targets, False)
        self.tables = tables

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        """The windows that one event completes. Members that have the same windows have them in one source.
        O(rectangles squared + members)."""
        page = found.pages[found.numbers[at + 2] >> 2]
        assert isinstance(page, WindowPage)
        numbers = [int(number) for number in found.numbers[at + HEADER : at + HEADER + found.numbers[at + 4]]]
        sides = [numbers[place : place + SIDES] for place in range(SEVERAL_NUMBERS, len(numbers), SIDES)]
        ends = sorted({end for _, _, first, upto in sides for end in (first, upto)})
        parts: list[tuple[Target, MatchSource | None]] = []
        for first, upto in pairwise(ends):
            own = [[low, high] for low, high, begin, end in sides if begin <= first and upto <= end]
            if own:
                told = [*numbers[:SEVERAL_NUMBERS], *joined(own)]
                source = CompletedWindows(self.tables, page, SEVERAL, told)
                parts.extend([(target, source) for target in self.targets[first:upto]])
        return parts

    def total(self, found: Completions, at: i64) -> int:
        return self.total_of_each(found, at)
