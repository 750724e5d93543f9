"""Converts the text of CSV columns to a row. The command reads files and headers.

A column is the text of one attribute. Empty text is null if the attribute is nullable, an empty string if it is a
string, and an error otherwise. Blanks around numbers and bools are ignored; in strings every character counts. A list
of texts is written as in JSON: ["a", "b"].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final

from .errors import shown
from .schema import TEXTS, Attribute, Row, Value
from .stream import StreamDefinition
from .validation import misfit, row_from_mapping, unknown_attribute

# The number of digits is limited so that no text makes int() or float() slow. Python's 1_000, nan and inf are refused.
_INT: Final = re.compile(r"[+-]?[0-9]{1,40}")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,5})?")
_SWAPPED: Final = str.maketrans(",.", ".,")
_COMMA: Final = re.compile(r"[+-]?[0-9]+,[0-9]+")
_GROUPED: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[,.' \u00a0][0-9]{3})+(?:[.,][0-9]*)?")
_UNGROUPED: Final = "; write it without separators of thousands"
_NO_NUMBERS: Final = frozenset({"nan", "inf", "infinity", "na", "n/a", "null", "none", "nil", "-", ""})
_BOOLS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False, "1": True, "0": False})


def row_from_text(stream: StreamDefinition, columns: Mapping[str, str | None], decimal: str = ".") -> Row:
    """Return the row for texts by attribute. None counts as a missing column: null if nullable, else an error.
    `decimal`: the character before the fraction of a number.

    Every column must be an attribute: leave out those of the time, the start and the id. Raises EventError.
    """
    schema = stream.schema
    values: dict[str, Value] = {}
    for name, text in columns.items():
        position = schema.position(name)
        if position < 0:
            raise unknown_attribute(stream, name)
        if text is not None:
            values[name] = _value(stream, schema.attributes[position], text, decimal)
    return row_from_mapping(stream, values)


def _value(stream: StreamDefinition, attribute: Attribute, text: str, decimal: str) -> Value:
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
            plain = bare if decimal == "." else bare.translate(_SWAPPED)
            if _FLOAT.fullmatch(plain):
                number = float(plain)
                if isfinite(number):
                    return number
        case "bool":
            truth = _BOOLS.get(bare.lower())
            if truth is not None:
                return truth
        case "string[]":
            texts = texts_of(bare)
            if texts is not None:
                return texts
    raise misfit(stream, attribute, f"{shown(text)}{_hint(attribute, bare, decimal)}" if text else "empty text")


def texts_of(written: str) -> tuple[str, ...] | None:
    """The texts of a list written as in JSON; None for anything else. O(length)."""
    try:
        found = json.loads(written) if written.startswith("[") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return None
    return tuple(found)


def _hint(attribute: Attribute, bare: str, decimal: str) -> str:
    """What to write instead of a text that is no value of an attribute."""
    if attribute.type == "string":
        return ""
    if attribute.type == "bool":
        return "; write true or false"
    if attribute.type == TEXTS:
        return '; write a list as in JSON, such as ["a", "b"]'
    if attribute.type == "float" and decimal == "." and _COMMA.fullmatch(bare):
        return f"; write {bare.replace(',', '.')}, with a decimal point, or read it with --decimal ,"
    if _GROUPED.fullmatch(bare):
        plain = "".join(each for each in bare if each.isdigit() or each in "+-")
        return f"; write {plain}, without separators of thousands" if attribute.type == "int" else _UNGROUPED
    if bare.lower().lstrip("+-") in _NO_NUMBERS:
        return f'; leave the field empty, and declare {attribute.name} = "{attribute.type}?"'
    return f'; declare {attribute.name} = "float"' if attribute.type == "int" and _FLOAT.fullmatch(bare) else ""
