"""Converts the text of CSV columns to a row. The command reads files and headers.

A column is the text of one attribute. Empty text is null if the attribute is nullable, an empty string if it is a
string, and an error otherwise. Blanks around numbers and bools are ignored; in strings every character counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final

from .errors import shown
from .schema import Attribute, Row, Value
from .stream import StreamDefinition
from .validation import misfit, row_from_mapping, unknown_attribute

# The number of digits is limited so that no text makes int() or float() slow. Python's 1_000, nan and inf are refused.
_INT: Final = re.compile(r"[+-]?[0-9]{1,40}")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,5})?")
_BOOLS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False, "1": True, "0": False})


def row_from_text(stream: StreamDefinition, columns: Mapping[str, str | None]) -> Row:
    """Return the row for texts by attribute. None counts as a missing column: null if nullable, else an error.

    Every column must be an attribute: leave out those of the time, the start and the id. Raises EventError.
    """
    schema = stream.schema
    values: dict[str, Value] = {}
    for name, text in columns.items():
        position = schema.position(name)
        if position < 0:
            raise unknown_attribute(stream, name)
        if text is not None:
            values[name] = _value(stream, schema.attributes[position], text)
    return row_from_mapping(stream, values)


def _value(stream: StreamDefinition, attribute: Attribute, text: str) -> Value:
    if not isinstance(text, str):
        raise misfit(stream, attribute, f"{shown(text)}, which is not text")
    if attribute.nullable and text == "":
        return None
    bare = text.strip()  # int() and float() strip less
    match attribute.type:
        case "string":
            return text
        case "int":
            if _INT.fullmatch(bare):
                return int(bare)
        case "float":
            if _FLOAT.fullmatch(bare):
                number = float(bare)
                if isfinite(number):
                    return number
        case "bool":
            truth = _BOOLS.get(bare.lower())
            if truth is not None:
                return truth
    raise misfit(stream, attribute, shown(text) if text else "empty text")
