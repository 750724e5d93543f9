"""What the caller calls the events that witnesses may still name.

Terms remember where their newest tuple was, by the events' numbers. Here stands what those events are called: all of
the newest, in a list, and those older ones that some term remembers. Who remembers which is asked once in many events:
an event that nobody remembers costs one entry of a list.

Here: items by number. Not here: which are needed (trie).
"""

from __future__ import annotations

from typing import TypeAlias, final

from mypy_extensions import i64

Item: TypeAlias = object
"""What a caller gets back in a witness, for instance an event's id and its time."""


@final
class Items:
    """Those that there are at one time, which stay readable when others are forgotten: `new` ones from the number
    `begins` on, to which more may come, and the needed ones of before."""

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
        """Without all others. O(those there are and those needed)."""
        there = [n for n in sorted(needed) if n in self.old or n >= self.begins]
        return Items({number: self.get(number) for number in there}, self.begins + len(self.new))
