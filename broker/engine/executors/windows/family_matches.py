"""The windows of a family as matches: rectangles of a row, read for each member.

A row is as that of several windows (window_page), with the members from and to below behind each interval of panes.
Here: who gets which windows of a row. Not here: writing rows (family_stepping), the windows themselves
(window_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import final

from mypy_extensions import i64, mypyc_attr

from ...program.target import Target
from ..completions import HEADER, Audience, Completions, Events, Served
from ..matches import MatchSource
from .family_cell import SIDES
from .pane_groups import joined
from .tables import WindowTables
from .window_matches import CompletedWindows
from .window_page import COUNTED, SEVERAL, SEVERAL_NUMBERS, WindowPage


@final
class FamilyAudience(Audience):
    """The members of a family in the order of their constants."""

    def __init__(self, targets: list[Target], tables: WindowTables) -> None:
        super().__init__(targets, False)
        self.tables = tables
        self._single: bool | None = None  # each member is one subscription

    def read(self, found: Completions, at: i64, events: Events) -> MatchSource:
        page = found.pages[found.numbers[at + 2] >> 2]
        assert isinstance(page, WindowPage)
        numbers = [int(number) for number in found.numbers[at + HEADER : at + HEADER + found.numbers[at + 4]]]
        return FamilyWindows(self, page, numbers)

    def total(self, found: Completions, at: i64) -> int:
        """O(rectangles), or O(1) if each member is one subscription."""
        served = self.served()
        if self._single is None:
            self._single = served == list(range(len(served)))
        if self._single:
            return int(found.numbers[at + HEADER + COUNTED])
        place = at + HEADER + SEVERAL_NUMBERS
        end = at + HEADER + found.numbers[at + 4]
        total = 0
        while place < end:
            panes = found.numbers[place + 1] - found.numbers[place] + 1
            total += int(panes) * (served[found.numbers[place + 3]] - served[found.numbers[place + 2]])
            place += SIDES
        return total


@final
@mypyc_attr(acyclic=True)
class FamilyWindows(Served):
    """The windows that one event completes. `numbers`: as in the row."""

    def __init__(self, audience: FamilyAudience, page: WindowPage, numbers: list[int]) -> None:
        self.audience = audience
        self.page = page
        self.numbers = numbers

    def parts(self) -> Iterator[tuple[Target, MatchSource]]:
        """Members that have the same windows have them in one source. O(rectangles squared + members)."""
        numbers = self.numbers
        sides = [numbers[at : at + SIDES] for at in range(SEVERAL_NUMBERS, len(numbers), SIDES)]
        ends = sorted({end for _, _, first, upto in sides for end in (first, upto)})
        for first, upto in pairwise(ends):
            own = [[low, high] for low, high, begin, end in sides if begin <= first and upto <= end]
            if not own:
                continue
            told = [*numbers[:SEVERAL_NUMBERS], *joined(own)]
            source = CompletedWindows(self.audience.tables, self.page, SEVERAL, told)
            for target in self.audience.targets[first:upto]:
                yield target, source
