r"""MATCHES: parses regular expressions of RE2's syntax, those that can be tested in linear time.

Literals, `.`, classes `[a-z]`, `\d`, `\w`, `\s` and their opposites (ASCII), groups, `|`, `*`, `+`, `?`, `{m,n}` and
their lazy forms, `^`, `$`, `\A`, `\z`, `\b`, `\B`, and the flags `(?i)`, `(?m)`, `(?s)` at the beginning. What any of
it means is as in Python and PCRE: `$` is the end of the text, or before a newline there. A group only groups, and a
lazy form finds what the greedy one finds.

Here: from the pattern to a tree, and the literals that a text must have. Not here: testing texts (text_automaton).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias, final

from .errors import PatternError
from .text_condition import folded

PATTERN_REPEATS_MAX: Final = 1_000
"""The greatest number of repetitions in a pattern, those of nested ones multiplied."""
PATTERN_GROUPS_MAX: Final = 100
"""The most levels of nested groups in a pattern."""
_ALTERNATIVES_MAX: Final = 64  # the most literals of which one must occur that are kept of a pattern
_LETTERS_MAX: Final = 6  # the most characters of a class that are tried one by one: \s has six

SET, ASSERTION, CONCATENATION, ALTERNATION, REPETITION = range(5)
Ranges: TypeAlias = "tuple[tuple[int, int], ...]"

_LARGEST: Final = 0x10FFFF
_DIGITS: Final[Ranges] = ((48, 57),)
_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final[Ranges] = ((9, 13), (32, 32))
_CLASSES: Final = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_ASSERTIONS: Final = {"b": "b", "B": "B", "A": "A", "z": "z"}
_QUANTIFIER: Final = re.compile(r"[*+?]|\{(?:[0-9]+|[0-9]*,[0-9]*)\}")
_HEX: Final = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)\)")
_INSTEAD: Final = {"Z": "\\z", "h": "[ \\t]", "e": "\\x1b", "G": "\\A", "R": "\\r?\\n"}


@final
@dataclass(frozen=True, slots=True)
class CharacterSet:
    """Characters by ranges of code points; `folded`: of a text in lower case, so that either case is looked for."""

    ranges: Ranges
    negated: bool = False
    folded: bool = False

    def has(self, character: str) -> bool:
        found = self._within(ord(character))
        if self.folded and not found:
            upper = character.upper()
            found = len(upper) == 1 and folded(upper) == character and self._within(ord(upper))
        return found is not self.negated

    def _within(self, code: int) -> bool:
        return any(first <= code <= last for first, last in self.ranges)


@final
@dataclass(frozen=True, slots=True)
class Regex:
    """A part of a regular expression. `kind` says which fields it has: a SET its characters, an ASSERTION its sign, a
    REPETITION its bounds (`most` -1: none)."""

    kind: int
    parts: tuple[Regex, ...] = ()
    characters: CharacterSet = CharacterSet(())
    sign: str = ""
    least: int = 1
    most: int = 1


ANYTHING: Final = Regex(SET, characters=CharacterSet((), negated=True))
AT_START: Final = Regex(ASSERTION, sign="A")
AT_END: Final = Regex(ASSERTION, sign="z")
_NO_NEWLINE: Final = Regex(SET, characters=CharacterSet(((10, 10),), negated=True))


def literal(character: str) -> Regex:
    return Regex(SET, characters=CharacterSet(((ord(character), ord(character)),)))


def concatenation(parts: tuple[Regex, ...]) -> Regex:
    return parts[0] if len(parts) == 1 else Regex(CONCATENATION, parts)


def repeated(part: Regex, least: int, most: int) -> Regex:
    return Regex(REPETITION, (part,), least=least, most=most)


def parse_regex(pattern: str, fold: bool) -> tuple[Regex, bool]:
    """The tree of a pattern, and whether it ignores case, because of `fold` or a flag. Linear. Raises PatternError."""
    reader = _RegexReader(pattern, fold)
    reader.flags()
    found = reader.alternation(0)
    if reader.at < len(pattern):
        raise PatternError(
            reader.at, "expected the end of the pattern, found ')' without '('; write \\) for the character"
        )
    return found, reader.fold


@final
class _RegexReader:
    """Reads a pattern from left to right. `repeats` is that of the part that was read last."""

    def __init__(self, pattern: str, fold: bool) -> None:
        self.pattern = pattern
        self.fold = fold
        self.at = 0
        self._lines = False  # (?m)
        self._dot = _NO_NEWLINE
        self._repeats = 1

    def flags(self) -> None:
        match = _FLAGS.match(self.pattern)
        if match is None:
            return
        for place, flag in enumerate(match.group(1)):
            if flag not in "ims":
                raise PatternError(2 + place, f"expected the flags i, m or s, found {flag!r}")
        self.fold = self.fold or "i" in match.group(1)
        self._lines = "m" in match.group(1)
        self._dot = ANYTHING if "s" in match.group(1) else _NO_NEWLINE
        self.at = match.end()

    def alternation(self, level: int) -> Regex:
        if level > PATTERN_GROUPS_MAX:
            raise PatternError(self.at, f"expected at most {PATTERN_GROUPS_MAX} levels of groups, found more")
        parts = [self._sequence(level)]
        repeats = self._repeats
        while self.pattern.startswith("|", self.at):
            self.at += 1
            parts.append(self._sequence(level))
            repeats = max(repeats, self._repeats)
        self._repeats = repeats
        return parts[0] if len(parts) == 1 else Regex(ALTERNATION, tuple(parts))

    def _sequence(self, level: int) -> Regex:
        parts: list[Regex] = []
        most = 1
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            place = self.at
            self._repeats = 1
            part = self._part(level)
            quantifier = _QUANTIFIER.match(self.pattern, self.at)
            if quantifier is not None:
                if part.kind == ASSERTION and self.pattern[place] != "(":
                    raise PatternError(self.at, f"expected something to repeat before {quantifier.group()!r}")
                part = self._repetition(part, quantifier.group(), place)
            most = max(most, self._repeats)
            parts.append(part)
        self._repeats = most
        return concatenation(tuple(parts))

    def _repetition(self, part: Regex, quantifier: str, place: int) -> Regex:
        if quantifier in "*+?":
            least, most = int(quantifier == "+"), 1 if quantifier == "?" else -1
        else:
            low, comma, high = quantifier[1:-1].partition(",")
            if max(len(low), len(high)) > 4 or max(int(low or 0), int(high or 0)) > PATTERN_REPEATS_MAX:
                limit = f"expected at most {PATTERN_REPEATS_MAX} repetitions, found {quantifier[:20]!r}"
                raise PatternError(self.at, limit)
            least = int(low or 0)
            most = least if not comma else int(high) if high else -1
            if -1 < most < least:
                raise PatternError(self.at, f"expected bounds in ascending order, found {quantifier!r}")
        self._repeats *= max(1, least, most)
        if self._repeats > PATTERN_REPEATS_MAX:
            found = f"nested ones multiplied, found {self._repeats} of this part"
            raise PatternError(place, f"expected at most {PATTERN_REPEATS_MAX} repetitions, {found}")
        self.at += len(quantifier)
        if self.pattern.startswith("?", self.at):
            self.at += 1  # lazy
        if (again := _QUANTIFIER.match(self.pattern, self.at)) is not None:
            raise PatternError(self.at, f"expected one quantifier, found {again.group()!r} behind another one")
        return repeated(part, least, most)

    def _part(self, level: int) -> Regex:
        character = self.pattern[self.at]
        if character == "(":
            return self._group(level)
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character in "*+?":
            raise PatternError(
                self.at, f"expected something to repeat before {character!r}; write \\{character} for it"
            )
        self.at += 1
        if character == ".":
            return self._dot
        if character == "^":
            return Regex(ASSERTION, sign="^" if self._lines else "A")
        if character == "$":
            return Regex(ASSERTION, sign="m" if self._lines else "$")
        return self._literal(character)

    def _literal(self, character: str) -> Regex:
        return literal(folded(character) if self.fold else character)

    def _group(self, level: int) -> Regex:
        begin = self.at
        if self.pattern.startswith("(?", begin) and not self.pattern.startswith("(?:", begin):
            sign = self.pattern[begin : begin + (4 if self.pattern.startswith("(?<", begin) else 3)]
            why = "flags stand at the beginning, and look-around and back-references take more than linear time"
            raise PatternError(begin, f"expected a group as (...) or (?:...), found {sign!r}; {why}")
        self.at += 3 if self.pattern.startswith("(?:", begin) else 1
        found = self.alternation(level + 1)
        if not self.pattern.startswith(")", self.at):
            raise PatternError(begin, "expected a closing ) to this group, found the end of the pattern")
        self.at += 1
        return found

    def _escape(self) -> Regex:
        sign = self.pattern[self.at + 1 : self.at + 2]
        if sign in _ASSERTIONS:
            self.at += 2
            return Regex(ASSERTION, sign=sign)
        if sign.lower() in _CLASSES:
            self.at += 2
            return Regex(SET, characters=CharacterSet(_CLASSES[sign.lower()], sign.isupper()))
        return self._literal(self._character())

    def _character(self) -> str:
        """The character that an escape stands for, in a class and elsewhere."""
        begin, sign = self.at, self.pattern[self.at + 1 : self.at + 2]
        self.at += 2
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        coded = _HEX.match(self.pattern, begin + 1)
        if coded is not None and (code := int(coded.group(1) or coded.group(2), 16)) <= _LARGEST:
            self.at = coded.end()
            return chr(code)
        if sign and not (sign.isascii() and sign.isalnum()):
            return sign
        if sign.isdigit():
            why = "back-references take more than linear time" if sign != "0" else "write \\x00 for the null character"
            raise PatternError(begin, f"expected an escape of RE2, found '\\{sign}'; {why}")
        found = f"'\\{sign}'" if sign else "the end of the pattern"
        raise PatternError(begin, f"expected an escape of RE2, found {found}; write {_INSTEAD.get(sign, chr(92) * 2)}")

    def _class(self) -> Regex:
        begin = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += int(negated)
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            first = False
            if self.at >= len(self.pattern):
                raise PatternError(begin, "expected a closing ] to this class, found the end of the pattern")
            place = self.at
            low = self._member(ranges)
            dashed = self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at)
            if not dashed or self.at + 1 >= len(self.pattern):
                if low >= 0:
                    ranges.append((low, low))
                continue
            self.at += 1
            high = self._member(ranges)
            if low < 0 or high < low:
                found = repr(self.pattern[place : self.at][:20])
                raise PatternError(place, f"expected a range from a lower to a higher character, found {found}")
            ranges.append((low, high))
        self.at += 1
        return Regex(SET, characters=CharacterSet(tuple(ranges), negated, self.fold))

    def _member(self, ranges: list[tuple[int, int]]) -> int:
        """The code point of a character in a class; -1 after adding the ranges of \\d and its like."""
        character = self.pattern[self.at]
        if character == "\\":
            sign = self.pattern[self.at + 1 : self.at + 2]
            if sign.lower() in _CLASSES:
                self.at += 2
                known = _CLASSES[sign.lower()]
                ranges += _others(known) if sign.isupper() else known
                return -1
            if sign == "b":
                self.at += 2
                return 8
            return ord(self._character())
        if character == "[" and self.pattern.startswith("[:", self.at):
            raise PatternError(
                self.at, "expected no class by name in a class, found '[:'; write \\d, \\w, \\s or ranges"
            )
        self.at += 1
        return ord(character)


def _others(ranges: Ranges) -> list[tuple[int, int]]:
    """The characters outside of ranges that ascend."""
    borders = [(-1, -1), *ranges, (_LARGEST + 1, _LARGEST + 1)]
    return [(one[1] + 1, other[0] - 1) for one, other in pairwise(borders)]


# --- the length and the literals that a text must have --------------------------------------------------------------


def least_length(regex: Regex) -> int:
    """How many characters a text must have. O(parts)."""
    lengths = [least_length(part) for part in regex.parts]
    if regex.kind == CONCATENATION:
        return sum(lengths)
    if regex.kind == REPETITION:
        return lengths[0] * regex.least
    return min(lengths, default=int(regex.kind == SET))


def texts_of(regex: Regex) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """All texts that a part stands for, None if these are many; and texts of which one is in any that it stands for,
    none if none can be told. An assertion counts as the empty text. O(parts x _ALTERNATIVES_MAX)."""
    if regex.kind == SET:
        every = _letters(regex.characters)
        return every, every or ()
    if regex.kind == ASSERTION:
        return ("",), ()
    if regex.kind == CONCATENATION:
        return _of_sequence(regex.parts)
    if regex.kind == ALTERNATION:
        return _of_alternatives(regex.parts)
    every, some = texts_of(regex.parts[0])
    if regex.most == 1 and every is not None and len(every) < _ALTERNATIVES_MAX:
        return tuple(dict.fromkeys(every if regex.least else (*every, ""))), some if regex.least else ()
    if regex.least == regex.most and regex.least <= _ALTERNATIVES_MAX:
        return _of_sequence(regex.parts * regex.least)
    return None, some if regex.least else ()


def _letters(characters: CharacterSet) -> tuple[str, ...] | None:
    if characters.negated or sum([last - first + 1 for first, last in characters.ranges]) > _LETTERS_MAX:
        return None
    found = [chr(code) for first, last in characters.ranges for code in range(first, last + 1)]
    return tuple(dict.fromkeys([folded(each) for each in found] if characters.folded else found))


def _of_sequence(parts: tuple[Regex, ...]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    run: tuple[str, ...] = ("",)
    whole = True
    best: tuple[str, ...] = ()
    for part in parts:
        every, some = texts_of(part)
        if every is not None and len(run) * len(every) <= _ALTERNATIVES_MAX:
            run = tuple(dict.fromkeys([one + other for one in run for other in every]))
            continue
        whole = False
        best = _better(_better(best, run), some)
        run = ("",) if every is None else every
    return run if whole else None, _better(best, run)


def _of_alternatives(parts: tuple[Regex, ...]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    every: list[str] = []
    some: list[str] = []
    whole, known = True, True
    for part in parts:
        own, needed = texts_of(part)
        whole = whole and own is not None
        every += own or ()
        needed = needed if own is None or "" in own else own
        known = known and len(needed) > 0
        some += needed
    every, some = list(dict.fromkeys(every)), list(dict.fromkeys(some))
    return (
        tuple(every) if whole and len(every) <= _ALTERNATIVES_MAX else None,
        tuple(some) if known and len(some) <= _ALTERNATIVES_MAX else (),
    )


def _better(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The literals that fewer texts have: those whose shortest is longer."""
    if not other or min(map(len, other)) == 0:
        return one
    if not one or (min(map(len, other)), -len(other)) > (min(map(len, one)), -len(one)):
        return other
    return one
