"""Chains whose steps have a text each, as CEL's `NEXT{$2.name = 'Y'}`: the next event with its text moves a run or ends
it, and all others pass.

Members with any texts are one group, as there may be as many combinations as members. Starts wait with the text that
begins them. Each event with a text ends all that waits for it and has ended before it began, so one number a text and
step says what still waits: what has come since the last of these events had begun. An event finds the members whose
second condition it satisfies among those with its text; each moves with the starts that its point dominates. Behind the
second event a run is a row of its member.

Epochs: an event sees what has ended before it began, and ends these with its epoch.

Here: all texts of a group. Not here: starts (beginnings), what waits for a text (awaited), one key (chain).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .awaited import Awaited
from .beginnings import BEFORE, Beginning, TextLog
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats_from
from .members import Members
from .steps import StepClause
from .text_members import Text


@final
class TextChainTemplate:
    """The conditions but for the texts, which the `attributes` have, and the members of one group.

    `begins`: the starts of each text; `awaits`: by step what waits for each text, nothing for the first. `second`: by
    first text the second ones, with the number of members.
    """

    def __init__(self, d: int, steps: list[StepClause], attributes: list[int]) -> None:
        self.d: i64 = d
        self.steps = steps
        self.attributes = attributes
        self.last: i64 = len(steps) - 1
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.begins = TextLog(steps[0], d)
        self.awaits: list[dict[Text, Awaited]] = [{} for _ in steps]
        self.second: dict[Text, dict[Text, int]] = {}
        self.texts: list[tuple[Text, ...]] = []  # of each member, by handle
        self.points: list[Floats] = []

    def joined(self, handle: int, point: list[float], since: int, texts: tuple[Text, ...]) -> None:
        """A member has joined the group. O(pages + page + steps)."""
        self.begins.joined(handle, texts[0], point)
        place = floats_from(point)
        while len(self.texts) <= handle:
            self.texts.append(texts)
            self.points.append(place)
        self.texts[handle], self.points[handle] = texts, place
        for step in range(1, len(texts)):
            awaited = self.awaits[step].get(texts[step])
            if awaited is None:
                awaited = self.awaits[step][texts[step]] = Awaited(self.d, step)
            awaited.users += 1
        second = self.second.setdefault(texts[0], {})
        second[texts[1]] = second.get(texts[1], 0) + 1
        self.awaits[1][texts[1]].members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(pages + page + runs that wait for its texts)."""
        texts = self.texts[handle]
        self.begins.left(handle)
        second = self.second[texts[0]]
        second[texts[1]] -= 1
        if second[texts[1]] == 0:
            del second[texts[1]]
        if len(second) == 0:
            del self.second[texts[0]]
        self.awaits[1][texts[1]].members.remove(handle, point)
        for step in range(1, len(texts)):
            awaited = self.awaits[step][texts[step]]
            awaited.forget(handle)
            awaited.users -= 1
            if awaited.users == 0:
                del self.awaits[step][texts[step]]

    def awaited(self) -> list[Awaited]:
        """What waits for any text at any step."""
        return [each for waiting in self.awaits for each in waiting.values()]


