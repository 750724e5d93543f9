"""Contexts, under which transitions are counted apart: a definition such as ["key", "month"], and its values.

A context is known before the step that it is counted under: it is that of the event at which the state was entered or
last looked at, never of the event that comes next. Months, hours and weekdays are those of UTC.

A context is held for the whole horizon, so its values are those that stay: a key, a unit of time, a carrier.

Here: what may be written, and a row's values. Not here: how contexts borrow from each other (shrinkage).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

from ..events.errors import DefinitionError, shown
from ..events.nearest import suggestion
from ..events.schema import Schema
from .counts import Context

Kind: TypeAlias = Literal["key", "month", "hour", "weekday", "attribute"]

UNITS: Final = ("month", "hour", "weekday")
PARTS_MAX: Final = 8
MISSING: Final = -1
"""Stands for null; in a part of texts no other value is a number."""

_HOUR: Final = 3_600_000_000
_DAY: Final = 24 * _HOUR


@final
@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of a context. `position`: the column of the key or attribute."""

    kind: Kind
    name: str
    position: int = -1


@final
@dataclass(frozen=True, slots=True)
class ContextDefinition:
    """The parts of a context; the key, if it is one of them, comes first."""

    parts: tuple[ContextPart, ...] = ()

    @property
    def keyed(self) -> bool:
        """Whether the key is a part."""
        return bool(self.parts) and self.parts[0].kind == "key"

    def of(self, row: Sequence[object], time: int) -> Context:
        """The context at an event: its row in the order of the schema, and its time."""
        found: list[str | int] = []
        for part in self.parts:
            match part.kind:
                case "month":
                    found.append(month(time))
                case "hour":
                    found.append(time // _HOUR % 24)
                case "weekday":
                    found.append((time // _DAY + 3) % 7)  # 1970 began on a Thursday; Monday is 0
                case "key" | "attribute":
                    found.append(_discrete(row[part.position]))
        return tuple(found)


def _discrete(value: object) -> str | int:
    match value:
        case str() | int():
            return value if isinstance(value, str) else int(value)
        case float():
            return repr(value)  # only a key may be a float
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
    """A context as it is written: a list of "key", "month", "hour", "weekday" and names of attributes.

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
            return _attribute(written, schema) if written in schema.names else ContextPart(written, written)
        case str():
            return _attribute(written, schema)
        case _:
            found, more = shown(written), ""
            if isinstance(written, Mapping):
                found = ", ".join(sorted(map(str, written)))
                more = "; for a band of numbers give events an attribute that names it"
            raise DefinitionError(
                'context: expected "key", "month", "hour", "weekday" or the name of an attribute, found '
                f"{found[:80]}{more}"
            )


def _attribute(name: str, schema: Schema) -> ContextPart:
    position = schema.position(name)
    if position < 0:
        hint = suggestion(name, ("key", *UNITS, *schema.names))
        raise DefinitionError(f"context: expected key, month, hour, weekday or an attribute, found {name!r}{hint}")
    kind = schema.attributes[position].type
    if kind == "float":
        raise DefinitionError(
            f"context: expected an attribute that is a string, an int or a bool, found {name!r}, a float; give events"
            " an attribute that names its band"
        )
    return ContextPart("attribute", name, position)
