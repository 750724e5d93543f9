"""Regular expressions over classes of events, and their derivatives (Brzozowski 1964).

An expression is a number: equal expressions are one number, and rules make many equivalent ones equal. So a derivative
is computed once, and the states of an automaton are the different derivatives.

Here: expressions, whether one matches the empty sequence, derivatives. Not here: tables (determinisation), typed
expressions (algebra), lengths (lengths).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, final

from ....algebra.window.window_expression import WindowRegex

NOTHING: Final = 0  # matches no sequence
EPSILON: Final = 1  # matches the empty sequence
ALL: Final = 2  # matches every sequence
ANY: Final = 3  # matches one event

STEPS_MAX: Final = 200_000
"""The most parts of unions and intersections that are looked at for the automata of one subscription."""

Content: TypeAlias = tuple[str, tuple[int, ...], int, int]
"""Kind; parts, or the atom; for a repetition the least and the greatest number, -1 for none."""


class TooManySteps(Exception):
    """The derivatives of an expression have too many parts."""


@final
class RegularExpressions:
    """All expressions of one subscription. Complements are relative to all sequences, the empty one included."""

    def __init__(self, steps_max: int = STEPS_MAX) -> None:
        self._steps_max = steps_max
        self._content: list[Content] = []
        self._numbers: dict[Content, int] = {}
        self._nullable: list[bool] = []
        self._first: list[int] = []  # the atoms that decide about the first event, as bits
        self._derivatives: dict[tuple[int, int], int] = {}
        self._steps = 0
        for kind, empty in (("nothing", False), ("epsilon", True), ("all", True), ("any", False)):
            self._made((kind, (), 0, 0), empty, 0)

    def _made(self, content: Content, nullable: bool, first: int) -> int:
        known = self._numbers.get(content)
        if known is None:
            known = self._numbers[content] = len(self._content)
            self._content.append(content)
            self._nullable.append(nullable)
            self._first.append(first)
        return known

    def nullable(self, node: int) -> bool:
        """Whether it matches the empty sequence."""
        return self._nullable[node]

    def first(self, node: int) -> int:
        """The atoms on which a derivative depends, as bits."""
        return self._first[node]

    # --- making expressions ----------------------------------------------------------------------------------------

    def of(self, regex: WindowRegex) -> int:
        """The expression of a typed one. Linear in its size."""
        parts = [self.of(part) for part in regex.parts]
        match regex.operator:
            case "any":
                return ANY
            case "event":
                return self._made(("event", (regex.atom,), 0, 0), False, 1 << regex.atom)
            case "then":
                found = EPSILON
                for part in reversed(parts):
                    found = self.then(part, found)
                return found
            case "or":
                return self.either(parts)
            case "and":
                return self.both(parts)
            case "not":
                return self.both([self.complement(parts[0]), self.then(ANY, ALL)])
            case "times":
                return self.times(parts[0], regex.least, -1 if regex.most is None else regex.most)

    def then(self, left: int, right: int) -> int:
        """One after the other. Chains lean to the right."""
        if left == NOTHING or right == NOTHING:
            return NOTHING
        if left == EPSILON:
            return right
        if right == EPSILON:
            return left
        kind, parts, _, _ = self._content[left]
        if kind == "then":
            return self.then(parts[0], self.then(parts[1], right))
        if left == ALL and (right == ALL or self._begins_with_all(right)):
            return right
        if left == ALL and self._nullable[right]:
            return ALL
        nullable = self._nullable[left] and self._nullable[right]
        first = self._first[left] | (self._first[right] if self._nullable[left] else 0)
        return self._made(("then", (left, right), 0, 0), nullable, first)

    def either(self, parts: Iterable[int]) -> int:
        """A union. Those with a common tail are joined, and what begins with anything absorbs its tail."""
        found = self._looked_at({part for each in parts for part in self._flat("or", each)}) - {NOTHING}
        if ALL in found or any(self._complement(part) in found for part in found):
            return ALL
        for part in list(found):
            kind, inner, _, _ = self._content[part]
            if kind == "and" and any(each in found for each in inner):  # r | r & s = r
                found.discard(part)
            if kind == "then" and inner[0] == ALL:  # any* x | x = any* x
                found.discard(inner[1])
        tails: dict[int, list[int]] = {}
        for part in found:
            kind, inner, _, _ = self._content[part]
            if kind == "then":
                tails.setdefault(inner[1], []).append(part)
        for tail, several in tails.items():
            if len(several) > 1:  # a t | b t = (a | b) t
                heads = [self._content[part][1][0] for part in several]
                return self.either([*(found - set(several)), self.then(self.either(heads), tail)])
        return self._several("or", found, NOTHING)

    def both(self, parts: Iterable[int]) -> int:
        """An intersection."""
        found = self._looked_at({part for each in parts for part in self._flat("and", each)}) - {ALL}
        if NOTHING in found or any(self._complement(part) in found for part in found):
            return NOTHING
        for part in list(found):
            kind, inner, _, _ = self._content[part]
            if kind == "or" and any(each in found for each in inner):
                found.discard(part)
        if EPSILON in found:
            return EPSILON if all(self._nullable[part] for part in found) else NOTHING
        return self._several("and", found, ALL)

    def _looked_at(self, parts: set[int]) -> set[int]:
        """The same. Raises TooManySteps."""
        self._steps += len(parts)
        if self._steps > self._steps_max:
            raise TooManySteps
        return parts

    def _several(self, kind: str, found: set[int], none: int) -> int:
        if not found:
            return none
        ordered = tuple(sorted(found))
        if len(ordered) == 1:
            return ordered[0]
        empty = [self._nullable[part] for part in ordered]
        first = 0
        for part in ordered:
            first |= self._first[part]
        return self._made((kind, ordered, 0, 0), any(empty) if kind == "or" else all(empty), first)

    def _begins_with_all(self, node: int) -> bool:
        kind, parts, _, _ = self._content[node]
        return kind == "then" and parts[0] == ALL

    def _flat(self, kind: str, node: int) -> tuple[int, ...]:
        content = self._content[node]
        return content[1] if content[0] == kind else (node,)

    def complement(self, node: int) -> int:
        known = self._complement(node)
        if known >= 0:
            return known
        return self._made(("not", (node,), 0, 0), not self._nullable[node], self._first[node])

    def _complement(self, node: int) -> int:
        """The complement if it is known; else -1."""
        if node in (NOTHING, ALL):
            return NOTHING + ALL - node
        kind, parts, _, _ = self._content[node]
        return parts[0] if kind == "not" else self._numbers.get(("not", (node,), 0, 0), -1)

    def times(self, part: int, least: int, most: int) -> int:
        """A repetition; `most` is -1 without a greatest number."""
        if most == 0 or part in (NOTHING, EPSILON):
            return EPSILON if least == 0 or part == EPSILON else NOTHING
        if part == ALL:
            return ALL
        if (least, most) == (1, 1):
            return part
        if self._nullable[part]:
            least = 0
        if part == ANY and most < 0:
            return ALL if least == 0 else self.then(self.times(ANY, least, least), ALL)
        return self._made(("times", (part,), least, most), least == 0, self._first[part])

    # --- derivatives -----------------------------------------------------------------------------------------------

    def derivative(self, node: int, letter: int) -> int:
        """What is left to match after an event of the class `letter`. Amortised O(1); recursion as deep as the node."""
        mark = (node, letter & self._first[node])
        known = self._derivatives.get(mark)
        if known is None:
            known = self._derivatives[mark] = self._derived(node, letter)
        return known

    def _derived(self, node: int, letter: int) -> int:
        kind, parts, least, most = self._content[node]
        match kind:
            case "nothing" | "epsilon":
                return NOTHING
            case "all":
                return ALL
            case "any":
                return EPSILON
            case "event":
                return EPSILON if letter >> parts[0] & 1 else NOTHING
            case "then":
                left, right = parts
                after = self.then(self.derivative(left, letter), right)
                return self.either([after, self.derivative(right, letter)]) if self._nullable[left] else after
            case "or":
                return self.either([self.derivative(part, letter) for part in parts])
            case "and":
                return self.both([self.derivative(part, letter) for part in parts])
            case "not":
                return self.complement(self.derivative(parts[0], letter))
        rest = self.times(parts[0], max(least - 1, 0), most - 1 if most > 0 else -1)
        return self.then(self.derivative(parts[0], letter), rest)
