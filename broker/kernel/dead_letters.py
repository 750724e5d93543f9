"""Results of a cursor that were set aside, refused by a reader or delivered too often, until they are settled.

They are part of the cursor's state. Their number and bytes are limited when the cursor is created; beyond these limits
the oldest are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, final

from ..wire import DeadLetter

LETTER_BYTES_EXTRA: Final = 256
"""The estimated memory of a dead letter beside its result and its reason."""


@final
class DeadLetterQueue:
    """Dead letters by position, in the order in which they were set aside. O(1) for each operation on one."""

    __slots__ = ("_letters", "dropped", "most", "size", "size_max")

    def __init__(self, most: int, size_max: int) -> None:
        self._letters: dict[int, DeadLetter] = {}
        self.most = most
        self.size_max = size_max
        self.size = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._letters)

    def __iter__(self) -> Iterator[DeadLetter]:
        return iter(self._letters.values())

    def __contains__(self, position: int) -> bool:
        return position in self._letters

    def put(self, letter: DeadLetter) -> None:
        """Add a letter, and drop the oldest ones beyond the limits. The newest is always kept."""
        self._letters[letter.position] = letter
        self.size += _size(letter)
        while len(self._letters) > 1 and (len(self._letters) > self.most or self.size > self.size_max):
            self.take(next(iter(self._letters)))
            self.dropped += 1

    def take(self, position: int) -> DeadLetter:
        """Remove and return a letter. Raises KeyError."""
        letter = self._letters.pop(position)
        self.size -= _size(letter)
        return letter

    def save(self) -> list[Any]:
        """Plain values that `restore` takes. O(letters)."""
        return [self.dropped, [[e.position, e.result, e.reason, e.time, e.deliveries] for e in self]]

    def restore(self, plain: Sequence[Any]) -> None:
        """Replace the letters by those that `save` described."""
        self.dropped, letters = plain
        self._letters = {each[0]: DeadLetter(*each) for each in letters}
        self.size = sum(map(_size, self))

    def check_invariants(self) -> None:
        """For tests."""
        assert self.size == sum(map(_size, self))
        assert len(self) <= max(1, self.most)
        assert len(self) <= 1 or self.size <= self.size_max
        assert all(position == each.position for position, each in self._letters.items())


def _size(letter: DeadLetter) -> int:
    return len(letter.result) + len(letter.reason) + LETTER_BYTES_EXTRA
