"""Choices: patterns of one event that may be any of several steps, as P-ToPSS's `a OR b`; each step is a match.

Each step is a filter over its own constants: an event finds the members of each by one lookup. Members whose step has a
text of its own are found by the text that an event has. So members with any texts are one group.

Here: one key, and all texts of a group. Not here: how a filter finds members (filters).
"""

from __future__ import annotations

from typing import Any, TypeAlias, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .coordinates import CoordinateBound
from .filters import FilterCell
from .members import Members
from .steps import StepClause

Text: TypeAlias = Any  # None of a step without one


@final
class ChoiceStep:
    """A step's conditions, and the members by its text. `attribute`: that of the text, -1 if the step has none.

    `coordinates`: those of its constants; its members and bounds have these alone, or one that bounds nothing.
    """

    def __init__(self, clauses: list[StepClause], attribute: int, order: int) -> None:
        self.attribute: i64 = attribute
        self.order = order
        known = sorted({int(bound.coordinate) for clause in clauses for bound in clause.bounds})
        self.coordinates = known or [0]
        self.clauses = [self._own(clause) for clause in clauses]
        self.filters: dict[Text, FilterCell] = {}

    def _own(self, clause: StepClause) -> StepClause:
        bounds: list[CoordinateBound] = []
        for each in clause.bounds:
            at = self.coordinates.index(int(each.coordinate))
            bounds.append(each.elsewhere(at))
        return StepClause(bounds, clause.guard, clause.compares)

    def joined(self, handle: int, point: list[float], since: int, text: Text) -> None:
        found = self.filters.get(text)
        if found is None:
            members = Members(len(self.coordinates))
            found = self.filters[text] = FilterCell(self.clauses, len(self.coordinates), None, members)
        found.join(handle, [point[at] for at in self.coordinates], since)

    def left(self, handle: int, point: list[float], text: Text) -> None:
        found = self.filters[text]
        found.leave(handle, [point[at] for at in self.coordinates])
        if found.members.count == 0:
            del self.filters[text]


@final
class ChoiceTemplate:
    """The steps, and the members of one group. `texts`: by handle those of the steps that have one."""

    def __init__(self, steps: list[ChoiceStep]) -> None:
        self.steps = steps
        self.texts: dict[int, list[Text]] = {}

    def joined(self, handle: int, point: list[float], since: int, texts: tuple[Text, ...]) -> None:
        """A member has joined the group. O(steps x (pages + page))."""
        left = list(texts)
        own = [left.pop(0) if step.attribute >= 0 else None for step in self.steps]
        self.texts[handle] = own
        for step, text in zip(self.steps, own):
            step.joined(handle, point, since, text)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(steps x (pages + page))."""
        for step, text in zip(self.steps, self.texts.pop(handle)):
            step.left(handle, point, text)


@final
class ChoiceCell(GroupCell):
    """Nothing waits: only the members matter, which all cells share."""

    def __init__(self, template: ChoiceTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. One lookup for each clause."""
        for step in self.template.steps:
            found = step.filters.get(None if step.attribute < 0 else row[step.attribute])
            if found is not None:
                out.order = step.order
                found.take(row, time, event, out)

    def quiet(self, time: i64) -> bool:
        return True
