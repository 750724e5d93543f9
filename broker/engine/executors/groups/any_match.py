"""Any match: events in which every combination counts (skip_till_any_match; P-ToPSS's `;`, AND, OR), within a window.

The steps of a match have an order, or one of several: `a AND b` is `a; b` and `b; a`, and `a OR b` is either alone.
The cost depends on the output. An event that may be the last finds the members that it completes and whose other steps
the window may satisfy. For each of these members, the events of every step are read off the window, block by block,
into lists. A match takes one event of each list, ascending. A sum of prefix counts over the lists gives their number,
so that combinations are made only when they are read. Every event is an epoch.

Here: one key. Not here: the events of its window (logged), conditions between two times of a tuple, adjacency.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ..matches import Assigned
from .any_template import AnyTemplate, LastStep
from .blocks import MatchBlocks
from .columns import INFINITY, NAN
from .kept_events import KeptEvents
from .logged import LoggedCell
from .members import Members
from .tuples import tell_tuples


@final
class AnyCell(LoggedCell):
    """For each step behind which a match may go on, the events in the window that may satisfy it for a member."""

    def __init__(
        self, template: AnyTemplate, members: Members | None = None, events: KeptEvents | None = None
    ) -> None:
        super().__init__(template.d, template.logged, [], template.within, template.window, members, events)
        self.template = template

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(blocks of the window), and for each member found O(blocks and its events)."""
        template, x = self.template, self.x
        self.drop(time)
        j: i64
        for last in template.lasts:
            clause = last.clause
            for j in range(template.d):
                x[j] = INFINITY
            if clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row):
                if template.window >= 0:
                    x[template.window] = 0.0
                if len(last.others) > 0:
                    self._complete(last, time, out)
                    continue
                begun = out.members_upto
                if self.members.find(x, 0, event, out) > 0:
                    out.order = last.numbers[0]
                    out.close_alone(begun)
        self.keep(row, time, event)

    def _complete(self, last: LastStep, time: i64, out: MatchBlocks) -> None:
        """The members that the event and the window may satisfy, each with the events of its steps."""
        d = self.d
        for number in last.others:
            self.lower(number)
        found = self.members.find_points(NAN, self.x, 0, out)
        begun = out.members_upto - found
        if found == 0:
            return
        hit: i64
        for order, number in zip(last.orders, last.numbers):
            out.order = number
            for hit in range(found):
                since = out.hits_since[hit]
                tell_tuples(self.logs, order, begun + hit, out.hits, hit * d, since, since, time, out)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        return self.template.live(self.logs, point, since, time)

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        return self.template.assigned(self.logs, self.events, point, since, time)
