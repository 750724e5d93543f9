"""Adjacent events that are found by a text each, as SASE+'s strict_contiguity and P-ToPSS's `,` without a key.

The next event is the next step of a run, or ends it. So an event that may be the last completes matches with the events
right before it, and no others: their texts together say whose steps they are, and no runs are kept. Members with any
texts are one group.

Here: all texts of a group. Not here: adjacent events of one key (chain), CEL's NEXT (text_chain).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import ANY, BEFORE, Text, texts_by_step
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled
from .kept_events import KeptEvents
from .members import Members
from .steps import StepClause

NOWHERE: Final = BEFORE  # a position that no event follows


@final
class AdjacencyTemplate:
    """The conditions but for the texts, which the `attributes` have, -1 for none, and the members of one group.

    `members`: those with the same texts; `texts`: by handle. `wanted`: by step the texts in use, with their members.
    `window`: the coordinate of WITHIN, -1 for none.
    """

    def __init__(self, d: int, steps: list[StepClause], attributes: list[int], window: int) -> None:
        self.d: i64 = d
        self.steps = steps
        self.attributes = attributes
        self.window: i64 = window
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.members: dict[tuple[Text, ...], Members] = {}
        self.texts: list[tuple[Text, ...]] = []
        self.wanted: list[dict[Text, int]] = [{} for _ in steps]

    def joined(self, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined the group. `known`: the texts of the steps that have one. O(steps + pages + page)."""
        texts = texts_by_step(known, self.attributes)
        members = self.members.get(texts)
        if members is None:
            members = self.members[texts] = Members(int(self.d))
        members.put(handle, point, since)
        while len(self.texts) <= handle:
            self.texts.append(texts)
        self.texts[handle] = texts
        for wanted, text in zip(self.wanted, texts):
            wanted[text] = wanted.get(text, 0) + 1

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(steps + pages + page)."""
        texts = self.texts[handle]
        members = self.members[texts]
        members.remove(handle, point)
        if members.count == 0:
            del self.members[texts]
        for wanted, text in zip(self.wanted, texts):
            wanted[text] -= 1
            if wanted[text] == 0:
                del wanted[text]

    def texts_of(self, rows: list[Row]) -> tuple[Text, ...]:
        """The texts of events that are the first steps."""
        return tuple([row[at] if at >= 0 else ANY for row, at in zip(rows, self.attributes)])

    def reach(self, rows: list[Row], times: list[int]) -> bool:
        """Set the scratch to what events that are the first steps reach together; whether they reach anything."""
        x = self.x
        j: i64
        for j in range(self.d):
            x[j] = INFINITY
        for row, time, clause in zip(rows, times, self.steps):
            if not clause.narrows(row, time, time, x, 0, x, 0) or not clause.admits(row):
                return False
        if self.window >= 0:
            x[self.window] = -float(times[-1] - times[0])
        return True


@final
class AdjacencyCell(GroupCell):
    """The newest events of the stream, as far as they may be steps of some member by their texts.

    `_depths`: of how many of the newest events each is the first, where these may be the first steps of a match.
    """

    def __init__(self, template: AdjacencyTemplate, members: Members, events: KeptEvents) -> None:
        super().__init__(members)
        self.template = template
        self._events = events
        self._rows: list[Row] = []
        self._numbers: list[int] = []
        self._times: list[int] = []
        self._depths: list[int] = []
        self._last: i64 = NOWHERE  # the position of the newest

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the stream. O(steps), and one lookup where the texts are those of a member."""
        template = self.template
        if self._last + 1 != self.position:
            self._drop(0)
        self._last = self.position
        self._rows.append(row)
        self._numbers.append(event)
        self._times.append(time)
        length = len(template.steps)
        depths: list[int] = []
        for depth in [*self._depths, 0]:
            attribute = template.attributes[depth]
            if (row[attribute] if attribute >= 0 else ANY) in template.wanted[depth]:
                if depth + 1 == length:
                    self._complete(out)
                else:
                    depths.append(depth + 1)
        self._depths = depths
        if len(depths) > 0:
            self.noted = event
            self._drop(depths[0])
        else:
            self._drop(0)

    def _complete(self, out: MatchBlocks) -> None:
        """Write the matches of the newest events, as many as there are steps."""
        template = self.template
        length = len(template.steps)
        rows = self._rows[-length:]
        members = template.members.get(template.texts_of(rows))
        if members is None or not template.reach(rows, self._times[-length:]):
            return
        begun = out.members_upto
        numbers = self._numbers[-length:]
        if members.find(template.x, 0, numbers[0], out) == 0:
            return
        path = out.paths_upto
        for number in numbers[:-1]:
            out.add_number(number)
        out.close(begun, path, length - 1)

    def _drop(self, but: int) -> None:
        """Drop all but so many of the newest events."""
        first = len(self._rows) - but
        if first > 0:
            del self._rows[:first], self._numbers[:first], self._times[:first]
        if but == 0:
            self._depths = []

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return len(self._rows) == 0

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        template, found = self.template, list[tuple[int, ...]]()
        for depth in self._depths:
            rows, times, numbers = self._rows[-depth:], self._times[-depth:], self._numbers[-depth:]
            fits = template.texts_of(rows) == template.texts[handle][:depth] and numbers[0] >= since
            if fits and template.reach(rows, times):
                if template.window >= 0:
                    template.x[template.window] = -float(time - times[0])
                if all(point[j] <= template.x[j] for j in range(int(template.d))):
                    found.append(tuple(numbers))
        return found

    def oldest(self, event: i64) -> i64:
        return min(event, self._numbers[0]) if self._numbers else event

    def used(self, events: set[int]) -> None:
        events.update(self._numbers)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        kept = {"numbers": self._numbers[:], "times": self._times[:], "depths": self._depths[:]}
        return {**kept, "last": int(self._last)}

    def load(self, dumped: dict[str, Any]) -> None:
        self._numbers, self._times = list(dumped["numbers"]), list(dumped["times"])
        self._depths, self._last = list(dumped["depths"]), dumped["last"]
        self._rows = [self._events.row(number) for number in self._numbers]

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "events": len(self._rows)}

    def check_invariants(self) -> None:
        template = self.template
        assert sum(int(each.count) for each in template.members.values()) == self.members.count
        assert all(sum(wanted.values()) == self.members.count for wanted in template.wanted)
        assert sorted(self._depths, reverse=True) == self._depths
        assert len(self._rows) == len(self._numbers) == len(self._times) == max(self._depths, default=0)
        for members in template.members.values():
            members.check_invariants()
