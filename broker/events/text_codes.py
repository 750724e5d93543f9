"""Texts as numbers of a dictionary: a column of them, made of objects. Hot.

Compiled, a short text is looked up by its characters: an object that has just come has no hash yet, and making one
costs more. Here: that dictionary. Not here: bytes (packed_rows), other values (column_checks).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .batch import COMPILED
from .short_texts import SHORT, UNKNOWN, ShortTexts
from .validation import encodable

FIRST: Final = 64
"""Texts by which a column is judged: whether numbers of a dictionary are worth making."""
_ASCII: Final = 0x80  # above its characters


@final
class TextCodes:
    """The texts, each once, in the order in which they come first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._short = ShortTexts()
        self._others: dict[str, int] = {}

    def code(self, text: str) -> i64:
        """The number of a text; UNKNOWN if it is not valid Unicode. Amortised O(its length)."""
        if COMPILED and len(text) <= SHORT:
            length: i64 = len(text)
            word = length + 1
            seen: i64 = 0
            place: i64
            for place in range(length):
                character: i64 = ord(text[place])
                seen |= character
                word = word << 8 | character
            if seen < _ASCII:
                code = self._short.code(word)
                if code < 0:
                    code = self._add(text)
                    self._short.put(word, code)
                return code
        known: i64 = self._others.get(text, UNKNOWN)
        if known < 0 and encodable(text):
            known = self._add(text)
            self._others[text] = int(known)
        return known

    def _add(self, text: str) -> i64:
        self.texts.append(text)
        return len(self.texts) - 1
