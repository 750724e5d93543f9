"""The members of a group of repetitions, by the text of a run's events and that of a last one.

While they are few they lie in columns that are read one after the other; more are searched.

Here: members by their texts, and who has a match with given values. Hot. Not here: runs (repeating_runs), the template
(repeating_template).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import INFINITY, Floats, Integers, filled, floats, integers, put, put_integer
from .members import Members
from .text_members import Text

FEW: Final = 8


@final
class RunText:
    """A text of runs: its `number` among the group's texts, its `least` corner of all members, and these by the text of
    the last event."""

    def __init__(self, text: Text, number: int, d: i64) -> None:
        self.text = text
        self.number: i64 = number
        self.least: Floats = filled(d, INFINITY)
        self.endings: dict[Text, EndText] = {}
        self._d: i64 = d

    def joined(self, point: list[float]) -> None:
        """A member has joined. O(d)."""
        j: i64
        for j in range(self._d):
            self.least[j] = min(self.least[j], point[j])

    def left(self) -> None:
        """A member has left. O(texts of last events)."""
        j: i64
        for j in range(self._d):
            self.least[j] = INFINITY
        for ending in self.endings.values():
            for j in range(self._d):
                self.least[j] = min(self.least[j], ending.least[j])


@final
class EndText:
    """The members with runs of one text and a text of the last event. Up to FEW of them are in the columns `handles`,
    `points` and `sinces`; more are in `members`. `least`: their least corner. `others`: all with the same
    text of the last event, among which it has a `place`."""

    def __init__(self, run: RunText, others: EndTexts, d: i64) -> None:
        self.run = run
        self.others = others
        self.place: i64 = 0
        self.count: i64 = 0
        self.least: Floats = filled(d, INFINITY)
        self.handles: Integers = integers()
        self.points: Floats = floats()
        self.sinces: Integers = integers()
        self.members: Members | None = None
        self._d: i64 = d

    def joined(self, handle: int, point: list[float], since: int, host: Members | None) -> None:
        """A member has joined, who is already in `host`, if that has all members. O(pages + page)."""
        if self.members is None and self.count < FEW:
            self._append(handle, point, since)
        else:
            if self.members is None:
                self._gather(host)
            members = self.members
            assert members is not None
            if host is None:
                members.put(handle, point, since)
        self.count += 1
        j: i64
        for j in range(self._d):
            self.least[j] = min(self.least[j], point[j])
        self.others.measure(self)

    def left(self, handle: int, point: list[float], host: Members | None) -> None:
        """A member has left, who is no more in `host`. O(pages + page)."""
        d, members = self._d, self.members
        self.count -= 1
        if members is None:
            self._take_out(handle)
        else:
            if host is None:
                members.remove(handle, point)
            if self.count <= FEW // 2:
                self._spread(members)
        j: i64
        i: i64
        for j in range(d):
            self.least[j] = INFINITY if self.members is None else self.members.root[j]
        if self.members is None:
            for i in range(self.count):
                for j in range(d):
                    self.least[j] = min(self.least[j], self.points[i * d + j])
        self.others.measure(self)

    def _append(self, handle: i64, point: list[float], since: i64) -> None:
        d, n = self._d, len(self.handles)
        self.handles, self.sinces = put_integer(self.handles, n, handle), put_integer(self.sinces, n, since)
        j: i64
        for j in range(d):
            self.points = put(self.points, n * d + j, point[j])

    def _take_out(self, handle: i64) -> None:
        """Remove a member from the columns."""
        kept = [each for each in self.each() if each[0] != handle]
        self.handles, self.sinces, self.points = integers(), integers(), floats()
        for other, point, since in kept:
            self._append(other, point, since)

    def _gather(self, host: Members | None) -> None:
        """Move the members out of the columns."""
        members = Members(int(self._d)) if host is None else host
        if host is None:
            for handle, point, since in self.each():
                members.put(handle, point, since)
        self.members = members
        self.handles, self.sinces, self.points = integers(), integers(), floats()

    def _spread(self, members: Members) -> None:
        """Move the members, who are few again, into the columns."""
        for handle, point, since in members.each():
            self._append(handle, point, since)
        self.members = None

    def each(self) -> list[tuple[int, list[float], int]]:
        """Handle, point and `since` of all members. O(members)."""
        if self.members is not None:
            return list(self.members.each())
        found: list[tuple[int, list[float], int]] = []
        d = int(self._d)
        for i in range(len(self.handles)):
            found.append((int(self.handles[i]), [self.points[i * d + j] for j in range(d)], int(self.sinces[i])))
        return found

    # --- questions ----------------------------------------------------------------------------------------------

    def possible(self, x: Floats) -> bool:
        """Whether the values may dominate a member. O(d)."""
        d, least = self._d, self.least
        j: i64 = 0
        while j < d and least[j] <= x[j]:
            j += 1
        return j == d

    def find(self, x: Floats, first: i64, out: MatchBlocks) -> i64:
        """Write the handles of the members that the values dominate and for which runs from event `first` on count;
        returns their number."""
        members = self.members
        if members is not None:
            return members.find(x, 0, first, out)
        d, points, sinces = self._d, self.points, self.sinces
        begun = out.members_upto
        i: i64
        for i in range(self.count):
            j: i64 = 0
            while j < d and points[i * d + j] <= x[j]:
                j += 1
            if j == d and sinces[i] <= first:
                out.add_member(self.handles[i])
        return out.members_upto - begun

    def check_invariants(self) -> None:
        known = self.each()
        assert len(known) == self.count > 0
        for j in range(self._d):
            assert self.least[j] <= min(point[j] for _, point, _ in known)
            assert self.run.least[j] <= self.least[j]
        if self.members is not None:
            self.members.check_invariants()


@final
class EndTexts:
    """The texts of runs that members want before one text of the last event. Columns: `levels`, the least coordinate of
    the members on an axis that a last event bounds, -1 for none; `numbers`, those of the texts."""

    def __init__(self, text: Text, axis: i64) -> None:
        self.text = text
        self.endings: list[EndText] = []
        self.levels: Floats = floats()
        self.numbers: Integers = integers()
        self._axis: i64 = axis

    def add(self, ending: EndText) -> None:
        place = ending.place = len(self.endings)
        self.endings.append(ending)
        self.numbers = put_integer(self.numbers, place, ending.run.number)
        self.levels = put(self.levels, place, -INFINITY)

    def remove(self, ending: EndText) -> None:
        """The last one takes its place."""
        last = self.endings.pop()
        if last is not ending:
            last.place = ending.place
            self.endings[last.place] = last
            self.numbers[last.place] = last.run.number
            self.measure(last)

    def measure(self, ending: EndText) -> None:
        """Its members have changed."""
        if self._axis >= 0:
            self.levels[ending.place] = ending.least[self._axis]

    def check_invariants(self) -> None:
        for place, ending in enumerate(self.endings):
            assert ending.place == place
            assert self.numbers[place] == ending.run.number
            assert self._axis < 0 or self.levels[place] == ending.least[self._axis]
