"""The template of a group of repetitions: what a match asks of its members, and these by their texts.

Runs are kept apart by the text that all of their events have, and a last single event may have another one. So members
with any texts are one group: an event is taken by the runs of its text, and completes matches of those texts whose runs
some member wants an event with its text behind. A step without a text has ANY.

Here: conditions, and the members of one group. Not here: what an event does (repeating).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ..common_runs import CommonPattern
from .columns import INFINITY, Floats, filled, integers_from
from .coordinates import CoordinateBound, narrowed
from .members import Members
from .repeating_members import EndText, EndTexts, RunText
from .steps import StepClause
from .text_members import ANY, Text, texts_by_step


@final
class RepeatingTemplate:
    """`begin`: what a first event is asked; `last`: the bounds on a last single event; `whole`: those on registers of
    runs that are rows of numbers; `compared`: all of these as bounds on the compared values of a match, `asked`: the
    operand that a run has then reached. `attributes`: those of the texts of runs and of last events, -1 for none.

    `begin_axes`: the coordinates that a first event bounds; `end_axis`: the first one that a last event bounds, -1 for
    none. `runs`: by their text the members; `ends`: the same by the text of last events; `only`: all members, if they
    have no texts. `single`: there is one member only.
    """

    def __init__(
        self,
        d: int,
        begin: StepClause,
        last: list[CoordinateBound],
        whole: list[CoordinateBound],
        compared: list[CoordinateBound],
        asked: list[int],
        pattern: CommonPattern,
        attributes: list[int],
    ) -> None:
        self.d: i64 = d
        self.begin = begin
        self.last = last
        self.whole = whole
        self.compared = compared
        self.asked = asked
        self.pattern = pattern
        self.attributes = attributes or [-1, -1]
        self.apart = len(attributes) > 0  # members have texts
        self.run_attribute: i64 = self.attributes[0]
        self.end_attribute: i64 = self.attributes[1]
        self.plain = len(compared) == 0  # a match has the values of its first event
        self.measured = len(whole) > 0
        self.begin_axes = integers_from(sorted({int(bound.coordinate) for bound in begin.bounds}))
        self.end_axis: i64 = last[0].coordinate if len(last) > 0 else -1
        self.reached: Floats = filled(d, INFINITY)  # by the last event
        self.runs: dict[Text, RunText] = {}
        self.ends: dict[Text, EndTexts] = {}
        self.only: EndText | None = None
        self.single = False
        self.version: i64 = 0  # of the members
        self.gone: i64 = -1  # the number of the text that the last member who left was the last one to have
        self._endings: list[EndText] = []  # by handle
        self._unused: list[int] = []  # numbers of texts
        self._least: Floats = filled(d, INFINITY)
        self._changed = True

    def joined(self, members: Members, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined. `known`: the texts that it has; `members`: all. O(pages + page)."""
        texts = texts_by_step(known, self.attributes)
        run = self.runs.get(texts[0])
        if run is None:
            number = self._unused.pop() if self._unused else len(self.runs)
            run = self.runs[texts[0]] = RunText(texts[0], number, self.d)
            self.pattern.afford(len(self.runs))
        ending = run.endings.get(texts[1])
        if ending is None:
            others = self.ends.get(texts[1])
            if others is None:
                others = self.ends[texts[1]] = EndTexts(texts[1], self.end_axis)
            ending = run.endings[texts[1]] = EndText(run, others, self.d)
            others.add(ending)
            self.only = None if self.apart else ending
        ending.joined(handle, point, since, None if self.apart else members)
        run.joined(point)
        while len(self._endings) <= handle:
            self._endings.append(ending)
        self._endings[handle] = ending
        self._changed = True

    def left(self, members: Members, handle: int, point: list[float]) -> None:
        """A member has left. O(pages + page + texts that are used with its texts)."""
        ending = self._endings[handle]
        run = ending.run
        ending.left(handle, point, None if self.apart else members)
        self.gone = -1
        if ending.count == 0:
            others = ending.others
            others.remove(ending)
            del run.endings[others.text]
            if not others.endings:
                del self.ends[others.text]
        run.left()
        if not run.endings:
            del self.runs[run.text]
            self.only = None
            self.gone = run.number
            self._unused.append(int(run.number))
            self.pattern.afford(max(1, len(self.runs)))
        self._changed = True

    def refresh(self, members: Members) -> None:
        """Tell the runs of the least coordinates if members have changed. O(1), or O(d)."""
        if not self._changed:
            return
        self._changed = False
        first, single = self.version == 0, members.count == 1
        self.version += 1
        other = first or single != self.single
        self.single = single
        least = members.root
        for run in self.runs.values() if single else ():
            least = run.least  # its constants
        j: i64
        for j in range(self.d):
            other = other or least[j] != self._least[j]
            self._least[j] = least[j]
        if other:
            self.pattern.bound(self._least, single)

    def ending(self, handle: int) -> EndText:
        """The members with the texts of one."""
        return self._endings[handle]

    def mask(self, row: Row, time: i64) -> i64:
        """What an event may be in a match, but for the constants of a first event. Sets `reached`. O(d)."""
        pattern = self.pattern
        mask = pattern.mask(row)
        if len(self.last) > 0 and mask & pattern.ends != 0 and not self._ended(row, time):
            mask &= ~pattern.ends
        return mask

    def _ended(self, row: Row, time: i64) -> bool:
        """Set `reached` to the values of a last event; False if one is null. O(d)."""
        reached = self.reached
        j: i64
        for j in range(self.d):
            reached[j] = INFINITY
        return narrowed(self.last, row, time, time, reached, 0, reached, 0)

    def run_text(self, row: Row) -> Text:
        """The text of the runs that an event may belong to."""
        return row[self.run_attribute] if self.run_attribute >= 0 else ANY

    def end_text(self, row: Row) -> Text:
        """The text as which an event may be the last one."""
        return row[self.end_attribute] if self.end_attribute >= 0 else ANY

    def check_invariants(self, members: Members) -> None:
        endings = [ending for run in self.runs.values() for ending in run.endings.values()]
        known = {handle: (point, since) for handle, point, since in members.each()}
        assert known == {handle: (point, since) for one in endings for handle, point, since in one.each()}
        assert sum(len(others.endings) for others in self.ends.values()) == len(endings)
        for others in self.ends.values():
            others.check_invariants()
        numbers = [int(run.number) for run in self.runs.values()]
        assert sorted([*numbers, *self._unused]) == list(range(len(numbers) + len(self._unused)))
        for ending in endings:
            ending.check_invariants()
            assert self.ends[ending.others.text] is ending.others
