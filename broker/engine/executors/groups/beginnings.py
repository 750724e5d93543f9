"""Starts that wait with the text that begins them, for all members of a group that begin with it.

Here: the starts of one text, and when the newest start of each text was. Hot. Not here: what they wait for (other_keys,
text_chain).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from ....events.schema import Row
from .columns import INFINITY, Floats, Integers, filled, integers, with_room_for_integers
from .starts import NONE, Starts
from .steps import StepClause

SWEEP_MIN: Final = 64
BEFORE: Final = -(1 << 62)
Text: TypeAlias = Any
ANY: Final = None  # in place of a text


def texts_by_step(known: tuple[Text, ...], attributes: list[int]) -> tuple[Text, ...]:
    """The text of each step, ANY for those without, whose attribute is -1. `known`: those of the others, in order."""
    left = iter(known)
    return tuple([next(left) if attribute >= 0 else ANY for attribute in attributes])


@final
class Beginning:
    """The starts of a text, for the `members` that begin with it. `root`: at most their least corner. `newest` and
    `newest_time`: the number and the time of the last start. `number`: its place in MemberBeginnings, if it is there.
    `window`: the coordinate of WITHIN, NONE for none."""

    def __init__(self, text: Text, d: i64, window: i64 = NONE) -> None:
        self.text = text
        self.members: i64 = 0
        self.root: Floats = filled(d, INFINITY)
        self.newest: i64 = NONE
        self.newest_time: i64 = BEFORE
        self.number: i64 = NONE
        self._d: i64 = d
        self._window: i64 = window
        self._kept: i64 = 0
        self.starts = Starts(d, NONE, window)

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

    def begin(self, clause: StepClause, row: Row, time: i64, event: i64) -> bool:
        """Keep the event if it may begin a match of some member. O(1)."""
        starts, root = self.starts, self.root
        at = starts.open()
        values = starts.values
        if not clause.narrows(row, time, time, values, at, values, at):
            return False
        j: i64
        for j in range(self._d):
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
        """Drop the starts before that place. O(starts)."""
        starts = self.starts
        starts.retain([at >= first for at in range(starts.count)])
        starts.head = 0
        self._kept = starts.count

    def first_in_time(self, time: i64) -> i64:
        """The first start that is in some member's window. O(log)."""
        return self.starts.since_time(time, self.root[self._window], 0, self.starts.count)

    def passed(self, time: i64) -> i64:
        """The same for times that only go on. Amortised O(1)."""
        starts = self.starts
        starts.head = starts.passed(time, self.root[self._window], starts.head, starts.count)
        return starts.head

    def lower(self, x: Floats, top: Floats, time: i64) -> None:
        """Lower values to the greatest of the starts that are in some member's window; they may be too high. `top`:
        scratch. O(blocks), amortised."""
        starts, first = self.starts, self.passed(time)
        j: i64
        for j in range(self._d):
            top[j] = -INFINITY
        starts.raise_by_blocks(top, first, starts.count)
        for j in range(self._d):
            if top[j] < x[j]:
                x[j] = top[j]

    def load(self, dumped: dict[str, Any]) -> None:
        """Restore the starts."""
        starts = self.starts
        starts.load(dumped)
        self.newest, self.newest_time = starts.events[starts.count - 1], starts.times[starts.count - 1]


@final
class MemberBeginnings:
    """Which starts each member of a group has, in columns, since an event asks this of many members, most of which wait
    with nothing. `numbers`: of its starts, by handle; `times`: of the newest of them, by number."""

    def __init__(self) -> None:
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
        return self._known[self.numbers[handle]]

    def note(self, beginning: Beginning) -> None:
        """There is another start. O(1)."""
        self.times[beginning.number] = beginning.newest_time

    def refresh(self) -> None:
        """Starts have been dropped or restored."""
        for beginning in self._known:
            self.note(beginning)
