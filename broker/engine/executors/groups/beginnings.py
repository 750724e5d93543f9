"""Starts that wait with the text that begins them, for all members of a group that begin with it.

Here: the starts of one text, and when the newest start of each text was. Hot. Not here: what they wait for (next_match,
text_chain).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .columns import INFINITY, Floats, Integers, filled, integers, with_room_for_integers
from .starts import NONE, Starts
from .steps import StepClause
from .text_members import Text

SWEEP_MIN: Final = 64
BEFORE: Final = -(1 << 62)


@final
class Beginning:
    """The starts of a text, for the `members` that begin with it. `clause`: what such an event is asked; only what it
    bounds is kept of one. `root`: at most the members' least corner. `newest` and `newest_time`: the number and the
    time of the last start. `number`: its place in MemberBeginnings, if it is there. `window`: the coordinate of WITHIN,
    NONE for none."""

    def __init__(
        self, text: Text, clause: StepClause, d: i64, window: i64 = NONE, root: Floats | None = None
    ) -> None:  # fmt: skip
        self.text = text
        self.clause = clause
        self.members: i64 = 0
        self.root: Floats = filled(d, INFINITY) if root is None else root
        self.newest: i64 = NONE
        self.newest_time: i64 = BEFORE
        self.number: i64 = NONE
        self._d: i64 = d
        self._window: i64 = window
        self._kept: i64 = 0
        bounded = [int(bound.coordinate) for bound in clause.bounds] or [0]
        self._low: i64 = min(bounded)
        self._upto: i64 = max(bounded) + 1
        self.starts = Starts(self._upto - self._low, window, self._low)

    def apart(self) -> Beginning:
        """Other starts for the same members, whose least corner is one for all."""
        return Beginning(self.text, self.clause, self._d, self._window, self.root)

    def clear(self) -> None:
        """Drop all starts."""
        self.starts.clear()
        self.newest, self.newest_time, self._kept = NONE, BEFORE, 0

    def joined(self, point: list[float]) -> None:
        """A member begins with the text."""
        self.members += 1
        j: i64
        for j in range(self._d):
            self.root[j] = min(self.root[j], point[j])

    def begin(self, row: Row, time: i64, event: i64) -> bool:
        """Keep the event if it may begin a match of some member. O(1)."""
        starts, root, clause = self.starts, self.root, self.clause
        at = starts.open()
        values = starts.values
        if not clause.narrows(row, time, time, values, at, values, at):
            return False
        j: i64
        for j in range(self._low, self._upto):
            if not root[j] <= values[at + j]:
                return False
        if not clause.admits(row):
            return False
        starts.keep(time, event)
        self.newest, self.newest_time = event, time
        return True

    def grown(self) -> bool:
        """Whether it is time to drop starts that nobody waits with."""
        return self.starts.count > 2 * self._kept + SWEEP_MIN

    def drop(self, first: i64) -> None:
        """Drop the starts before that place, but for some. O(starts)."""
        starts = self.starts
        cut = starts.drop_first(first)
        starts.head = starts.head - cut if starts.head > cut else 0
        self._kept = starts.count + cut - first

    def retain(self, wanted: list[bool]) -> None:
        """Drop the other starts. O(starts)."""
        starts = self.starts
        starts.retain(wanted)
        starts.head = 0
        self._kept = starts.count

    def waits(self, time: i64) -> bool:
        """Whether the newest start is in some member's window. O(1)."""
        window = self._window
        return self.starts.count > 0 and (window < 0 or float(self.newest_time - time) >= self.root[window])

    def first_in_time(self, time: i64) -> i64:
        """The first start that is in some member's window. O(log)."""
        return self.starts.since_time(time, self.root[self._window], 0, self.starts.count)

    def passed(self, time: i64) -> i64:
        """The same for times that only go on. Amortised O(1)."""
        starts = self.starts
        if self._window < 0:
            return 0
        starts.head = starts.passed(time, self.root[self._window], starts.head, starts.count)
        return starts.head

    def lower(self, x: Floats, top: Floats, first: i64, upto: i64) -> None:
        """Lower values to the greatest of the starts from `first` to `upto`; they may be too high. `top`: scratch.
        O(blocks)."""
        j: i64
        for j in range(self._low, self._upto):
            top[j] = -INFINITY
        self.starts.raise_by_blocks(top, first, upto)
        for j in range(self._low, self._upto):
            if top[j] < x[j]:
                x[j] = top[j]

    def load(self, dumped: dict[str, Any]) -> None:
        """Restore the starts."""
        starts = self.starts
        starts.load(dumped)
        self._kept = starts.count
        self.newest, self.newest_time = starts.events[starts.count - 1], starts.times[starts.count - 1]


@final
class MemberBeginnings:
    """Which starts each member of a group has, in columns, since an event asks this of many members, most of which wait
    with nothing. `numbers`: of its starts, by handle; `times`: of the newest of them, by number. `only`: those of all
    members, if these have no texts."""

    def __init__(self, only: Beginning | None = None) -> None:
        self.only = only
        self.numbers: Integers = integers()
        self.times: Integers = integers()
        self._known: list[Beginning] = []  # by number
        self._free: list[int] = []

    def enter(self, beginning: Beginning) -> None:
        """Starts that no member has yet."""
        if self._free:
            number = self._free.pop()
            self._known[number] = beginning
        else:
            number = len(self._known)
            self._known.append(beginning)
        beginning.number = number
        self.times = with_room_for_integers(self.times, number + 1)
        self.times[number] = BEFORE

    def leave(self, beginning: Beginning) -> None:
        """No member has them any more."""
        self._free.append(int(beginning.number))

    def put(self, handle: int, beginning: Beginning) -> None:
        """A member has these starts."""
        self.numbers = with_room_for_integers(self.numbers, handle + 1)
        self.numbers[handle] = beginning.number

    def of(self, handle: i64) -> Beginning:
        """The starts of a member. O(1)."""
        return self._known[self.numbers[handle]] if self.only is None else self.only

    def note(self, beginning: Beginning) -> None:
        """There is another start. O(1)."""
        if self.only is None:
            self.times[beginning.number] = beginning.newest_time

    def refresh(self) -> None:
        """Starts have been dropped or restored."""
        for beginning in self._known:
            self.note(beginning)
