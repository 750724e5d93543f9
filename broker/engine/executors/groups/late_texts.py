"""A negation at the end, and a text for each step: `a, b, ~n` WITHIN w of a, where `a.name = 'X' AND b.name = 'Y' AND
n.name = 'Z'`, or some have no text; or more steps, `a, b, c, ~n`.

Pairs are completed as other keys complete them. What is forbidden lies with its text, in the order of time: a due pair
asks whether the newest such event that concerns its member is later than its last event.

Here: all texts of a group. Hot. Not here: when pairs are told (late_pairs), which pairs there are, and what lies with
a text (other_keys), one key (trailing).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .late_pairs import LatePairsCell
from .members import Members
from .other_keys import OtherKeysCell
from .other_keys_template import OtherKeysTemplate
from .starts import Starts


@final
class LateTextsCell(LatePairsCell):
    """The pairs of all texts."""

    def __init__(self, template: OtherKeysTemplate, members: Members) -> None:
        others = OtherKeysCell(template, members)
        super().__init__(others, template.within, template.completed, len(template.further))
        self.template = template
        self._others = others

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. As with other keys, and O(1) for each completed pair."""
        self.advance(time, out)
        others, found = self._others, self.found
        found.clear()
        others.take(row, time, event, found)
        if found.upto > 0:
            self.hang(time, event)
            self.noted = event
        elif others.noted > self.noted:
            self.noted = others.noted
        if others.forbade == event:
            self.alive = False

    def starts_of(self, handle: i64) -> Starts:
        return self.template.beginnings.of(handle).starts

    def dies(self, handle: i64, level: float, completed: i64) -> bool:
        """O(blocks of what its text forbids since then)."""
        return self.template.forbidden(len(self.template.further) + 2, handle, completed, True)
