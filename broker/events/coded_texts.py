"""Texts as a dictionary and numbers, the form in which columnar files, data frames and protocols keep repeated ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final


@final
class CodedTexts:
    """A column of texts: event i has `texts[codes[i]]`, and null if its code is -1.

    `codes` is a list or any buffer of whole numbers, such as an array of numpy; `texts` has each text once, or more
    often. Both are checked when the column is published.
    """

    __slots__ = ("codes", "texts")

    def __init__(self, codes: Any, texts: Sequence[str]) -> None:
        self.codes = codes
        self.texts = texts

    def __len__(self) -> int:
        return len(self.codes)
