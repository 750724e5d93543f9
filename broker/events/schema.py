"""The attributes of an event, their types and their order. `validation` checks values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, Self, TypeAlias, final, get_args

from .errors import DefinitionError, shown
from .names import checked_attribute
from .nearest import suggestion

ValueType: TypeAlias = Literal["string", "int", "float", "bool", "string[]"]
Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None
"""A stored value: of exactly one of these Python types, or None for null. A tuple has texts only, and is the value of a
list of them."""
Row: TypeAlias = tuple[Value, ...]
"""The values of one event in the order of its schema."""

VALUE_TYPES: Final[tuple[ValueType, ...]] = get_args(ValueType)
TEXTS: Final = "string[]"
"""The type of a list of texts."""

# Type names of other systems whose spelling is too different for `nearest`.
_ELSEWHERE: Final[Mapping[str, ValueType]] = MappingProxyType(
    {
        "long": "int",
        "text": "string",
        **dict.fromkeys(("double", "number", "real", "decimal"), "float"),
        **dict.fromkeys(("list", "array", "strings", "text[]"), "string[]"),
    }
)
_TIMES: Final = ("timestamp", "datetime", "date", "time")
_TABLE: Final = 'a table of names and types, such as { name = "string", price = "float" }'


@final
@dataclass(frozen=True, slots=True)
class Attribute:
    """One column of a schema. Raises DefinitionError."""

    name: str
    type: ValueType
    nullable: bool = False

    def __post_init__(self) -> None:
        checked_attribute(self.name)
        if self.type not in VALUE_TYPES:
            raise _unknown_type(self.name, self.type)
        if type(self.nullable) is not bool:
            raise DefinitionError(f"attribute {self.name!r}: expected nullable as a bool, found {shown(self.nullable)}")


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of a stream in order. Two schemas are equal if their attributes are.

    Raises DefinitionError for a repeated name. A schema without attributes is valid: its events only say that they
    happened.
    """

    attributes: tuple[Attribute, ...]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _positions: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = tuple(attribute.name for attribute in self.attributes)
        positions: dict[str, int] = {}
        for position, name in enumerate(names):
            if positions.setdefault(name, position) != position:
                raise DefinitionError(f"attribute {name!r}: expected each name once, found it twice")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "_positions", positions)

    def __len__(self) -> int:
        return len(self.attributes)

    def __bool__(self) -> bool:
        return True  # an empty schema is a schema: `if schema` must not depend on its length

    def position(self, name: str) -> int:
        """Return the index of an attribute in a row, -1 if there is none of that name. O(1)."""
        return self._positions.get(name, -1)

    def first(self, count: int) -> Schema:
        """The schema of the first attributes."""
        return Schema(self.attributes[:count])

    @classmethod
    def declare(cls, attributes: Mapping[str, str]) -> Self:
        """Return the schema for declarations such as `{"name": "string", "note": "string?"}`; `?` means nullable.

        Raises DefinitionError for anything else, also for values that are not text.
        """
        if not isinstance(attributes, Mapping):
            raise DefinitionError(f"attributes: expected {_TABLE}, found {shown(attributes)}")
        declared: list[Attribute] = []
        for name, written in attributes.items():
            checked_attribute(name)
            if not isinstance(written, str):
                raise _unknown_type(name, written)
            kind = written.removesuffix("?")
            if kind not in VALUE_TYPES:
                raise _unknown_type(name, written)
            declared.append(Attribute(name, kind, kind != written))
        return cls(tuple(declared))

    def declared(self) -> dict[str, str]:
        """Return the declarations from which `declare` makes this schema."""
        return {attribute.name: attribute.type + "?" * attribute.nullable for attribute in self.attributes}


def _unknown_type(name: str, written: object) -> DefinitionError:
    hint = ""
    if isinstance(written, str):
        word = written.removesuffix("?").lower()
        known = _ELSEWHERE.get(word)
        hint = suggestion(word, VALUE_TYPES) if known is None else f"; did you mean {known!r}?"
        if word in _TIMES:
            hint = "; an event's own time is no attribute, and another time is an int, such as microseconds since 1970"
    return DefinitionError(
        f"attribute {name!r}: expected a type, one of {', '.join(VALUE_TYPES)} (with ? if it may be null), "
        f"found {shown(written)}{hint}"
    )
