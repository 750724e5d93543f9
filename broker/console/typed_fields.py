"""Values of an event as a form has them, texts, made into values of their types; what is wrong with its field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, final

from ..events import Schema, shown
from ..events.columns import texts_of
from ..events.schema import Attribute, Value

TEXT_CHARACTERS_MAX: Final = 10_000
"""Characters of one field."""
_INT: Final = re.compile(r"[+-]?[0-9]{1,19}")
_EXPECTED: Final = {
    "int": "a whole number of 64 bits",
    "float": "a number",
    "bool": "true or false",
    "string[]": 'a list as ["a", "b"]',
}


@final
@dataclass(frozen=True, slots=True)
class WrongField(Exception):
    """What is wrong with a field, in one line."""

    field: str
    reason: str


def typed_row(schema: Schema, written: Mapping[str, Any]) -> tuple[Value, ...]:
    """The row that the texts stand for; an absent or empty one of a nullable attribute is null. Raises WrongField."""
    for name in written:
        if schema.position(name) < 0:
            raise WrongField(name[:128], "expected an attribute of the stream, found none of this name")
    return tuple([_typed(each, written.get(each.name)) for each in schema.attributes])


def _typed(attribute: Attribute, text: object) -> Value:
    name, kind = attribute.name, attribute.type
    if text is None or (text == "" and (attribute.nullable or kind != "string")):
        if attribute.nullable:
            return None
        raise WrongField(name, f"expected {_EXPECTED.get(kind, 'a text')}, found nothing")
    if not isinstance(text, str) or len(text) > TEXT_CHARACTERS_MAX:
        raise WrongField(name, f"expected a text of at most {TEXT_CHARACTERS_MAX:,} characters")
    value: Value = None
    match kind:
        case "string":
            value = text
        case "int" if _INT.fullmatch(text.strip()) and -(2**63) <= int(text) < 2**63:
            value = int(text)
        case "float":
            value = _float(text)
        case "string[]":
            value = texts_of(text.strip())
        case "bool":
            value = {"true": True, "false": False}.get(text.strip().lower())
        case _:
            pass
    if value is None:
        raise WrongField(name, f"expected {_EXPECTED[kind]}, found {shown(text)}")
    return value


def _float(text: str) -> float | None:
    try:
        found = float(text) if "_" not in text else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) else None
