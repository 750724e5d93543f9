"""Texts in guards: finds those that begin, end or are in a text of an event, or are all of it.

Beginnings and ends are hashed by length, so that a text needs one lookup for each length that exists; parts are found
by their pieces. All are exact: what is found needs no other test.

Here: the members of an arc index that one text concerns. Not here: which arcs are filed here (arcs, witness), the
search for parts (pieces).
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar, final

from ...algebra.text_tests import EventText
from ...events.schema import Row
from ...events.text_condition import CONTAINS, ENDS, STARTS
from .pieces import PIECE, Pieces, pieces

AFFIX_MAX: Final = 64  # characters by which a beginning or an end is hashed

M = TypeVar("M")


@final
class Affixes(Generic[M]):
    """Members by a beginning of the text, or by an end of it."""

    def __init__(self, end: bool) -> None:
        self._end = end
        self._by_length: dict[int, dict[str, list[tuple[str, M]]]] = {}

    def add(self, affix: str, member: M) -> None:
        length = min(len(affix), AFFIX_MAX)
        outer = affix[len(affix) - length :] if self._end else affix[:length]
        self._by_length.setdefault(length, {}).setdefault(outer, []).append((affix, member))

    def find(self, text: str, found: list[M]) -> None:
        """Append the members whose affix the text has. O(different lengths up to AFFIX_MAX)."""
        size = len(text)
        for length, members in self._by_length.items():
            if length > size:
                continue
            for affix, member in members.get(text[size - length :] if self._end else text[:length], ()):
                if length < AFFIX_MAX or (text.endswith(affix) if self._end else text.startswith(affix)):
                    found.append(member)


@final
class Texts(Generic[M]):
    """Members by a text of the event. `sample`: events, of whose pieces the rare ones are chosen."""

    def __init__(self, text: EventText, sample: list[Row]) -> None:
        self.text = text
        self._equal: dict[str, list[M]] = {}
        self._starts: Affixes[M] | None = None
        self._ends: Affixes[M] | None = None
        self._parts: list[Pieces[M] | None] = [None] * (PIECE + 1)  # by the length of their pieces
        self._sample = sample
        self._everywhere: list[M] = []  # the empty text is in each

    def add(self, kind: str, part: str, member: M) -> None:
        if kind == CONTAINS:
            written = part.encode("utf-8", "surrogatepass")
            if written:
                self._by_pieces(min(len(written), PIECE)).add(written, member)
            else:
                self._everywhere.append(member)
        elif kind == STARTS:
            if self._starts is None:
                self._starts = Affixes(False)
            self._starts.add(part, member)
        elif kind == ENDS:
            if self._ends is None:
                self._ends = Affixes(True)
            self._ends.add(part, member)
        else:
            self._equal.setdefault(part, []).append(member)

    def _by_pieces(self, length: int) -> Pieces[M]:
        known = self._parts[length]
        if known is None:
            seen: dict[int, int] = {}
            for row in self._sample:
                own = self.text.of(row)
                for text in (self.text.each(row) or ()) if own is None else (own,):
                    for piece in dict.fromkeys(pieces(text.encode("utf-8", "surrogatepass"), length)):
                        seen[piece] = seen.get(piece, 0) + 1
            known = self._parts[length] = Pieces(length, seen)
        return known

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose text is where it is wanted. O(length of the text + lengths of affixes + found), for
        each text of a list."""
        text = self.text.of(row)
        if text is not None:
            self._find(text, found)
            return
        texts = self.text.each(row)
        if texts:
            several: list[M] = []
            for each in texts:
                self._find(each, several)
            found += dict.fromkeys(several) if len(texts) > 1 else several

    def _find(self, text: str, found: list[M]) -> None:
        found += self._everywhere
        found += self._equal.get(text, ())
        if self._starts is not None:
            self._starts.find(text, found)
        if self._ends is not None:
            self._ends.find(text, found)
        written = b""
        for parts in self._parts:
            if parts is not None:
                written = written or text.encode("utf-8", "surrogatepass")
                parts.find(written, found)
