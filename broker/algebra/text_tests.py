"""The conditions on an event's text, ready for evaluation, and the text itself, which many of them ask for.

Here: what an atom asks of a text: whether it contains, begins or ends with another, is one of several, or fits a
pattern, as it is or without regard to case. Hot: typed for compilation. Not here: what patterns mean (events/wildcards
and its neighbours), which class an atom gets (predicate), the search for all the texts that occur in one
(engine/index/texts).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast, final

from ..events.schema import TEXTS, Row
from ..events.text_condition import CONTAINS, ENDS, EQUALS, STARTS, TextCondition, folded
from ..events.text_operators import LIKE, LIKE_FOLDED, TEXT_OPERATORS, condition_of
from ..events.wildcards import plain_part
from .comparisons import Predicate
from .computation import Slots
from .functions import MEMBER
from .terms import Attribute, Comparison, Constant, Function, Side, Term, used

PATTERN: Final = "pattern"  # beside EQUALS, STARTS, ENDS and CONTAINS
_FUNCTIONS: Final[dict[str, str]] = {"starts_with": STARTS, "ends_with": ENDS, "contains": CONTAINS}

WRITTEN: Final = 0
LOWER: Final = 1
FOLDED: Final = 2
"""How a text is taken: as it is, as the function `lower` gives it, or folded as LIKE~ and MATCHES~ do."""


@final
@dataclass(frozen=True, slots=True)
class TextAtom:
    """What an atom asks of a text attribute: where `part` stands in it, or that it fits a `condition`."""

    kind: str
    position: int
    case: int
    part: str
    wanted: bool
    condition: TextCondition | None = None
    listed: bool = False  # of some text in a list


def text_atom(atom: Comparison) -> TextAtom | None:
    """What a canonical atom asks of one text of the event; None for any other. O(1) but for the first time."""
    try:
        return cast("TextAtom | None", atom._asked)
    except AttributeError:
        found = _text_atom(atom)
        object.__setattr__(atom, "_asked", found)
        return found


def _text_atom(atom: Comparison) -> TextAtom | None:
    match atom:
        case Comparison("=", Function(name, (subject, Constant(str()) as part)), Constant(bool() as wanted)):
            if name in TEXT_OPERATORS:
                return _fitting(name, subject, part, wanted)
            kind = EQUALS if name == MEMBER else _FUNCTIONS.get(name, "")
        case Comparison("=" | "!=" as operator, Function("lower") as subject, Constant(str()) as part):
            kind, wanted = EQUALS, operator == "="
        case _:
            return None
    lower = isinstance(subject, Function) and subject.name == "lower"
    attribute: Term = subject.arguments[0] if isinstance(subject, Function) and lower else subject
    if kind and isinstance(attribute, Attribute) and attribute.side is Side.EVENT:
        text, listed = str(used(part)), attribute.type == TEXTS
        return TextAtom(kind, attribute.position, LOWER if lower else WRITTEN, text, wanted, None, listed)
    return None


def _fitting(operator: str, subject: Term, pattern: Constant, wanted: bool) -> TextAtom | None:
    """What LIKE, MATCHES and CIDR ask."""
    if not isinstance(subject, Attribute) or subject.side is not Side.EVENT:
        return None
    written, listed = str(used(pattern)), subject.type == TEXTS
    plain = plain_part(written) if operator in (LIKE, LIKE_FOLDED) else None
    if plain is not None:
        kind, part = plain
        if operator == LIKE:
            return TextAtom(kind, subject.position, WRITTEN, part, wanted, None, listed)
        return TextAtom(kind, subject.position, FOLDED, folded(part), wanted, None, listed)
    condition = condition_of(operator, written)
    case = FOLDED if condition.folded else WRITTEN
    return TextAtom(PATTERN, subject.position, case, written, wanted, condition, listed)


@final
class EventText:
    """A text attribute, in the case in which it is taken: made once an event, however many conditions ask for it."""

    def __init__(self, position: int, case: int) -> None:
        self.position = position
        self.case = case
        self._row: Row | None = None  # a reference, so that no other row gets this identity
        self._text: str | None = None
        self._texts: list[str] | None = None

    def of(self, row: Row) -> str | None:
        """The text; None for a null, and for a list. O(length) for the first question about a row."""
        if self._row is not row:
            self._take(row)
        return self._text

    def each(self, row: Row) -> list[str] | None:
        """The different texts of a list; None for a null, and for a single text. O(length) for the first question."""
        if self._row is not row:
            self._take(row)
        return self._texts

    def _take(self, row: Row) -> None:
        value = row[self.position]
        self._row, self._text, self._texts = row, None, None
        if isinstance(value, str):
            self._text = self._cased(value) if self.case else value
        elif isinstance(value, tuple):
            self._texts = list(dict.fromkeys([self._cased(text) if self.case else text for text in value]))

    def _cased(self, text: str) -> str:
        return text.lower() if self.case == LOWER else folded(text)


def held(asked: TextAtom, text: str) -> bool:
    """Whether a text, in the case in which it is asked for, has the part, or fits."""
    if asked.condition is not None:
        return asked.condition.fits(text)
    if asked.kind == CONTAINS:
        return asked.part in text
    if asked.kind == STARTS:
        return text.startswith(asked.part)
    return text.endswith(asked.part) if asked.kind == ENDS else text == asked.part


class TextPredicate(Predicate):
    """One condition on a text, or NOT of it where `wanted` is false. A text that is null satisfies neither."""

    def __init__(self, text: EventText, part: str, wanted: bool, cost: int) -> None:
        self.text = text
        self.part = part
        self.wanted = wanted
        self.cost = cost


@final
class TextEquals(TextPredicate):
    """`event.a LIKE 'part'`, `lower(event.a) = 'part'`."""

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        return text is not None and (text == self.part) == self.wanted


@final
class TextStarts(TextPredicate):
    """`starts_with(event.a, part)`."""

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        return text is not None and text.startswith(self.part) == self.wanted


@final
class TextEnds(TextPredicate):
    """`ends_with(event.a, part)`."""

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        return text is not None and text.endswith(self.part) == self.wanted


@final
class TextContains(TextPredicate):
    """`contains(event.a, part)`."""

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        return text is not None and (self.part in text) == self.wanted


@final
class TextFits(Predicate):
    """`event.a LIKE part` with wildcards inside, MATCHES or CIDR."""

    def __init__(self, text: EventText, condition: TextCondition, wanted: bool) -> None:
        self.text = text
        self.condition = condition
        self.wanted = wanted
        self.cost = 6

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        return text is not None and self.condition.fits(text) == self.wanted


@final
class ListHolds(Predicate):
    """One condition on some text in a list, or NOT of it. A list that is null satisfies neither."""

    def __init__(self, text: EventText, asked: TextAtom) -> None:
        self.text = text
        self.asked = asked
        self.cost = 6

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        texts = self.text.each(row)
        if texts is None:
            return False
        asked = self.asked
        for text in texts:
            if held(asked, text):
                return asked.wanted
        return not asked.wanted


@final
class TextAmong(Predicate):
    """`lower(event.a) = part` for one of several parts: one probe, however many they are. Of a list, one a text."""

    def __init__(self, text: EventText, parts: frozenset[str]) -> None:
        self.text = text
        self.parts = parts
        self.cost = 2

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        text = self.text.of(row)
        if text is not None:
            return text in self.parts
        texts = self.text.each(row)
        return texts is not None and not self.parts.isdisjoint(texts)


def text_predicate(asked: TextAtom, text: EventText) -> Predicate:
    """Return the predicate of an atom, on the text that it asks for."""
    if asked.listed:
        return ListHolds(text, asked)
    if asked.condition is not None:
        return TextFits(text, asked.condition, asked.wanted)
    if asked.kind == STARTS:
        return TextStarts(text, asked.part, asked.wanted, 2)
    if asked.kind == ENDS:
        return TextEnds(text, asked.part, asked.wanted, 2)
    if asked.kind == CONTAINS:
        return TextContains(text, asked.part, asked.wanted, 3)
    return TextEquals(text, asked.part, asked.wanted, 2)
