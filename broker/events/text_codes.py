"""Texts as numbers of a dictionary: a column of them, made of objects. Hot.

Compiled, a short text is looked up by its characters. Here: that dictionary, and the texts of a column as its numbers
when somebody asks for them. Not here: bytes (packed_rows), words (short_texts), other values, and whether texts are
valid (column_checks).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from .batch import Batch, Column, ObjectColumn, TextColumn, zeros
from .short_texts import NO_WORD, UNKNOWN, ShortTexts, word_of
from .validation import encodable

FIRST: Final = 64
"""Texts by which a column is judged: whether numbers of a dictionary are worth making."""


@final
class TextCodes:
    """The texts, each once, in the order in which they come first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._short = ShortTexts()
        self._others: dict[str, int] = {}

    def code(self, text: str) -> i64:
        """The number of a text; UNKNOWN if it is not valid Unicode. Amortised O(its length)."""
        word = word_of(text)
        if word != NO_WORD:
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


NULL_TEXT: Final = -1


def text_column(batch: Batch, position: int) -> TextColumn | None:
    """The texts of an attribute as numbers of a dictionary; None if it has none, or most are different. There is no
    attribute at -1. The batch keeps the numbers. O(texts), once."""
    columns = batch.columns
    column: Column | None = columns[position] if position >= 0 and len(columns) > 0 else None
    if isinstance(column, ObjectColumn) and column.uncoded:
        column.uncoded = False
        numbers = text_codes(column.objects, True)
        if numbers is not None:
            column = columns[position] = numbers
        if len(batch.coded) > 0:
            batch.coded[position] = True
    return column if isinstance(column, TextColumn) else None


def text_codes(values: list[Any], nullable: bool) -> TextColumn | None:
    """Texts as numbers of a dictionary; None if one is no valid text, or most are different. O(texts)."""
    codes = zeros(len(values))
    known = TextCodes()
    for at, value in enumerate(values):
        if type(value) is str:
            code = known.code(value)
            if code < 0:
                return None
            codes[at] = code
        elif value is None and nullable:
            codes[at] = NULL_TEXT
        else:
            return None
        if at == FIRST and 4 * len(known.texts) > 3 * FIRST:
            return None
    return TextColumn(codes, known.texts)
