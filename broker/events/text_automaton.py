"""Tests a regular expression on a text in one pass, in linear time whatever the pattern.

The expression becomes a program of sets, forks and assertions (Thompson's construction). A text moves through sets of
its instructions; each such set is a place, made when a text comes to it first, and kept with its moves until too much
is kept. So most characters cost one look-up.

An assertion looks at the characters on both sides of it: a place knows what came before, and what is behind it is
decided with the next character.
"""

from __future__ import annotations

from typing import Final, final

from .errors import PatternError
from .regular_expressions import (
    ALTERNATION,
    ANYTHING,
    ASSERTION,
    CONCATENATION,
    SET,
    CharacterSet,
    Regex,
    least_length,
    texts_of,
)
from .text_condition import CONTAINS, Necessary, TextCondition

PATTERN_INSTRUCTIONS_MAX: Final = 5_000
"""The most instructions of a pattern, its repetitions written out."""
PATTERN_PLACES_MAX: Final = 200_000
"""The most numbers that a pattern keeps in its places and their moves."""

FOUND: Final = 3  # beside the kinds SET, ASSERTION and FORK of instructions
FORK: Final = 2
NOTHING: Final = 0  # what is before the first character, and behind the last
WORD: Final = 1
NEWLINE: Final = 2
OTHER: Final = 3
LAST_NEWLINE: Final = 4  # one that ends the text
_LAST_NEWLINE_KEY: Final = "\n\n"  # of a move by it
_TRIED_MAX: Final = 4  # so many necessary literals are looked for before the text is gone through


@final
class TextPlace:
    """Instructions that a text has come to, what was before, and the places that characters lead to."""

    __slots__ = ("before", "instructions", "moves")

    def __init__(self, instructions: tuple[int, ...], before: int) -> None:
        self.instructions = instructions
        self.before = before
        self.moves: dict[str, TextPlace] = {}