@final
class TextChainCell(GroupCell):
    """The waiting runs of a group, which lie with the texts that begin them, or for which they wait."""

    def __init__(self, template: TextChainTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        self.now: i64 = BEFORE
        self._epoch: i64 = 0
        template.begins.clear()
        for awaited in template.awaited():
            awaited.clear()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose second condition it satisfies, their starts, later runs)."""
        template = self.template
        if time > self.now:
            self.now = time
            self._epoch += 1
        attributes = template.attributes
        step: i64 = template.last
        while step > 0:
            awaited = template.awaits[step].get(row[attributes[step]])
            if awaited is not None:
                if step == 1:
                    self._meet(awaited, row, time, event, out)
                else:
                    self._move(step, awaited, row, time, event, out)
            step -= 1
        beginning = template.begins.by_text.get(row[attributes[0]])
        if beginning is not None and beginning.begin(row, time, event):
            self.noted = event
            template.begins.note(beginning)
            if beginning.grown():
                beginning.drop(beginning.starts.since_time(self._oldest(beginning), 0.0, 0, beginning.starts.count))

    def _narrowed(self, step: i64, row: Row, time: i64) -> bool:
        """Set the scratch to the values of an event at a step; whether the rest of its condition holds."""
        template, x = self.template, self.template.x
        j: i64
        for j in range(template.d):
            x[j] = INFINITY
        clause = template.steps[step]
        return clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row)

    def _meet(self, awaited: Awaited, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Move the members whose second condition the event satisfies, with all of their starts that it sees."""
        template, turn = self.template, self.began
        since = awaited.meets(turn, self._epoch)
        members, x, d, last = awaited.members, template.x, template.d, template.last
        if members.count == 0 or not self._narrowed(1, row, time) or not members.possible(x, 0):
            return
        found = members.find_points(x, 0, out)
        begun = out.members_upto - found
        hit: i64
        for hit in range(found):
            handle = out.members[begun + hit]
            beginning = template.begins.of(handle)
            if beginning.newest_time < since:
                continue
            starts = beginning.starts
            upto = starts.count
            if upto > 0 and starts.times[upto - 1] >= turn:
                upto = starts.since_time(turn, 0.0, 0, upto)
            first = starts.since_time(since, 0.0, 0, upto)
            path = out.paths_upto
            count = starts.walk(out.hits, hit * d, out.hits_since[hit], first, upto, time, out)
            if count == 0:
                continue
            if last == 1:
                out.close_one(begun + hit, path, count, 1)
            else:
                self._wait(handle, path, count, time, event, out)

    def _wait(self, handle: i64, path: i64, count: i64, time: i64, event: i64, out: MatchBlocks) -> None:
        """Add runs of a member with the starts that were written from `path` on, which have taken a second event."""
        template = self.template
        following = template.awaits[2][template.texts[handle][2]]
        i: i64
        for i in range(path, path + count):
            at = following.add(handle, time)
            following.events[at], following.events[at + 1] = out.paths[i], event
        out.paths_upto = path
        self.noted = event

    def _move(self, step: i64, awaited: Awaited, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Move the runs that the event sees one step on, or complete them."""
        template, turn, width = self.template, self.began, awaited.width
        awaited.meets(turn, self._epoch)
        awaited.drop()
        if awaited.head == awaited.count or not self._narrowed(step, row, time):
            return
        x, bounds = template.x, template.steps[step].bounds
        at = awaited.head
        j: i64
        while at < awaited.count and awaited.times[at] < turn:
            handle = awaited.handles[at]
            point = template.points[handle]
            fits = True
            for bound in bounds:
                if not point[bound.coordinate] <= x[bound.coordinate]:
                    fits = False
            if fits and step == template.last:
                member, path = out.members_upto, out.paths_upto
                out.add_member(handle)
                for j in range(width):
                    out.add_number(awaited.events[at * width + j])
                out.close_one(member, path, 1, width)
            elif fits:
                following = template.awaits[step + 1][template.texts[handle][step + 1]]
                to = following.add(handle, time)
                for j in range(width):
                    following.events[to + j] = awaited.events[at * width + j]
                following.events[to + width] = event
                self.noted = event
            at += 1

    def _oldest(self, beginning: Beginning) -> i64:
        """The time before which no start of a text is waited with. O(texts that follow it)."""
        template, oldest = self.template, self.now
        waiting = template.awaits[1]
        for text in template.second[beginning.text]:
            ended = waiting[text].ended
            if ended < oldest:
                oldest = ended
        return oldest

    def close_epoch(self) -> None:
        self.now = BEFORE

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        template = self.template
        return not template.begins.waits(time) and all(each.head == each.count for each in template.awaited())

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        template = self.template
        starts, texts = template.begins.of(handle).starts, template.texts[handle]
        first = starts.since_time(template.awaits[1][texts[1]].since(), 0.0, 0, starts.count)
        found = starts.waiting(point, since, first, starts.count, time)
        for step in range(2, len(texts)):
            found += template.awaits[step][texts[step]].runs_of(handle)
        return found

    def used(self, events: set[int]) -> None:
        self.template.begins.used(events)
        for each in self.template.awaited():
            events.update(int(each.events[at]) for at in range(each.head * each.width, each.count * each.width))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        template = self.template
        return {
            "now": int(self.now),
            "epoch": int(self._epoch),
            "starts": template.begins.dump(),
            "awaits": [[[text, each.dump()] for text, each in waiting.items()] for waiting in template.awaits],
        }

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._epoch = dumped["now"], dumped["epoch"]
        self.template.begins.load(dumped["starts"])
        for waiting, kept in zip(self.template.awaits, dumped["awaits"]):
            for text, awaited in kept:
                waiting[text].load(list(awaited))

    def check_invariants(self) -> None:
        template = self.template
        template.begins.check_invariants(self.members)
        assert template.second.keys() == template.begins.by_text.keys()
        for step, waiting in enumerate(template.awaits):
            assert step == 0 or sum(int(each.users) for each in waiting.values()) == self.members.count
            for each in waiting.values():
                each.members.check_invariants()
                times = [int(each.times[at]) for at in range(each.head, each.count)]
                assert times == sorted(times), "runs are in the order of time"
