"""The text around a subscription's literals, as the user wrote it and in canonical form.

A subscription stores only its literals; its texts are made on access. Not here: finding literals in a text
(broker/language/shapes), the meaning of literals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from ..events.errors import DefinitionError
from ..events.instant import format_duration
from .marked_literals import LiteralFields, Literals, number_in, with_literals
from .shapes import PERCENT, QueryShape, percentage_of

PLAIN: Final = 0  # a number or a string as in expressions
LARGEST_UNIT: Final = -1  # a duration in the largest unit that divides it


@final
@dataclass(frozen=True, slots=True)
class Wording:
    """The pieces of text around literals; `numbers` says which literal stands between two pieces.

    `units`: PLAIN, LARGEST_UNIT, PERCENT if the next piece begins with the sign, or for a duration the microseconds
    of the unit that the next piece names.
    """

    pieces: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    units: tuple[int, ...] = ()

    def text(self, literals: Literals) -> str:
        """The text with these literals. Raises DefinitionError for a duration that its unit cannot express."""
        pieces = self.pieces
        parts = [pieces[0]]
        for at in range(len(self.numbers)):
            literal, unit = literals[self.numbers[at]], self.units[at]
            if unit == PLAIN:
                parts.append("'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal))
            elif unit == PERCENT:
                assert isinstance(literal, float)
                parts.append(percentage_of(literal))
            else:
                assert isinstance(literal, int)
                parts.append(format_duration(literal) if unit == LARGEST_UNIT else _counted(literal, unit))
            parts.append(pieces[at + 1])
        return "".join(parts)

    def says(self, literals: Literals, text: str) -> bool:
        """Whether the text with these literals equals `text`."""
        try:
            return self.text(literals) == text
        except DefinitionError:
            return False


    def plain(self) -> str:
        """The text, if it has no literals; else what stands around them."""
        return "...".join(self.pieces)


UNSAID: Final = Wording(("",))


def with_durations(parts: Sequence[tuple[str, Any]]) -> Wording:
    """Durations, each behind a text, with "and" between them; marked ones are literals."""
    pieces, numbers = [""], []
    for place, (before, duration) in enumerate(parts):
        pieces[-1] += f" and {before}" if place else before
        number = number_in(duration)
        if number is None:
            pieces[-1] += format_duration(duration)
        else:
            numbers.append(number)
            pieces.append("")
    return Wording(tuple(pieces), tuple(numbers), (LARGEST_UNIT,) * len(numbers))


def _counted(duration: int, unit: int) -> str:
    count, rest = divmod(duration, unit)
    if rest:
        raise DefinitionError(f"expected a multiple of {unit} microseconds, the unit of the text, found {duration}")
    return str(count)


def wording_of(shape: QueryShape) -> Wording:
    """The wording as the user wrote it."""
    return Wording(shape.pieces(), tuple(range(len(shape.literals))), shape.units)


def printed_around(
    syntax: Any, printed: Callable[[Any], str], fields: LiteralFields, shape: QueryShape, numbers: list[int]
) -> Wording | None:
    """The canonical text around the literals with these numbers; None if a literal does not occur in it exactly once.

    The syntax is printed with values that occur nowhere else, and split at these values.
    """
    values: dict[int, Any] = {}
    found: list[tuple[int, int, int, int]] = []  # start, end, number, unit
    for number in numbers:
        literal = shape.literals[number]
        stranger: Any = (1 << 60) + 2 * number + 1
        if isinstance(literal, str):
            stranger = f"\1{number}\1"
        elif isinstance(literal, float):
            stranger = float(1 << 40) + number + 0.5
        values[shape.places[number]] = stranger
    text = printed(with_literals(syntax, fields, values))
    for number in numbers:
        stranger = values[shape.places[number]]
        shown = f"'{stranger}'" if isinstance(stranger, str) else repr(stranger)
        begin = text.find(shown)
        end, unit = begin + len(shown), PLAIN
        if begin < 0 or text.find(shown, end) >= 0:
            return None
        if isinstance(stranger, int) and text.startswith(" us", end):
            end, unit = end + len(" us"), LARGEST_UNIT
        found.append((begin, end, number, unit))
    found.sort()
    ends = [0, *(end for _, end, _, _ in found)]
    begins = [*(begin for begin, _, _, _ in found), len(text)]
    pieces = tuple([text[end:begin] for end, begin in zip(ends, begins, strict=True)])
    wording = Wording(pieces, tuple([number for _, _, number, _ in found]), tuple([unit for *_, unit in found]))
    return wording if wording.says(shape.literals, printed(syntax)) else None
