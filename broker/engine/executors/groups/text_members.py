"""The members of a group of chains of adjacent events that are found by a text each, as SASE+'s strict_contiguity and
P-ToPSS's `,` without a key. Members with any texts are one group: a run is for those with the texts of its events.

Here: members by their texts. Hot. Not here: what an event does (chain), CEL's NEXT (text_chain).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from ....events.schema import Row
from .members import Members

Text: TypeAlias = Any
ANY: Final = None  # in place of a text


def texts_by_step(known: tuple[Text, ...], attributes: list[int]) -> tuple[Text, ...]:
    """The text of each step, ANY for those without, whose attribute is -1. `known`: those of the others, in order."""
    left = iter(known)
    return tuple([next(left) if attribute >= 0 else ANY for attribute in attributes])


@final
class TextMembers:
    """`attributes`: of each step that of its text, -1 for none; `texts`: of each member, by handle."""

    def __init__(self, d: int, attributes: list[int]) -> None:
        self.d = d
        self.attributes = attributes
        self.texts: list[tuple[Text, ...]] = []
        self._members: dict[tuple[Text, ...], Members] = {}
        self._wanted: list[dict[Text, int]] = [{} for _ in attributes]  # by step the texts in use, with their members

    def joined(self, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined the group. O(steps + pages + page)."""
        texts = texts_by_step(known, self.attributes)
        members = self._members.get(texts)
        if members is None:
            members = self._members[texts] = Members(self.d)
        members.put(handle, point, since)
        while len(self.texts) <= handle:
            self.texts.append(texts)
        self.texts[handle] = texts
        for wanted, text in zip(self._wanted, texts):
            wanted[text] = wanted.get(text, 0) + 1

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(steps + pages + page)."""
        texts = self.texts[handle]
        members = self._members[texts]
        members.remove(handle, point)
        if members.count == 0:
            del self._members[texts]
        for wanted, text in zip(self._wanted, texts):
            wanted[text] -= 1
            if wanted[text] == 0:
                del wanted[text]

    def wants(self, step: i64, row: Row) -> bool:
        """Whether some member has the event's text at a step. O(1)."""
        attribute = self.attributes[step]
        return (row[attribute] if attribute >= 0 else ANY) in self._wanted[step]

    def fits(self, handle: int, rows: list[Row]) -> bool:
        """Whether a member has the texts of the first events of a run."""
        return self._texts_of(rows) == self.texts[handle][: len(rows)]

    def of(self, rows: list[Row]) -> Members | None:
        """The members with the texts of the events of a run; None if there are none."""
        return self._members.get(self._texts_of(rows))

    def _texts_of(self, rows: list[Row]) -> tuple[Text, ...]:
        return tuple([row[at] if at >= 0 else ANY for row, at in zip(rows, self.attributes)])

    def check_invariants(self, count: int) -> None:
        """`count`: of members."""
        assert sum(int(each.count) for each in self._members.values()) == count
        assert all(sum(wanted.values()) == count for wanted in self._wanted)
        for members in self._members.values():
            members.check_invariants()