@final
class TextAutomaton(TextCondition):
    """A regular expression, searched for anywhere in a text."""

    def __init__(
        self, regex: Regex, fold: bool, necessary: Necessary | None = None, places_max: int = PATTERN_PLACES_MAX
    ) -> None:
        self.folded = fold
        self._kinds: list[int] = [FOUND]
        self._sets: list[CharacterSet | None] = [None]
        self._signs: list[str] = [""]
        self._next: list[tuple[int, ...]] = [()]
        first = self._instructions(regex, 0)
        fork = self._instruction(FORK, (first,))
        self._next[fork] = (first, self._instruction(SET, (fork,), ANYTHING.characters))
        asserts = ASSERTION in self._kinds
        every, some = texts_of(regex)
        if necessary is None:
            literals = some if every is None or "" in every else every
            necessary = tuple([(CONTAINS, each) for each in literals])
        self._necessary = necessary
        self._texts = every if not asserts and every is not None else None
        self._tried = [text for _, text in necessary] if len(necessary) <= _TRIED_MAX else []
        self._looks_back = any(sign not in "$zm" for sign in self._signs)
        self._found = TextPlace((), NOTHING)
        self._lost = TextPlace((), NOTHING)
        self._places: dict[tuple[tuple[int, ...], int], TextPlace] = {}
        self._kept = 0
        self._places_max = places_max
        self._least = least_length(regex)
        self._start = TextPlace((fork,), NOTHING)

    def fits(self, text: str) -> bool:
        if len(text) < self._least:
            return False
        if self._texts is not None:
            return _has_any(text, self._texts)
        if self._tried and not _has_any(text, self._tried):
            return False
        place, found, lost = self._start, self._found, self._lost
        ends = text.endswith("\n")
        for character in text[:-1] if ends else text:
            following = place.moves.get(character)
            if following is None:
                following = self._move(place, character, character)
            if following is found:
                return True
            if following is lost:
                return False
            place = following
        if ends:
            place = self._move(place, _LAST_NEWLINE_KEY, "\n")
        return place is found or self._move(place, "", "") is found

    def necessary(self) -> Necessary:
        return self._necessary

    def kept(self) -> int:
        """How many numbers are kept of the texts it has gone through."""
        places = [self._start, *self._places.values()]
        return sum([len(place.instructions) + len(place.moves) for place in places])

    # --- the program ----------------------------------------------------------------------------------------------

    def _instruction(self, kind: int, following: tuple[int, ...], characters: CharacterSet | None = None) -> int:
        if len(self._kinds) >= PATTERN_INSTRUCTIONS_MAX:
            what = f"a pattern of at most {PATTERN_INSTRUCTIONS_MAX} characters and classes, repetitions written out"
            raise PatternError(0, f"expected {what}, found more")
        self._kinds.append(kind)
        self._sets.append(characters)
        self._signs.append("")
        self._next.append(following)
        return len(self._kinds) - 1

    def _instructions(self, regex: Regex, behind: int) -> int:
        """The first instruction of a part, which goes on with the one behind."""
        if regex.kind == SET:
            return self._instruction(SET, (behind,), regex.characters)
        if regex.kind == ASSERTION:
            number = self._instruction(ASSERTION, (behind,))
            self._signs[number] = regex.sign
            return number
        if regex.kind == CONCATENATION:
            for part in reversed(regex.parts):
                behind = self._instructions(part, behind)
            return behind
        if regex.kind == ALTERNATION:
            ways = [self._instructions(part, behind) for part in regex.parts]
            return self._instruction(FORK, tuple(ways))
        part, first = regex.parts[0], behind
        if regex.most < 0:
            first = self._instruction(FORK, (behind,))
            self._next[first] = (self._instructions(part, first), behind)
        for _ in range(regex.most - regex.least):
            first = self._instruction(FORK, (self._instructions(part, first), behind))
        for _ in range(regex.least):
            first = self._instructions(part, first)
        return first

    # --- the places -----------------------------------------------------------------------------------------------

    def _move(self, place: TextPlace, key: str, character: str) -> TextPlace:
        """The place that a character leads to; `key` is it, but for a newline at the end. O(instructions)."""
        if place is self._found or place is self._lost:
            return place
        known = place.moves.get(key)
        if known is None:
            if self._kept > self._places_max:
                self._forget()
            known = self._made(place, key, character)
            self._kept += 1
            place.moves[key] = known
        return known

    def _forget(self) -> None:
        for place in self._places.values():
            place.moves.clear()
        self._places.clear()
        self._start.moves.clear()
        self._kept = 0

    def _made(self, place: TextPlace, key: str, character: str) -> TextPlace:
        behind = LAST_NEWLINE if key == _LAST_NEWLINE_KEY else _kind_of(character)
        reached: dict[int, None] = {}
        waiting = list(place.instructions)
        seen = set(waiting)
        while waiting:
            number = waiting.pop()
            kind = self._kinds[number]
            if kind == FOUND:
                return self._found
            if kind == SET:
                characters = self._sets[number]
                if character and characters is not None and characters.has(character):
                    reached[self._next[number][0]] = None
            elif kind == FORK or _stands(self._signs[number], place.before, behind):
                for following in self._next[number]:
                    if following not in seen:
                        seen.add(following)
                        waiting.append(following)
        if not reached:
            return self._lost
        before = _kind_of(character) if self._looks_back else OTHER
        return self._kept_place(tuple(sorted(reached)), before)

    def _kept_place(self, instructions: tuple[int, ...], before: int) -> TextPlace:
        key = (instructions, before)
        known = self._places.get(key)
        if known is None:
            self._kept += len(instructions)
            known = self._places[key] = TextPlace(instructions, before)
        return known


def _has_any(text: str, parts: list[str] | tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110  a generator here would allocate on the hot path
        if part in text:
            return True
    return False


def _kind_of(character: str) -> int:
    if character == "":
        return NOTHING
    if character == "\n":
        return NEWLINE
    return WORD if character == "_" or (character.isascii() and character.isalnum()) else OTHER


def _stands(sign: str, before: int, behind: int) -> bool:
    """Whether an assertion holds between what is before and behind it."""
    if sign == "A":
        return before == NOTHING
    if sign == "^":
        return before in (NOTHING, NEWLINE)
    if sign == "z":
        return behind == NOTHING
    if sign == "$":
        return behind in (NOTHING, LAST_NEWLINE)
    if sign == "m":
        return behind in (NOTHING, LAST_NEWLINE, NEWLINE)
    return (before == WORD) is not (behind == WORD) if sign == "b" else (before == WORD) is (behind == WORD)
