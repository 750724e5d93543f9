"""The shape of a query: its text with the literals blanked, found in one pass without a grammar.

Texts of one shape differ only in the values of their literals, so the parsed and compiled form of one serves all. The
grammar takes hundreds of microseconds for a text, this a few. Literals are numbers, percentages, strings and durations,
whose unit stays part of the shape; so does what stands in brackets, where SASE+ has numbers that say which event is
meant. A text with anything unusual has no shape, and the grammar parses it.

Here: finding literals. Not here: which of them are values of the syntax, which the language's parser decides.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias, final

from ..events.errors import DefinitionError, EventError, shown
from ..events.instant import UNITS, parse_duration
from .limits import NUMBER_DIGITS_MAX, STRING_BYTES_MAX, TEXT_BYTES_MAX, byte_length

Literal: TypeAlias = "int | float | str"

# What could hold a quote or a number that is no literal is passed over as a whole: comments and brackets. A digit in
# a name follows a character of it; to look back only from digits is faster than to look back everywhere.
_LITERAL: Final = re.compile(
    r"""(?P<string>'(?>[^']*(?:''[^']*)*)')
      | (?P<number>(?>[0-9](?<![\w.$][0-9])[0-9]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
          (?:(?=\s*(?P<unit>us|ms|s|secs?|mins?|hours?|days?|weeks?)\b(?!(?:\s|--[^\n]*\n)*[-~]>))
          |(?=(?P<percent>%))|(?![\w.])))
      | --[^\n]* | \[[^\]']*\]""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_BRACKETED: Final = re.compile(
    _LITERAL.pattern.replace(r"| \[[^\]']*\]", r"| (?P<bracket>[\[\]])"), re.VERBOSE | re.IGNORECASE | re.ASCII
)
PERCENT: Final = -2  # the unit of a percentage
_MARK: Final = re.compile("\0[a-z]+\0")


@final
@dataclass(frozen=True, slots=True)
class QueryShape:
    """The shape of a text. `key` is the text with each literal replaced by its kind; `literals` are in the order of the
    text, durations in microseconds, percentages as fractions, and `places` are their offsets in it. `units`: of a
    duration the microseconds of the unit that the text names behind it, PERCENT of a percentage, of any other literal
    0."""

    key: str
    literals: tuple[Literal, ...]
    places: tuple[int, ...]
    units: tuple[int, ...]

    def pieces(self) -> tuple[str, ...]:
        """Return the text around the literals."""
        return tuple(_MARK.split(self.key))


def check_literal(literal: Literal) -> None:
    """Raise DefinitionError for a value that no literal can have."""
    text = "'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal)
    shape = shape_of(text)
    if shape is None or shape.literals != (literal,):
        raise DefinitionError(f"expected a number that is not negative or a string, found {shown(literal)}")


def bracketed_shape_of(text: str) -> QueryShape | None:
    """As `shape_of`, where only what stands in square brackets is a literal, such as conditions on events; None, too,
    if there is none."""
    shape = shape_of(text, _BRACKETED)
    return shape if shape is not None and shape.literals else None


def shape_of(text: str, literal: re.Pattern[str] = _LITERAL) -> QueryShape | None:
    """Return the shape of a text, or None if the grammar must parse it. Linear; a few microseconds."""
    if byte_length(text) > TEXT_BYTES_MAX or "\0" in text or not _encodes(text):
        return None
    pieces: list[str] = []
    literals: list[Literal] = []
    places: list[int] = []
    units: list[int] = []
    end = 0
    inside = literal is _LITERAL
    for match in literal.finditer(text):
        kind = match.lastgroup
        if kind == "bracket":
            inside = match.group() == "["
        if kind is None or kind == "bracket" or not inside:
            continue
        start = match.start()
        unit, percent = match["unit"], match["percent"] is not None
        value = _value(kind, match.group(), unit, percent)
        if value is None:
            return None
        pieces.append(text[end:start])
        pieces.append(f"\0{type(value).__name__}\0" if unit is None else "\0duration\0")
        literals.append(value)
        places.append(start)
        units.append(PERCENT if percent else 0 if unit is None else UNITS[unit.lower()])
        end = match.end()
    pieces.append(text[end:])
    return QueryShape("".join(pieces), tuple(literals), tuple(places), tuple(units))


def fraction(percentage: str) -> str:
    """The literal of the value of a percentage, which is written with or without its sign, `80%` or `1.5e1`.

    Changing the exponent rounds only once, unlike a division: 80% is exactly the float 0.8.
    """
    mantissa, _, exponent = percentage.rstrip("%").lower().partition("e")
    return f"{mantissa}e{int(exponent or 0) - 2}"


def percentage_of(value: float) -> str:
    """The percentage, without its sign, that has exactly this value as its fraction."""
    exact = Decimal(repr(value)).scaleb(2).normalize()
    return format(exact, "f") if -20 < exact.adjusted() < 20 else str(exact)  # 0.2, not 2E-1


def _encodes(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _value(kind: str, token: str, unit: str | None, percent: bool) -> Literal | None:
    if kind == "string":
        value = token[1:-1].replace("''", "'")
        return value if byte_length(value) <= STRING_BYTES_MAX else None
    if len(token) > NUMBER_DIGITS_MAX:
        return None
    if unit is not None:
        try:
            return parse_duration(f"{token} {unit}")
        except EventError:
            return None
    if percent:
        token = fraction(token)
    if token.isdigit():
        number = int(token)
        return number if number < 2**63 else None
    decimal = float(token)
    return decimal if math.isfinite(decimal) else None
