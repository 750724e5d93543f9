"""The members of a group of next matches, and what lies with the text by which each event is found, or with none.

Here: who waits for which text, and what an event is asked there. Hot. Not here: what an event does (next_match).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import TextLog
from .blocks import MatchBlocks
from .columns import INFINITY, NAN, Floats, filled
from .member_points import MemberPoints
from .members import Members
from .starts import NONE
from .steps import StepClause
from .text_members import ANY, Text, texts_by_step


@final
class TextLogs:
    """The events that wait and those that forbid, by text. `begins`: the starts; `killing`: of each negation its
    events; `forbidding`: the same by the number of steps that it is behind, as `places` has them, `steps` at most."""

    def __init__(self, begins: TextLog, killing: list[TextLog], places: list[int], steps: i64) -> None:
        self.begins = begins
        self.killing = killing
        self.places = places
        self.steps: i64 = steps
        self.forbidding: list[list[TextLog]] = [[] for _ in range(steps + 1)]
        for killers, behind in zip(killing, places):
            self.forbidding[behind].append(killers)

    def apart(self) -> TextLogs:
        """The same without events, for a partition of its own."""
        return TextLogs(self.begins.apart(), [each.apart() for each in self.killing], self.places, self.steps)

    def each(self) -> list[TextLog]:
        """The starts, and what is forbidden."""
        return [self.begins, *self.killing]


@final
class NextMatchTemplate:
    """The conditions of the `steps` but for their texts, which the attributes `texts` have, -1 for none, and the
    members of one group.

    `further`: the steps behind the second, each with one bound at most; `axes`: its coordinate, -1 for none. `kills`:
    what no event may be behind so many steps; their texts are behind those of the steps. `window`: the coordinate of
    WITHIN; without it there are two steps without texts. `within`: if something is forbidden behind the last step, the
    window, which all have in common. `epochs`: an event sees only what has begun before it has; otherwise each is an
    epoch. `parted`: each partition has logs of its own, and which event has ended what waits for the second step is a
    negation like any other, as no partition knows the members.

    `logs`: what lies with each text; `ends`: the members with each second text, if there are any texts.
    """

    def __init__(
        self, d: int, steps: list[StepClause], texts: list[int], window: int = NONE,
        kills: list[tuple[int, StepClause]] | None = None, *, within: int = NONE, epochs: bool = False,
        parted: bool = False,
    ) -> None:  # fmt: skip
        self.d: i64 = d
        self.begin, self.end, *self.further = steps
        self.axes = [int(clause.bounds[0].coordinate) if clause.bounds else -1 for clause in self.further]
        self.window: i64 = window
        self.x: Floats = filled(d, INFINITY)  # scratch for one event
        self.moved = MatchBlocks()  # scratch, too
        self.completed = MatchBlocks()
        self.top: Floats = filled(d, INFINITY)
        forbidden = [*(kills or []), *([(1, self.end)] if parted else [])]
        self.kills: list[StepClause] = [clause for _, clause in forbidden]
        self.within: i64 = within
        self.epochs = epochs
        self.parted = parted
        self.steps: i64 = len(steps)
        self.attributes = [*texts, -1] if parted else texts
        self.first: i64 = texts[0]
        self.second: i64 = texts[1]
        self.whole = max(texts) < 0
        bounds = self.end.bounds
        self.single = self.whole and not epochs and len(bounds) == 1 and bounds[0].coordinate == 0
        """Whether one number, the first coordinate, decides which members' second condition an event satisfies."""
        assert window >= 0 or (self.whole and len(steps) == 2 and within < 0), "what is kept must have an end"
        begins, *killing = [TextLog(clause, d, window, self.whole) for clause in [self.begin, *self.kills]]
        self.logs = TextLogs(begins, killing, [place for place, _ in forbidden], self.steps)
        self.ends: dict[Text, Members] = {}
        self.known = MemberPoints(self.d)
        self.texts: list[tuple[Text, ...]] = []
        self.unlike: i64 = 0  # members whose first two texts differ

    def joined(self, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined the group. `known`: the texts of the steps that have one. O(pages + page)."""
        self.known.put(handle, point, since)
        texts = texts_by_step(known, self.attributes)
        for log, text in zip(self.logs.each(), [texts[0], *texts[self.steps :]]):
            log.joined(handle, text, point)
        if self.whole:
            return
        ends = texts[1]
        self.unlike += 0 if texts[0] == ends else 1
        while len(self.texts) <= handle:
            self.texts.append(texts)
        self.texts[handle] = texts
        members = self.ends.get(ends)
        if members is None:
            members = self.ends[ends] = Members(int(self.d))
        members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(pages + page)."""
        for log in self.logs.each():
            log.left(handle)
        if self.whole:
            return
        begins, ends = self.texts[handle][:2]
        self.unlike -= 0 if begins == ends else 1
        members = self.ends[ends]
        members.remove(handle, point)
        if members.count == 0:
            del self.ends[ends]

    def forbidden(self, logs: TextLogs, place: i64, handle: i64, since: i64, timed: bool) -> bool:
        """Whether an event behind so many steps has ended what a member waits with since an event, or a time. O(blocks
        since then)."""
        for killers in logs.forbidding[place]:
            starts = killers.of(handle).starts
            if starts.newest_for(self.known.points, handle * self.d, since, timed) > since:
                return True
        return False

    def text(self, step: i64, handle: i64) -> Text:
        """The text of a member's step."""
        return ANY if self.whole else self.texts[handle][step]

    def level(self, step: i64, handle: i64) -> float:
        """What a member waits for at a step behind the second."""
        axis = self.axes[step]
        return self.known.points[handle * self.d + axis] if axis >= 0 else -INFINITY

    def reached(self, step: i64, row: Row, time: i64) -> float:
        """The greatest level that an event reaches there; NaN for none."""
        clause, axis, x = self.further[step], self.axes[step], self.x
        if axis >= 0:
            x[axis] = INFINITY
        if not clause.narrows(row, time, time, x, 0, x, 0) or not clause.admits(row):
            return NAN
        return x[axis] if axis >= 0 else INFINITY
