"""The shape of a query: its text with the literals blanked, found in one pass without a grammar.

Texts of one shape differ only in the values of their literals, so the parsed and compiled form of one serves all. The
grammar takes hundreds of microseconds for a text, this a few. Literals that are not plain values (durations,
percentages) stay part of the shape. A text with anything unusual has no shape, and the grammar parses it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from ..events.errors import DefinitionError, shown
from .limits import NUMBER_DIGITS_MAX, STRING_BYTES_MAX, TEXT_BYTES_MAX, byte_length

Literal: TypeAlias = "int | float | str"

_LITERAL: Final = re.compile(
    r"""(?P<string>'(?>[^']*(?:''[^']*)*)')
      | (?P<number>(?<![\w.$])(?>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
          (?!\s*(?:us|ms|s|secs?|mins?|hours?|days?|weeks?)\b)(?![\w.%]))
      | --[^\n]* | \$[12]?\.\w* | [A-Za-z_]\w*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_MARK: Final = re.compile("\0[a-z]+\0")


@final
@dataclass(frozen=True, slots=True)
class QueryShape:
    """The shape of a text. `key` is the text with each literal replaced by its kind; `literals` are in the order of the
    text, and `places` are their offsets in it."""

    key: str
    literals: tuple[Literal, ...]
    places: tuple[int, ...]

    def pieces(self) -> list[str]:
        """Return the text around the literals."""
        return _MARK.split(self.key)


def check_literal(literal: Literal) -> None:
    """Raise DefinitionError for a value that no literal can have."""
    text = "'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal)
    shape = shape_of(text)
    if shape is None or shape.literals != (literal,):
        raise DefinitionError(f"expected a number that is not negative or a string, found {shown(literal)}")


def shape_of(text: str) -> QueryShape | None:
    """Return the shape of a text, or None if the grammar must parse it. Linear; a few microseconds."""
    if len(text) > TEXT_BYTES_MAX or "\0" in text:
        return None
    pieces: list[str] = []
    literals: list[Literal] = []
    places: list[int] = []
    end = 0
    for match in _LITERAL.finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        value = _value(kind, match.group())
        if value is None:
            return None
        pieces.append(text[end : match.start()])
        pieces.append(f"\0{type(value).__name__}\0")
        literals.append(value)
        places.append(match.start())
        end = match.end()
    pieces.append(text[end:])
    return QueryShape("".join(pieces), tuple(literals), tuple(places))


def _value(kind: str, token: str) -> Literal | None:
    if kind == "string":
        value = token[1:-1].replace("''", "'")
        return value if byte_length(value) <= STRING_BYTES_MAX else None
    if len(token) > NUMBER_DIGITS_MAX:
        return None
    if token.isdigit():
        number = int(token)
        return number if number < 2**63 else None
    decimal = float(token)
    return decimal if math.isfinite(decimal) else None
