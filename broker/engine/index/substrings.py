"""Strings in guards: finds the prefixes that begin a text, and the parts that occur in it.

Prefixes are hashed by length: a text needs one lookup for each existing length. A part is filed under one of its pieces
of three characters, the one with the fewest parts. A text needs one lookup for each of its own pieces, and the
candidates are tested. Parts shorter than three are tried one by one.

Here: those two searches. Not here: which arcs are filed here (arcs).
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar, final

from ...events.schema import Row

PIECE: Final = 3

M = TypeVar("M")


@final
class Prefixes(Generic[M]):
    """Members by prefix."""

    def __init__(self, position: int) -> None:
        self.position = position
        self._by_length: dict[int, dict[str, list[M]]] = {}

    def add(self, prefix: str, member: M) -> None:
        self._by_length.setdefault(len(prefix), {}).setdefault(prefix, []).append(member)

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose prefix begins the text. O(different lengths)."""
        text = row[self.position]
        if not isinstance(text, str):
            return
        for length, members in self._by_length.items():
            if length <= len(text):
                found += members.get(text[:length], ())


@final
class Substrings(Generic[M]):
    """Members by a part of the text."""

    def __init__(self, position: int) -> None:
        self.position = position
        self._short: list[tuple[str, M]] = []
        self._pieces: dict[str, list[tuple[str, M]]] = {}

    def add(self, part: str, member: M) -> None:
        if len(part) < PIECE:
            self._short.append((part, member))
            return
        pieces = [part[i : i + PIECE] for i in range(len(part) - PIECE + 1)]
        rarest = min(pieces, key=lambda piece: len(self._pieces.get(piece, ())))
        self._pieces.setdefault(rarest, []).append((part, member))

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose part occurs in the text. O(length of the text + candidates)."""
        text = row[self.position]
        if not isinstance(text, str):
            return
        for part, member in self._short:
            if part in text:
                found.append(member)
        if self._pieces:
            for piece in dict.fromkeys([text[i : i + PIECE] for i in range(len(text) - PIECE + 1)]):
                for part, member in self._pieces.get(piece, ()):
                    if part in text:
                        found.append(member)
