"""A cohort: the runs of all members that have the same events, without the members that have moved on.

Here: its values and boxes. Hot. Not here: which events move it (skip_till).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from .columns import INFINITY, Floats, filled, floats, floats_from, put, with_room


@final
class Cohort:
    """Members inside `values` and outside of the boxes: `settled` ones count, those up to `count` only for the event
    that makes them.

    `start`: when the first event began; `taken`: when the newest one ended; `events`: their numbers; `registers`: what
    the runs remember. `greatest`: the greatest number that has been compared, if the next step compares one only;
    `newest`: the same since the boxes settled; `noted`: whether there is anything to settle.
    """

    def __init__(self, start: i64, taken: i64, values: Floats, d: i64) -> None:
        self.start: i64 = start
        self.taken: i64 = taken
        self.values: Floats = filled(d, 0.0)
        self.registers: Floats = floats()
        self.events: list[int] = []
        self.count: i64 = 0
        self.settled: i64 = 0
        self.greatest = -INFINITY
        self.newest = -INFINITY
        self.noted = False
        self._boxes: Floats = floats()
        j: i64
        for j in range(d):
            self.values[j] = values[j]

    def remember(self, number: float) -> None:
        """Add a register."""
        self.registers = put(self.registers, len(self.registers), number)

    def add_box(self, box: Floats, d: i64) -> None:
        """The members inside the box have moved on. O(d)."""
        boxes, at = with_room(self._boxes, (self.count + 1) * d), self.count * d
        j: i64
        for j in range(d):
            boxes[at + j] = box[j]
        self._boxes = boxes
        self.count += 1

    def leave_out(self, other: Cohort, newest: i64, d: i64) -> None:
        """Take over the boxes of another cohort that count, and those from `newest` on. O(boxes x d)."""
        self._boxes = filled(other.count * d, 0.0)
        box: i64
        j: i64
        for box in range(other.count):
            if box < other.settled or box >= newest:
                for j in range(d):
                    self._boxes[self.count * d + j] = other._boxes[box * d + j]
                self.count += 1

    def settle(self, d: i64) -> None:
        """Let all boxes count. Those that a new one contains are not needed any more. O(boxes x new boxes x d)."""
        if self.newest > self.greatest:
            self.greatest = self.newest
        self.newest, self.noted = -INFINITY, False
        boxes, kept = self._boxes, self.settled
        box: i64
        other: i64
        j: i64
        for box in range(self.settled, self.count):
            upto = kept
            kept = 0
            for other in range(upto):
                j = 0
                while j < d and boxes[other * d + j] <= boxes[box * d + j]:
                    j += 1
                if j < d:
                    self._put(other, kept, d)
                    kept += 1
            self._put(box, kept, d)
            kept += 1
        self.settled = self.count = kept

    def _put(self, box: i64, at: i64, d: i64) -> None:
        """Move a box to an earlier place."""
        boxes = self._boxes
        j: i64
        if at < box:
            for j in range(d):
                boxes[at * d + j] = boxes[box * d + j]

    def has_left(self, point: Floats, base: i64, newest: i64, d: i64) -> bool:
        """Whether the point from `base` on is inside a box that counts, or one from `newest` on. O(boxes)."""
        boxes = self._boxes
        box: i64
        j: i64
        for box in range(self.count):
            if box < self.settled or box >= newest:
                j = 0
                while j < d and point[base + j] <= boxes[box * d + j]:
                    j += 1
                if j == d:
                    return True
        return False

    # --- snapshots ----------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        boxes = [self._boxes[i] for i in range(int(self.count) * len(self.values))]
        values, registers, events = list(self.values), list(self.registers), list(self.events)
        compared = [self.greatest, self.newest, self.noted]
        return [int(self.start), int(self.taken), values, registers, events, int(self.settled), boxes, compared]

    @staticmethod
    def loaded(dumped: Any, d: int) -> Cohort:
        """The cohort of a result of `dump`, also after it was written and read."""
        start, taken, values, registers, events, settled, boxes, compared = dumped
        cohort = Cohort(start, taken, floats_from(list(values)), d)
        cohort.registers, cohort.events = floats_from(list(registers)), list(events)
        cohort.greatest, cohort.newest, cohort.noted = compared
        cohort.settled, cohort.count, cohort._boxes = settled, len(boxes) // d, floats_from(list(boxes))
        return cohort
