"""Contexts, under which transitions are counted apart: a definition such as ["key", "month"], and its values.

A context is known before the step that it is counted under: it is that of the event at which the state was entered or
last looked at, never of the event that comes next. Months, hours and weekdays are those of UTC.

Here: what may be written, and a row's values. Not here: how contexts borrow from each other (shrinkage), which of them
pays (choice).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias, final

from ..events.errors import DefinitionError, shown
from ..events.nearest import suggestion
from ..events.schema import Schema
from .counts import Context

Kind: TypeAlias = Literal["key", "month", "hour", "weekday", "attribute", "last"]

UNITS: Final = ("month", "hour", "weekday")
PARTS_MAX: Final = 8
CUTS_MAX: Final = 100
SYMBOLS_MAX: Final = 6
MISSING: Final = -1
"""Stands for null, and for a symbol before the first; no other value of its part is this number, or it is a text."""

_HOUR: Final = 3_600_000_000
_DAY: Final = 24 * _HOUR


@final
@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of a context. `position`: the column of the key or attribute; `length`: how many of the last symbols."""

    kind: Kind
    name: str
    position: int = -1
    cuts: tuple[float, ...] = ()
    length: int = 0


@final
@dataclass(frozen=True, slots=True)
class ContextDefinition:
    """The parts of a context; the key, if it is one of them, comes first."""

    parts: tuple[ContextPart, ...] = ()

    @property
    def keyed(self) -> bool:
        """Whether the key is a part."""
        return bool(self.parts) and self.parts[0].kind == "key"

    @property
    def symbols(self) -> int:
        """How many of the last symbols are needed."""
        return sum(part.length for part in self.parts)

    def of(self, row: Sequence[object], time: int, symbols: Sequence[int] = ()) -> Context:
        """The context at an event: its row in the order of the schema, its time, the last symbols, newest last."""
        found: list[str | int] = []
        for part in self.parts:
            match part.kind:
                case "month":
                    found.append(month(time))
                case "hour":
                    found.append(time // _HOUR % 24)
                case "weekday":
                    found.append((time // _DAY + 3) % 7)  # 1970 began on a Thursday; Monday is 0
                case "last":
                    padded = [MISSING] * part.length + list(symbols)
                    found.extend(padded[-part.length :])
                case "key" | "attribute":
                    found.append(_discrete(row[part.position], part.cuts))
        return tuple(found)


def _discrete(value: object, cuts: tuple[float, ...]) -> str | int:
    match value:
        case int() | float() if cuts:
            return bisect_right(cuts, value)
        case str() | int():
            return value if isinstance(value, str) else int(value)
        case float():
            return repr(value)  # only a key may be a float without cuts
        case _:
            return MISSING


def month(time: int) -> int:
    """The month, 1 .. 12, of an instant in microseconds since 1970, in the calendar of UTC at any distance. O(1).

    Days are counted from 1 March of a year 0, so that the odd day comes last, in cycles of 400 years.
    """
    day_of_cycle = (time // _DAY + 719_468) % 146_097
    year = (day_of_cycle - day_of_cycle // 1_460 + day_of_cycle // 36_524 - day_of_cycle // 146_096) // 365
    day_of_year = day_of_cycle - (365 * year + year // 4 - year // 100)
    march_based = (5 * day_of_year + 2) // 153
    return march_based + 3 if march_based < 10 else march_based - 9


def read_context(written: object, schema: Schema, key: str | None) -> ContextDefinition:
    """A context as it is written: a list of "key", "month", "hour", "weekday", names of attributes,
    {attribute = "price", cuts = [10, 20]} and {last = 2}.

    Raises DefinitionError; the caller says of which subscription.
    """
    if not isinstance(written, list | tuple) or len(written) > PARTS_MAX:
        raise DefinitionError(f"context: expected a list of at most {PARTS_MAX} parts, found {shown(written)}")
    parts = [_part(each, schema, key) for each in written]
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise DefinitionError(f"context: expected each part once, found {name!r} twice")
    return ContextDefinition(tuple(sorted(parts, key=lambda part: part.kind != "key")))


def _part(written: object, schema: Schema, key: str | None) -> ContextPart:
    match written:
        case "key":
            if key is None:
                raise DefinitionError("context: 'key' expects a stream that declares one")
            return ContextPart("key", "key", schema.position(key))
        case "month" | "hour" | "weekday":
            # An attribute of that name takes precedence over the unit of time.
            return _attribute(written, (), schema) if written in schema.names else ContextPart(written, written)
        case str():
            return _attribute(written, (), schema)
        case {"last": int(length), **rest} if not rest and type(length) is int and 1 <= length <= SYMBOLS_MAX:
            return ContextPart("last", "last", length=length)
        case {"attribute": str(name), "cuts": [*cuts], **rest} if not rest:
            return _attribute(name, _checked_cuts(cuts), schema)
        case _:
            found = ", ".join(sorted(map(str, written))) if isinstance(written, Mapping) else shown(written)
            raise DefinitionError(
                'context: expected "key", "month", "hour", "weekday", an attribute, {attribute = .., cuts = [..]} or '
                f"{{last = 1 .. {SYMBOLS_MAX}}}, found {found[:80]}"
            )


def _checked_cuts(cuts: Sequence[object]) -> tuple[float, ...]:
    numbers = tuple(cut for cut in cuts if isinstance(cut, int | float) and not isinstance(cut, bool))
    ascending = all(a < b for a, b in pairwise(numbers)) and not any(cut != cut for cut in numbers)
    if len(numbers) != len(cuts) or not 1 <= len(cuts) <= CUTS_MAX or not ascending:
        found = str(list(cuts))[:80]
        raise DefinitionError(f"context: cuts: expected 1 to {CUTS_MAX} ascending numbers, found {found}")
    return numbers


def _attribute(name: str, cuts: tuple[float, ...], schema: Schema) -> ContextPart:
    position = schema.position(name)
    if position < 0:
        hint = suggestion(name, ("key", *UNITS, *schema.names))
        raise DefinitionError(f"context: expected key, month, hour, weekday or an attribute, found {name!r}{hint}")
    kind = schema.attributes[position].type
    if cuts and kind not in ("int", "float"):
        raise DefinitionError(f"context: cuts expect an int or float attribute, found {name!r}, a {kind}")
    if not cuts and kind == "float":
        raise DefinitionError(f"context: the float attribute {name!r} expects cuts: {{attribute = .., cuts = [..]}}")
    return ContextPart("attribute", name, position, cuts)
