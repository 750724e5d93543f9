"""Many texts searched for in one: each is filed under a piece of a few bytes, its rarest.

A table of bits says which pieces are somebody's, so that a text of an event is read once, a shift and a bit for each of
its bytes, whatever the number of texts searched for (Muth and Manber, Approximate multiple string search, 1996, without
the errors). What has a piece in the text is then looked for as a whole. One more text costs a bit: nothing is built
again, as an automaton over all of them would have to be.

Here: that search, on UTF-8, in which a text is part of another exactly if its bytes are. Not here: which arcs are
filed (arcs), beginnings and ends (texts).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final, Generic, TypeVar, final

from mypy_extensions import i64

from ...events.batch import zeros
from .columns import COMPILED

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

if not COMPILED:
    globals()["vec"] = {i64: list}

PIECE: Final = 4  # bytes
MASKS: Final = (0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF)  # by the length of pieces
SPREAD: Final = 1327217885  # half the golden ratio of 32 bits (Knuth 6.4): products stay below 2**63
BITS_MIN: Final = 12  # of a place in the table
BITS_MAX: Final = 24
SPARSE: Final = 16  # places in the table for a piece

M = TypeVar("M")


@final
class Bucket(Generic[M]):
    """The parts that are filed under one piece, with their members. `serial`: the last text that had it."""

    __slots__ = ("members", "parts", "serial")

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.members: list[list[M]] = []
        self.serial = 0


@final
class Pieces(Generic[M]):
    """Members by a part of at least `length` bytes. `seen`: how many texts have each piece, parts and events alike."""

    def __init__(self, length: int, seen: dict[int, int]) -> None:
        self._length: i64 = length
        self._mask: i64 = MASKS[length]
        self._one: i64 = 1  # compiled, a literal would be shifted in 32 bits
        self._seen = seen
        self._buckets: dict[int, Bucket[M]] = {}
        self._members: dict[bytes, list[M]] = {}
        self._serial = 0
        self._bits = BITS_MIN
        self._places: i64 = (1 << BITS_MIN) - 1
        self._table: vec[i64] = zeros(1 << (BITS_MIN - 5))

    def add(self, part: bytes, member: M) -> None:
        """File a part under the piece that the fewest texts have so far. O(length of the part)."""
        members = self._members.get(part)
        if members is not None:
            members.append(member)
            return
        members = self._members[part] = [member]
        best, fewest = -1, 1 << 60
        for piece in pieces(part, self._length):
            others = self._seen.get(piece, 0)
            self._seen[piece] = others + 1
            if others < fewest:
                best, fewest = piece, others
        bucket = self._buckets.get(best)
        if bucket is None:
            bucket = self._buckets[best] = Bucket()
            if len(self._buckets) * SPARSE > 1 << self._bits and self._bits < BITS_MAX:
                self._bits += 2
                self._places = (1 << self._bits) - 1
                self._table = zeros(1 << (self._bits - 5))
                for piece in self._buckets:
                    self._mark(piece)
            self._mark(best)
        bucket.parts.append(part)
        bucket.members.append(members)

    def _mark(self, piece: i64) -> None:
        place = (piece * SPREAD >> 16) & self._places
        self._table[place >> 5] |= self._one << (place & 31)

    def find(self, text: bytes, found: list[M]) -> None:
        """Append the members whose part is in the text. O(length of the text + parts that have a piece in it)."""
        self._serial += 1
        table, mask = self._table, self._mask
        places = self._places
        piece: i64 = 0
        at: i64
        size: i64 = len(text)
        for at in range(size):
            piece = ((piece << 8) | text[at]) & mask
            place = (piece * SPREAD >> 16) & places
            if (table[place >> 5] >> (place & 31)) & 1 and at + 1 >= self._length:
                self._look(piece, text, found)

    def _look(self, piece: i64, text: bytes, found: list[M]) -> None:
        bucket = self._buckets.get(int(piece))
        if bucket is None or bucket.serial == self._serial:
            return
        bucket.serial = self._serial
        for at, part in enumerate(bucket.parts):
            if part in text:
                found += bucket.members[at]


def pieces(text: bytes, length: i64) -> list[int]:
    """The pieces of a text, as numbers, in their order. O(length of the text)"""
    found: list[int] = []
    mask: i64 = MASKS[length]
    piece: i64 = 0
    at: i64
    for at in range(len(text)):
        piece = ((piece << 8) | text[at]) & mask
        if at + 1 >= length:
            found.append(piece)
    return found
