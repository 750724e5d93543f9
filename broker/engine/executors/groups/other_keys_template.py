"""The members of a group of next matches whose events are found by a text each, and what lies with each text.

Here: who waits for which text, and what an event is asked there. Hot. Not here: what an event does (other_keys).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import Beginning, MemberBeginnings, Text, texts_by_step
from .blocks import MatchBlocks
from .columns import INFINITY, NAN, Floats, filled
from .member_points import MemberPoints
from .members import Members
from .starts import NONE
from .steps import StepClause


@final
class OtherKeysTemplate:
    """The conditions but for the texts, which the attributes `texts` have, -1 for none, and the members of one group.

    `further`: those behind the second, each with one bound at most; `axes`: its coordinate, -1 for none. `window`: the
    coordinate of WITHIN. `begins`: the starts of each text, `beginnings`: of each member; `ends`: the members with each
    second text. `kills`: what no event may be behind so many steps as `places` says; their texts are behind those of
    the steps; `killing`: of each the events of each text; `forbidding`: by place, of each those that concern a member.
    `within`: if something is forbidden behind the last step, the window, which all have in common.
    """

    def __init__(
        self, d: int, begin: StepClause, end: StepClause, texts: list[int], window: int,
        further: list[StepClause] | None = None, kills: list[StepClause] | None = None,
        places: list[int] | None = None, within: int = NONE,
    ) -> None:  # fmt: skip
        assert window >= 0, "what is kept must have an end"
        self.d: i64 = d
        self.begin = begin
        self.end = end
        self.further: list[StepClause] = further or []
        self.axes = [int(clause.bounds[0].coordinate) if clause.bounds else -1 for clause in self.further]
        self.first: i64 = texts[0]
        self.second: i64 = texts[1]
        self.attributes = texts
        self.window: i64 = window
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.moved = MatchBlocks()  # scratch, too
        self.completed = MatchBlocks()
        self.begins: dict[Text, Beginning] = {}
        self.ends: dict[Text, Members] = {}
        self.kills: list[StepClause] = kills or []
        self.killing: list[dict[Text, Beginning]] = [{} for _ in self.kills]
        self.within: i64 = within
        self.beginnings = MemberBeginnings()
        self._killers = [MemberBeginnings() for _ in self.kills]
        self.forbidding: list[list[MemberBeginnings]] = [[] for _ in range(len(self.further) + 3)]
        for killers, behind in zip(self._killers, places or []):
            self.forbidding[behind].append(killers)
        self.known = MemberPoints(self.d)
        self.texts: list[tuple[Text, ...]] = []
        self.top: Floats = filled(d, INFINITY)  # scratch, too
        self.unlike: i64 = 0  # members whose first two texts differ

    def joined(self, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined the group. `known`: the texts of the steps that have one. O(pages + page)."""
        texts = texts_by_step(known, self.attributes)
        begins, ends = texts[0], texts[1]
        self.unlike += 0 if begins == ends else 1
        beginning = self.begins.get(begins)
        if beginning is None:
            beginning = self.begins[begins] = Beginning(begins, self.d, self.window)
            self.beginnings.enter(beginning)
        beginning.joined(point)
        self.beginnings.put(handle, beginning)
        for killing, killers, text in zip(self.killing, self._killers, texts[len(self.further) + 2 :]):
            killed = killing.get(text)
            if killed is None:
                killed = killing[text] = Beginning(text, self.d, self.window)
                killers.enter(killed)
            killed.joined(point)
            killers.put(handle, killed)
        while len(self.texts) <= handle:
            self.texts.append(texts)
        self.texts[handle] = texts
        self.known.put(handle, point, since)
        members = self.ends.get(ends)
        if members is None:
            members = self.ends[ends] = Members(int(self.d))
        members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(pages + page)."""
        beginning, ends = self.beginnings.of(handle), self.texts[handle][1]
        self.unlike -= 0 if beginning.text == ends else 1
        beginning.members -= 1
        if beginning.members == 0:
            del self.begins[beginning.text]
            self.beginnings.leave(beginning)
        for killing, killers in zip(self.killing, self._killers):
            killed = killers.of(handle)
            killed.members -= 1
            if killed.members == 0:
                del killing[killed.text]
                killers.leave(killed)
        members = self.ends[ends]
        members.remove(handle, point)
        if members.count == 0:
            del self.ends[ends]

    def each(self) -> list[Beginning]:
        """The starts of all texts, and what is forbidden."""
        found = list(self.begins.values())
        for killing in self.killing:
            found += killing.values()
        return found

    def forbidden(self, place: i64, handle: i64, since: i64, timed: bool) -> bool:
        """Whether an event behind so many steps has ended what a member waits with since an event, or a time. O(blocks
        since then)."""
        for killers in self.forbidding[place]:
            starts = killers.of(handle).starts
            if starts.newest_for(self.known.points, handle * self.d, since, timed) > since:
                return True
        return False

    def level(self, step: i64, point: list[float]) -> float:
        """What a member with this point waits for at a step behind the second."""
        axis = self.axes[step]
        return point[axis] if axis >= 0 else -INFINITY

    def reached(self, step: i64, row: Row, time: i64) -> float:
        """The greatest level that an event reaches there; NaN for none."""
        clause, axis, x = self.further[step], self.axes[step], self.x
        if axis >= 0:
            x[axis] = INFINITY
        if not clause.narrows(row, time, time, x, 0, x, 0) or not clause.admits(row):
            return NAN
        return x[axis] if axis >= 0 else INFINITY
