"""Shows the position of an error in a query's text.

A position is an offset into the text. For the user it becomes a 1-based line and column, and an excerpt: the line of
the text with an underline below the error.
"""

from __future__ import annotations

import re
from typing import Final, final

from ..events.errors import QueryError
from .habits import habit

_WORD: Final = re.compile(r"\$?[A-Za-z0-9_.]+|'[^'\n]*'?|<>|[<>!=]=?|.")
_PUBLISHED: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|\bPUBLISH\b(?:\s|--[^\n]*\n)+(?P<name>\w+)", re.IGNORECASE)
_EXCERPT_WIDTH: Final = 120
_QUOTED_WIDTH: Final = 40


@final
class Misread(Exception):
    """Raised while a tree is built, when only the offset is known; `query_error` turns it into a QueryError."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


def place_in(text: str, at: int) -> str:
    """Return `line L, column C` for the 0-based offset `at` of a query's text."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def published_in(text: str, stream: str) -> str:
    """Return `line L, column C` where a query's text says that its results are this stream; else its beginning."""
    return place_in(text, next((one.start("name") for one in _PUBLISHED.finditer(text) if one["name"] == stream), 0))


def query_error(text: str, at: int, message: str) -> QueryError:
    """Return the error for the 0-based offset `at` of `text`: `line L, column C: message`, with its excerpt.

    An offset outside the text is moved to the nearest end, so -1 (unknown) means the beginning. A habit of another
    language there is named, with what this one writes.
    """
    at = min(max(at, 0), len(text))
    instead = habit(text, at)
    if instead:
        message = message.partition("; did you mean")[0] + instead
    begin = text.rfind("\n", 0, at) + 1
    line, column = text.count("\n", 0, at) + 1, at - begin + 1
    return QueryError(f"line {line}, column {column}: {message}", line, column, _excerpt(text, begin, at))


def quoted(word: str) -> str:
    """Return a piece of a query's text for a message: in quotes, on one line, at most 40 characters of it."""
    word = str(word)  # the repr of a lark token shows its type
    return repr(word if len(word) <= _QUOTED_WIDTH else word[: _QUOTED_WIDTH - 1] + "…")


def _excerpt(text: str, begin: int, at: int) -> str:
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    column = at - begin
    word = _WORD.match(line, column)
    width = len(word.group()) if word else 1
    if len(line) > _EXCERPT_WIDTH:
        first = min(max(0, column - _EXCERPT_WIDTH // 2), len(line) - _EXCERPT_WIDTH)
        line, column = line[first : first + _EXCERPT_WIDTH], column - first
    # Tabs and control characters would misplace the underline.
    shown = "".join(character if character.isprintable() else " " for character in line)
    underline = "^" + "~" * (min(width, max(1, len(shown) - column)) - 1)
    return f"{shown}\n{' ' * column}{underline}"
