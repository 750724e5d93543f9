"""Numbers of short texts, by words: a word is the length of a text and its bytes, of which it has at most seven. Hot.

An object that has just come has no hash yet, and making one costs more than its word. Here: words, and that table. Not
here: longer texts, and where the bytes come from (packed_rows, text_codes).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .batch import COMPILED, zeros

SHORT: Final = 7
"""Bytes of a text that fit a word: its length, and its bytes below it."""
UNKNOWN: Final = -1
NO_WORD: Final = 0
_ASCII: Final = 0x80  # above its characters
_SLOTS: Final = 256  # at first; a power of 2
_SCATTER: Final = 0x278D_DE6E_5FD2_9F05  # 2**62 by the golden ratio (Knuth, TAOCP 6.4)
_UNSCATTERED: Final = 40  # the low bits of a product, which depend on few of the word's


def word_of(text: str) -> i64:
    """The word of a text; NO_WORD if it is longer, or not of ASCII, or where the code is interpreted and a hash is
    cheaper. O(its length)."""
    if not COMPILED or len(text) > SHORT:
        return NO_WORD
    length: i64 = len(text)
    word = length + 1
    seen: i64 = 0
    place: i64
    for place in range(length):
        character: i64 = ord(text[place])
        seen |= character
        word = word << 8 | character
    if seen < _ASCII:
        return word
    return NO_WORD


@final
class ShortTexts:
    """A number for each word; `count`: how many words have one."""

    def __init__(self) -> None:
        self._words = zeros(0)  # 0 where a slot is free
        self._codes = zeros(0)
        self.count: i64 = 0

    def code(self, word: i64) -> i64:
        """The number of a word; UNKNOWN if it has none. O(1)."""
        words = self._words
        mask: i64 = len(words) - 1
        if mask < 0:
            return UNKNOWN
        slot: i64 = word * _SCATTER >> _UNSCATTERED & mask
        while words[slot] != word:
            if words[slot] == 0:
                return UNKNOWN
            slot = slot + 1 & mask
        return self._codes[slot]

    def put(self, word: i64, code: i64) -> None:
        """Give a number to a word, instead of the one that it has, if it has one. Amortised O(1)."""
        if 2 * self.count >= len(self._words):
            self._grow()
        words = self._words
        mask: i64 = len(words) - 1
        slot: i64 = word * _SCATTER >> _UNSCATTERED & mask
        while words[slot] != 0 and words[slot] != word:
            slot = slot + 1 & mask
        if words[slot] == 0:
            words[slot] = word
            self.count += 1
        self._codes[slot] = code

    def _grow(self) -> None:
        """Twice as many slots. O(slots)."""
        words, codes = self._words, self._codes
        size: i64 = max(_SLOTS, 2 * len(words))
        self._words, self._codes = zeros(size), zeros(size)
        self.count = 0
        old: i64
        for old in range(len(words)):
            if words[old] != 0:
                self.put(words[old], codes[old])
