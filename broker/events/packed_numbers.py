"""Whole numbers and floats as bytes, in the fewest that hold them, as they travel and lie in the journal.

Little endian. Whole numbers of 1, 2 or 4 bytes have no sign, and the least of them is added to each; those of 8 bytes
have one, and nothing is added. No object is made for a number where this is compiled. Hot.

Here: that. Not here: what a column is (event_columns), null.
"""

from __future__ import annotations

import sys
from array import array
from contextlib import suppress
from typing import Any, Final

from mypy_extensions import i16, i32, i64, u8

from .batch import COMPILED, Floats, Integers, packed_floats, packed_integers

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

WIDTHS: Final = (1, 2, 4, 8)
FLOAT_BYTES: Final = 8
GREATEST: Final = 2**63 - 1
_SIGNLESS: Final[dict[int, Any]] = {1: "B", 2: "H", 4: "I", 8: "q"}
_BYTE: Final = 0xFF  # constants in one statement would be looked up by name each time
_SHORT: Final = 0xFFFF
_WORD: Final = 0xFFFF_FFFF
_SWAPPED: Final = sys.byteorder == "big"


def floats_of(data: bytes) -> Floats:
    """Floats of 8 bytes each. O(bytes)."""
    return packed_floats(memoryview(_turned(data, FLOAT_BYTES, "d")).cast("d"))


def bytes_of_floats(numbers: Floats) -> bytes:
    """The same back. O(numbers)."""
    return _turned(bytes(memoryview(numbers)) if COMPILED else array("d", numbers).tobytes(), FLOAT_BYTES, "d")


def integers_of_bytes(data: bytes, width: int, least: i64) -> Integers:
    """Whole numbers of so many bytes each, added to `least`; their sums have 64 bits. O(bytes)."""
    view = memoryview(_turned(data, width, _SIGNLESS[width]))
    if not COMPILED or width == 8:
        given = view.cast(_SIGNLESS[width])
        return packed_integers(given) if width == 8 else packed_integers([least + each for each in given])
    numbers = packed_integers(memoryview(bytes(len(data) // width * 8)).cast("q"))  # zeros, without an object for each
    at: i64
    if width == 1:
        bytes_given = vec[u8](view)
        for at in range(len(bytes_given)):
            numbers[at] = least + i64(bytes_given[at])
    elif width == 2:
        shorts = vec[i16](view.cast("h"))
        for at in range(len(shorts)):
            numbers[at] = least + (i64(shorts[at]) & _SHORT)
    else:
        words = vec[i32](view.cast("i"))
        for at in range(len(words)):
            numbers[at] = least + (i64(words[at]) & _WORD)
    return numbers


def bytes_of_integers(numbers: Integers) -> tuple[bytes, int]:
    """Whole numbers as bytes, and what is to be added to each. O(numbers)."""
    if len(numbers) == 0:
        return b"", 0
    least: i64 = numbers[0]
    greatest: i64 = numbers[0]
    at: i64
    for at in range(len(numbers)):
        if numbers[at] < least:
            least = numbers[at]
        elif numbers[at] > greatest:
            greatest = numbers[at]
    width = width_for(int(greatest) - int(least))
    if width == 8 or least > greatest_least(width):
        return _turned(bytes(memoryview(numbers)) if COMPILED else array("q", numbers).tobytes(), 8, "q"), 0
    return _turned(_narrowed(numbers, width, least), width, _SIGNLESS[width]), int(least)


def greatest_least(width: int) -> int:
    """What may be added to numbers of so many bytes, so that each sum has 64 bits."""
    return GREATEST - (1 << 8 * width) + 1


def width_for(greatest: int) -> int:
    """The bytes of a number from 0 to the greatest."""
    return 1 if greatest <= _BYTE else 2 if greatest <= _SHORT else 4 if greatest <= _WORD else 8


def _narrowed(numbers: Integers, width: int, least: i64) -> bytes:
    if not COMPILED:
        return array(_SIGNLESS[width], [number - least for number in numbers]).tobytes()
    at: i64
    zeros = memoryview(bytes(len(numbers) * width))
    if width == 1:
        bytes_made = vec[u8](zeros)
        for at in range(len(numbers)):
            bytes_made[at] = u8(numbers[at] - least)
        return bytes(memoryview(bytes_made))
    if width == 2:
        shorts = vec[i16](zeros.cast("h"))
        for at in range(len(numbers)):
            shorts[at] = i16(numbers[at] - least)
        return bytes(memoryview(shorts))
    words = vec[i32](zeros.cast("i"))
    for at in range(len(numbers)):
        words[at] = i32(numbers[at] - least)
    return bytes(memoryview(words))


def _turned(data: bytes, width: int, kind: str) -> bytes:
    """The same in this machine's order, or back: nothing to do on most machines."""
    if not _SWAPPED or width == 1:
        return data
    turned = array(kind)
    turned.frombytes(data)
    turned.byteswap()
    return turned.tobytes()
