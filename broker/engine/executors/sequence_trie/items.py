"""The caller's items of the events that witnesses may still name.

Terms store the numbers of the events of their newest tuple. This file stores the items of these events: all of the
newest in a list, and those older ones that a term refers to. The references are collected only once in many events, so
an event without references costs one entry of a list.

Here: items by number. Not here: which are needed (trie).
"""

from __future__ import annotations

from typing import TypeAlias, final

from mypy_extensions import i64

Item: TypeAlias = object
"""A caller's name of an event, returned in a witness: for instance its id and its time."""


@final
class Items:
    """The items at one time, which stay readable when later ones are forgotten.

    `new` has those from the number `begins` on, and grows; the needed older ones are stored apart.
    """

    __slots__ = ("begins", "new", "old")

    def __init__(self, old: dict[int, Item], begins: i64) -> None:
        self.old = old
        self.new: list[Item] = []
        self.begins: i64 = begins

    def __len__(self) -> int:
        return len(self.old) + len(self.new)

    def of_word(self, end: i64, length: i64) -> list[Item]:
        """The items of neighbouring events."""
        first: i64 = end - length + 1
        if first >= self.begins:
            at = first - self.begins
            return self.new[at : at + length]
        return [self.get(number) for number in range(first, end + 1)]

    def get(self, number: i64) -> Item:
        return self.old[number] if number < self.begins else self.new[number - self.begins]

    def only(self, needed: set[int]) -> Items:
        """A copy with the needed items only. O(items, and those needed)."""
        there = [n for n in sorted(needed) if n in self.old or n >= self.begins]
        return Items({number: self.get(number) for number in there}, self.begins + len(self.new))
