"""Prepares labels for display: one line, no invisible characters, wrapped to a width. Not here: quoting for a format.

Labels contain text of users. A control sequence would reach the terminal, a direction mark would reverse the text, and
XML allows neither; so they are spelled out.
"""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_INVISIBLE = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}  # control, format, surrogate, unassigned, private, separators
_CLINGING = {"Mn", "Me"}
_CLAUSE = re.compile(r" (?=(?:AND|OR|SET)\b)|(?<=[,;]) ")  # where a guard or a list is best broken


def plain(text: str) -> str:
    r"""``text`` on one line, single spaces between words, each invisible character written as ``\u{hex}``."""
    joined = " ".join(text.split())
    if joined.isascii() and joined.isprintable():
        return joined
    return "".join(rf"\u{{{ord(c):x}}}" if unicodedata.category(c) in _INVISIBLE else c for c in joined)


def cells(text: str) -> int:
    """The width of ``text`` in columns of a fixed-width font: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in _CLINGING else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def wrap(text: str, width: int, lines_max: int) -> tuple[str, ...]:
    """``plain(text)`` in at most ``lines_max`` lines of ``width`` columns; a longer text ends in an ellipsis.


    An empty text has no lines. Lines end between clauses; a clause longer than a line is broken between words, a word
    longer than a line anywhere. O(len(text)).
    """
    lines = [""]
    for clause in _CLAUSE.split(plain(text)):
        if _joins(lines, clause, width):
            continue
        for word in clause.split(" ") if cells(clause) > width else [clause]:
            rest = word
            while not _joins(lines, rest, width):
                if lines[-1]:
                    lines.append("")
                head = _head(rest, width)
                lines[-1] = head
                rest = rest[len(head) :]
        if len(lines) > lines_max:
            return (*lines[: lines_max - 1], shorten(f"{lines[lines_max - 1]} {lines[lines_max]}", width, cut=True))
    return tuple(line for line in lines if line)


def _joins(lines: list[str], piece: str, width: int) -> bool:
    """Append ``piece`` to the last line if it fits there. An empty piece always does."""
    joined = f"{lines[-1]} {piece}" if lines[-1] and piece else lines[-1] or piece
    if cells(joined) > width:
        return False
    lines[-1] = joined
    return True


def shorten(text: str, width: int, *, cut: bool = False) -> str:
    """``text`` in at most ``width`` columns, with an ellipsis if it was shortened; ``cut``: it was shortened before."""
    if cells(text) <= width and not cut:
        return text
    return _head(text, width - 1).rstrip() + ELLIPSIS


def _head(text: str, width: int) -> str:
    """The longest beginning of ``text`` that fits, at least one character."""
    used = 0
    for index, character in enumerate(text):
        used += cells(character)
        if used > width:
            return text[: max(index, 1)]
    return text
