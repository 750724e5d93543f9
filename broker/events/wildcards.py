"""LIKE: a whole text with wildcards, `*` for any text and `?` for one character. A backslash escapes these and itself.

A pattern is divided at its `*` into segments, which are looked for from the left, each where it occurs first; that
finds a match if there is one, in linear time. Segments with a `?` between other characters cannot be looked for like
this: such a pattern becomes a regular expression.
"""

from __future__ import annotations

from typing import Final, TypeAlias, final

from .errors import PatternError
from .regular_expressions import ANYTHING, AT_END, AT_START, Regex, concatenation, literal, repeated
from .text_automaton import TextAutomaton
from .text_condition import CONTAINS, ENDS, EQUALS, STARTS, Necessary, TextCondition, folded

Segment: TypeAlias = "tuple[str, ...]"
"""The text between two `*`, divided at its `?`."""


def segments_of(pattern: str) -> tuple[Segment, ...]:
    """The segments of a pattern, one more than it has `*`. Linear. Raises PatternError at an unknown escape."""
    segments: list[Segment] = []
    pieces: list[str] = []
    piece: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "\\":
            character = pattern[at : at + 1]
            if character == "" or character not in "*?\\":
                found = f"found '\\{character}'" if character else "found the end of the pattern"
                message = f"expected \\* or \\? or \\\\ in a pattern of LIKE, {found}; a backslash itself is \\\\"
                raise PatternError(at - 1, message)
            at += 1
        elif character in "*?":
            pieces.append("".join(piece))
            piece = []
            if character == "*":
                segments.append(tuple(pieces))
                pieces = []
            continue
        piece.append(character)
    pieces.append("".join(piece))
    segments.append(tuple(pieces))
    return tuple(segments)


def plain_part(pattern: str) -> tuple[str, str] | None:
    """How a text has a part, and the part, of a pattern whose only wildcards are `*` at its ends, as most are; None for
    others. Linear."""
    inner = pattern.strip("*")
    parts = inner.split("\\\\")
    for part in parts:
        if "*" in part or "?" in part or "\\" in part:
            return None
    if not inner:
        return None if pattern else (EQUALS, "")
    begins, ends = pattern[0] != "*", pattern[-1] != "*"
    return EQUALS if begins and ends else STARTS if begins else ENDS if ends else CONTAINS, "\\".join(parts)


def wildcards(pattern: str, fold: bool) -> TextCondition:
    """The condition of a pattern. Raises PatternError at an unknown escape."""
    segments = segments_of(pattern)
    if fold:
        segments = tuple([tuple([folded(piece) for piece in segment]) for segment in segments])
    if any(len(_inner(segment)) > 1 for segment in segments[1:-1]):
        return TextAutomaton(_regex(segments), fold, _necessary(segments))
    return Wildcards(segments, fold)


@final
class Wildcards(TextCondition):
    """A pattern whose segments between two `*` have no `?` between other characters."""

    def __init__(self, segments: tuple[Segment, ...], fold: bool) -> None:
        self.folded = fold
        self._necessary = _necessary(segments)
        self._whole = len(segments) == 1
        self._first = segments[0]
        self._last = segments[-1]
        self._plain = len(self._first) == 1 and len(self._last) == 1
        self._middle = [_Sought(segment) for segment in segments[1:-1] if segment != ("",)]
        ends = _length(self._first) + (0 if self._whole else _length(self._last))
        self._least = ends + sum([_length(segment) for segment in segments[1:-1]])

    def fits(self, text: str) -> bool:
        if self._whole:
            return len(text) == self._least and _fits(self._first, text, 0)
        if len(text) < self._least:
            return False
        at, end = _length(self._first), len(text) - _length(self._last)
        if self._plain:
            if not (text.startswith(self._first[0]) and text.endswith(self._last[0])):
                return False
        elif not (_fits(self._first, text, 0) and _fits(self._last, text, end)):
            return False
        for sought in self._middle:
            at = text.find(sought.text, at + sought.before, end)
            if at < 0:
                return False
            at += sought.length
        return at <= end

    def necessary(self) -> Necessary:
        return self._necessary


@final
class _Sought:
    """A segment to look for: the number of `?` in front of its text, and the length of the text and those behind."""

    __slots__ = ("before", "length", "text")

    def __init__(self, segment: Segment) -> None:
        inner = _inner(segment)
        self.before = segment.index(inner[0])
        self.text = inner[0]
        self.length = _length(segment) - self.before


def _length(segment: Segment) -> int:
    return sum([len(piece) for piece in segment]) + len(segment) - 1


def _inner(segment: Segment) -> Segment:
    """The segment without the `?` at its ends."""
    filled = [at for at, piece in enumerate(segment) if piece]
    return segment[filled[0] : filled[-1] + 1] if filled else ("",)


def _fits(segment: Segment, text: str, at: int) -> bool:
    """Whether the segment stands at this place of a text that is long enough."""
    for piece in segment:
        if not text.startswith(piece, at):
            return False
        at += len(piece) + 1
    return True


def _regex(segments: tuple[Segment, ...]) -> Regex:
    parts: list[Regex] = [AT_START]
    for number, segment in enumerate(segments):
        if number:
            parts.append(repeated(ANYTHING, 0, -1))
        for place, piece in enumerate(segment):
            if place:
                parts.append(ANYTHING)
            parts += [literal(character) for character in piece]
    parts.append(AT_END)
    return concatenation(tuple(parts))


_ORDER: Final = (EQUALS, STARTS, ENDS, CONTAINS)


def _necessary(segments: tuple[Segment, ...]) -> Necessary:
    """The longest text without wildcards, where it must stand."""
    if len(segments) == 1 and len(segments[0]) == 1:
        return ((EQUALS, segments[0][0]),)
    found = [(CONTAINS, piece) for segment in segments for piece in segment]
    found[0], found[-1] = (STARTS, found[0][1]), (ENDS, found[-1][1])
    kind, text = max(found, key=lambda each: (len(each[1]), -_ORDER.index(each[0])))
    return ((kind, text),) if text else ()
