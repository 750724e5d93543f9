"""Other keys at other steps: next matches of two events that are found by a text each, `a.name = 'X' AND b.name = 'Y'`.

Members with any texts are one group, as there may be as many combinations as members. Starts wait with the text that
begins them, for all members that begin so; an event finds the members whose second condition it satisfies among those
that end with its text. Each has a match with the starts of its first text that it dominates, from the last event on
that has satisfied its second condition (last_met). Every event is an epoch.

Here: all texts of a group. Not here: one key (next_match).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import Beginning, Text
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .last_met import LastMet
from .members import Members
from .steps import StepClause


@final
class OtherKeysTemplate:
    """The conditions but for the texts, which the attributes `texts` have, and the members of one group.

    `window`: the coordinate of WITHIN. `begins`, `ends`: the starts and the members of each text.
    """

    def __init__(self, d: int, begin: StepClause, end: StepClause, texts: tuple[int, int], window: int) -> None:
        assert window >= 0, "what is kept must have an end"
        self.d: i64 = d
        self.begin = begin
        self.end = end
        self.first: i64 = texts[0]
        self.second: i64 = texts[1]
        self.window: i64 = window
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.begins: dict[Text, Beginning] = {}
        self.ends: dict[Text, Members] = {}
        self.beginnings: list[Beginning] = []  # of each member, by handle
        self._endings: list[Text] = []

    def joined(self, handle: int, point: list[float], since: int, texts: tuple[Text, ...]) -> None:
        """A member has joined the group. O(pages + page)."""
        begins, ends = texts
        beginning = self.begins.get(begins)
        if beginning is None:
            beginning = self.begins[begins] = Beginning(begins, self.d, self.window)
        beginning.joined(point)
        while len(self.beginnings) <= handle:
            self.beginnings.append(beginning)
            self._endings.append(ends)
        self.beginnings[handle], self._endings[handle] = beginning, ends
        members = self.ends.get(ends)
        if members is None:
            members = self.ends[ends] = Members(int(self.d))
        members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(pages + page)."""
        beginning, ends = self.beginnings[handle], self._endings[handle]
        beginning.members -= 1
        if beginning.members == 0:
            del self.begins[beginning.text]
        members = self.ends[ends]
        members.remove(handle, point)
        if members.count == 0:
            del self.ends[ends]


@final
class OtherKeysCell(GroupCell):
    """The waiting runs of a group, which lie with the texts that begin them."""

    def __init__(self, template: OtherKeysTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        self._met = LastMet()
        for beginning in template.begins.values():
            beginning.clear()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose second condition it satisfies, their starts)."""
        template = self.template
        members = template.ends.get(row[template.second])
        if members is not None:
            self._meet(members, row, time, event, out)
        beginning = template.begins.get(row[template.first])
        if beginning is not None and beginning.begin(template.begin, row, time, event):
            self.noted = event
            if beginning.grown():
                beginning.drop(beginning.first_in_time(time))

    def _meet(self, members: Members, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Write the matches of the members whose second condition the event satisfies, and note that it does."""
        template, x, met = self.template, self.template.x, self._met
        d = template.d
        j: i64
        for j in range(d):
            x[j] = INFINITY
        end = template.end
        if not end.narrows(row, time, time, x, 0, x, 0) or not members.possible(x, 0) or not end.admits(row):
            return
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        met.epoch += 1
        beginnings = template.beginnings
        hit: i64
        for hit in range(found):
            handle = out.members[begun + hit]
            since = met.meets(handle, event)
            beginning = beginnings[handle]
            if beginning.newest < since or beginning.newest < 0:
                continue
            starts = beginning.starts
            first = starts.begun_since(out.hits, hit * d, since, False, 0, starts.count)
            if first == starts.count:
                continue
            path = out.paths_upto
            count = starts.walk(out.hits, hit * d, out.hits_since[hit], first, starts.count, time, out)
            if count > 0:
                out.close_one(begun + hit, path, count, 1)

    def forget(self, handle: int) -> None:
        self._met.forget(handle)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return all(each.first_in_time(time) == each.starts.count for each in self.template.begins.values())

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        starts = self.template.beginnings[handle].starts
        first = starts.since_event(self._met.since(handle, True), 0, starts.count)
        return starts.waiting(point, since, first, starts.count, time)

    def used(self, events: set[int]) -> None:
        for each in self.template.begins.values():
            each.starts.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        logs = [[text, each.starts.dump()] for text, each in self.template.begins.items() if each.starts.count > 0]
        return {"met": self._met.dump(), "starts": logs}

    def load(self, dumped: dict[str, Any]) -> None:
        self._met.load(list(dumped["met"]))
        for text, starts in dumped["starts"]:
            self.template.begins[text].load(starts)

    def statistics(self) -> dict[str, int]:
        waiting = sum(int(each.starts.count) for each in self.template.begins.values())
        return {**self.members.statistics(), "starts": waiting}

    def check_invariants(self) -> None:
        template = self.template
        assert sum(int(each.count) for each in template.ends.values()) == self.members.count
        assert sum(int(each.members) for each in template.begins.values()) == self.members.count
        for members in template.ends.values():
            members.check_invariants()
        for each in template.begins.values():
            each.starts.check_invariants()
            for j in range(int(template.d)):
                assert all(each.root[j] <= point[j] for point in self._points(each))

    def _points(self, beginning: Beginning) -> list[list[float]]:
        found = [member for members in self.template.ends.values() for member in members.each()]
        return [point for handle, point, _ in found if self.template.beginnings[handle] is beginning]
