"""The conditions of a window query on single events: numbered, and the names in them.

Here: what a bare name, `prev.x` and `time` mean. Not here: typing of expressions (resolution), where conditions stand
(lowering, formulas).

`time` is the time of the event, unless the stream has an attribute of that name; `prev.x`, `prev2.x` are attributes of
the events before it in its partition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from ...events.nearest import suggestion
from ...events.schema import Schema
from ...language import syntax
from ..resolution import condition, refuse
from ..terms import Attribute, Side, Term

ATOMS_MAX: Final = 60
"""The most different conditions of one query: each is one bit of a machine integer."""
LOOK_BACK_MAX: Final = 16
"""The greatest number in `prev16.x`: so many events are kept for each partition."""
TIME: Final = "time"
_PREVIOUS: Final = re.compile(r"prev([0-9]*)", re.IGNORECASE)


@dataclass(slots=True)
class Conditions:
    """The different conditions of a query, numbered as they come, and how far they look back."""

    text: str
    schema: Schema
    atoms: dict[Term, int] = field(default_factory=dict)
    back: int = 0

    def number(self, expression: syntax.Expression, scope: EventScope) -> int:
        """The number of a condition. Raises QueryError."""
        return self.numbered(condition(expression, scope), expression.at)

    def numbered(self, term: Term, at: int) -> int:
        if term not in self.atoms and len(self.atoms) >= ATOMS_MAX:
            refuse(self.text, at, f"expected at most {ATOMS_MAX} different conditions on events, found more")
        return self.atoms.setdefault(term, len(self.atoms))

    def before(self, back: str, at: int) -> int:
        """The number of events that `prev` and this number look back. Raises QueryError."""
        number = int(back) if back else 1
        if not 1 <= number <= LOOK_BACK_MAX:
            refuse(self.text, at, f"expected prev, prev2 up to prev{LOOK_BACK_MAX}, found prev{back}")
        self.back = max(self.back, number)
        return number

    def attribute(self, name: str, at: int, back: int, timed: bool = False) -> Attribute:
        """An attribute, or the time, of the event `back` before. `timed`: `time` is the time in any case."""
        position = -1 if timed else self.schema.position(name)
        width = len(self.schema.attributes) + 1
        side, shift = (Side.LAST, (back - 1) * width) if back else (Side.EVENT, 0)
        if position >= 0:
            found = self.schema.attributes[position]
            return Attribute(side, shift + position, found.type, found.name, found.nullable or back > 0)
        if name.lower() != TIME:
            near = suggestion(name, (*self.schema.names, TIME))
            refuse(self.text, at, f"unknown attribute {name!r}{near}")
        return Attribute(side, shift + width - 1, "int", TIME, back > 0)


@dataclass(frozen=True, slots=True)
class EventScope:
    """A predicate: the event's attributes by bare name, those of the events before as `prev.x`."""

    conditions: Conditions
    timed: bool = False
    looks_back: bool = True

    @property
    def text(self) -> str:
        return self.conditions.text

    def name(self, name: syntax.Name) -> Term:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute by its bare name, found {found}")
        return self.conditions.attribute(name.attribute, name.at, 0, self.timed)

    def member(self, member: syntax.MemberAccess) -> Term:
        found = _PREVIOUS.fullmatch(member.variable)
        path = f"{member.variable}.{member.attribute}"
        if found is None and self.conditions.schema.position(path) >= 0:
            return self.conditions.attribute(path, member.at, 0, self.timed)
        if found is None or not self.looks_back:
            able = "prev.x, prev2.x, ..." if self.looks_back else "an attribute of the event by its bare name"
            refuse(
                self.text, member.at, f"expected {able}, found {path!r}{suggestion(path, self.conditions.schema.names)}"
            )
        back = self.conditions.before(found.group(1), member.at)
        return self.conditions.attribute(member.attribute, member.at, back, self.timed)

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since windows read the time of an event alone")
